"""Rows of data files as JSON objects, one a line, or as INSERT statements.

The values in JSON are those of ``decode --format jsonl``. An INSERT gives back the bytes of every value: text that is
not ASCII stands in the character set of its column. Columns that the server computes are not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.innodb.stored_tables import Absent, RowState
from conformance.reference.jsonb.text import quote
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.text.row_changes import Form, value_writer
from conformance.reference.text.sql.rows import literal_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.innodb.stored_tables import StoredTable, TableRow

    Line = Callable[[TableRow], str]


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
    literals = [literal_of(table.columns[place].info) for place in places]

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
