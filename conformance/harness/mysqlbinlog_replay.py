"""``mysqlbinlog | mysql``: a server's log as text, run on another server with the same rows (FR3)."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from conformance.servers.base import Server
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Position

_ERROR: Final = re.compile(r"^ERROR (\d+) \(\w+\)(?: at line (\d+))?", re.MULTILINE)


class Replayed(NamedTuple):
    """The end of a replay: the error's number and text (``None``: all of it ran), and the number of statements before
    it."""

    error: int | None
    message: str
    statements: int


@dataclass(frozen=True, slots=True)
class Text:
    """The text that mysqlbinlog printed."""

    data: bytes

    def statements_before(self, line: int) -> int:
        """The number of BINLOG statements with rows that begin before a line (from 1): one for each SQL statement."""
        count = 0
        lines = self.data.split(b"\n")
        for number, content in enumerate(lines[: line - 1]):
            if content == b"BINLOG '" and base64.b64decode(lines[number + 1][:8])[4] != EventType.FORMAT_DESCRIPTION:
                count += 1
        return count


def print_log(server: OwnServer, start: Position, end: Position, *, printer: Server | None = None) -> Text:
    """``mysqlbinlog --skip-gtids`` of a part of a server's own log files, by its own program or that of ``printer``."""
    with server.connect() as connection:
        names = [str(row[0]) for row in connection.execute("SHOW BINARY LOGS").texts()]
    wanted = names[names.index(start.file) : names.index(end.file) + 1]
    places = f"--start-position={start.offset}", f"--stop-position={end.offset}"
    done = (printer or server).run_program(
        "mysqlbinlog",
        ["--no-defaults", "--skip-gtids", *places, *wanted],
        files={name: server.files.read(name) for name in wanted},
    )
    if done.returncode:
        raise PrintFailed(done.words)
    return Text(done.stdout)


class PrintFailed(Exception):
    """mysqlbinlog ended with an error."""


def feed(server: OwnServer, text: Text) -> Replayed:
    """Run ``mysql`` with the text as its input."""
    options = ["--binary-mode", "--max-allowed-packet=1G"]
    done = server.run_program("mysql", options, login=True, stdin=text.data)
    if not done.returncode:
        return Replayed(None, "", text.statements_before(text.data.count(b"\n") + 1))
    found = _ERROR.search(done.words)
    if found is None:
        return Replayed(0, done.words, 0)
    return Replayed(int(found[1]), done.words, text.statements_before(int(found[2] or 1)))
