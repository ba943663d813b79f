"""Binary logs with one row event that may be damaged, and a sound event behind it, for ``mysqlbinlog`` to print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import AFTER, BEFORE, TABLE_MAP, partial_image, row_of
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC
from conformance.reference.binlog.rows import Row, encode_head, rows_body
from conformance.reference.binlog.statement_events import UserVar, UserVarType
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.definitions import Column, Table, table_map

if TYPE_CHECKING:
    from collections.abc import Iterator

BEHIND: Final = "$.after"  # the path in the good event
VECTOR_TABLE: Final = Table(
    schema="binlog_lab_printed",
    name="v",
    columns=(Column(name="id", type="INT", nullable=False), Column(name="v", type="VECTOR")),
    primary_key=((0, 0),),
)
VECTOR_MAP: Final = table_map(VECTOR_TABLE, table_id=2)
_BINARY: Final = 63  # the number of the collation
_VALUE_LENGTH: Final = 4  # bytes
_TYPE, _LENGTH = 4, 9  # where they stand in an event
_UPDATE_HEAD: Final = 18  # of an event of a table with two columns: what stands before its row, and the key of that
_WRITE_HEAD: Final = 17
_JSON_MAP, _VECTOR_MAP = (encode_event(table)[HEADER_SIZE:-FOOTER_SIZE] for table in (TABLE_MAP, VECTOR_MAP))


def log_of_image(image: bytes) -> bytes:
    """A log with an update of one row, its ``image`` as it is."""
    writer = FileWriter(timestamp=1_500_000_000)
    return writer.start() + writer.add(TABLE_MAP) + writer.add(_update(image)) + _behind(writer)


def log_of_vector(vector: bytes) -> bytes:
    """A log with an inserted row whose VECTOR has these bytes."""
    writer = FileWriter(timestamp=1_500_000_000)
    body = rows_body(VECTOR_MAP, EventType.WRITE_ROWS, [Row(None, (1, vector))])
    return writer.start() + writer.add(VECTOR_MAP) + writer.add(body) + _behind(writer)


def log_of_variable(value: bytes, length: int) -> bytes:
    """A log with a user variable of type DECIMAL that says it has ``length`` bytes."""
    writer = FileWriter(timestamp=1_500_000_000)
    event = UserVar(name=b"v", value=b"", kind=UserVarType.DECIMAL, collation=_BINARY).encode()
    body = event[:-_VALUE_LENGTH] + length.to_bytes(_VALUE_LENGTH, "little") + value
    return writer.start() + writer.add(Opaque(type=EventType.USER_VAR, data=body)) + _behind(writer)


def _behind(writer: FileWriter) -> bytes:
    good = encode_diff(Operation.REMOVE, parse_path(BEHIND), None)
    return writer.add(TABLE_MAP) + writer.add(_update(partial_image(good)))


def _update(image: bytes) -> Opaque:
    head = rows_body(TABLE_MAP, EventType.PARTIAL_UPDATE_ROWS, (), before=BEFORE, after=AFTER)
    return Opaque(type=EventType.PARTIAL_UPDATE_ROWS, data=encode_head(head) + row_of(1, image))


def rows_in(data: bytes) -> Iterator[tuple[bool, bytes]]:
    """For each event of one row of the two tables: whether it is an update, and the row.

    The row is the image behind the before-image, or the part of an inserted row behind its id. Rows of other tables
    give nothing.
    """
    table = b""
    for kind, event in events_in(data):
        body = event[:-FOOTER_SIZE]
        if kind == EventType.TABLE_MAP:
            table = body
        elif kind == EventType.PARTIAL_UPDATE_ROWS and table == _JSON_MAP:
            yield True, body[_UPDATE_HEAD:]
        elif kind == EventType.WRITE_ROWS and table == _VECTOR_MAP:
            yield False, body[_WRITE_HEAD:]


def events_in(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The type of each event of a log, and the bytes behind its header, checksum included; the last event may be cut
    off."""
    at = len(MAGIC)
    while at + HEADER_SIZE <= len(data):
        length = int.from_bytes(data[at + _LENGTH : at + _LENGTH + 4], "little")
        if length < HEADER_SIZE:
            return
        yield data[at + _TYPE], data[at + HEADER_SIZE : at + length]
        at += length
