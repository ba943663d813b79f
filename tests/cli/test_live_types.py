"""A table for each column type, its log without most metadata: ``apply`` gives the rows of SELECT, on 9.7.4 and 5.6."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.roles.old_server import launch_old
from conformance.servers.run.process import ProcessMaker
from tests.in_process import lab_here as lab
from tests.replayed_tables import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

DATA = Path(__file__).parents[1] / "data"
TYPES: dict[str, dict[str, list[str]]] = tomllib.loads((DATA / "column-types.toml").read_text("utf-8"))


def statements(types: Mapping[str, list[str]]) -> list[str]:
    """A table for each type, with a row for each value and one with NULL; one value is changed, one row removed."""
    made = []
    for number, (kind, values) in enumerate(types.items()):
        rows = ", ".join(f"({key}, {value})" for key, value in enumerate([*values, "NULL"]))
        made += [
            f"CREATE TABLE t{number} (id INT, c {kind})",
            f"INSERT INTO t{number} VALUES {rows}, (98, {values[0]}), (99, {values[0]})",
            f"UPDATE t{number} SET c = {values[-1]}, id = 97 WHERE id = 98",
            f"DELETE FROM t{number} WHERE id = 99",
        ]
    return made


def applied(log: Path) -> dict[str, Any]:
    done = lab("apply", log, "--format", "json")
    assert done.code == 0, done.text
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.parametrize("charset", ["utf8mb4", "latin1"])
@pytest.mark.parametrize("from_create", [True, False])
def test_every_type_has_the_rows_of_select(server: ProcessServer, charset: str, from_create: bool) -> None:
    """``from_create``: whether the log has the statement that made the schema."""
    with server.connect() as connection, server.schema(connection) as schema:
        source = Source(connection, schema)
        source.run("SET NAMES utf8mb4", "SET time_zone = '+00:00'")
        early = source.begin()
        source.run(f"ALTER SCHEMA `{schema}` CHARACTER SET {charset}")
        log = early if from_create else source.begin()
        source.run(*statements(TYPES["types"] | TYPES["since-8-0"]))
        assert connection.variable("binlog_row_metadata") == "MINIMAL"
        assert applied(log) == source.tables()


def test_every_type_of_5_6_has_the_rows_of_select(old_server: Installation) -> None:
    with launch_old(ProcessMaker(old_server), narrate=lambda _: None) as server, server.connect() as connection:
        source = Source(connection, "d")
        log = source.begin()
        source.run(
            "SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET binlog_format = ROW", "CREATE SCHEMA d", "USE d"
        )
        source.run(*statements(TYPES["types"]))
        tables = source.tables()
        source.begin()
        assert applied(log) == tables
        capture = json.loads((DATA / "binlogs-5.6.24" / "every-type.json").read_text("utf-8"))
        assert tables == capture, "the types changed: write every-type.binlog and every-type.json again"
