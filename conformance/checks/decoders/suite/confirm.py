"""Expected changes held against the server's own tables.

Between two statements another session reads all tables: text as bytes in UTF-8, documents as the server prints them,
and the JSON_TYPE of each leaf. The changes, applied one by one to the first state, must reach every later one in turn.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.suite.declare import SCHEMA
from conformance.reference.jsonb.tagged import from_tagged
from conformance.reference.jsonb.text import format_text, quote
from conformance.reference.jsonb.values import (
    BIT,
    BLOB,
    DATE,
    DATETIME,
    DECIMAL,
    TIME,
    TIMESTAMP,
    JsonValue,
    Opaque,
    UInt,
)
from conformance.reference.sql.quoting import quote_identifier, quote_string

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.servers.wire.connection import Connection

Cell = Any  # plain data that two sides compare
Row = dict[str, Cell]
_UNKNOWN: Final = object()  # a column that the changes do not tell
_MOST_LEAVES: Final = 300  # whose types are asked for, in one document
_TYPES: Final = {
    **dict.fromkeys((15, 249, 250, 251, BLOB, 253, 254), "BLOB"),
    DECIMAL: "DECIMAL",
    DATE: "DATE",
    TIME: "TIME",
    DATETIME: "DATETIME",
    TIMESTAMP: "TIMESTAMP",
    BIT: "BIT",
}


class Unconfirmed(Exception):
    """The changes do not explain what the server shows."""


@dataclass(frozen=True, slots=True)
class State:
    """The tables at one moment: the kinds of their columns in order, and their rows."""

    kinds: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, Sequence[Row]]


def read_state(connection: Connection) -> State:
    """Read all tables of the schema."""
    columns = connection.execute(
        "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS"
        f" WHERE TABLE_SCHEMA = '{SCHEMA}' ORDER BY TABLE_NAME, ORDINAL_POSITION"
    ).texts()
    kinds: dict[str, dict[str, str]] = {}
    for table, column, kind in columns:
        kinds.setdefault(str(table), {})[str(column)] = _kind(str(kind).lower())
    return State(kinds, {table: _rows(connection, table, known) for table, known in kinds.items()})


def _kind(data_type: str) -> str:
    if data_type == "json":
        return "json"
    if data_type in ("enum", "set"):
        return "member"
    if data_type in ("char", "varchar") or data_type.endswith("text"):
        return "text"
    if data_type in ("float", "double"):
        return "float"
    if data_type == "bit":
        return "bit"
    if data_type in ("tinyint", "smallint", "mediumint", "int", "bigint"):
        return "integer"
    return "shown" if data_type in ("decimal", "date", "time", "datetime", "timestamp", "year") else "bytes"


_EXPRESSIONS: Final = {
    "json": "CAST({0} AS CHAR CHARACTER SET utf8mb4)",
    "member": "CONCAT({0} + 0, ':', HEX(CONVERT({0} USING utf8mb4)))",
    "text": "COALESCE(HEX(CONVERT({0} USING utf8mb4)), HEX({0}))",  # invalid text stays as it is stored
    "float": "CAST({0} AS CHAR)",
    "integer": "CAST({0} + 0 AS CHAR)",  # without the zeros of ZEROFILL
    "shown": "CAST({0} AS CHAR)",
    "bit": "CAST({0} + 0 AS CHAR)",
    "bytes": "HEX({0})",
}


def _rows(connection: Connection, table: str, kinds: Mapping[str, str]) -> list[Row]:
    names = list(kinds)
    fields = [_EXPRESSIONS[kinds[name]].format(quote_identifier(name)) for name in names]
    source = f"{SCHEMA}.{quote_identifier(table)}"
    rows: list[Row] = []
    for number, values in enumerate(connection.execute(f"SELECT {', '.join(fields)} FROM {source}").texts()):
        row: Row = {}
        for name, value in zip(names, values, strict=True):
            kind = kinds[name]
            if value is None:
                row[name] = None
            elif kind == "json":
                row[name] = value, _types(connection, source, number, name, value)
            else:
                row[name] = repr(float(value)) if kind == "float" else value
        rows.append(row)
    return rows


def _types(connection: Connection, source: str, row: int, column: str, document: str) -> dict[str, str]:
    """JSON_TYPE of each leaf of a stored document. Without an ORDER BY InnoDB gives unchanged rows in one order."""
    paths = [path for path, _ in _leaves(json.loads(document), "$")][:_MOST_LEAVES]
    if not paths:
        return {}
    name = quote_identifier(column)
    fields = ", ".join(f"JSON_TYPE(JSON_EXTRACT({name}, {quote_string(path)}))" for path in paths)
    (found,) = connection.execute(f"SELECT {fields} FROM {source} LIMIT 1 OFFSET {row}").texts()
    return {path: str(kind) for path, kind in zip(paths, found, strict=True)}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{quote(key)}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")
    else:
        yield path, value


def _type(value: JsonValue) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, Opaque):
        return _TYPES.get(value.field_type, "OPAQUE")
    for kind, name in ((bool, "BOOLEAN"), (UInt, "UNSIGNED INTEGER"), (int, "INTEGER"), (float, "DOUBLE")):
        if isinstance(value, kind):
            return name
    return "STRING"


def _cell(kind: str, value: Any) -> Cell:
    """A value of a change in the form of a state's."""
    if value is None:
        return None
    if kind == "json":
        if "diffs" in value:
            return _UNKNOWN
        document = from_tagged(value["json"])
        return format_text(document), {path: _type(item) for path, item in _leaves(document, "$")}
    if kind == "bit":
        return str(int(value["hex"], 16))
    if isinstance(value, dict) and "hex" in value:
        return value["hex"].upper()
    if kind == "member":
        return value
    if kind == "text":
        return value.encode().hex().upper()
    return repr(float(value)) if kind == "float" else str(value)


def _same(kind: str, ours: Cell, shown: Cell) -> bool:
    if ours is _UNKNOWN or ours == shown:
        return True
    if ours is None or shown is None:
        return ours is shown
    if kind == "json":
        return bool(ours[0] == shown[0] and all(ours[1].get(path) == name for path, name in shown[1].items()))
    if kind == "member":
        number, _, name = shown.partition(":")
        return bool(int(number) == ours["index"] if isinstance(ours, dict) else ours.encode().hex().upper() == name)
    return bool(ours == shown)


@dataclass(slots=True)
class _Tables:
    """The rows as the changes make them."""

    kinds: Mapping[str, Mapping[str, str]]
    rows: dict[str, list[Row]]
    unknown: int = 0  # documents whose diffs had no known base

    def apply(self, change: Mapping[str, Any]) -> None:
        """Perform one change."""
        table = change["table"]
        rows = self.rows[table]
        if change["before"] is not None:
            before = self._row(table, change["before"])
            found = next((row for row in rows if self._fits(table, before, row)), None)
            if found is None:
                raise Unconfirmed(f"no row of {table} is as before this change: {change}")
            rows.remove(found)
        else:
            found = dict.fromkeys(self.kinds[table], _UNKNOWN)
        if change["after"] is not None:
            after = self._row(table, change["after"])
            self.unknown += sum(cell is _UNKNOWN for cell in after.values())
            rows.append({**found, **after})

    def follow(self, state: State) -> None:
        """Take over the definitions of the tables, which a statement may have changed while they had no rows."""
        self.kinds = state.kinds
        for table in state.rows:
            self.rows.setdefault(table, [])

    def _row(self, table: str, image: Mapping[str, Any]) -> Row:
        kinds = self.kinds[table]
        names = list(kinds)
        row: Row = {}
        for name, value in image.items():
            known = names[int(name[1:]) - 1] if name not in kinds and name.startswith("@") else name
            row[known] = _cell(kinds[known], value)
        return row

    def _fits(self, table: str, image: Row, row: Row) -> bool:
        return all(_alike(self.kinds[table][name], cell, row[name]) for name, cell in image.items())

    def equals(self, state: State) -> bool:
        """Whether the server showed exactly these rows."""
        for table, shown in state.rows.items():
            left = list(self.rows[table])
            for row in shown:
                match = next((item for item in left if self._shows(table, item, row)), None)
                if match is None:
                    return False
                left.remove(match)
            if left:
                return False
        return True

    def _shows(self, table: str, row: Row, shown: Row) -> bool:
        return all(_same(kind, row[name], shown[name]) for name, kind in self.kinds[table].items())


def _alike(kind: str, image: Cell, row: Cell) -> bool:
    """Whether a cell of an image fits one of the rows so far, which is another image's, or the server's."""
    if row is _UNKNOWN or image is _UNKNOWN or image == row:
        return True
    if kind == "json" and image is not None and row is not None:
        return bool(image[0] == row[0])
    return kind == "member" and isinstance(row, str) and ":" in row and _same(kind, image, row)


def confirm(states: Sequence[State], resolved: Iterable[Mapping[str, Any]]) -> str:
    """Say how the changes explain the states, or raise :class:`Unconfirmed`."""
    first = states[0]
    kinds = first.kinds
    tables = _Tables(kinds, {name: list(rows) for name, rows in first.rows.items()})
    left = list(resolved)
    applied = 0
    for number, state in enumerate(states):
        tables.follow(state)
        while not tables.equals(state):
            if applied == len(left):
                raise Unconfirmed(f"the changes do not lead to the tables after statement {number}: {_shown(state)}")
            tables.apply(left[applied])
            applied += 1
    for change in left[applied:]:  # those that change nothing that anybody sees
        tables.apply(change)
    if not tables.equals(states[-1]):
        raise Unconfirmed(f"more changes than the tables show: {left[applied:]}")
    leaves = sum(
        len(cell[1]) for state in states[1:] for rows in state.rows.values() for row in rows
        for name, cell in row.items() if isinstance(cell, tuple)
    )  # fmt: skip
    words = f"tables read after each of {len(states) - 1} statements"
    if leaves:
        words += f", with JSON_TYPE of {leaves} leaves"
    if tables.unknown:
        words += f"; {tables.unknown} documents have diffs without a base in the log"
    return words


def _shown(state: State) -> str:
    return str(state.rows)[:2000]
