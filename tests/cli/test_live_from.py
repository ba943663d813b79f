"""``apply --from`` on a real server: data files or a dump, and the log behind them, give the rows of SELECT."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_live_types import TYPES
from tests.in_process import lab_here as lab
from tests.replayed_tables import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

BEFORE = (
    "CREATE TABLE p (id INT PRIMARY KEY, j JSON, g INT AS (id + 1), h CHAR(9) AS (CONCAT('é', id)) STORED)",
    "ALTER TABLE p PARTITION BY HASH (id) PARTITIONS 3",
    "INSERT INTO p (id, j) VALUES (1, '{\"a\": [1, 2]}'), (2, NULL), (3, '\"it''s; \\\\n\"')",
    "CREATE TABLE i (a INT, b TEXT)",
    "INSERT INTO i VALUES (1, 'x; \n y'), (2, NULL), (2, NULL)",
    "ALTER TABLE i ADD c INT NOT NULL DEFAULT 5, ALGORITHM = INSTANT",
    "ALTER TABLE i DROP COLUMN a, ADD k BIT(3) DEFAULT b'101', ALGORITHM = INSTANT",
)
BEHIND = (
    "UPDATE p SET j = JSON_SET(j, '$.a[1]', 7), id = id + 10 WHERE id = 1",
    "ALTER TABLE p ADD x TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, MODIFY id BIGINT NOT NULL",
    "INSERT INTO p (id) VALUES (5)",
    "DELETE FROM i WHERE b IS NULL LIMIT 1",
    "UPDATE i SET b = CONCAT(b, 'ü')",
    "CREATE TABLE n AS SELECT * FROM i",
    "DELETE FROM every WHERE id = 0",
    "UPDATE every SET id = 70 WHERE id = 1",
    "INSERT INTO every (id, c0) SELECT 77, c0 FROM every WHERE id = 2",
)


@pytest.fixture
def source(server: ProcessServer) -> Iterator[Source]:
    """Tables with rows: one with a column of each type, one with partitions, one with INSTANT columns."""
    types = list((TYPES["types"] | TYPES["since-8-0"]).items())
    with server.connect() as connection, server.schema(connection) as schema:
        made = Source(connection, schema)
        made.run(
            "SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'"
        )
        columns = ", ".join(f"c{number} {kind}" for number, (kind, _) in enumerate(types))
        made.run(f"CREATE TABLE every (id INT PRIMARY KEY, {columns})")
        for row in range(3):
            values = ", ".join(values[min(row, len(values) - 1)] for _, values in types)
            made.run(f"INSERT INTO every VALUES ({row}, {values})")
        made.run("INSERT INTO every (id) VALUES (9)", *BEFORE)
        yield made


def held_against_select(source: Source, *words: str | Path) -> None:
    log = source.begin()
    source.run(*BEHIND)
    done = lab("apply", "--format", "json", "--from", *words, log)
    assert done.code == 0, done.text
    assert json.loads(done.out) == source.tables()


def test_data_files_and_the_log_behind_them(source: Source, tmp_path: Path) -> None:
    data = Path(str(source.connection.variable("datadir"))) / source.schema
    source.run("FLUSH TABLES every, p, i FOR EXPORT")
    for file in data.glob("*.ibd"):
        shutil.copy(file, tmp_path)
    source.run("UNLOCK TABLES")
    held_against_select(source, *sorted(tmp_path.glob("*.ibd")))


@pytest.mark.parametrize("options", [[], ["--hex-blob", "--complete-insert", "--skip-extended-insert"], ["--compact"]])
def test_a_dump_and_the_log_behind_it(
    server: ProcessServer, source: Source, tmp_path: Path, options: list[str]
) -> None:
    dump = tmp_path / "rows.sql"
    words = [*server.client("mysqldump"), *options, "--set-gtid-purged=OFF", "--no-tablespaces", "--skip-tz-utc",
             "--databases", source.schema]  # fmt: skip
    if not options:
        words.remove("--skip-tz-utc")
    dump.write_bytes(subprocess.run(words, capture_output=True, check=True).stdout)
    if options:
        dump.write_bytes(b"SET time_zone = '+00:00';\n" + dump.read_bytes())
    held_against_select(source, dump)


def test_a_partition_without_its_file_is_told(source: Source) -> None:
    data = Path(str(source.connection.variable("datadir"))) / source.schema
    log = source.begin()
    source.run("FLUSH TABLES p FOR EXPORT")
    done = lab("apply", "--from", data / "p#p#p0.ibd", data / "p#p#p1.ibd", log)
    source.run("UNLOCK TABLES")
    assert (done.code, done.out) == (1, ""), done.text
    assert "no file has the rows of a partition" in done.err
    assert "got p2" in done.err
