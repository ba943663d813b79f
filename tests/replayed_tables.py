"""Tables of a server beside what ``apply --format json`` makes of its log: sessions, log files, rows as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from conformance.servers.wire.connection import Connection

_HEX: Final = frozenset({
    "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "geometry", "point", "linestring",
    "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection", "geometrycollection",
})  # fmt: skip


class Source:
    """A session whose statements go to log files of their own, in a schema of its own."""

    def __init__(self, connection: Connection, schema: str) -> None:
        self.connection, self.schema = connection, schema

    def run(self, *statements: str) -> None:
        self.connection.execute_many(statements).check()

    def begin(self) -> Path:
        """Begin a new log file; returns its path."""
        self.run("FLUSH LOGS")
        (*_, (name, *_)) = self.connection.execute("SHOW BINARY LOGS").texts()
        return Path(str(self.connection.variable("log_bin_basename"))).parent / str(name)

    def tables(self) -> dict[str, Any]:
        """All tables with columns and rows, as ``apply --format json`` has them, with times in UTC."""
        found = {}
        self.run("SET time_zone = '+00:00'")
        facts = self.connection.execute(
            "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS"
            f" WHERE TABLE_SCHEMA = '{self.schema}' ORDER BY TABLE_NAME, ORDINAL_POSITION"
        ).texts()
        for table in dict.fromkeys(str(row[0]) for row in facts):
            columns = {str(name): str(kind) for owner, name, kind in facts if owner == table}
            selected = ", ".join(_selected(name, kind) for name, kind in columns.items())
            rows = [list(row) for row in self.connection.execute(f"SELECT {selected} FROM `{table}`").texts()]
            rows.sort(key=lambda row: [(value is not None, value or "") for value in row])
            found[f"{self.schema}.{table}"] = {"columns": list(columns), "rows": rows}
        return found


def _selected(name: str, kind: str) -> str:
    if kind in _HEX:
        return f"HEX(`{name}`)"
    return f"`{name}` + 0" if kind == "bit" else f"`{name}`"
