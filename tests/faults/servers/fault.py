"""A faulty server: a sound one behind a relay that alters what it is told, what it answers, or what it logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pytest

    from tests.faults.servers.packets import Answer

SOURCE, REPLICA = "source", "replica"

ChangedAnswer: TypeAlias = "Callable[[str, Answer], Answer]"
ChangedLog: TypeAlias = Callable[[Sequence[bytes]], list[bytes]]
Diagnostic: TypeAlias = tuple[str, int, str]  # level, number, text


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFault:
    """One faulty server.

    ``breaks``: the requirements that it does not keep; the check must fail under the first one. ``also``: further ones
    that it cannot keep then. In the report of a run exactly these rows are red. ``does``: what the server does, in one
    sentence. ``says``: a regular expression that the words of the failure match (field, expected, got, message), which
    is what somebody needs to mend the server. ``checks``: pytest's expression for the checks that run; without one all
    that judge the requirement do.

    ``statement`` alters the text of one statement on its way to the server, ``answer`` what comes back of it,
    ``diagnostics`` what SHOW WARNINGS lists. ``log`` alters whole transactions, as events, of the server's binary log,
    ``stream`` the events that a replica is sent. ``at``: the server under test, or the servers that the lab starts
    beside it.

    ``option`` alters a word of a start, as ``name=value``, from the command line or an option file (``None``: nobody
    reads it); ``messages`` what the error log says; ``printed`` what the server's own mysqlbinlog writes; ``file`` the
    bytes of a file in its data directory, by its name there.

    ``plant`` is for requirements that are judged on the kit's own model: it changes a function of the model.
    """

    id: str
    breaks: tuple[str, ...]
    does: str
    says: str
    also: tuple[str, ...] = ()
    checks: str = ""
    updates: int = 100
    at: str = SOURCE
    statement: Callable[[str], str] | None = None
    answer: ChangedAnswer | None = None
    diagnostics: Callable[[str, list[Diagnostic]], list[Diagnostic]] | None = None
    log: ChangedLog | None = None
    stream: ChangedLog | None = None
    option: Callable[[str], str | None] | None = None
    messages: Callable[[str], str] | None = None
    printed: Callable[[bytes], bytes] | None = None
    file: Callable[[str, bytes], bytes] | None = None
    plant: Callable[[pytest.MonkeyPatch], None] | None = None

    @property
    def due(self) -> frozenset[str]:
        """The rows of a report that have to be red, and no other."""
        return frozenset((*self.breaks, *self.also))

    @property
    def requirement(self) -> str:
        """Under which the fault must be caught."""
        return self.breaks[0]

    @property
    def alters(self) -> bool:
        """Whether there is a change at all."""
        return any((self.statement, self.answer, self.diagnostics, self.log, self.stream)) or any(
            (self.option, self.messages, self.printed, self.file, self.plant)
        )

    @property
    def reads_statements(self) -> bool:
        """Whether statements of one packet go to the server one by one."""
        return any((self.statement, self.answer, self.diagnostics, self.file))
