"""Column values as the text that SELECT shows, with the session's time zone at UTC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.text import format_double
from conformance.reference.tables import columns as types
from conformance.reference.tables import temporal
from conformance.reference.tables.charsets import BINARY, text_of
from conformance.reference.tables.compressed_columns import uncompressed_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import ColumnInfo

INTEGERS: Final = frozenset((types.TINY, types.SHORT, types.INT24, types.LONG, types.LONGLONG))
TEMPORAL: Final = frozenset(
    (
        types.DATE,
        types.NEWDATE,
        types.TIME,
        types.TIME2,
        types.DATETIME,
        types.DATETIME2,
        types.TIMESTAMP,
        types.TIMESTAMP2,
    )
)
_FLOAT_DIGITS: Final = 6


def double_text(value: float) -> str:
    """A DOUBLE column: as in JSON, but a whole number has no ``.0``."""
    text = format_double(value)
    return text.removesuffix(".0")


def float_text(value: float) -> str:
    """A FLOAT column: six digits, so not always enough to get the number back."""
    return double_text(float(f"{value:.{_FLOAT_DIGITS - 1}e}"))


def plain_text(info: ColumnInfo) -> Callable[[Any], str] | None:
    """The text of column types that always have one: numbers, dates and times. ``None`` for other types."""
    column = info.type
    kind = column.real_type
    if kind in INTEGERS:
        return str
    if kind == types.FLOAT:
        return float_text
    if kind == types.DOUBLE:
        return double_text
    if kind == types.NEWDECIMAL:
        return lambda value: f"{value:f}"
    if kind == types.YEAR:
        return lambda value: f"{value:04}"
    if kind in TEMPORAL:
        return lambda value: temporal.text(value, column.scale)
    return None


def stored_bytes(info: ColumnInfo, value: bytes) -> bytes:
    """The column's bytes of a string: the log cuts off the zeros that fill a BINARY column, and compresses some."""
    column = info.type
    if column.type in types.COMPRESSED_COLUMNS:
        return uncompressed_value(value)
    if column.real_type == types.STRING and info.collation == BINARY:
        return value.ljust(column.length, b"\0")
    return value


def member_text(info: ColumnInfo, value: int) -> str | None:
    """The name of an ENUM value, or the names of a SET value; ``None`` if the log has no name for it."""
    members = info.members
    if members is None:
        return None
    if info.type.real_type == types.ENUM:
        if value == 0:
            return ""
        return _member_name(members[value - 1], info.collation) if value <= len(members) else None
    if value >> len(members):
        return None
    names = [_member_name(name, info.collation) for bit, name in enumerate(members) if value >> bit & 1]
    known = [name for name in names if name is not None]
    return ",".join(known) if len(known) == len(names) else None


def _member_name(name: bytes, collation: int | None) -> str | None:
    """A member's name. In the binary character set a name is bytes, which are UTF-8 text in most statements."""
    if collation != BINARY:
        return text_of(name, collation)
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None
