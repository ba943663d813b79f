"""A Case as SQL: the statements that a server runs, and those that read the result back."""

from __future__ import annotations

from base64 import b64encode
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.decode import decode
from conformance.reference.partial.expression import Assignment, Constant
from conformance.reference.sql.formatting import format_document, format_expression
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.temporal import Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.tables.definitions import Column, Table

TRIGGER: Final = "before_update"
_TEXT_TYPES = frozenset(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"))


def binlog_statement(*events: bytes) -> str:
    """The BINLOG statement of these events (mysqlbinlog-output 2)."""
    return "BINLOG '" + "\n".join(b64encode(event).decode("ascii") for event in events) + "'"


def column_literal(column: Column, value: Any) -> str:
    """A literal of a column's value that makes the server store exactly this value."""
    if value is None:
        return "NULL"
    if column.is_json:
        return format_document(decode(value))
    if isinstance(value, bytes):
        introducer = f"_{column.charset or 'utf8mb4'} " if column.type in _TEXT_TYPES else ""
        return f"{introducer}x'{value.hex()}'" if value else "''"
    if isinstance(value, Timestamp):
        return f"FROM_UNIXTIME({value.seconds}.{value.microsecond:06})"
    if isinstance(value, Decimal):
        return format(value, "f")  # an exponent would make it a DOUBLE
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        return text if "e" in text else f"{text}e0"  # without an exponent a DECIMAL, which has no -0.0
    return f"'{value}'"


def insert_statement(table: Table, rows: Iterable[Sequence[object]]) -> str:
    """One INSERT of whole rows, columns named."""
    names = ", ".join(quote_identifier(column.name) for column in table.columns)
    texts = ("(" + ", ".join(map(column_literal, table.columns, row)) + ")" for row in rows)
    return f"INSERT INTO {quote_identifier(table.name)} ({names}) VALUES {', '.join(texts)}"


def update_statement(table: Table, selector: str, assignments: Iterable[Assignment], keys: Sequence[object]) -> str:
    """One UPDATE of the rows with these selector values, visited in their order."""
    columns = table.columns
    parts = []
    for assignment in assignments:
        column = columns[table.index_of[assignment.column]]
        if isinstance(assignment.expression, Constant):
            value = column_literal(column, assignment.expression.value)
        else:
            value = format_expression(assignment.expression)
        parts.append(f"{quote_identifier(column.name)}={value}")
    where = where_clause(table, selector, keys)
    order = f" ORDER BY {quote_identifier(selector)}" if len(keys) != 1 else ""
    return f"UPDATE {quote_identifier(table.name)} SET {', '.join(parts)} WHERE {where}{order}"


def trigger_statement(table: Table, trigger: Iterable[Assignment]) -> str:
    """A BEFORE UPDATE trigger with these assignments to NEW."""
    parts = []
    for assignment in trigger:
        column = table.columns[table.index_of[assignment.column]]
        if isinstance(assignment.expression, Constant):
            value = column_literal(column, assignment.expression.value)
        else:
            value = format_expression(assignment.expression, new="NEW.")
        parts.append(f"NEW.{quote_identifier(column.name)}={value}")
    name = quote_identifier(table.name)
    return f"CREATE TRIGGER {TRIGGER} BEFORE UPDATE ON {name} FOR EACH ROW SET {', '.join(parts)}"


def where_clause(table: Table, selector: str, keys: Sequence[object]) -> str:
    """The condition that selects rows by the selector's value."""
    column = table.columns[table.index_of[selector]]
    name = quote_identifier(selector)
    if len(keys) == 1:
        return f"{name}={column_literal(column, keys[0])}"
    return f"{name} IN ({', '.join(column_literal(column, key) for key in keys)})"


def read_back_statement(table: Table, selector: str, keys: Sequence[object]) -> str:
    """SELECT of storage size, storage free and text of every JSON column, rows in order of the selector."""
    fields: list[str] = []
    for index in table.json_columns:
        name = quote_identifier(table.columns[index].name)
        fields += (f"JSON_STORAGE_SIZE({name})", f"JSON_STORAGE_FREE({name})", name)
    return (
        f"SELECT {', '.join(fields)} FROM {quote_identifier(table.name)}"
        f" WHERE {where_clause(table, selector, keys)} ORDER BY {quote_identifier(selector)}"
    )
