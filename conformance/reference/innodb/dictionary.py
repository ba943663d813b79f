"""Index formats from the dictionary's JSON: which fields a clustered record has, and how they are stored
(innodb-lob 1).

The input is the ``dd_object`` of a table as the SDI holds it (:mod:`.sdi`).
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.innodb.records import Field, IndexFormat
from conformance.reference.jsonb.opaque import decimal_size
from conformance.reference.portable import what_lacks
from conformance.reference.tables.charsets import COLLATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.reference.tables.charsets import Collation

Json = dict[str, Any]

WHOLE: Final = 0xFFFFFFFF  # the length of an index element that is no part of the key
_LARGEST_FIXED: Final = 768  # longer values of fixed types are stored with a length
# A flag of a physical position: the column is stored twice. The low bits then say where its value stands, bits 16
# and above where the key's prefix of the value stands.
_TWICE: Final = 0x8000
_WIDE: Final = {"ucs2": 2, "utf32": 4}  # character sets whose characters all have this many bytes


class ColumnType(IntEnum):
    """The dictionary's numbers of column types, which differ from those of the binary log."""

    DECIMAL = 1
    TINY = 2
    SHORT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    NULL = 7
    TIMESTAMP = 8
    LONGLONG = 9
    INT24 = 10
    DATE = 11
    TIME = 12
    DATETIME = 13
    YEAR = 14
    NEWDATE = 15
    VARCHAR = 16
    BIT = 17
    TIMESTAMP2 = 18
    DATETIME2 = 19
    TIME2 = 20
    NEWDECIMAL = 21
    ENUM = 22
    SET = 23
    TINY_BLOB = 24
    MEDIUM_BLOB = 25
    LONG_BLOB = 26
    BLOB = 27
    VAR_STRING = 28
    STRING = 29
    GEOMETRY = 30
    JSON = 31
    VECTOR = 32


class RowFormat(IntEnum):
    """The dictionary's numbers of row formats."""

    FIXED = 1
    DYNAMIC = 2
    COMPRESSED = 3
    REDUNDANT = 4
    COMPACT = 5
    PAGED = 6


_SIZES: Final = {
    ColumnType.TINY: 1, ColumnType.SHORT: 2, ColumnType.INT24: 3, ColumnType.LONG: 4, ColumnType.LONGLONG: 8,
    ColumnType.FLOAT: 4, ColumnType.DOUBLE: 8, ColumnType.YEAR: 1, ColumnType.NEWDATE: 3, ColumnType.DATE: 3,
    ColumnType.TIME: 3, ColumnType.TIMESTAMP: 4, ColumnType.DATETIME: 8,
}  # fmt: skip
_FRACTIONAL: Final = {ColumnType.TIME2: 3, ColumnType.DATETIME2: 5, ColumnType.TIMESTAMP2: 4}
_TEXT_WIDTHS: Final = {ColumnType.TIME2: 10, ColumnType.DATETIME2: 19, ColumnType.TIMESTAMP2: 19}  # without a fraction
_SYSTEM_SIZES: Final = {"DB_ROW_ID": 6, "DB_TRX_ID": 6, "DB_ROLL_PTR": 7}
_LONG_TYPES: Final = frozenset((
    ColumnType.TINY_BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB, ColumnType.BLOB,
    ColumnType.GEOMETRY, ColumnType.JSON, ColumnType.VECTOR,
))  # fmt: skip


class ClusteredIndex(NamedTuple):
    """Where the rows of a table or partition are: the root page, the ids, and the fields of a record."""

    space_id: int
    root: int
    index_id: int
    format: IndexFormat
    table_id: int


def private_data(text: str) -> dict[str, str]:
    """The pairs of an ``options`` or ``se_private_data`` string: ``id=1;root=4;``."""
    return dict(item.split("=", 1) for item in text.split(";") if "=" in item)


def collation_of(entry: Mapping[str, Any]) -> Collation:
    """The collation of a column or table. Raises for one that no server of MySQL has compiled in."""
    found = COLLATIONS.get(entry["collation_id"])
    if found is None:
        raise Unsupported("unknown-collation", "the collation is not known", got=entry["collation_id"],
                          path=(str(entry["name"]),))  # fmt: skip
    return found


def fixed_size(column: Mapping[str, Any]) -> int | None:
    """The stored length of a column in COMPACT records; None if each value has its own."""
    if column["name"] in _SYSTEM_SIZES and column["hidden"] != 1:
        return _SYSTEM_SIZES[column["name"]]
    kind = column["type"]
    if kind in _SIZES:
        return _SIZES[kind]
    if kind in _FRACTIONAL:
        return _FRACTIONAL[kind] + (int(column["datetime_precision"]) + 1) // 2
    if kind == ColumnType.NEWDECIMAL:
        return decimal_size(column["numeric_precision"], column["numeric_scale"])
    if kind == ColumnType.BIT:
        return (int(column["numeric_precision"]) + 7) // 8
    if kind == ColumnType.ENUM:
        return 1 if len(column["elements"]) < 256 else 2
    if kind == ColumnType.SET:
        octets = (len(column["elements"]) + 7) // 8
        return 8 if octets > 4 else octets
    if kind == ColumnType.STRING:
        collation = collation_of(column)
        same = collation.max_bytes == _WIDE.get(collation.charset, 1)
        size = int(column["char_length"])
        return size if same and 0 < size <= _LARGEST_FIXED else None  # CHAR(0) has a length, as VARCHAR has
    if kind == ColumnType.VARCHAR or kind in _LONG_TYPES:
        return None
    raise Unsupported("unknown-column-type", "the type of a column is not known", got=kind, path=(column["name"],))


def _measured(column: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entry of a dropped column with its precisions, which only the width of its text tells (observed on 9.7.4)."""
    kind, width = column["type"], int(column["char_length"])
    if kind == ColumnType.NEWDECIMAL:  # the text has a sign and a point
        return {**column, "numeric_precision": width - (not column["is_unsigned"]) - bool(column["numeric_scale"])}
    if kind == ColumnType.BIT:
        return {**column, "numeric_precision": width}
    if kind in _TEXT_WIDTHS:
        return {**column, "datetime_precision": max(0, width - _TEXT_WIDTHS[kind] - 1)}
    return column


def _field(column: Mapping[str, Any], length: int) -> Field:
    private = private_data(column["se_private_data"])
    size = fixed_size(_measured(column) if "version_dropped" in private else column)
    default = private.get("default")
    return Field(
        column["name"],
        size if size is None else min(size, length),
        nullable=bool(column["is_nullable"]),
        long=column["type"] in _LONG_TYPES or column["char_length"] > 255,
        added=int(private.get("version_added", 0)),
        dropped=int(private["version_dropped"]) if "version_dropped" in private else None,
        default=None if default is None else bytes.fromhex(default),
    )


def _instant(column: Mapping[str, Any]) -> bool:
    """Whether the column was added by INSTANT DDL before 8.0.29: it has a default, and no row version."""
    private = private_data(column["se_private_data"])
    return ("default" in private or "default_null" in private) and "version_added" not in private


def _place(column: Mapping[str, Any], length: int) -> int | None:
    """The physical position. Where the key holds only a prefix of a column, the record has the column twice."""
    text = private_data(column["se_private_data"]).get("physical_pos")
    if text is None:
        return None
    place = int(text)
    if not place & _TWICE:
        return place
    return place & _TWICE - 1 if length == WHOLE else place >> 16


def _fields(table: Json, index: Json) -> tuple[Field, ...]:
    """The fields in physical order: that of the index, or of the positions that INSTANT DDL has recorded."""
    columns = table["columns"]
    listed = [(columns[element["column_opx"]], element["length"]) for element in index["elements"]]
    there = {column["name"] for column, _ in listed}
    listed += [
        (column, WHOLE) for column in columns
        if column["name"] not in there and "version_dropped" in private_data(column["se_private_data"])
    ]  # fmt: skip
    places = [_place(column, length) for column, length in listed]
    if None not in places:
        listed = [item for _, item in sorted(zip(places, listed, strict=True), key=lambda pair: pair[0] or 0)]
    return tuple(_field(column, length) for column, length in listed)


def parts(table: Json) -> Iterator[Json]:
    """The objects of a table that have index trees: its subpartitions, else its partitions, else the table itself."""
    if not table["partitions"]:
        yield table
    for partition in table["partitions"]:
        yield from partition.get("subpartitions") or [partition]


def bad_entry(table: Json, error: Exception) -> DecodeError:
    """The error for an entry whose values contradict each other, in other words than Python's."""
    return DecodeError("bad-dictionary", f"the dictionary entry has a value that no server writes{what_lacks(error)}",
                       path=(f"table {table.get('name')}",))  # fmt: skip


@contextmanager
def dictionary_errors(table: Json) -> Iterator[None]:
    """Turn errors about what the dictionary's entry lacks into declared ones."""
    try:
        yield
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise bad_entry(table, error) from None


def clustered_indexes(table: Json) -> Iterator[ClusteredIndex]:
    """The clustered index of a table, or of each of its partitions."""
    with dictionary_errors(table):
        index = table["indexes"][0]
        columns = table["columns"]
        instant = sum(_instant(column) for column in columns)
        fields = _fields(table, index)
        keys = sum(element["length"] != WHOLE for element in index["elements"]) or 1  # alone: DB_ROW_ID
        shape = IndexFormat(fields, keys, redundant=table["row_format"] == RowFormat.REDUNDANT,
                            instant_fields=len(fields) - instant if instant else None)  # fmt: skip
        for part in parts(table):
            place = private_data(part["indexes"][0]["se_private_data"])
            yield ClusteredIndex(int(place["space_id"]), int(place["root"]), int(place["id"]), shape,
                                 int(place["table_id"]))  # fmt: skip
