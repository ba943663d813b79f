"""Row events as SQL: BINLOG statements that a server applies (mysqlbinlog-output 2).

The base64 form keeps every value: documents with their types, text in its character set, generated columns, tables
whose columns have no names in the log.
"""

from __future__ import annotations

from base64 import encodebytes
from typing import TYPE_CHECKING, Final, Protocol

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import Checksum
from conformance.reference.text.pseudo_sql import row_lines
from conformance.reference.text.session import DELIMITER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.binlog.format_description import FormatDescription
    from conformance.reference.binlog.header import Header
    from conformance.reference.binlog.rows import RowsBody

_BEGIN: Final = b"BINLOG '\n"


def format_statement(data: bytes) -> bytes:
    """The statement with a FORMAT_DESCRIPTION, as the client writes it."""
    return _BEGIN + encodebytes(data) + b"'" + DELIMITER


class Spool(Protocol):
    """The rows of a statement that wait for its last event; they may be many."""

    def add(self, text: bytes) -> None: ...

    def take(self) -> Iterable[bytes]:
        """Return all pieces, and drop them."""
        ...


class MemorySpool:
    """A spool in memory."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, text: bytes) -> None:
        self._parts.append(text)

    def take(self) -> Iterable[bytes]:
        parts, self._parts = self._parts, []
        return parts


class WaitingStatement:
    """The TABLE_MAPs and rows of one statement, in base64 until the last of them is there."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self.waits = False

    def add(self, data: bytes) -> None:
        """Take the bytes of the next event."""
        self.waits = True
        self._spool.add(encodebytes(data))

    def take(self) -> Iterator[bytes]:
        """The statement; nothing without an event."""
        if self.waits:
            self.waits = False
            yield b"\n" + _BEGIN
            yield from self._spool.take()
            yield b"'" + DELIMITER

    def drop(self) -> None:
        """Forget the events."""
        self.waits = False
        for _ in self._spool.take():
            pass


def description_statement(description: FormatDescription) -> bytes:
    """The statement that tells the server how the events behind it are to be read.

    The server expects a GTID from the log then; the second statement asks it for numbers of its own (observed on
    9.7.4).
    """
    return _statement([encode_event(description)]) + b"SET @@SESSION.GTID_NEXT = 'AUTOMATIC';\n"


def rows_statement(header: Header, rows: RowsBody, *, algorithm: int = Checksum.CRC32) -> Iterator[bytes]:
    """The statement that applies one row event; its rows stand in front as comments."""
    for text in row_lines(rows):
        # A name may hold a line feed: no line may leave the comment. Text of other character sets is no UTF-8.
        for line in text.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
            yield (line if line.startswith("### ") else f"### {line}").encode() + b"\n"
    yield _statement(
        encode_event(body, timestamp=header.timestamp, server_id=header.server_id, algorithm=algorithm)
        for body in (rows.map(), rows)
    )


def _statement(events: Iterable[bytes]) -> bytes:
    return _BEGIN + b"".join(map(encodebytes, events)) + b"';\n"
