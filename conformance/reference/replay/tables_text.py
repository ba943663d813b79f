"""The tables after a replay as text, in the form of the corpus of captured logs (``expected_tables``)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.replay import mariadb
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, text_of
from conformance.reference.text.columns import member_text, plain_text, stored_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.replay.table_state import TableState
    from conformance.reference.tables.metadata import ColumnInfo


def table_rows(state: TableState, *, numeric: bool = False) -> list[list[str | None]]:
    """All rows, ordered by the text of the first column, then the next; NULL comes first.

    ``numeric``: order the columns of numbers by number, not by text.
    """
    return sorted(rows_text(state), key=row_order(state, numeric=numeric))


def rows_text(state: TableState) -> Iterator[list[str | None]]:
    """All rows in no order, one at a time: their texts take many times the memory of the rows."""
    names, shown = state.column_names(), [value_text(info) for info in state.infos()]
    if state.map is not None and state.map.rules.mariadb and state.columns is not None:
        shown = [mariadb.value_text(column) or text for column, text in zip(state.columns, shown, strict=True)]
    for values in state.rows.values():
        row: list[str | None] = []
        for name, show, value in zip(names, shown, values, strict=True):
            try:
                row.append(None if value is None else show(value))
            except CodecError as error:
                raise error.at(name).at(".".join(state.name)) from None
        yield row


def row_order(state: TableState, *, numeric: bool = False) -> Callable[[Sequence[str | None]], Any]:
    """Return the function that gives the sort key of each row of :func:`table_rows`."""
    counted = [numeric and (info.type.is_numeric or info.type.real_type == types.BIT) for info in state.infos()]
    zero = Decimal(0)

    def order(row: Sequence[str | None]) -> list[Any]:
        key: list[Any] = []  # flat: there may be thousands of columns
        for value, number in zip(row, counted, strict=True):
            key += (value is not None, Decimal(value) if number and value else zero, value or "")
        return key

    return order


def value_text(info: ColumnInfo) -> Callable[[Any], str]:
    """The text of a column's values."""
    plain = plain_text(info)
    if plain is not None:
        return plain
    kind = info.type.real_type
    if kind == types.JSON:
        return lambda value: format_text(decode(value))
    if kind == types.BIT:
        return str
    if kind in (types.ENUM, types.SET):
        return lambda value: _member(info, value)
    if info.type.is_character and info.collation is not None and info.collation != BINARY:
        return lambda value: _text(info, value)
    return lambda value: stored_bytes(info, value).hex().upper()


def _member(info: ColumnInfo, value: int) -> str:
    name = member_text(info, value)
    return str(value) if name is None else name


def _text(info: ColumnInfo, value: bytes) -> str:
    """Text, or the bytes in hexadecimal where they are not valid in their character set."""
    value = stored_bytes(info, value)
    text = text_of(value, info.collation)
    return value.hex().upper() if text is None else text
