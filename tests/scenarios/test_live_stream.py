"""A stream on a real server's log, while it grows, rotates and is written by a server that starts again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.run.process import launch
from tests.scenarios.binlog_checks import lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

pytestmark = [pytest.mark.spark, pytest.mark.live, pytest.mark.nightly]

COLUMNS = ("file", "position", "gtid", "row", "operation", "after")


def write(server: ProcessServer, *statements: str) -> None:
    with server.connect() as connection:
        connection.execute_many(list(statements)).check()


def updates(first: int) -> list[str]:
    """Two transactions: rows with documents, then diffs of them."""
    rows = ", ".join(
        f"({number}, JSON_OBJECT('n', {number}, 's', REPEAT('x', 60)))" for number in range(first, first + 5)
    )
    return [
        "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
        f"INSERT INTO d.t VALUES {rows}",
        f"UPDATE d.t SET j = JSON_SET(j, '$.n', 'changed') WHERE id >= {first}",
    ]


def test_a_stream_follows_rotations_and_restarts_and_gives_each_row_once(
    spark: Any, installation: Installation, tmp_path: Path
) -> None:
    """Two rotations and a restart of the server while the stream runs, and a restart of the stream between them."""
    from scenarios.spark.binlogs import register

    register(spark)
    with launch(installation) as server:
        logs = server.data_directory / "binlog.*"

        @contextmanager
        def following() -> Iterator[Any]:
            stream = spark.readStream.format("mysql-binlog").option("tables", "d.t").load(str(logs))
            query = (
                stream.where("operation IS NOT NULL").select(*COLUMNS).writeStream.format("parquet")
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .trigger(processingTime="100 milliseconds").start(str(tmp_path / "rows"))
            )  # fmt: skip
            try:
                yield query
            finally:
                query.stop()

        write(server, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)", *updates(0))
        with following() as query:
            query.processAllAvailable()
            write(server, *updates(10), "FLUSH BINARY LOGS", *updates(20))
            query.processAllAvailable()
            server.stop()
            server.start()
            write(server, *updates(30))
            query.processAllAvailable()
        write(server, *updates(40), "FLUSH BINARY LOGS", *updates(50))
        with following() as query:
            query.processAllAvailable()
            write(server, *updates(60))
            query.processAllAvailable()
            ends = [progress["sources"][0]["endOffset"] for progress in query.recentProgress]
        files = sorted(server.data_directory.glob("binlog.0*"))
        expected = [
            (line["file"], line["position"], line["gtid"], line["row"], line["operation"])
            for file in files
            for line in lines(file)
        ]
        found = spark.read.parquet(str(tmp_path / "rows")).collect()
    assert len(files) >= 4
    assert len(expected) == 70
    assert sorted(tuple(row)[:5] for row in found) == sorted(expected)
    assert sum('"diffs"' in row["after"] for row in found) == 35
    last = ends[-1] if isinstance(ends[-1], str) else repr(ends[-1])
    assert files[-1].name in last
