"""TABLE_MAP events that are damaged in front of an update, given to a server by BINLOG statements (SC6).

The damages are those of the part that every TABLE_MAP has: its schema and table, the number and the types of its
columns, and its end. Damaged metadata of a column is left out: 8.0.45 does not look at that of JSON.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import binlog_statement
from conformance.judge.problem import Problem
from conformance.reference.binlog.header import HEADER_SIZE, footer_size
from conformance.reference.event_types import EventType
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

_FIXED: Final = 8  # bytes of table id and flags
_JSON: Final = 245
# Type bytes that are no JSON, and that both 9.7.4 and 8.0.45 refuse.
_TYPES: Final = (0, 3, 8, 12, 15, 16, 99, 243, 246, 252, 254, 255)
_COUNTS: Final = (0, 1, 3, 9, 200, 251, 255)  # of columns; the table has two
_LETTERS: Final = "abcdefgh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """An update with diffs as the server logged it. ``algorithm``: the checksum of its events."""

    description: bytes
    algorithm: int
    table_map: bytes
    rows: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionOutcome:
    """The outcome of a transaction.

    ``error``: the error number, 0 for none. ``unchanged``: whether the row was as before, seen before the rollback.
    """

    error: int
    unchanged: bool


def logged(connection: Connection, capture: Capture, draw: Draw) -> Logged:
    """Make the table ``t`` with a row, and log an update of it; the row is then as before."""
    old, new = draw.letters(8, _LETTERS), draw.letters(8, _LETTERS.upper())
    update = "UPDATE t SET j = JSON_SET(j, '$.a', '{}')"
    connection.execute_many(
        [
            "SET SESSION binlog_row_value_options = PARTIAL_JSON, SESSION binlog_row_image = MINIMAL",
            "DROP TABLE IF EXISTS t",
            "CREATE TABLE t (id INT PRIMARY KEY, j JSON)",
            f"INSERT INTO t VALUES (1, JSON_OBJECT('a', '{old}', 'p', REPEAT('p', {60 + draw.below(400)})))",
        ]
    ).check()
    start = capture.mark(connection)
    connection.execute(update.format(new))
    captured = capture.since(start, capture.mark(connection))
    connection.execute(update.format(old))
    wanted = (EventType.TABLE_MAP, EventType.PARTIAL_UPDATE_ROWS)
    table_map, rows = (event for event in captured.events if event[4] in wanted)
    return Logged(description=captured.format_description, algorithm=captured.algorithm, table_map=table_map, rows=rows)


def damages(update: Logged) -> Iterator[tuple[str, bytes]]:
    """Every damage of a TABLE_MAP of two columns, in words, and the damaged event."""
    event, algorithm = update.table_map, update.algorithm
    body = event[HEADER_SIZE : len(event) - footer_size(algorithm)]
    schema = _FIXED + 1
    table = schema + body[_FIXED] + 2
    count = table + body[table - 1] + 1
    kind = count + 2  # the type of the second column, which is JSON
    assert (body[count], body[kind]) == (2, _JSON)
    for length in range(kind + 1):
        yield f"cut behind {length} bytes", _event(event, algorithm, body[:length])
    for number in _TYPES:
        yield f"type {number}", _event(event, algorithm, _put(body, kind, number))
    for number in _COUNTS:
        yield f"{number} columns", _event(event, algorithm, _put(body, count, number))
    for what, place in (("schema", schema), ("table", table)):
        yield f"another {what}", _event(event, algorithm, _put(body, place, ord("~")))


def _put(body: bytes, place: int, number: int) -> bytes:
    return body[:place] + bytes((number,)) + body[place + 1 :]


def _event(event: bytes, algorithm: int, body: bytes) -> bytes:
    """The event with another body: its length fits, and its checksum if it has one."""
    footer = footer_size(algorithm)
    length = (HEADER_SIZE + len(body) + footer).to_bytes(4, "little")
    made = event[:9] + length + event[13:HEADER_SIZE] + body
    return made + (binascii.crc32(made).to_bytes(4, "little") if footer else b"")


def apply(server: Server, schema: str, update: Logged, table_map: bytes) -> TransactionOutcome:
    """Apply the update behind this TABLE_MAP in a session and a transaction of its own, which is rolled back."""
    query = "SELECT j FROM t"
    with server.connect() as session:
        session.execute_many([f"USE {schema}", "SET SESSION sql_log_bin = 0"]).check()
        session.execute(binlog_statement(update.description))
        session.execute("SET SESSION gtid_next = 'AUTOMATIC'")
        before = session.execute(query).texts()
        session.execute("BEGIN")
        error = 0
        try:
            session.execute(binlog_statement(table_map, update.rows))
        except SqlError as refused:
            error = refused.number
        unchanged = session.execute(query).texts() == before
        session.execute("ROLLBACK")
    return TransactionOutcome(error=error, unchanged=unchanged)


def judge(outcomes: Sequence[tuple[str, TransactionOutcome]]) -> list[Problem]:
    """SC6: each damage gives an error, and leaves the row."""
    out = []
    for damage, outcome in outcomes:
        if not outcome.error:
            out.append(Problem(damage, "an error", "success", "an update behind a damaged TABLE_MAP is accepted"))
        elif not outcome.unchanged:
            out.append(Problem(damage, "the row as before", "another", "a damaged TABLE_MAP changes a row"))
    return out
