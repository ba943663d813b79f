"""The tables of a schema as the server describes them, and their rows as texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.servers.wire.connection import Connection

Rows = list[tuple[bytes | None, ...]]
_BINARY: Final = frozenset(
    {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit", "point", "linestring", "geometry"}
)
_LONG: Final = 400
_TYPED: Final = ("$", "$.a", "$.b", "$.c", "$.arr[0]")
"""Where documents keep most values; some types print alike, such as a date and its text."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column: its name, type, and expression if it is generated."""

    name: str
    type: str
    expression: str


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """An index: ``parts`` are names or expressions, each with whether it descends."""

    name: str
    kind: str
    parts: tuple[tuple[str, bool, bool], ...]  # text, is an expression, descends

    @property
    def multi_valued(self) -> bool:
        """Whether a row has as many entries as an array has members."""
        return any(expression and re.search(r"\barray\)$", text) for text, expression, _ in self.parts)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A base table of a schema."""

    name: str
    engine: str
    columns: tuple[ColumnFacts, ...]
    indexes: tuple[IndexFacts, ...]


def describe(connection: Connection, schema: str) -> dict[str, TableFacts]:
    """The base tables of a schema."""
    engines = connection.execute(
        "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES "
        f"WHERE TABLE_SCHEMA = '{schema}' AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1"
    ).texts()
    columns = connection.execute(
        "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, GENERATION_EXPRESSION FROM information_schema.COLUMNS "
        f"WHERE TABLE_SCHEMA = '{schema}' ORDER BY TABLE_NAME, ORDINAL_POSITION"
    ).texts()
    indexes = connection.execute(
        "SELECT TABLE_NAME, INDEX_NAME, INDEX_TYPE, IFNULL(COLUMN_NAME, EXPRESSION), COLUMN_NAME IS NULL, COLLATION "
        f"FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '{schema}' "
        "ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
    ).texts()
    found: dict[str, TableFacts] = {}
    for name, engine in engines:
        parts: dict[tuple[str, str], list[tuple[str, bool, bool]]] = {}
        for table, index, kind, text, expression, collation in indexes:
            if table == name:
                plain = (text or "").replace("\\'", "'")
                parts.setdefault((index or "", kind or ""), []).append((plain, expression == "1", collation == "D"))
        found[name or ""] = TableFacts(
            name or "",
            engine or "",
            tuple(
                ColumnFacts(column or "", kind or "", (text or "").replace("\\'", "'"))
                for table, column, kind, text in columns
                if table == name
            ),
            tuple(IndexFacts(index, kind, tuple(texts)) for (index, kind), texts in parts.items()),
        )
    return found


def shown(column: ColumnFacts) -> str:
    """An expression that gives a column's value as a text that is equal only for equal values."""
    name = f"`{column.name}`"
    if column.type in _BINARY:
        return f"IF(LENGTH({name}) > {_LONG}, SHA2({name}, 256), HEX({name}))"
    short = f"IF(LENGTH({name}) > {_LONG}, CONCAT(LENGTH({name}), SHA2({name}, 256)), {name})"
    if column.type == "json":
        types = ", ".join(f"JSON_TYPE(JSON_EXTRACT({name}, '{path}'))" for path in _TYPED)
        return f"CONCAT_WS(' ', {short}, {types})"
    return short if column.type in ("text", "mediumtext", "longtext", "tinytext") else name


def rows_query(table: TableFacts, schema: str) -> str:
    """A query for all rows of a table, in the server's order; the current schema if ``schema`` is empty."""
    words = ", ".join(shown(column) for column in table.columns)
    place = f"`{schema}`." if schema else ""
    return f"SELECT {words} FROM {place}`{table.name}`"


def read(connection: Connection, schema: str, tables: Mapping[str, TableFacts]) -> dict[str, Rows]:
    """All rows of all tables, sorted."""
    names = sorted(tables)
    if not names:
        return {}
    results = connection.execute_many([rows_query(tables[name], schema) for name in names]).check()
    return {name: ordered(list(result.rows)) for name, result in zip(names, results, strict=True)}


def ordered(rows: Rows) -> Rows:
    """Rows in one order; NULL comes first."""
    return sorted(rows, key=lambda row: [(value is not None, value or b"") for value in row])


def first_difference(table: TableFacts, left: Rows, right: Rows) -> str:
    """Tell where two sorted lists of rows part."""
    if len(left) != len(right):
        return f"table {table.name}: {len(left)} rows and {len(right)} rows"
    for one, other in zip(left, right, strict=True):
        if one != other:
            names = [column.name for column, a, b in zip(table.columns, one, other, strict=True) if a != b]
            at = [column.name for column in table.columns].index(names[0])
            return f"table {table.name}, column {', '.join(names)}: {_cut(one[at])} and {_cut(other[at])}"
    return ""


def differing_columns(table: TableFacts, left: Rows, right: Rows) -> str:
    """The kinds of columns in which the lists differ, or "rows" for a number of rows."""
    if len(left) != len(right):
        return "rows"
    kinds = {
        ("generated " if column.expression else "") + ("json" if column.type == "json" else "value")
        for one, other in zip(left, right, strict=True)
        if one != other
        for column, a, b in zip(table.columns, one, other, strict=True)
        if a != b
    }
    return " and ".join(sorted(kinds))


def _cut(value: bytes | None) -> str:
    text = "NULL" if value is None else value.decode("utf-8", "backslashreplace")
    return text if len(text) <= 160 else f"{text[:150]}… ({len(text)} characters)"
