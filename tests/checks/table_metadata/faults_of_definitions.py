"""Faults of TABLE_MAP and of its text: written down from WL#4618 and docs/spec/table-map-metadata.md, before the
checks.

Each is what a faulty server would have written, or a faulty program printed: a change of a TABLE_MAP that is in order
(its columns, flags and fields), or of the printed lines. A change that does not concern a table leaves it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import (
    Bits,
    DefaultCharset,
    Field,
    Members,
    Names,
    Numbers,
    PrefixKey,
    UnknownField,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import MetadataField
    from conformance.reference.tables.table_map import TableMap


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFault:
    """One fault of the event."""

    id: str
    requirement: str
    sentence: str
    change: Callable[[TableMap], TableMap]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFault:
    """One fault of the text."""

    id: str
    requirement: str
    sentence: str
    change: Callable[[bytes], bytes]


def _field(number: int, change: Callable[[Any], MetadataField | None]) -> Callable[[TableMap], TableMap]:
    """Change, or leave out, the field of this number."""

    def doctored(table: TableMap) -> TableMap:
        made = [change(item) if item.field == number else item for item in table.metadata]
        return replace(table, metadata=tuple(item for item in made if item is not None))

    return doctored


def _flipped(item: Bits) -> Bits:
    return replace(item, bits=(not item.bits[0], *item.bits[1:]))


def _backwards(item: Bits) -> Bits:
    """Each byte with its first bit at the bottom."""
    padded = [*item.bits, *([False] * (-len(item.bits) % 8))]
    turned = [bit for start in range(0, len(padded), 8) for bit in reversed(padded[start : start + 8])]
    return replace(item, bits=tuple(turned))


def _without_years(table: TableMap) -> TableMap:
    numeric = [column for column in table.columns if column.is_numeric]

    def change(item: Bits) -> Bits:
        return replace(
            item, bits=tuple(bit for bit, column in zip(item.bits, numeric, strict=True) if column.type != 13)
        )

    return _field(Field.SIGNEDNESS, change)(table)


def _next_exception(item: DefaultCharset) -> DefaultCharset:
    return replace(item, exceptions=tuple((index + 1, number) for index, number in item.exceptions))


def _as_columns(table: TableMap) -> TableMap:
    """The default form written as one number for each column."""

    def change(item: DefaultCharset) -> Numbers:
        count = sum(column.is_character for column in table.columns)
        other = dict(item.exceptions)
        numbers = tuple(other.get(index, item.default) for index in range(count))
        return Numbers(Field.COLUMN_CHARSET, numbers)

    return _field(Field.DEFAULT_CHARSET, change)(table)


def _first(numbers: tuple[int, ...], by: int = 1) -> tuple[int, ...]:
    return (numbers[0] + by, *numbers[1:])


def _names(change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[[TableMap], TableMap]:
    return _field(Field.COLUMN_NAME, lambda item: replace(item, names=change(item.names)))


def _member(change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]) -> Callable[[Members], Members]:
    return lambda item: replace(item, members=(change(item.members[0]), *item.members[1:]))


def _types(change: Callable[[ColumnType], ColumnType]) -> Callable[[TableMap], TableMap]:
    return lambda table: replace(table, columns=tuple(map(change, table.columns)))


def _varchar_shorter(column: ColumnType) -> ColumnType:
    return ColumnType(15, column.metadata - 1) if column.type == 15 and column.metadata else column


def _text_as_tiny(column: ColumnType) -> ColumnType:
    return ColumnType(252, 1) if column.type == 252 else column


def _without_fraction(column: ColumnType) -> ColumnType:
    return ColumnType(column.type, 0) if column.type in (17, 18, 19) else column


def _nulls(table: TableMap) -> TableMap:
    return replace(table, nullable=tuple(not null for null in table.nullable))


def _twice(table: TableMap) -> TableMap:
    return replace(table, metadata=(*table.metadata, *table.metadata[:1]))


MAP_FAULTS: Final = [
    MapFault(
        id="signedness/flag",
        requirement="TMF1",
        sentence="One flag for each numeric column: unsigned or not.",
        change=_field(Field.SIGNEDNESS, _flipped),
    ),
    MapFault(
        id="signedness/bit-order",
        requirement="TMF1",
        sentence="The first numeric column has the top bit.",
        change=_field(Field.SIGNEDNESS, _backwards),
    ),
    MapFault(
        id="signedness/year",
        requirement="TMF1",
        sentence="YEAR is counted (observed).",
        change=_without_years,
    ),
    MapFault(
        id="signedness/missing",
        requirement="TMF1",
        sentence="The flags are logged where there is a numeric column.",
        change=_field(Field.SIGNEDNESS, lambda _: None),
    ),
    MapFault(
        id="charset/default",
        requirement="TMF2",
        sentence="The default is the collation that most columns have.",
        change=_field(Field.DEFAULT_CHARSET, lambda item: replace(item, default=item.default + 1)),
    ),
    MapFault(
        id="charset/index",
        requirement="TMF2",
        sentence="An exception names its column's place among the character columns.",
        change=_field(Field.DEFAULT_CHARSET, _next_exception),
    ),
    MapFault(
        id="charset/column",
        requirement="TMF2",
        sentence="Each character column's collation is logged.",
        change=_field(Field.COLUMN_CHARSET, lambda item: replace(item, numbers=_first(item.numbers))),
    ),
    MapFault(
        id="charset/form",
        requirement="TMF2",
        sentence="A default is logged when most of the columns have the same collation.",
        change=_as_columns,
    ),
    MapFault(
        id="names/swapped",
        requirement="TMF3",
        sentence="Column names stand in the order of the columns.",
        change=_names(lambda names: tuple(reversed(names))),
    ),
    MapFault(
        id="names/cut",
        requirement="TMF3",
        sentence="A name is logged whole.",
        change=_names(lambda names: (*names[:-1], names[-1][:-1])),
    ),
    MapFault(
        id="names/missing",
        requirement="TMF3",
        sentence="The log has the names of the columns.",
        change=_field(Field.COLUMN_NAME, lambda _: None),
    ),
    MapFault(
        id="set/order",
        requirement="TMF4",
        sentence="Members of a SET stand in their order.",
        change=_field(Field.SET_STR_VALUE, _member(lambda members: (*members[1:], members[0] + b"!"))),
    ),
    MapFault(
        id="set/lost-member",
        requirement="TMF4",
        sentence="All members of a SET are logged.",
        change=_field(Field.SET_STR_VALUE, _member(lambda members: members[:-1])),
    ),
    MapFault(
        id="enum/charset",
        requirement="TMF5",
        sentence="Members of an ENUM are in the column's character set.",
        change=_field(Field.ENUM_STR_VALUE, _member(lambda members: (members[0] + b"\0", *members[1:]))),
    ),
    MapFault(
        id="enum/lost-column",
        requirement="TMF5",
        sentence="Every ENUM column has its members.",
        change=_field(Field.ENUM_STR_VALUE, lambda item: replace(item, members=item.members[:-1])),
    ),
    MapFault(
        id="key/order",
        requirement="TMF6",
        sentence="Key parts stand in the order of the definition, by places from 0.",
        change=_field(Field.SIMPLE_PRIMARY_KEY, lambda item: replace(item, numbers=_first(item.numbers))),
    ),
    MapFault(
        id="key/prefix",
        requirement="TMF6",
        sentence="The prefix is logged, in characters.",
        change=_field(
            Field.PRIMARY_KEY_WITH_PREFIX,
            lambda item: replace(item, parts=tuple((index, prefix * 4) for index, prefix in item.parts)),
        ),
    ),
    MapFault(
        id="key/lost",
        requirement="TMF6",
        sentence="The log has the primary key.",
        change=lambda table: replace(
            table,
            metadata=tuple(
                item
                for item in table.metadata
                if not isinstance(item, PrefixKey) and item.field != Field.SIMPLE_PRIMARY_KEY
            ),
        ),
    ),
    MapFault(
        id="types/length",
        requirement="TMF7",
        sentence="The types are exact: the length of a VARCHAR.",
        change=_types(_varchar_shorter),
    ),
    MapFault(
        id="types/size-of-text",
        requirement="TMF7",
        sentence="The types are exact: TINYTEXT, TEXT, MEDIUMTEXT and LONGTEXT differ.",
        change=_types(_text_as_tiny),
    ),
    MapFault(
        id="types/fraction",
        requirement="TMF7",
        sentence="The types are exact: fraction digits of TIME, DATETIME and TIMESTAMP.",
        change=_types(_without_fraction),
    ),
    MapFault(
        id="types/geometry",
        requirement="TMF7",
        sentence="The types are exact: the real geometry type is logged.",
        change=_field(Field.GEOMETRY_TYPE, lambda item: replace(item, numbers=_first(item.numbers))),
    ),
    MapFault(
        id="types/null",
        requirement="TMG1",
        sentence="The original fields are as they were: the null bitmap.",
        change=_nulls,
    ),
    MapFault(
        id="fields/twice",
        requirement="TMG1",
        sentence="A field is logged once.",
        change=_twice,
    ),
    MapFault(
        id="fields/unknown",
        requirement="TMG1",
        sentence="Nothing but the known fields is logged.",
        change=lambda table: replace(table, metadata=(*table.metadata, UnknownField(99, b""))),
    ),
    MapFault(
        id="members/charset",
        requirement="TMG2",
        sentence="Collations of ENUM and SET columns are logged for themselves (observed).",
        change=_field(Field.ENUM_AND_SET_DEFAULT_CHARSET, lambda item: replace(item, default=item.default + 1)),
    ),
    MapFault(
        id="members/charset-missing",
        requirement="TMG2",
        sentence="Collations of ENUM and SET columns are logged where there is one (observed).",
        change=_field(Field.ENUM_AND_SET_COLUMN_CHARSET, lambda _: None),
    ),
    MapFault(
        id="visibility/flag",
        requirement="TMG3",
        sentence="One flag for each column: visible or not (observed).",
        change=_field(Field.COLUMN_VISIBILITY, _flipped),
    ),
    MapFault(
        id="visibility/bit-order",
        requirement="TMG3",
        sentence="The first column has the top bit (observed).",
        change=_field(Field.COLUMN_VISIBILITY, _backwards),
    ),
    MapFault(
        id="dimension/number",
        requirement="TMG4",
        sentence="The declared number of a VECTOR column's dimensions is logged (observed).",
        change=_field(Field.VECTOR_DIMENSIONALITY, lambda item: replace(item, numbers=_first(item.numbers))),
    ),
    MapFault(
        id="dimension/missing",
        requirement="TMG4",
        sentence="The dimensions are logged where there is a VECTOR column (observed).",
        change=_field(Field.VECTOR_DIMENSIONALITY, lambda _: None),
    ),
]


def _minimal(table: TableMap) -> TableMap:
    """With what FULL alone has."""
    known = {item.field for item in table.metadata}
    if Field.COLUMN_NAME in known:
        return table
    return replace(table, metadata=(*table.metadata, Names(tuple(f"c{n}" for n in range(len(table.columns))))))


def _full(table: TableMap) -> TableMap:
    """Without what FULL adds."""
    return replace(
        table, metadata=tuple(item for item in table.metadata if item.field in (1, 2, 3, Field.GEOMETRY_TYPE, 13))
    )


MODE_FAULTS: Final = [
    MapFault(
        id="modes/minimal",
        requirement="TMM1",
        sentence="MINIMAL logs signedness, character sets and geometry types, no names.",
        change=_minimal,
    ),
    MapFault(
        id="modes/full",
        requirement="TMM1",
        sentence="FULL logs everything.",
        change=_full,
    ),
]


def _swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda text: text.replace(old, new, 1)


TEXT_FAULTS: Final = [
    TextFault(
        id="print/unsigned",
        requirement="TMP1",
        sentence="UNSIGNED is printed behind the type.",
        change=_swap(b" UNSIGNED", b""),
    ),
    TextFault(
        id="print/collation",
        requirement="TMP1",
        sentence="A character column is followed by its character set and collation.",
        change=_swap(b" COLLATE ", b" COLLATION "),
    ),
    TextFault(
        id="print/key",
        requirement="TMP1",
        sentence="The primary key is printed.",
        change=lambda text: text.partition(b"# Primary Key(")[0],
    ),
    TextFault(
        id="print/default-charset",
        requirement="TMP1",
        sentence="A binary column is printed as such, without a character set.",
        change=_swap(b"VARBINARY(", b"VARCHAR("),
    ),
]

# What a program prints of an event with a field that it does not know, beside what it prints of the event without it.
UNKNOWN_FIELD_FAULTS: Final = [
    TextFault(
        id="unknown/lost-column",
        requirement="TMNF3",
        sentence="A field that a reader does not know changes nothing of what it knows: columns are printed.",
        change=lambda text: text.partition(b",\n#         ")[0],
    ),
    TextFault(
        id="unknown/other-type",
        requirement="TMNF3",
        sentence="A field that a reader does not know changes nothing of what it knows: types are the same.",
        change=_swap(b" NOT NULL", b" UNSIGNED NOT NULL"),
    ),
]
