"""Binary logs with one damaged value and a good event behind it, for programs that print them.

The damaged value is an object as in ``members``, in a diff or in a whole document, or a VECTOR that holds no whole
number of its numbers. A released mysqlbinlog ends itself at some of these (requirements sheet, FR5, deviation 4), so
they have the hazard may-crash and are written down nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.bytes_case import MYSQLBINLOG, BytesCase, bytes_id
from conformance.cases.injection import AFTER, BEFORE, TABLE_MAP, partial_image, row_of
from conformance.cases.update_case import Hazard
from conformance.reference.binlog.header import EventType
from conformance.reference.binlog.rows import Row, encode_head, rows_body
from conformance.reference.binlog.small import Opaque
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.diffs import Operation, encode_diff
from conformance.reference.paths import parse_path
from conformance.reference.tables import Column, Table, table_map
from generators import members

if TYPE_CHECKING:
    from generators.draw import Draw

VECTOR: Final = "vector"
PLACES: Final = (members.DIFF, members.FULL, VECTOR)
BEHIND: Final = "$.after"  # the path in the good event
VECTOR_TABLE: Final = Table(
    schema="binlog_lab_printed",
    name="v",
    columns=(Column(name="id", type="INT", nullable=False), Column(name="v", type="VECTOR")),
    primary_key=((0, 0),),
)
VECTOR_MAP: Final = table_map(VECTOR_TABLE, table_id=2)


def log_of_image(image: bytes) -> bytes:
    """A log with an update of one row, its ``image`` as it is."""
    writer = FileWriter(timestamp=1_500_000_000)
    return writer.start() + writer.add(TABLE_MAP) + writer.add(_update(image)) + _behind(writer)


def log_of_vector(vector: bytes) -> bytes:
    """A log with an inserted row whose VECTOR has these bytes."""
    writer = FileWriter(timestamp=1_500_000_000)
    body = rows_body(VECTOR_MAP, EventType.WRITE_ROWS, [Row(None, (1, vector))])
    return writer.start() + writer.add(VECTOR_MAP) + writer.add(body) + _behind(writer)


def _behind(writer: FileWriter) -> bytes:
    good = encode_diff(Operation.REMOVE, parse_path(BEHIND), None)
    return writer.add(TABLE_MAP) + writer.add(_update(partial_image(good)))


def _update(image: bytes) -> Opaque:
    head = rows_body(TABLE_MAP, EventType.PARTIAL_UPDATE_ROWS, (), before=BEFORE, after=AFTER)
    return Opaque(type=EventType.PARTIAL_UPDATE_ROWS, data=encode_head(head) + row_of(1, image))


def printed(draw: Draw, place: str, seed: str = "") -> BytesCase:
    """A file with damage in ``place``, which is one of :data:`PLACES`."""
    if place == VECTOR:
        size = 4 * draw.below(20) + draw.choice((1, 2, 3))
        name, data = f"{VECTOR}-of-{size}-bytes", log_of_vector(draw.bits(8 * size).to_bytes(size, "little"))
    else:
        item = members.injection(draw, place, keys=draw.below(3) < 2)
        name, data = item.name, log_of_image(item.image)
    return BytesCase(
        id=bytes_id(MYSQLBINLOG, data),
        requirements=("P9",),
        seed=seed,
        hazard=Hazard.MAY_CRASH,
        subject=MYSQLBINLOG,
        name=name,
        data=data,
    )
