"""Values of columns as InnoDB stores them in records: integers, character strings, dates and times (innodb-lob 1).

A stored value sorts as its bytes do. So signed integers have their top bit flipped, and all numbers are big-endian.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.innodb.dictionary import ColumnType
from conformance.reference.tables.charsets import text_of
from conformance.reference.tables.temporal import (
    decode_date,
    decode_datetime,
    decode_time,
    decode_timestamp,
    fraction_bytes,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_INTEGERS: Final = frozenset(
    (ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG)
)
_UNSIGNED: Final = frozenset((ColumnType.YEAR, ColumnType.ENUM, ColumnType.SET, ColumnType.BIT))
_STRINGS: Final = frozenset((
    ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.STRING, ColumnType.TINY_BLOB, ColumnType.BLOB,
    ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB,
))  # fmt: skip
_TIMES: Final[dict[int, Any]] = {
    ColumnType.TIME2: decode_time,
    ColumnType.DATETIME2: decode_datetime,
    ColumnType.TIMESTAMP2: decode_timestamp,
}
_SHORTEST: Final = {ColumnType.TIME2: 3, ColumnType.DATETIME2: 5, ColumnType.TIMESTAMP2: 4}
_BINARY: Final = 63  # the collation of binary strings
_YEARS: Final = 1900


def column_value(column: Mapping[str, Any], raw: bytes) -> int | str | bytes:
    """A stored value: an integer, text as MySQL prints it, or the bytes where they are no text."""
    kind, number = column["type"], int.from_bytes(raw, "big")
    if column["hidden"] == 2:  # DB_ROW_ID and other columns of the engine
        return number
    if kind in _INTEGERS:
        return number if column["is_unsigned"] or not raw else number - (1 << 8 * len(raw) - 1)
    if kind in _UNSIGNED:
        return number + _YEARS if kind == ColumnType.YEAR and number else number
    if kind == ColumnType.NEWDATE and len(raw) == 3:
        return text(decode_date(number - (1 << 23)))
    if kind in _TIMES:
        precision = int(column["datetime_precision"])
        size = fraction_bytes(precision)
        return text(_TIMES[kind](raw, size), precision) if len(raw) == _SHORTEST[kind] + size else raw
    if kind in _STRINGS and column["collation_id"] != _BINARY:
        found = text_of(raw.rstrip(b" ") if kind == ColumnType.STRING else raw, column["collation_id"])
        return raw if found is None else found
    return raw
