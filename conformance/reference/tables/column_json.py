"""The JSON value of a column's value that is an argument of a JSON function (jsonb 4.2)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.cursor import bitmap_size
from conformance.reference.errors import Unsupported
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import (
    BINARY,
    BIT,
    BLOB,
    LONG_BLOB,
    MEDIUM_BLOB,
    TINY_BLOB,
    VARCHAR,
    JsonValue,
    Opaque,
    UInt,
)
from conformance.reference.tables.charsets import COLLATION_IDS, COLLATIONS, DEFAULT_COLLATIONS, bytes_of, text_of
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp

if TYPE_CHECKING:
    from decimal import Decimal

    from conformance.reference.tables.definitions import Column

_INTEGERS: Final = frozenset(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "BOOL"))
_STRINGS: Final = frozenset(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"))
_BLOBS: Final = {
    "BINARY": BINARY,
    "VARBINARY": VARCHAR,
    "TINYBLOB": TINY_BLOB,
    "BLOB": BLOB,
    "MEDIUMBLOB": MEDIUM_BLOB,
    "LONGBLOB": LONG_BLOB,
}
_WIDE: Final = frozenset(("ucs2", "utf16", "utf16le", "utf32"))
_GROUP: Final = 9  # digits stored together in a DECIMAL column


def column_as_json(column: Column, value: Any) -> JsonValue:
    """The JSON value of a non-NULL value of ``column``, given in the form of ``reference.binlog.columns``."""
    kind = column.type
    if kind in _INTEGERS:
        return UInt(value) if column.unsigned else int(value)
    if kind == "YEAR":
        return UInt(value)
    if kind in ("FLOAT", "DOUBLE"):
        return float(value)
    if kind == "DECIMAL":
        return _decimal(value, column.length if column.length is not None else 10, column.scale or 0)
    if kind in _STRINGS:
        return _text(column, value)
    if kind == "ENUM":
        if value > len(column.members):
            raise Unsupported("column-as-json", "no member has this number", expected=len(column.members), got=value)
        return _members(column, column.members[value - 1] if value else "")
    if kind == "SET":
        return _members(column, ",".join(member for bit, member in enumerate(column.members) if value >> bit & 1))
    if kind == "BIT":
        length = column.length or 1
        return Opaque(BIT, int(value).to_bytes(bitmap_size(length), "big"))
    if kind in _BLOBS:
        # The log drops the padding of BINARY; the column's value includes it.
        payload = value.ljust(column.length or 1, b"\0") if kind == "BINARY" else value
        return Opaque(_BLOBS[kind], payload)
    if kind == "DATE" and isinstance(value, Date):
        return opaque.date(value.year, value.month, value.day)
    if kind == "TIME" and isinstance(value, Time):
        return opaque.time(value.hour, value.minute, value.second, value.microsecond, negative=value.negative)
    if kind == "DATETIME" and isinstance(value, Datetime):
        return opaque.datetime(*value)
    if kind == "TIMESTAMP" and isinstance(value, Timestamp):
        return _timestamp(value)
    raise Unsupported("column-as-json", "the JSON value of this column type is not modelled", got=kind)


def _decimal(value: Decimal, precision: int, scale: int) -> Opaque:
    """A DECIMAL(precision, scale) column's value. Its JSON precision leaves out the groups of leading zeros.

    Columns store integer digits in groups of nine, the short group first. When the server reads a value, it drops all
    leading groups that are zero. A zero without a scale counts as one digit (observed on 9.7.4; jsonb 5.1 has (p, s)
    for all values).
    """
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * (scale + exponent)
    text = text.zfill(precision)
    whole = precision - scale
    while whole and not text[: whole % _GROUP or _GROUP].strip("0"):
        group = whole % _GROUP or _GROUP
        text = text[group:]
        whole -= group
    if not text:
        return opaque.decimal_value(False, "0", 1, 0)
    return opaque.decimal_value(bool(sign), text, whole + scale, scale)


def _collation(column: Column) -> int | None:
    if column.collation is not None:
        return COLLATION_IDS.get(column.collation)
    return DEFAULT_COLLATIONS.get(column.charset or "utf8mb4")


def _is_wide(collation: int | None) -> bool:
    """Whether a character takes more than one byte.

    9.7.4 does not convert text of single bytes. Its bytes become those of the JSON string, which then is no UTF-8. That
    was observed, against the manual, with columns, literals and CONVERT; member names are converted.
    """
    return collation is not None and COLLATIONS[collation].charset in _WIDE


def _text(column: Column, value: bytes) -> str:
    collation = _collation(column)
    text = value.decode("utf-8", "surrogateescape") if _is_wide(collation) else text_of(value, collation)
    if text is None:
        raise Unsupported(
            "column-as-json", "the value is no text of its character set", got=column.collation or column.charset
        )
    return text


def _members(column: Column, text: str) -> str:
    """Text of ENUM and SET members."""
    collation = _collation(column)
    if collation is None or not _is_wide(collation):
        return text
    raw = bytes_of(text, collation)
    if raw is None:
        raise Unsupported("column-as-json", "the members are no text of their character set", got=column.charset)
    return raw.decode("utf-8", "surrogateescape")


def _timestamp(value: Timestamp) -> Opaque:
    """In UTC: the lab's sessions have time_zone +00:00. 0 is the zero date (observed on 9.7.4)."""
    if not value.seconds:
        return opaque.timestamp(0, 0, 0, 0, 0, 0, value.microsecond)
    moment = datetime.fromtimestamp(value.seconds, UTC)
    return opaque.timestamp(*moment.timetuple()[:6], value.microsecond)
