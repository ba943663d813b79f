"""Expressions of definitions, evaluated for a row: defaults in parentheses, and generated columns.

The grammar is that of :mod:`conformance.reference.sql.row_expressions`. What is outside of it is refused, and so is the
present moment, which belongs to a statement that the log may not have.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import Opaque, UInt
from conformance.reference.portable import folded
from conformance.reference.replay.values.conversions import Document, plain
from conformance.reference.sql.row_expressions import RowFacts, RowParser
from conformance.reference.sql.statement_words import sql_text
from conformance.reference.sql.tokens import tokenize
from conformance.reference.sql.values import SqlType, SqlValue
from conformance.reference.tables import columns as types
from conformance.reference.tables.temporal import Date, Datetime, Time

_INTRODUCERS: Final = ("_UTF8MB4", "_UTF8MB3", "_UTF8")  # SHOW CREATE TABLE writes them before every string

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.sql.statement_words import Word
    from conformance.reference.tables.metadata import ColumnInfo

_NUMBERS: Final = {
    **dict.fromkeys((types.TINY, types.SHORT, types.INT24, types.LONG, types.LONGLONG), SqlType.INTEGER),
    types.DOUBLE: SqlType.DOUBLE,
    types.NEWDECIMAL: SqlType.DECIMAL,
    **dict.fromkeys((types.DATE, types.DATETIME2, types.TIME2), SqlType.TEMPORAL),
}


def evaluated(words: Sequence[Word], columns: Sequence[tuple[str, ColumnInfo]], row: Iterable[Any]) -> Any:
    """The value of an expression as :func:`.conversions.stored` takes it; ``None`` for NULL.

    ``columns``: names and facts of the row's columns. Raises :class:`ReplayError` for what is not certain.
    """
    words = [word for word in words if not word.among(*_INTRODUCERS)]
    try:
        return _plain(_value(words, columns, row))
    except ReplayError:
        raise
    except CodecError as error:
        raise ReplayError(
            "value", f"an expression that is not followed: {error.message}", got=sql_text(words)[:60]
        ) from None


def _value(words: Sequence[Word], columns: Sequence[tuple[str, ColumnInfo]], row: Iterable[Any]) -> SqlValue:
    used = {folded(word.text) for word in words if not word.string}
    documents: dict[str, bytes | None] = {}
    values: dict[str, SqlValue] = {}
    for (name, info), value in zip(columns, row, strict=True):
        if folded(name) not in used:
            continue
        if info.type.type == types.JSON:
            documents[name] = value
        else:
            values[name] = _sql_value(info, value)
    sql = sql_text(words)
    parser = RowParser(tokenize(sql), "", row=RowFacts(documents, values), sql=sql)
    value = parser.read(partial(parser.value, "the expression"))
    parser.expect_end()
    if parser.errors:
        raise parser.errors[0]
    if parser.present_used:
        raise ReplayError("value", "an expression that depends on the present moment", got=parser.present_used[0])
    return value


def _sql_value(info: ColumnInfo, value: Any) -> SqlValue:
    """A column's value in an expression."""
    kind = _NUMBERS.get(info.type.real_type)
    if kind is None and not info.type.is_character:
        raise ReplayError("value", "an expression over a column of this type is not followed")
    if value is None:
        return SqlValue(SqlType.NULL, null_of=kind or SqlType.STRING)
    found = plain(info, value)
    if isinstance(found, Decimal):
        digits = "".join(map(str, found.as_tuple().digits))
        size = max(info.type.length, len(digits))
        return SqlValue(SqlType.DECIMAL, opaque.decimal_value(found < 0, digits.zfill(size), size, info.type.scale))
    if isinstance(found, Date):
        return SqlValue(SqlType.TEMPORAL, opaque.date(*found))
    if isinstance(found, Datetime):
        return SqlValue(SqlType.TEMPORAL, opaque.datetime(*found))
    if isinstance(found, Time):
        return SqlValue(SqlType.TEMPORAL, opaque.time(*found[1:], negative=found.negative))
    if isinstance(found, bytes):
        raise ReplayError("value", "an expression over bytes is not followed")
    if isinstance(found, int):
        return SqlValue(SqlType.INTEGER, UInt(found) if info.unsigned else found)
    return SqlValue(kind or SqlType.STRING, found)


def _plain(value: SqlValue) -> Any:
    """The value of an expression without its SQL type."""
    raw = value.json
    if value.type is SqlType.NULL:
        return None
    if value.type is SqlType.JSON:
        return Document(encode(raw))
    if isinstance(raw, Opaque):
        if value.type is SqlType.DECIMAL:
            return opaque.decimal_number(raw.payload)
        if value.type is SqlType.BINARY:
            return raw.payload
        raise ReplayError("value", f"an expression that gives {value.type.value} is not followed")
    return int(raw) if isinstance(raw, int) else raw
