"""Small binary logs with row changes: one transaction on one table, as 9.7 writes it with full metadata.

A log has few columns and rows, so that one defect of a reader rarely hides another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.rows import PartitionInfo, Row, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import Cell, Member, Path
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Table, table_map
from fuzz.sound import columns
from generators import scalars
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.event import Body
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.tables.columns import Value
    from conformance.reference.tables.definitions import Column
    from conformance.reference.tables.table_map import TableMap
    from generators.draw import Draw

TIME: Final = 1_500_000_000  # of each event
SOURCE: Final = UUID("0b1a5000-0000-4000-8000-000000000020")
_UPDATE: Final = EventType.PARTIAL_UPDATE_ROWS
_CODES: Final = mix((EventType.WRITE_ROWS, 4), (_UPDATE, 4), (EventType.UPDATE_ROWS, 2), (EventType.DELETE_ROWS, 1))
_COUNTS: Final = mix((1, 8), (2, 5), (3, 3), (9, 1))


def log(draw: Draw) -> bytes:
    """A log with the changes of one transaction."""
    return log_of(draw, lambda number: number < 1)


def log_of(draw: Draw, more: Callable[[int], bool]) -> bytes:
    """A log of transactions, each with the changes of one table. ``more``: whether one follows so many."""
    algorithm = Checksum.NONE if draw.below(8) == 7 else Checksum.CRC32
    writer = FileWriter(format=FormatDescription(algorithm=algorithm), timestamp=TIME)
    out = writer.start()
    number = gno = 0
    while more(number):
        compressed = draw.below(24) == 23
        gno += 1 + draw.below(9)
        gtid = Gtid(uuid=SOURCE, gno=gno, immediate_commit_timestamp=TIME * 10**6,
                    immediate_server_version=90704)  # fmt: skip
        described, rows = changes(draw, 90 + number)
        bodies: list[Body] = [begin(described.schema, update=True), described, rows, Xid(xid=7 + number)]
        out += writer.group(gtid, [writer.compressed(bodies)] if compressed else bodies)
        number += 1
    return out


def changes(draw: Draw, table_id: int = 90) -> tuple[TableMap, RowsBody]:
    """A TABLE_MAP, and an event with one to three rows of its table."""
    made = table(draw)
    described = table_map(made, "FULL", table_id=table_id)
    code = draw.choice(_CODES)
    before, after = _image(draw, made), _image(draw, made)
    rows = []
    for _ in range(draw.choice((1, 1, 1, 1, 2, 3))):
        old = tuple(columns.value(draw, made.columns[place]) for place in before)
        new = tuple(_after(draw, made.columns[place], partial=code == _UPDATE) for place in after)
        rows.append(Row(None if code == EventType.WRITE_ROWS else old, None if code == EventType.DELETE_ROWS else new))
    extra: tuple[PartitionInfo, ...] = ()
    if draw.below(16) == 15:
        source = draw.below(9) if code in (_UPDATE, EventType.UPDATE_ROWS) else None
        extra = (PartitionInfo(draw.below(300), source),)
    return described, rows_body(described, code, rows, before=before, after=after, extra=extra)


def table(draw: Draw) -> Table:
    """A table with one column, or a few."""
    found = tuple(columns.column(draw, number) for number in range(draw.choice(_COUNTS)))
    name = "t" if draw.below(16) < 15 else "ж" * 64
    alone = next(filter(columns.stands_alone, found), None)
    if alone is not None:
        found = (alone,)
    key: tuple[tuple[int, int], ...] = ()
    if found[0].type in ("INT", "BIGINT"):
        key = ((0, 0),)
    elif found[0].type == "VARCHAR" and (found[0].length or 0) > 9:
        key = ((0, draw.choice((0, 5))),)
    return Table(schema="lab", name=name, columns=found, primary_key=key)


def _image(draw: Draw, made: Table) -> list[int]:
    """The columns of an image: all of them, or some as in images that are not full."""
    count = len(made.columns)
    if draw.below(4) < 3:
        return list(range(count))
    return draw.sample(range(count), draw.integer(1, count))


def _after(draw: Draw, column: Column, *, partial: bool) -> Value | None:
    if partial and column.type == "JSON" and draw.below(4):
        return PartialJson(encode_diffs([_diff(draw) for _ in range(draw.choice((1, 1, 1, 2, 0, 3)))]))
    return columns.value(draw, column)


def _diff(draw: Draw) -> Diff:
    operation = draw.choice((Operation.REPLACE, Operation.INSERT, Operation.REMOVE))
    legs = tuple(
        Member(scalars.key(draw)) if draw.below(3) < 2 else Cell(draw.below(300))
        for _ in range(draw.choice((1, 1, 2, 3, 40)))
    )
    value = None if operation is Operation.REMOVE else columns.document(draw)
    return Diff(operation, Path(legs), value)
