"""Statements, variables and control events made to hurt, and files whose frame lies."""

from __future__ import annotations

from functools import partial
from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.query import Query
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from tests.hostile.logs.log import HostileLog, event, log, times

if TYPE_CHECKING:
    from collections.abc import Callable


def _statement(text: Callable[[int], bytes]) -> Callable[[int], bytes]:
    return lambda size: log(event(EventType.QUERY, Query(text=text(size), schema=b"a").encode()))


def _statements(*texts: bytes) -> Callable[[int], bytes]:
    """The same short statements again and again."""
    one = b"".join(event(EventType.QUERY, Query(text=text, schema=b"a").encode()) for text in texts)
    return lambda size: log(times(one, size))


def _numbered(text: bytes) -> Callable[[int], bytes]:
    """A short statement again and again, each with a number of its own."""

    def make(size: int) -> bytes:
        parts, left, number = [], size, 0
        while left > 0:
            number += 1
            parts.append(event(EventType.QUERY, Query(text=text % number, schema=b"a").encode()))
            left -= len(parts[-1])
        return log(*parts)

    return make


def _columns(size: int) -> bytes:
    return b"CREATE TABLE t (" + b",".join(b"c%d int" % number for number in range(size // 10)) + b")"


_XA_PREPARE: Final = bytes((0,)) + pack("<III", 1, 4, 0) + b"abcd"
_TEXTS: Final[dict[str, Callable[[int], bytes]]] = {
    "letters": lambda size: b"a" * size,
    "opening brackets": lambda size: b"CREATE TABLE t " + b"(" * size,
    "an open string": lambda size: b"INSERT '" + b"x" * size,
    "quotes": lambda size: b"CREATE TABLE t (a int DEFAULT " + b"''" * (size // 2) + b")",
    "an open comment": lambda size: b"/*" + b"x" * size,
    "comments": lambda size: b"/**/" * (size // 4),
    "lines of comments": lambda size: b"--\n" * (size // 3),
    "versions": lambda size: b"/*!50000 " * (size // 9),
    "spaces": lambda size: b" " * size,
    "wrong UTF-8": lambda size: b"\xff" * size,
    "zeros": bytes,
    "a table of many columns": _columns,
    "columns added": lambda size: b"ALTER TABLE t " + b",".join([b"ADD COLUMN c int"] * (size // 17)),
    "tables dropped": lambda size: b"DROP TABLE " + b",".join([b"t"] * (size // 2)),
    "tables renamed": lambda size: b"RENAME TABLE " + b",".join([b"a TO b"] * (size // 7)),
    "an ENUM of many members": lambda size: b"CREATE TABLE t (a ENUM(" + b",".join([b"''"] * (size // 3)) + b"))",
}
_EVENTS: Final[dict[str, tuple[int, bytes, bytes]]] = {
    "a long ROWS_QUERY": (EventType.ROWS_QUERY, b"\xff", b"x"),
    "newlines in ROWS_QUERY": (EventType.ROWS_QUERY, b"\xff", b"\n"),
    "a long ROTATE": (EventType.ROTATE, bytes(8), b"x"),
    "a long INCIDENT": (EventType.INCIDENT, b"\1\0\xff", b"x"),
    "an IGNORABLE": (EventType.IGNORABLE, b"", b"x"),
    "an APPEND_BLOCK": (EventType.APPEND_BLOCK, bytes(4), b"x"),
    "an unknown event": (201, b"", b"x"),
    "a STOP with a body": (EventType.STOP, b"", b"x"),
}


def _one_event(size: int, code: int, head: bytes, byte: bytes) -> bytes:
    return log(event(code, head + byte * size))


def _user_variable(kind: int, byte: bytes) -> Callable[[int], bytes]:
    head = pack("<I", 1) + b"v" + b"\0" + bytes((kind,)) + pack("<I", 45)
    return lambda size: log(event(EventType.USER_VAR, head + pack("<I", size) + byte * size))


def _gtid_set(size: int) -> bytes:
    """One server with as many intervals as fit."""
    count = size // 16
    intervals = b"".join(pack("<QQ", 1 + 2 * number, 2 + 2 * number) for number in range(count))
    return log(event(EventType.PREVIOUS_GTIDS, pack("<Q", 1) + bytes(16) + pack("<Q", count) + intervals))


def _gtid_servers(size: int) -> bytes:
    count = size // 40
    entries = b"".join(number.to_bytes(16, "big") + pack("<QQQ", 1, 1, 2) for number in range(count))
    return log(event(EventType.PREVIOUS_GTIDS, pack("<Q", count) + entries))


def _flipped(size: int) -> bytes:
    """A checksum that is wrong, behind a large event."""
    data = bytearray(log(event(201, b"x" * size)))
    data[-1] ^= 1
    return bytes(data)


LOGS: Final[tuple[HostileLog, ...]] = (
    *(HostileLog("a statement", words, _statement(text)) for words, text in _TEXTS.items()),
    HostileLog("statements", "BEGIN", _statements(b"BEGIN")),
    HostileLog("statements", "BEGIN and COMMIT", _statements(b"BEGIN", b"COMMIT")),
    HostileLog("statements", "savepoints", _numbered(b"SAVEPOINT s%d")),
    HostileLog("statements", "tables", _numbered(b"CREATE TABLE t%d (a int)")),
    HostileLog("statements", "schemas dropped", _numbered(b"DROP DATABASE d%d")),
    HostileLog("statements", "XA transactions", _numbered(b"XA START X'%08x',X'',1")),
    *(
        HostileLog("one event", words, partial(_one_event, code=code, head=head, byte=byte))
        for words, (code, head, byte) in _EVENTS.items()
    ),
    *(
        HostileLog("a user variable", words, _user_variable(kind, byte))
        for words, kind, byte in (
            ("a string", 0, b"x"),
            ("a string of quotes", 0, b"'"),
            ("a DECIMAL", 4, b"\xff"),
            ("an integer", 2, b"\xff"),
            ("a double", 1, b"\xff"),
        )
    ),
    HostileLog(
        "XA_PREPARE", "again and again", lambda size: log(times(event(EventType.XA_PREPARE, _XA_PREPARE), size))
    ),
    HostileLog("PREVIOUS_GTIDS", "intervals", _gtid_set),
    HostileLog("PREVIOUS_GTIDS", "servers", _gtid_servers),
    HostileLog("file", "STOP events", lambda size: log(times(event(EventType.STOP, b""), size))),
    HostileLog("file", "INTVAR events", lambda size: log(times(event(EventType.INTVAR, b"\2" + bytes(8)), size))),
    HostileLog("file", "RAND events", lambda size: log(times(event(EventType.RAND, bytes(16)), size))),
    HostileLog("file", "an event of 2^32-1 bytes", lambda size: log(bytes(9) + b"\xff" * 4 + bytes(6 + size))),
    HostileLog("file", "zeros", lambda size: log(bytes(size))),
    HostileLog("file", "no binary log", bytes),
    HostileLog("file", "an encrypted log", lambda size: b"\xfdbin" + bytes(size)),
    HostileLog("file", "a wrong checksum", _flipped),
    HostileLog(
        "file",
        "FORMAT_DESCRIPTION again and again",
        lambda size: times(FileWriter().start(), 1) + times(FileWriter().start()[4:], size),
    ),
)
