"""Everyday ALTERs on a real server: ``apply`` gives the rows of SELECT, or refuses the statement with its reason."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.in_process import lab_here as lab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

ALTERS: dict[str, Any] = tomllib.loads((Path(__file__).parents[1] / "data" / "everyday-alters.toml").read_text())
_HEX = {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "point", "geometry"}


class Source:
    """A session whose statements go to log files of their own, in a schema of its own."""

    def __init__(self, connection: Connection, schema: str) -> None:
        self.connection, self.schema = connection, schema

    def run(self, *statements: str) -> None:
        self.connection.execute_many(statements).check()

    def begin(self) -> Path:
        """Begin a new log file; returns its path."""
        self.run("FLUSH BINARY LOGS")
        name = str(self.connection.execute("SHOW BINARY LOG STATUS").texts()[0][0])
        return Path(str(self.connection.variable("log_bin_basename"))).parent / name

    def tables(self) -> dict[str, Any]:
        """All tables with columns and rows, as ``apply --format json`` has them."""
        found = {}
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


@pytest.fixture
def source(server: ProcessServer) -> Iterator[Source]:
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("SET NAMES utf8mb4")
        yield Source(connection, schema)


@pytest.mark.parametrize("case", ALTERS["case"], ids=lambda case: case["title"])
def test_an_everyday_alter_is_followed_or_refused(source: Source, case: dict[str, Any]) -> None:
    log = source.begin()
    source.run(ALTERS["create"], *ALTERS["rows"], *case.get("before", ()), *case["alter"])
    source.run("SET time_zone = '+00:00'")
    tables = source.tables()
    done = lab("apply", log, "--format", "json")
    if "refused" in case:
        assert done.code == 1, done.text
        assert case["refused"] in done.err
        return
    assert done.code == 0, done.text
    assert json.loads(done.out) == tables
    source.run(*case.get("more", ALTERS["more"]))
    done = lab("apply", log, "--format", "json")
    assert done.code == 0, done.text
    assert json.loads(done.out) == source.tables()


def test_most_everyday_alters_are_followed() -> None:
    assert sum("refused" not in case for case in ALTERS["case"]) >= 30
