"""TABLE_MAP events with an unknown field, given to the real client and the real applier (NF3).

This module models what 9.7.4 does instead of skipping the field, so that nothing else passes for the listed deviation:
its reader goes on inside the field's value. If the value ends in the middle of a field, the reader drops all metadata.
An applier that needs the dimensions of a VECTOR then refuses the event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import binlog_statement
from conformance.checks.table_metadata.altered_maps import NEXT, other_texts
from conformance.checks.table_metadata.run import Definition
from conformance.judge.problem import Problem
from conformance.reference.binlog.event import decode_event
from conformance.reference.dialect import MYSQL
from conformance.reference.errors import CodecError
from conformance.reference.tables.columns import ENUM, SET
from conformance.reference.tables.definitions import definable
from conformance.reference.tables.metadata import (
    Bits,
    Field,
    Members,
    Names,
    Numbers,
    UnknownField,
    decode_metadata,
    encode_metadata,
)
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.table_metadata import metadata_text
from conformance.servers.errors import SqlError
from generators.definitions import definition, row_values
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.table_metadata.run import DefinitionLog
    from conformance.reference.dialect import LogForms
    from conformance.reference.tables.metadata import MetadataField
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

DEVIATION: Final = "unknown-field-read-inside"
REFUSED: Final = 1105  # of an applier that cannot tell the dimensions of a VECTOR
_INSIDE: Final = bytes.fromhex("0101ff")  # looks like a field of its own: every number unsigned
_LONG: Final = bytes.fromhex("fdffffff")  # a length of three bytes
_LAST: Final = int(max(Field))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A TABLE_MAP as the server wrote it, the same with one more field, and the rows behind it."""

    item: Definition
    written: bytes
    plain: TableMap
    field: UnknownField
    table: TableMap
    event: bytes
    rows: bytes

    @property
    def read_inside(self) -> TableMap:
        """The TABLE_MAP as the reader of 9.7.4 understands it, which takes the field's value for fields."""
        return replace(self.plain, metadata=_read_inside(self.table))


def with_unknown(draw: Draw, table: TableMap) -> tuple[int, UnknownField]:
    """Add a field with a number beyond the known ones, at its place among those of ``table``.

    A value may make the reader of 9.7.4 lose its way among the other fields; what it then finds depends on more than is
    modelled. Such values stand in front, where nothing has been read, or at the end.
    """
    number = 14 + draw.below(242) if draw.below(2) else 14
    last = len(table.metadata)
    place = draw.below(last + 1)
    pairs = draw.letters(2 * draw.choice((0, 1, 2, 4, 60, 125)), " abcdefgxyz~").encode()
    match draw.below(4):
        case 0:
            return place, UnknownField(number, pairs)
        case 1:
            return place, UnknownField(number, pairs[:8] + _INSIDE)
        case 2:
            return last, UnknownField(number, pairs + b"z")
        case _:
            # Like the members of columns that are not there, and longer than the event.
            absent = {SET: Field.SET_STR_VALUE, ENUM: Field.ENUM_STR_VALUE}
            for column in table.columns:
                absent.pop(column.real_type, None)
            inside = bytes((next(iter(absent.values())),)) + _LONG if absent else b""
            return 0, UnknownField(number, pairs[:8] + inside)


def small_definitions(seed: str, numbers: range, schema: str, log: LogForms = MYSQL.log) -> list[Definition]:
    """Tables of a few columns, as far as a server of this version can have them."""
    found = []
    for number in numbers:
        draw = Stream("unknown-fields", seed, number)
        table = definition(draw, schema=schema, name=f"t{number}", count=1 + draw.below(12))
        if definable(table, log):
            found.append(Definition(table=table, values=row_values(table)))
    return found


def with_unknown_fields(seed: str, definitions: Sequence[Definition], log: DefinitionLog) -> list[Unknown]:
    """Each table's event of an insert with one more field, at any place among the others."""
    events = log.captured.events
    behind = dict(pairwise(events))
    found = []
    for number, (item, written) in enumerate(zip(definitions, log.maps["MINIMAL"], strict=True)):
        draw = Stream("unknown-fields", seed, "field", number)
        event = decode_event(log.maps["FULL"][number] if draw.below(2) else written, algorithm=log.algorithm)
        assert isinstance(event.body, TableMap)
        plain = event.body
        place, field = with_unknown(draw, plain)
        table = replace(plain, metadata=(*plain.metadata[:place], field, *plain.metadata[place:]))
        found.append(
            Unknown(
                item=item,
                written=written,
                plain=plain,
                field=field,
                table=table,
                event=event._replace(body=table).encode(),
                rows=behind[written],
            )
        )
    return found


def judge_texts(made: Sequence[Unknown], text: bytes) -> list[Problem]:
    """Judge what the client printed of each event: it must be what the client prints without the field."""
    found = []
    for one, expected, shown, place in other_texts(made, text):
        inside = place >= 0 and text.startswith(metadata_text(one.read_inside) + NEXT, place)
        found.append(_problem(one, "text", _words(expected), _words(shown), inside=inside))
    return found


def apply(session: Connection, description: bytes, made: Sequence[Unknown]) -> list[tuple[int | None, int | None]]:
    """Apply each event as a BINLOG statement, without the field and with it: its error, or ``None`` where it is
    applied."""
    session.execute(binlog_statement(description))
    session.execute("SET SESSION gtid_next = 'AUTOMATIC'")
    return [(_applied(session, one, one.written), _applied(session, one, one.event)) for one in made]


def _applied(session: Connection, one: Unknown, event: bytes) -> int | None:
    try:
        session.execute(binlog_statement(event + one.rows))
    except SqlError as error:
        return error.number
    finally:
        session.execute(f"DELETE FROM {one.item.name}")
    return None


def judge_applied(made: Sequence[Unknown], errors: Sequence[tuple[int | None, int | None]]) -> list[Problem]:
    """Every event must be applied as without the field."""
    found = []
    for one, (plain, error) in zip(made, errors, strict=True):
        if error != plain:
            lost = _dimensions(one.read_inside) != _dimensions(one.plain)
            inside = (plain, error) == (None, REFUSED) and lost
            found.append(_problem(one, "applied", _ended(plain), _ended(error), inside=inside))
    return found


def _ended(error: int | None) -> str:
    return "no error" if error is None else f"error {error}"


def _dimensions(table: TableMap) -> list[int | None]:
    return [info.dimension for info in table.described]


def _problem(one: Unknown, what: str, expected: str, got: str, *, inside: bool) -> Problem:
    return Problem(
        field=f"{what}, with field {one.field.field} = {one.field.data[:20].hex() or 'empty'}",
        expected=expected,
        got=got,
        message="a field that nobody knows changes what is read",
        statements=one.item.statements(),
        deviation=DEVIATION if inside else None,
    )


def _read_inside(table: TableMap) -> tuple[MetadataField, ...]:
    try:
        rules = table.rules._replace(skips_unknown=False, highest=_LAST)
        fields = decode_metadata(encode_metadata(table.metadata), table.columns, rules)
    except CodecError:
        return ()
    merged: dict[int, MetadataField] = {}
    for item in fields:  # two values of one field stand in one row
        before = merged.get(item.field)
        merged[item.field] = item if before is None else _joined(before, item)
    return tuple(merged.values())


def _joined(before: MetadataField, item: MetadataField) -> MetadataField:
    match before, item:
        case (Bits(), Bits()):
            return replace(before, bits=before.bits + item.bits)
        case (Numbers(), Numbers()):
            return replace(before, numbers=before.numbers + item.numbers)
        case (Names(), Names()):
            return replace(before, names=before.names + item.names)
        case (Members(), Members()):
            return replace(before, members=before.members + item.members)
        case _:
            return item


def _words(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")
