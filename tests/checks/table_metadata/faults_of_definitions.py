"""Faults of TABLE_MAP and of its text: written down from WL#4618 and docs/spec/table-map-metadata.md, before the
checks.

Each is what a faulty server would have written, or a faulty program printed: a change of a TABLE_MAP that is in order
(its columns, flags and fields), or of the printed lines. A change that does not concern a table leaves it as it is.
"""

from __future__ import annotations

from dataclasses import replace
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
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import MetadataField
    from conformance.reference.tables.table_map import TableMap


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
    Fault("signedness/flag", "TMF1", "One flag for each numeric column: unsigned or not.",
          _field(Field.SIGNEDNESS, _flipped)),
    Fault("signedness/bit-order", "TMF1", "The first numeric column has the top bit.",
          _field(Field.SIGNEDNESS, _backwards)),
    Fault("signedness/year", "TMF1", "YEAR is counted (observed).", _without_years),
    Fault("signedness/missing", "TMF1", "The flags are logged where there is a numeric column.",
          _field(Field.SIGNEDNESS, lambda _: None)),
    Fault("charset/default", "TMF2", "The default is the collation that most columns have.",
          _field(Field.DEFAULT_CHARSET, lambda item: replace(item, default=item.default + 1))),
    Fault("charset/index", "TMF2", "An exception names its column's place among the character columns.",
          _field(Field.DEFAULT_CHARSET, _next_exception)),
    Fault("charset/column", "TMF2", "Each character column's collation is logged.",
          _field(Field.COLUMN_CHARSET, lambda item: replace(item, numbers=_first(item.numbers)))),
    Fault("charset/form", "TMF2", "A default is logged when most of the columns have the same collation.", _as_columns),
    Fault("names/swapped", "TMF3", "Column names stand in the order of the columns.",
          _names(lambda names: tuple(reversed(names)))),
    Fault("names/cut", "TMF3", "A name is logged whole.", _names(lambda names: (*names[:-1], names[-1][:-1]))),
    Fault("names/missing", "TMF3", "The log has the names of the columns.", _field(Field.COLUMN_NAME, lambda _: None)),
    Fault("set/order", "TMF4", "Members of a SET stand in their order.",
          _field(Field.SET_STR_VALUE, _member(lambda members: (*members[1:], members[0] + b"!")))),
    Fault("set/lost-member", "TMF4", "All members of a SET are logged.",
          _field(Field.SET_STR_VALUE, _member(lambda members: members[:-1]))),
    Fault("enum/charset", "TMF5", "Members of an ENUM are in the column's character set.",
          _field(Field.ENUM_STR_VALUE, _member(lambda members: (members[0] + b"\0", *members[1:])))),
    Fault("enum/lost-column", "TMF5", "Every ENUM column has its members.",
          _field(Field.ENUM_STR_VALUE, lambda item: replace(item, members=item.members[:-1]))),
    Fault("key/order", "TMF6", "Key parts stand in the order of the definition, by places from 0.",
          _field(Field.SIMPLE_PRIMARY_KEY, lambda item: replace(item, numbers=_first(item.numbers)))),
    Fault("key/prefix", "TMF6", "The prefix is logged, in characters.",
          _field(
              Field.PRIMARY_KEY_WITH_PREFIX,
              lambda item: replace(item, parts=tuple((index, prefix * 4) for index, prefix in item.parts)),
          )),
    Fault("key/lost", "TMF6", "The log has the primary key.",
          lambda table: replace(
              table,
              metadata=tuple(
                  item
                  for item in table.metadata
                  if not isinstance(item, PrefixKey) and item.field != Field.SIMPLE_PRIMARY_KEY
              ),
          )),
    Fault("types/length", "TMF7", "The types are exact: the length of a VARCHAR.", _types(_varchar_shorter)),
    Fault("types/size-of-text", "TMF7", "The types are exact: TINYTEXT, TEXT, MEDIUMTEXT and LONGTEXT differ.",
          _types(_text_as_tiny)),
    Fault("types/fraction", "TMF7", "The types are exact: fraction digits of TIME, DATETIME and TIMESTAMP.",
          _types(_without_fraction)),
    Fault("types/geometry", "TMF7", "The types are exact: the real geometry type is logged.",
          _field(Field.GEOMETRY_TYPE, lambda item: replace(item, numbers=_first(item.numbers)))),
    Fault("types/null", "TMG1", "The original fields are as they were: the null bitmap.", _nulls),
    Fault("fields/twice", "TMG1", "A field is logged once.", _twice),
    Fault("fields/unknown", "TMG1", "Nothing but the known fields is logged.",
          lambda table: replace(table, metadata=(*table.metadata, UnknownField(99, b"")))),
    Fault("members/charset", "TMG2", "Collations of ENUM and SET columns are logged for themselves (observed).",
          _field(Field.ENUM_AND_SET_DEFAULT_CHARSET, lambda item: replace(item, default=item.default + 1))),
    Fault("members/charset-missing", "TMG2",
          "Collations of ENUM and SET columns are logged where there is one (observed).",
          _field(Field.ENUM_AND_SET_COLUMN_CHARSET, lambda _: None)),
    Fault("visibility/flag", "TMG3", "One flag for each column: visible or not (observed).",
          _field(Field.COLUMN_VISIBILITY, _flipped)),
    Fault("visibility/bit-order", "TMG3", "The first column has the top bit (observed).",
          _field(Field.COLUMN_VISIBILITY, _backwards)),
    Fault("dimension/number", "TMG4", "The declared number of a VECTOR column's dimensions is logged (observed).",
          _field(Field.VECTOR_DIMENSIONALITY, lambda item: replace(item, numbers=_first(item.numbers)))),
    Fault("dimension/missing", "TMG4", "The dimensions are logged where there is a VECTOR column (observed).",
          _field(Field.VECTOR_DIMENSIONALITY, lambda _: None)),
]  # fmt: skip


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
    Fault("modes/minimal", "TMM1", "MINIMAL logs signedness, character sets and geometry types, no names.", _minimal),
    Fault("modes/full", "TMM1", "FULL logs everything.", _full),
]  # fmt: skip


def _swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda text: text.replace(old, new, 1)


TEXT_FAULTS: Final = [
    Fault("print/unsigned", "TMP1", "UNSIGNED is printed behind the type.", _swap(b" UNSIGNED", b"")),
    Fault("print/collation", "TMP1", "A character column is followed by its character set and collation.",
          _swap(b" COLLATE ", b" COLLATION ")),
    Fault("print/key", "TMP1", "The primary key is printed.", lambda text: text.partition(b"# Primary Key(")[0]),
    Fault("print/default-charset", "TMP1", "A binary column is printed as such, without a character set.",
          _swap(b"VARBINARY(", b"VARCHAR(")),
]  # fmt: skip

# What a program prints of an event with a field that it does not know, beside what it prints of the event without it.
UNKNOWN_FIELD_FAULTS: Final = [
    Fault("unknown/lost-column", "TMNF3",
          "A field that a reader does not know changes nothing of what it knows: columns are printed.",
          lambda text: text.partition(b",\n#         ")[0]),
    Fault("unknown/other-type", "TMNF3",
          "A field that a reader does not know changes nothing of what it knows: types are the same.",
          _swap(b" NOT NULL", b" UNSIGNED NOT NULL")),
]  # fmt: skip
