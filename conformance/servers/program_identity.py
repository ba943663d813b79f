"""Whether a client program is the server's own: it says so itself, before anybody believes what it prints.

What programs say, seen on real ones: ``mysqlbinlog  Ver 9.7.4-2 for Linux on x86_64``. The clients of MySQL 5.6 have
numbers of their own: ``mysqlbinlog Ver 3.4 for Linux at x86_64``. So have MariaDB's, which do not always name their
maker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.servers.errors import ProgramUnusable, ServerUnavailable

if TYPE_CHECKING:
    from conformance.servers.base import Server
    from conformance.servers.child_process import Ended
    from conformance.servers.programs import Program

_PATIENCE: Final = 60.0  # seconds, on a busy machine
_VERSION: Final = re.compile(r"\bVer (\d+)\.(\d+)")
_OWN_NUMBERS: Final = (8, 0)  # from this version on, a client has the server's
_WITHOUT_OPTION_FILES: Final = "--no-defaults"
_READ_NONE: Final = frozenset(("ibd2sdi",))  # programs that do not know the option
_PATH: Final = re.compile(r"^\S*/(?=\S+ )")  # in front of the program's name
_SHOWN: Final = 120


def own_program(server: Server, name: str) -> Program:
    """A client program of a server, which has said that it is one of the server's release series.

    Raises :class:`ServerUnavailable` where the server brings none, :class:`ProgramUnusable` where there is one that
    cannot be started or is another one.
    """
    return believed(server.client_program(name), name, server.number)


def believed(program: Program, name: str, number: tuple[int, int, int]) -> Program:
    """The program, once it has said that it is the one of this name that goes with a server of this version. Raises
    :class:`ProgramUnusable`."""
    options = ["--version"] if name in _READ_NONE else [_WITHOUT_OPTION_FILES, "--version"]
    try:
        said = program.run(options, timeout=_PATIENCE)
    except ServerUnavailable as error:
        raise ProgramUnusable(f"the server's own {name} cannot be used: {error.missing}", _ADVICE) from error
    problem = problem_of(said, number)
    if problem:
        raise ProgramUnusable(f"the server's own {name} cannot be used: {problem}", _ADVICE)
    return program


_ADVICE: Final = (
    "put the MySQL program of the server's version there; for the lab's bundle: remove its directory"
    " (binlog-lab doctor names the cache), then run binlog-lab servers install"
)


def problem_of(said: Ended, number: tuple[int, int, int]) -> str:
    """Why a program that was asked for its version is not one of a server's version; empty: it is one."""
    text = said.stdout.decode("utf-8", "replace").strip()
    shown = repr((_PATH.sub("", text) or said.words)[:_SHOWN])
    if said.returncode != 0:
        how = "does not end" if said.returncode is None else f"fails with status {said.returncode}"
        return f"asked for its version it {how}: {shown}"
    if "mariadb" in f"{text} {said.words}".lower():
        return f"it is MariaDB's: asked for its version it says {shown}"
    found = _VERSION.search(text)
    if found is None:
        return f"asked for its version it says {shown}"
    version = int(found[1]), int(found[2])
    if number[:2] >= _OWN_NUMBERS and version != number[:2]:
        series = ".".join(map(str, number[:2]))
        return f"it is none of MySQL {series}: asked for its version it says {shown}"
    return ""
