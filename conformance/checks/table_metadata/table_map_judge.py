"""A TABLE_MAP event against the definition of its table: first the bytes, then the rule that a difference breaks.

The table id, the timestamp and other facts that no model can know are borrowed (``judge.borrowed``); lengths and
checksum are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.judge.updates.borrowed import borrow, complete
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum, checksum_of, decode_header
from conformance.reference.binlog.versions import version_rules, written
from conformance.reference.dialect import MYSQL
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.tables.definitions import table_map
from conformance.reference.tables.metadata import WORKLOG, Field, describe
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.dialect import Dialect
    from conformance.reference.tables.definitions import Table
    from conformance.reference.tables.metadata import ColumnInfo, MetadataField

FORMAT: Final = "TMG1"  # the fields themselves, and everything that was in the event before
MODE: Final = "TMM1"  # what each binlog_row_metadata logs
TYPES: Final = "TMF7"
OWNERS: Final = {
    Field.SIGNEDNESS: "TMF1",
    Field.DEFAULT_CHARSET: "TMF2",
    Field.COLUMN_CHARSET: "TMF2",
    Field.COLUMN_NAME: "TMF3",
    Field.SET_STR_VALUE: "TMF4",
    Field.ENUM_STR_VALUE: "TMF5",
    Field.GEOMETRY_TYPE: TYPES,
    Field.SIMPLE_PRIMARY_KEY: "TMF6",
    Field.PRIMARY_KEY_WITH_PREFIX: "TMF6",
    Field.ENUM_AND_SET_DEFAULT_CHARSET: "TMG2",
    Field.ENUM_AND_SET_COLUMN_CHARSET: "TMG2",
    Field.COLUMN_VISIBILITY: "TMG3",
    Field.VECTOR_DIMENSIONALITY: "TMG4",
}
"""Each field's requirement."""
_OBSERVED: Final = frozenset(("TMG2", "TMG3", "TMG4"))  # no worklog asks for these
_FULL_ONLY: Final = frozenset(
    (
        Field.COLUMN_NAME,
        Field.SET_STR_VALUE,
        Field.ENUM_STR_VALUE,
        Field.SIMPLE_PRIMARY_KEY,
        Field.PRIMARY_KEY_WITH_PREFIX,
    )
)
_OBSERVED_WITH_FULL: Final = frozenset(  # the worklog does not know these
    (Field.ENUM_AND_SET_DEFAULT_CHARSET, Field.ENUM_AND_SET_COLUMN_CHARSET, Field.COLUMN_VISIBILITY)
)
_SHOWN: Final = 2_000  # characters of a side


@dataclass(frozen=True, slots=True, kw_only=True)
class MapMismatch:
    """One rule that an event breaks. ``observed``: the rule is only observed, and no worklog asks for it."""

    requirement: str
    field: str
    expected: str
    got: str
    message: str
    observed: bool = False


def concerned(table: Table, mode: str) -> set[str]:
    """The requirements with a rule for this table's event."""
    return {FORMAT, MODE, TYPES} | {OWNERS[Field(item.field)] for item in table_map(table, mode).metadata}


def judge_table_map(table: Table, mode: str, event: bytes, dialect: Dialect = MYSQL) -> list[MapMismatch]:
    """All differences of the event that the server wrote for ``table`` with this ``binlog_row_metadata``."""
    stored = int.from_bytes(event[-FOOTER_SIZE:], "little")
    algorithm = Checksum.CRC32 if checksum_of(event[:-FOOTER_SIZE]) == stored else Checksum.NONE
    rules = WORKLOG if dialect.numbering.worklog_metadata else version_rules(dialect.log)
    try:
        header = decode_header(event)
        if header.type != EventType.TABLE_MAP:
            return [_unreadable("a TABLE_MAP", event_name(header.type))]
        end = len(event) - (FOOTER_SIZE if algorithm is Checksum.CRC32 else 0)
        observed = TableMap.decode(event[HEADER_SIZE:end], rules)
        in_version = written(table_map(table, mode, rules=rules), dialect)
        assert isinstance(in_version, TableMap)
        wanted = borrow(in_version, observed)
        whole = complete(wanted, header, algorithm=algorithm)
    except CodecError as error:
        return [_unreadable("an event that can be read", f"{error}: {event.hex()}")]
    if whole == event:
        return []
    found = [*_original(wanted, observed), *_fields(wanted, observed)]
    if not found:
        message = "the event says the same in other bytes"
        found = [_mismatch(FORMAT, "event", whole.hex(), event.hex(), message)]
    return found


def _unreadable(expected: str, got: str) -> MapMismatch:
    return MapMismatch(
        requirement=FORMAT, field="event", expected=expected, got=got[:_SHOWN], message="no readable TABLE_MAP"
    )


def _original(wanted: TableMap, got: TableMap) -> list[MapMismatch]:
    """Compare the parts that a TABLE_MAP had before there was metadata."""
    found = []
    for name, requirement, message in (
        ("flags", FORMAT, "other flags"),
        ("schema", FORMAT, "another schema"),
        ("table", FORMAT, "another table"),
        ("columns", TYPES, "other column types"),
        ("nullable", FORMAT, "another null bitmap"),
    ):
        one, other = getattr(wanted, name), getattr(got, name)
        if one != other:
            found.append(_mismatch(requirement, name, *_first_difference(one, other), message))
    return found


def _first_difference(one: object, other: object) -> tuple[str, str]:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        place = next(index for index, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        return f"[{place}] {one[place]}", f"[{place}] {other[place]}"
    return repr(one), repr(other)


def _fields(wanted: TableMap, got: TableMap) -> list[MapMismatch]:
    """Compare the optional fields, each under the requirement that owns it."""
    expected = {item.field: item for item in wanted.metadata}
    observed = {item.field: item for item in got.metadata}
    numbers = [item.field for item in got.metadata]
    found = [
        _mismatch(FORMAT, _name(number), "once", f"{numbers.count(number)} times", "a field stands twice")
        for number in sorted({number for number in numbers if numbers.count(number) > 1})
    ]
    for number in sorted(set(expected) | set(observed)):
        one, other = expected.get(number), observed.get(number)
        if one == other:
            continue
        if number not in OWNERS:
            found.append(_mismatch(FORMAT, _name(number), "no such field", repr(other), "a field that nobody knows"))
            continue
        unexpected = one is None and number in _FULL_ONLY | _OBSERVED_WITH_FULL  # a name with MINIMAL is a name
        if unexpected or (other is None and number in _FULL_ONLY):
            message = "binlog_row_metadata logs something else"
            found.append(_mismatch(MODE, _name(number), _logged(one), _logged(other), message))
        if not unexpected:
            found.append(_value(OWNERS[Field(number)], number, one, other, wanted, got))
    if not found and numbers != list(expected):
        # The worklog leaves the order free.
        message = "the fields stand in another order"
        found.append(_mismatch(FORMAT, "order", str(list(expected)), str(numbers), message, observed=True))
    return found


def _value(
    owner: str,
    number: int,
    one: MetadataField | None,
    other: MetadataField | None,
    wanted: TableMap,
    got: TableMap,
) -> MapMismatch:
    says = [item.collation for item in _described(wanted)] == [item.collation for item in _described(got)]
    if owner == "TMF2" and says:
        message = "the same character sets in the other form"
        return _mismatch(owner, _name(number), repr(one), repr(other), message, observed=True)
    message = "the field says something else"
    return _mismatch(owner, _name(number), repr(one), repr(other), message, observed=owner in _OBSERVED)


def _described(table: TableMap) -> Sequence[ColumnInfo]:
    return describe(table.columns, table.nullable, table.metadata, table.rules)


def _logged(item: object) -> str:
    return "not logged" if item is None else "logged"


def _name(number: int) -> str:
    return Field(number).name if number in Field._value2member_map_ else f"field {number}"


def _mismatch(
    requirement: str, field: str, expected: str, got: str, message: str, *, observed: bool = False
) -> MapMismatch:
    return MapMismatch(
        requirement=requirement,
        field=field,
        expected=expected[:_SHOWN],
        got=got[:_SHOWN],
        message=message,
        observed=observed,
    )
