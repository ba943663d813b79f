"""The facts of a TABLE_MAP about a column, from its entry in the dictionary: whoever prints rows needs no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.innodb.dictionary import ColumnType as Stored
from conformance.reference.innodb.dictionary import fixed_size
from conformance.reference.portable import base64_bytes
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import ColumnInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAME: Final = {
    Stored.TINY: types.TINY, Stored.SHORT: types.SHORT, Stored.INT24: types.INT24, Stored.LONG: types.LONG,
    Stored.LONGLONG: types.LONGLONG, Stored.YEAR: types.YEAR, Stored.NEWDATE: types.DATE,
}  # fmt: skip
_SIZED: Final = {
    Stored.FLOAT: (types.FLOAT, 4), Stored.DOUBLE: (types.DOUBLE, 8), Stored.JSON: (types.JSON, 4),
    Stored.GEOMETRY: (types.GEOMETRY, 4), Stored.VECTOR: (types.VECTOR, 4), Stored.TINY_BLOB: (types.BLOB, 1),
    Stored.BLOB: (types.BLOB, 2), Stored.MEDIUM_BLOB: (types.BLOB, 3), Stored.LONG_BLOB: (types.BLOB, 4),
}  # fmt: skip
_TEMPORAL: Final = {
    Stored.TIME2: types.TIME2, Stored.DATETIME2: types.DATETIME2, Stored.TIMESTAMP2: types.TIMESTAMP2,
}  # fmt: skip
_MEMBERS: Final = {Stored.ENUM: types.ENUM, Stored.SET: types.SET}
_VISIBLE: Final = 1


def column_info(column: Mapping[str, Any]) -> ColumnInfo:
    """The facts about a column. Raises for a type of which no rows are known."""
    members = None
    if column["type"] in _MEMBERS:
        members = tuple([_member(element["name"], column) for element in column["elements"]])
    return ColumnInfo(
        _type(column), bool(column["is_nullable"]), str(column["name"]), bool(column["is_unsigned"]),
        int(column["collation_id"]), members, visible=column["hidden"] == _VISIBLE,
    )  # fmt: skip


def _member(text: str, column: Mapping[str, Any]) -> bytes:
    name = base64_bytes(text)
    if name is None:
        raise DecodeError("bad-dictionary", "the name of a member is no base64", got=text[:60],
                          path=(str(column["name"]), "elements"))  # fmt: skip
    return name


def _type(column: Mapping[str, Any]) -> ColumnType:
    """Type byte and metadata as TABLE_MAP has them (binlog-events 9.1)."""
    kind, length = column["type"], int(column["char_length"])
    if kind in _SAME:
        return ColumnType(_SAME[kind])
    if kind in _SIZED:
        return ColumnType(*_SIZED[kind])
    if kind in _TEMPORAL:
        return ColumnType(_TEMPORAL[kind], int(column["datetime_precision"]))
    if kind in _MEMBERS:
        return ColumnType(types.STRING, _MEMBERS[kind] | (fixed_size(column) or 0) << 8)
    if kind == Stored.VARCHAR:
        return ColumnType(types.VARCHAR, length & 0xFFFF)
    if kind == Stored.STRING:
        return types.char_type(length)
    if kind == Stored.NEWDECIMAL:
        return ColumnType(types.NEWDECIMAL, int(column["numeric_precision"]) | int(column["numeric_scale"]) << 8)
    if kind == Stored.BIT:
        whole, bits = divmod(int(column["numeric_precision"]), 8)
        return ColumnType(types.BIT, bits | whole << 8)
    raise Unsupported("unknown-column-type", "values of this type are not known", got=kind,
                      path=(str(column["name"]),))  # fmt: skip
