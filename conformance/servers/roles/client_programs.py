"""Client programs of the bundle for people: ``binlog-lab servers client [NAME] PROGRAM …``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.messages import did_you_mean
from conformance.servers.standing import standing_servers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROGRAMS: Final = ("mysql", "mysqlbinlog", "mysqldump")
_EXPECTED: Final = "expected [NAME] " + "|".join(PROGRAMS)


class ClientWordsError(Exception):
    """The words name no program, or no running server."""


def client_words(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The option file of the named server (``None`` without a name), and the program with its arguments.

    A first word that is also a program's name counts as a server's name only if such a server exists and a program
    follows. Raises :class:`ClientWordsError`.
    """
    standing = {server.name: server for server in standing_servers()}
    first, rest = words[0], list(words[1:])
    named = bool(rest) and rest[0] in PROGRAMS
    if first in PROGRAMS and not (named and first in standing):
        return None, list(words)
    if first not in standing:
        known = ", ".join(standing) or "there is none"
        near = did_you_mean(first, [*PROGRAMS, *standing])
        raise ClientWordsError(
            f"{first!r} is neither a program nor a standing server{near} (named: {known}); {_EXPECTED}"
        )
    if not named:
        what = repr(rest[0]) if rest else "no word"
        raise ClientWordsError(f"{what} stands behind the server's name {first!r}; {_EXPECTED}")
    if not standing[first].running:
        raise ClientWordsError(f"the server {first!r} has ended (binlog-lab servers stop {first} removes it)")
    return standing[first].directory / "client.cnf", rest
