"""A faulty server: a sound one behind a relay that alters what it is told, what it answers, or what it logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from tests.faults.fault import Fault

if TYPE_CHECKING:
    from typing import Unpack

    from tests.faults.servers.packets import Answer

SOURCE, REPLICA = "source", "replica"

ChangedAnswer: TypeAlias = "Callable[[str, Answer], Answer]"
ChangedLog: TypeAlias = Callable[[Sequence[bytes]], list[bytes]]
Diagnostic: TypeAlias = tuple[str, int, str]  # level, number, text


class Altered(TypedDict, total=False):
    """The alterations by a relay.

    ``statement`` alters the text of one statement on its way to the server, ``answer`` what comes back of it,
    ``diagnostics`` what SHOW WARNINGS lists. ``log`` alters whole transactions, as events, of the server's binary log,
    ``stream`` the events that a replica is sent. ``at``: the server under test (so without it), or the servers that the
    lab starts beside it.

    ``option`` alters a word of a start, as ``name=value``, from the command line or an option file (``None``: nobody
    reads it); ``messages`` what the error log says; ``printed`` what the server's own mysqlbinlog writes; ``file`` the
    bytes of a file in its data directory, by its name there.
    """

    at: str
    statement: Callable[[str], str]
    answer: ChangedAnswer
    diagnostics: Callable[[str, list[Diagnostic]], list[Diagnostic]]
    log: ChangedLog
    stream: ChangedLog
    option: Callable[[str], str | None]
    messages: Callable[[str], str]
    printed: Callable[[bytes], bytes]
    file: Callable[[str, bytes], bytes]


def server(
    name: str,
    breaks: str,
    does: str,
    says: str,
    *,
    checks: str = "",
    also: str = "",
    updates: int = 100,
    **altered: Unpack[Altered],
) -> Fault:
    """One faulty server. ``does``: what it does, in one sentence. ``checks``: pytest's expression for the checks that
    run; without one all that judge the requirement do. ``updates``: how many generated ones meet it."""
    return Fault(name, breaks, does, altered, at=checks, also=also, says=says, run={"updates": updates})
