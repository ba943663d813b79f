"""Table definitions read from a live server: INFORMATION_SCHEMA says all that a TABLE_MAP depends on."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from conformance.reference.sql.definition_reader import Reader
from conformance.reference.sql.quoting import quote_string
from conformance.reference.sql.statement_words import split_words
from conformance.reference.tables.create_table import parse_type
from conformance.reference.tables.definitions import Column, Table

if TYPE_CHECKING:
    from conformance.servers.wire.connection import Connection


def read_tables(connection: Connection, schema: str) -> dict[str, Table]:
    """The tables of a schema by name. A generated primary key is among the columns, where the server shows it."""
    named = f"TABLE_SCHEMA = {quote_string(schema)}"
    columns: defaultdict[str, list[Column]] = defaultdict(list)
    for table, *row in connection.execute(
        "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, EXTRA, GENERATION_EXPRESSION"
        f" FROM INFORMATION_SCHEMA.COLUMNS WHERE {named} ORDER BY TABLE_NAME, ORDINAL_POSITION"
    ).texts():
        columns[table or ""].append(_column(*row))
    keys: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for table, column, prefix in connection.execute(
        f"SELECT TABLE_NAME, COLUMN_NAME, SUB_PART FROM INFORMATION_SCHEMA.STATISTICS WHERE {named}"
        " AND INDEX_NAME = 'PRIMARY' ORDER BY TABLE_NAME, SEQ_IN_INDEX"
    ).texts():
        keys[table or ""].append((column or "", int(prefix or 0)))
    found = {}
    for name, mine in columns.items():
        places = {column.name: index for index, column in enumerate(mine)}
        key = tuple((places[column], prefix) for column, prefix in keys[name])
        found[name] = Table(schema=schema, name=name, columns=tuple(mine), primary_key=key)
    return found


def _column(
    name: str | None, kind: str | None, collation: str | None, null: str | None, extra: str | None, made: str | None
) -> Column:
    reader = Reader(split_words(kind or ""), "")
    column = parse_type(reader, Column(name=name or "", type=""))
    words = (extra or "").upper().split()
    return Column(
        name=column.name,
        type=column.type,
        length=column.length,
        scale=column.scale,
        unsigned=reader.take("UNSIGNED"),
        nullable=null == "YES",
        collation=collation or ("binary" if column.members else None),
        members=column.members,
        invisible="INVISIBLE" in words,
        auto_increment="AUTO_INCREMENT" in words,
        generated_sql=made or None,
        stored="STORED" in words,
    )
