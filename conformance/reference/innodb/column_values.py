"""Values of columns as InnoDB stores them in records (innodb-lob 1).

A stored value sorts as its bytes do. So signed integers have their top bit flipped, and all numbers but FLOAT and
DOUBLE are big-endian. :func:`stored_value` gives the value that the binary log has for the column.
"""

from __future__ import annotations

from decimal import Decimal
from struct import unpack
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.innodb.dictionary import ColumnType, fixed_size
from conformance.reference.jsonb.opaque import unpack_decimal
from conformance.reference.tables.charsets import BINARY, COLLATIONS, text_of
from conformance.reference.tables.temporal import (
    Date,
    Datetime,
    Time,
    Timestamp,
    decode_date,
    decode_datetime,
    decode_time,
    decode_timestamp,
    fraction_bytes,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = int | float | Decimal | bytes | Date | Time | Datetime | Timestamp

_INTEGERS: Final = frozenset(
    (ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG)
)
_UNSIGNED: Final = frozenset((ColumnType.ENUM, ColumnType.SET, ColumnType.BIT))
_BYTES: Final = frozenset((
    ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB,
    ColumnType.LONG_BLOB, ColumnType.GEOMETRY, ColumnType.JSON, ColumnType.VECTOR,
))  # fmt: skip
_TIMES: Final[dict[int, Any]] = {
    ColumnType.TIME2: decode_time,
    ColumnType.DATETIME2: decode_datetime,
    ColumnType.TIMESTAMP2: decode_timestamp,
}
_PADS: Final = {"ucs2": b"\0 ", "utf16": b"\0 ", "utf16le": b" \0", "utf32": b"\0\0\0 "}
_ENGINE: Final = 2  # hidden by the engine: DB_ROW_ID and dropped columns
_YEARS: Final = 1900


def stored_value(column: Mapping[str, Any], raw: bytes) -> Value:
    """The value of a column in the form of :mod:`conformance.reference.tables.columns`.

    ``column`` is the dictionary's entry. Pads of CHAR and BINARY are cut off, as in the log. Raises for bytes that no
    value of the column has.
    """
    kind = column["type"]
    if column["hidden"] == _ENGINE:
        return int.from_bytes(raw, "big")
    if kind in _BYTES:
        return raw
    if kind == ColumnType.STRING:
        return _without_pad(raw, column["collation_id"])
    size = fixed_size(column)
    if len(raw) != size:
        raise DecodeError("bad-value-length", "the value has another length than its column", expected=size,
                          got=len(raw), path=(str(column["name"]),))  # fmt: skip
    return _fixed(column, kind, raw)


def _fixed(column: Mapping[str, Any], kind: int, raw: bytes) -> Value:
    number = int.from_bytes(raw, "big")
    if kind in _INTEGERS:
        return number if column["is_unsigned"] else number - (1 << 8 * len(raw) - 1)
    if kind in _UNSIGNED:
        return number
    if kind == ColumnType.YEAR:
        return number + _YEARS if number else 0
    if kind in {ColumnType.FLOAT, ColumnType.DOUBLE}:
        real: float = unpack("<f" if kind == ColumnType.FLOAT else "<d", raw)[0]
        return real
    if kind == ColumnType.NEWDECIMAL:
        return unpack_decimal(raw, column["numeric_precision"], column["numeric_scale"])
    if kind == ColumnType.NEWDATE:
        return decode_date(number - (1 << 23))
    if kind in _TIMES:
        moment: Value = _TIMES[kind](raw, fraction_bytes(int(column["datetime_precision"])))
        return moment
    raise Unsupported("unknown-column-type", "values of this type are not known", got=kind,
                      path=(str(column["name"]),))  # fmt: skip


def _without_pad(raw: bytes, collation: int) -> bytes:
    """A CHAR or BINARY value without the characters that fill it."""
    if collation == BINARY:
        return raw.rstrip(b"\0")
    known = COLLATIONS.get(collation)
    pad = _PADS.get(known.charset, b" ") if known else b" "
    while raw.endswith(pad) and len(raw) % len(pad) == 0:
        raw = raw[: -len(pad)]
    return raw


def column_value(column: Mapping[str, Any], raw: bytes) -> int | str | bytes:
    """A value for people: a whole number, text as MySQL prints it, or the bytes where they are no text."""
    try:
        value = stored_value(column, raw)
    except (DecodeError, Unsupported):
        return raw
    if isinstance(value, Date | Time | Datetime | Timestamp):
        return text(value, int(column["datetime_precision"]))
    if isinstance(value, bytes):
        found = text_of(value, column["collation_id"])
        return value if found is None else found
    return value if isinstance(value, int) else str(value)
