"""Column values and types in pseudo-SQL (mysqlbinlog-output 3.1). For values that no corpus file has, mysqlbinlog 9.7.4
printed logs made by hand.

Two values differ, because mysqlbinlog prints them wrongly: a GEOMETRY is a hexadecimal literal here, and a VECTOR has
the dimension of its own column.
"""

from __future__ import annotations

from math import copysign, isnan
from struct import iter_unpack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import PartialJson
from conformance.reference.text.pseudo_json import diffs_text, document_text, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.columns import ColumnType
    from conformance.reference.tables.metadata import ColumnInfo
    from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp

_INTEGER_NAMES: Final = {
    types.TINY: ("TINYINT", 8),
    types.SHORT: ("SHORTINT", 16),
    types.INT24: ("MEDIUMINT", 24),
    types.LONG: ("INT", 32),
    types.LONGLONG: ("LONGINT", 64),
}
_BLOB_NAMES: Final = {
    1: "TINYBLOB/TINYTEXT",
    2: "BLOB/TEXT",
    3: "MEDIUMBLOB/MEDIUMTEXT",
    4: "LONGBLOB/LONGTEXT",
}


class ColumnText(NamedTuple):
    """The printing of one column. ``comment`` is the type text of -vv, up to the digit that says whether the value is
    NULL.
    """

    show: Callable[[Any], bytes]
    comment: bytes


def column_text(info: ColumnInfo, number: int) -> ColumnText:
    """The printer of a column; ``number`` counts from 1."""
    column = info.type
    first = b" /* %b meta=%d nullable=%d is_null=" % (type_text(info).encode(), _meta(column), info.nullable)
    return ColumnText(_printer(column, number), first)


def _meta(column: ColumnType) -> int:
    """The metadata as mysqlbinlog's single number: two bytes are big-endian for these types only."""
    if column.type in (types.STRING, types.ENUM, types.SET, types.NEWDECIMAL):
        return (column.metadata & 0xFF) << 8 | column.metadata >> 8
    return column.metadata


def type_text(info: ColumnInfo) -> str:
    """The type as the comment of -vv names it."""
    column = info.type
    kind = column.real_type
    if kind in _INTEGER_NAMES:
        return _INTEGER_NAMES[kind][0]
    if kind == types.NEWDECIMAL:
        return f"DECIMAL({column.length},{column.scale})"
    if kind == types.BIT:
        return f"BIT({column.length})"
    if kind in (types.TIMESTAMP2, types.DATETIME2, types.TIME2):
        return {types.TIMESTAMP2: "TIMESTAMP", types.DATETIME2: "DATETIME", types.TIME2: "TIME"}[
            kind
        ] + f"({column.scale})"
    if kind == types.ENUM:
        return "ENUM(1 byte)" if column.length == 1 else f"ENUM({column.length} bytes)"
    if kind == types.SET:
        return f"SET({column.length} bytes)"
    if kind == types.VARCHAR:
        return f"VARSTRING({column.length})"
    if kind == types.STRING:
        return f"STRING({column.length})"
    if kind == types.BLOB:
        return _BLOB_NAMES.get(column.length, "BLOB")
    if kind == types.VECTOR:
        return f"VECTOR({info.dimension or 0})"
    names = {
        types.FLOAT: "FLOAT",
        types.DOUBLE: "DOUBLE",
        types.YEAR: "YEAR",
        types.DATE: "DATE",
        types.NEWDATE: "DATE",
        types.TIMESTAMP: "TIMESTAMP",
        types.TIME: "TIME",
        types.DATETIME: "DATETIME",
        types.JSON: "JSON",
        types.GEOMETRY: "GEOMETRY",
    }
    return names.get(kind, f"type {kind}")


def _printer(column: ColumnType, number: int) -> Callable[[Any], bytes]:
    kind = column.real_type
    if kind == types.JSON:
        name = b"@%d" % number
        return lambda value: diffs_text(value, name) if isinstance(value, PartialJson) else document_text(value)
    if kind in (types.VARCHAR, types.STRING, types.BLOB):
        return quoted
    if kind in _INTEGER_NAMES:
        size = _INTEGER_NAMES[kind][1]
        return lambda value: _integer(value, size)
    if kind == types.FLOAT:
        return lambda value: b"%-20b" % _float(value, "g")
    if kind == types.DOUBLE:
        return lambda value: _float(value, ".20g")
    if kind == types.NEWDECIMAL:
        return lambda value: f"{value:f}".encode()
    if kind == types.BIT:
        return lambda value: _bit(value, column.length)
    if kind == types.SET:
        return lambda value: _set(value, column.length)
    if kind == types.ENUM:
        return lambda value: b"%d" % value
    if kind == types.YEAR:
        return lambda value: b"%04d" % (value or 1900)
    if kind in (types.DATE, types.NEWDATE):
        return _date
    if kind == types.TIME2:
        return lambda value: _time(value, column.scale)
    if kind == types.DATETIME2:
        return lambda value: b"'%b%b'" % (_datetime(value), _fraction(value.microsecond, column.scale))
    if kind == types.TIMESTAMP2:
        return lambda value: b"%d%b" % (value.seconds, _fraction(value.microsecond, column.scale))
    if kind == types.TIMESTAMP:
        return _old_timestamp
    if kind == types.TIME:
        return _old_time
    if kind == types.DATETIME:
        return _datetime  # the one temporal type without quotes (observed)
    if kind == types.VECTOR:
        return _vector
    return lambda value: b"x'%b'" % value.hex().encode()


def _integer(value: int, size: int) -> bytes:
    """An integer printed as signed, whatever the column is; a negative number is followed by its unsigned value."""
    limit = 1 << size
    unsigned = value % limit
    if unsigned < limit >> 1:
        return f"{unsigned}".encode()
    return f"{unsigned - limit} ({unsigned})".encode()


def _float(value: float, form: str) -> bytes:
    if isnan(value) and copysign(1.0, value) < 0:
        return b"-nan"
    return format(value, form).encode()


def _bit(value: int, length: int) -> bytes:
    return f"b'{value & (1 << length) - 1:0{length}b}'".encode()


def _set(value: int, size: int) -> bytes:
    return b"b'" + "".join(f"{byte:08b}" for byte in value.to_bytes(size, "little")).encode() + b"'"


def _fraction(microsecond: int, digits: int) -> bytes:
    return b".%b" % (b"%06d" % microsecond)[:digits] if digits else b""


def _date(value: Date) -> bytes:
    return b"'%04d:%02d:%02d'" % value


def _time(value: Time, digits: int) -> bytes:
    sign = b"-" if value.negative else b""
    fraction = _fraction(value.microsecond, digits)
    return b"'%b%02d:%02d:%02d%b'" % (sign, value.hour, value.minute, value.second, fraction)


def _datetime(value: Datetime) -> bytes:
    return b"%04d-%02d-%02d %02d:%02d:%02d" % value[:6]


def _old_timestamp(value: Timestamp) -> bytes:
    seconds = value.seconds
    return b"%d" % (seconds - (1 << 32) if seconds >> 31 else seconds)


def _old_time(value: Time) -> bytes:
    whole = value.hour * 10000 + value.minute * 100 + value.second
    if value.negative:
        whole = (1 << 24) - whole  # the client takes the three bytes for an unsigned number
    return b"'%02d:%02d:%02d'" % (whole // 10000, whole // 100 % 100, whole % 100)


def _vector(value: bytes) -> bytes:
    if len(value) % 4:
        return b"x'%b'" % value.hex().encode()
    return b"[" + b",".join(b"%.5e" % item for (item,) in iter_unpack("<f", value)) + b"]"
