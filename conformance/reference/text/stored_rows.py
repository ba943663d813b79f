"""Rows of data files as JSON objects, one a line, or as INSERT statements.

The values in JSON are those of ``decode --format jsonl``. An INSERT gives back the bytes of every value: text that is
not ASCII stands in the character set of its column. Columns that the server computes are not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError
from conformance.reference.innodb.stored_tables import Absent, RowState
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text, quote
from conformance.reference.sql.formatting import format_document
from conformance.reference.sql.quoting import quote_identifier, quote_string
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATIONS, text_of
from conformance.reference.text.columns import INTEGERS, TEMPORAL, member_text, plain_text, stored_bytes
from conformance.reference.text.row_changes import Form, value_writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.innodb.stored_tables import StoredColumn, StoredTable, TableRow

    Line = Callable[[TableRow], str]

PROLOGUE: Final = (
    "SET NAMES utf8mb4;",
    "SET SESSION time_zone = '+00:00', SESSION foreign_key_checks = 0;",
    "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';",
)
"""Statements in front of INSERTs: zero dates and an AUTO_INCREMENT of 0 are values of rows too."""

_UNICODE: Final = frozenset(("utf8mb4", "utf8mb3"))


def json_lines(table: StoredTable, form: Form = Form.PLAIN) -> Line:
    """The JSON object of each row of a table. ``form`` is that of documents."""
    schema, name = table.name
    writers = [(f"{quote(column.name)}: ", value_writer(column.info, form)) for column in table.columns]

    def line(row: TableRow) -> str:
        values = [
            head + ("null" if value is None or writer is None else writer(value))
            for (head, writer), value in zip(writers, row.values, strict=True) if not isinstance(value, Absent)
        ]  # fmt: skip
        partition = "null" if row.partition is None else quote(row.partition)
        return (
            f'{{"file": {quote(row.file)}, "schema": {quote(schema)}, "table": {quote(name)}, "partition": {partition},'
            f' "page": {row.page}, "record": {row.origin}, "state": "{row.state}", "values": {{{", ".join(values)}}}}}'
        )

    return line


def insert_statements(table: StoredTable) -> Line:
    """The INSERT of each row of a table. A row that is deleted, or not whole, is a comment."""
    into = ".".join(map(quote_identifier, table.name))
    places = [place for place, column in enumerate(table.columns) if not column.generated]
    names = ", ".join(quote_identifier(table.columns[place].name) for place in places)
    literals = [_literal(table.columns[place]) for place in places]

    def line(row: TableRow) -> str:
        values, lacks = [], []
        for place, literal in zip(places, literals, strict=True):
            value = row.values[place]
            if isinstance(value, Absent):
                lacks.append(table.columns[place].name)
                value = None
            values.append("NULL" if value is None else literal(value))
        statement = f"INSERT INTO {into} ({names}) VALUES ({', '.join(values)});"
        words = [] if row.state is RowState.CURRENT else [row.state.value]
        words += [f"without {', '.join(lacks)}"] if lacks else []
        return f"-- {one_line('; '.join(words))}: {one_line(statement)}" if words else statement

    return line


def one_line(text: str) -> str:
    """A text in which no name begins a new line."""
    return text.replace("\r", " ").replace("\n", " ")


def _literal(column: StoredColumn) -> Callable[[Any], str]:
    """The function that writes a column's values as SQL."""
    info = column.info
    kind = info.type.real_type
    if kind in INTEGERS or kind in (types.BIT, types.YEAR):
        return str
    if kind in (types.FLOAT, types.DOUBLE):
        return _real
    plain = plain_text(info)
    if plain is not None:
        return (lambda value: f"'{plain(value)}'") if kind in TEMPORAL else plain
    if info.type.type == types.JSON:
        return _document
    if kind in (types.ENUM, types.SET):
        return lambda value: _member(column, value)
    if info.collation in (None, BINARY) or not info.type.is_character:
        return lambda value: _bytes(stored_bytes(info, value))
    return lambda value: _text(value, info.collation or BINARY)


def _real(value: float) -> str:
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _bytes(value: bytes) -> str:
    return f"0x{value.hex()}" if value else "''"


def _text(value: bytes, collation: int) -> str:
    """Text in its own character set, if UTF-8 is another."""
    charset = COLLATIONS[collation].charset
    text = text_of(value, collation)
    if text is not None and (charset in _UNICODE or (text.isascii() and value == text.encode())):
        try:
            return quote_string(text)
        except CodecError:  # surrogates
            pass
    return f"_{charset} {_bytes(value)}" if value else "''"


def _member(column: StoredColumn, value: int) -> str:
    """The name, or the number where a name may be taken for another one."""
    text = member_text(column.info, value)
    return str(value) if not value or text is None or not text.isascii() else quote_string(text)


def _document(value: bytes) -> str:
    document = decode(value)
    try:
        return format_document(document)
    except CodecError:  # it has a value that no literal makes, such as a TIMESTAMP of a column: its text is left
        return f"CAST({quote_string(format_text(document))} AS JSON)"
