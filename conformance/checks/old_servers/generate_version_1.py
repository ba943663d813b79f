"""Row events of old servers, for BINLOG statements on a new server.

Servers up to 8.2 write version 1, and write version 2 differently from newer ones (binlog-events 10.0, versions 5.6).

Each Case fills a table by SQL and gives one event of an old server: rows written, updated or deleted. Every server
knows the columns, and the text of their values is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import binlog_statement, insert_statement
from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.rows import DELETE_TYPES, V1_TYPES, WRITE_TYPES, Row, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import Column, Table, create_table, table_map
from conformance.requirements.reading import described_lengths
from conformance.verdict import Verdict
from generators.draw import mix

if TYPE_CHECKING:
    from generators.draw import Draw

SCHEMA: Final = "binlog_lab_version_1"
DEVIATION: Final = "rows-version-1-refused"
REFUSED: Final = 1730
_SERVER_ID: Final = 92
_WRITERS: Final = ("5.6.24-log", "5.7.32-log", "8.0.15", "8.0.43")  # of both versions
_OLDER: Final = ("5.5.62-log", "5.1.73-log")  # of version 1 alone, and without checksums
_KINDS: Final = mix(
    (EventType.WRITE_ROWS_V1, 2), (EventType.UPDATE_ROWS_V1, 2), (EventType.DELETE_ROWS_V1, 2),
    (EventType.WRITE_ROWS, 1), (EventType.UPDATE_ROWS, 1), (EventType.DELETE_ROWS, 1),
)  # fmt: skip
_TYPES: Final = ("INT", "BIGINT", "VARCHAR", "SMALLINT")
_BITS: Final = {"INT": 32, "BIGINT": 64, "SMALLINT": 16}
_LETTERS: Final = "abcdefgh XYZ0189_-"

Value = int | bytes | None


@dataclass(frozen=True, slots=True)
class _Change:
    """An event's rows, and the table's rows after it."""

    type: EventType
    rows: tuple[Row, ...]
    after: tuple[tuple[Value, ...], ...]


def case(draw: Draw, number: int) -> SqlCase:
    """One event of an old server."""
    columns = (
        Column(name="id", type="INT", nullable=False),
        *(_column(draw.fork("column", place), place) for place in range(1 + draw.below(4))),
    )
    table = Table(schema=SCHEMA, name="t", columns=columns, primary_key=((0, 0),) if draw.below(4) < 3 else ())
    start = tuple(_row(draw.fork("row", place), columns, place + 1) for place in range(1 + draw.below(4)))
    change = _change(draw.fork("change"), columns, start)
    event = rows_body(table_map(table), change.type, change.rows)
    known = change.type in V1_TYPES
    version = draw.choice((*_WRITERS, *_OLDER) if known else _WRITERS)
    checksum = Checksum.UNDEFINED if version in _OLDER else Checksum.CRC32
    lengths = described_lengths(version)
    writer = FormatDescription(server_version=version, post_header_lengths=lengths, algorithm=checksum)
    return SqlCase(
        id=f"rows-of-old-source-{number}",
        requirements=("X1",),
        statements=(
            *(
                SqlStatement(sql=sql)
                for sql in (
                    f"DROP SCHEMA IF EXISTS {SCHEMA}",
                    f"CREATE SCHEMA {SCHEMA} DEFAULT CHARACTER SET utf8mb4",
                    create_table(table, qualified=True),
                    f"USE {SCHEMA}",
                    insert_statement(table, start),
                    _binlog(writer, checksum=checksum),
                    # What follows a description would have no GTID, which a server with GTIDs refuses (1782).
                    "SET SESSION gtid_next='AUTOMATIC'",
                )
            ),
            SqlStatement(
                sql=_binlog(table_map(table), event, checksum=checksum),
                judges="X1",
                outcomes=(
                    Outcome(),
                    *([Outcome(error=REFUSED, verdict=Verdict.FAIL, deviation=DEVIATION)] if known else []),
                ),
                note=f"an old source's {change.type.name} is applied",
            ),
            # So that rows which are as they were before are known only where the event was refused.
            SqlStatement(sql="GET DIAGNOSTICS @refused = NUMBER"),
            SqlStatement(sql="SET SESSION gtid_next='AUTOMATIC'"),
            SqlStatement(
                sql="SELECT @refused, t.* FROM t ORDER BY id",
                judges="X1",
                outcomes=(
                    Outcome(rows=_texts("0", change.after)),
                    *([Outcome(rows=_texts("1", start), verdict=Verdict.FAIL, deviation=DEVIATION)] if known else []),
                ),
                note=f"the rows are those that the old source's {change.type.name} leaves",
            ),
            SqlStatement(sql=f"DROP SCHEMA {SCHEMA}"),
        ),
    )


def _binlog(*bodies: object, checksum: Checksum) -> str:
    events = (encode_event(body, server_id=_SERVER_ID, algorithm=checksum) for body in bodies)  # type: ignore[arg-type]
    return binlog_statement(*events)


def _column(draw: Draw, place: int) -> Column:
    kind = draw.choice(_TYPES)
    return Column(name=f"c{place}", type=kind, length=draw.choice((20, 100)) if kind == "VARCHAR" else None)


def _row(draw: Draw, columns: tuple[Column, ...], number: int) -> tuple[Value, ...]:
    return (number, *(_value(draw, column) for column in columns[1:]))


def _value(draw: Draw, column: Column) -> Value:
    if draw.below(6) == 5:
        return None
    if column.type == "VARCHAR":
        return draw.letters(draw.below(column.length or 1), _LETTERS).encode()
    bits = _BITS[column.type]
    return draw.integer(-(1 << bits - 1), (1 << bits - 1) - 1) if draw.below(2) else draw.below(10)


def _change(draw: Draw, columns: tuple[Column, ...], start: tuple[tuple[Value, ...], ...]) -> _Change:
    kind = draw.choice(_KINDS)
    if kind in WRITE_TYPES:
        count = len(start)
        made = tuple(_row(draw.fork(place), columns, count + place + 1) for place in range(1 + draw.below(3)))
        return _Change(kind, tuple(Row(None, row) for row in made), (*start, *made))
    chosen = sorted(draw.sample(range(len(start)), 1 + draw.below(len(start))))
    if kind in DELETE_TYPES:
        left = tuple(row for place, row in enumerate(start) if place not in chosen)
        return _Change(kind, tuple(Row(start[place], None) for place in chosen), left)
    after = list(start)
    for place in chosen:
        number = start[place][0]
        assert isinstance(number, int)
        # A change at least: the text of a number that no row has.
        after[place] = _row(draw.fork(place), columns, number + 1000)
    rows = tuple(Row(start[place], after[place]) for place in chosen)
    return _Change(kind, rows, tuple(sorted(after, key=lambda row: row[0])))  # type: ignore[arg-type,return-value]


def _texts(refused: str, rows: tuple[tuple[Value, ...], ...]) -> tuple[tuple[str | None, ...], ...]:
    return tuple((refused, *map(_text, row)) for row in rows)


def _text(value: Value) -> str | None:
    return value.decode() if isinstance(value, bytes) else None if value is None else str(value)
