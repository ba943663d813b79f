"""The data source on Spark: the same rows as without, as text and as VARIANT, in bounded batches."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.scenarios.binlog_checks import NAMES, asked, check_batches, lines, records

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def load(spark: Any) -> Any:
    """``load(path, **options)``: a DataFrame."""
    from scenarios.spark.binlogs import register

    register(spark)
    return lambda path, **options: spark.read.format("mysql-binlog").options(**options).load(str(path))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with an open file, one that is cut off, and one that is no log."""
    folder = tmp_path_factory.mktemp("logs")
    for name in ("01-partial-minimal", "18-not-closed"):
        shutil.copy(NAMES[name], folder / f"{name}.000001")
    (folder / "cut.000001").write_bytes(NAMES["12-compressed-payload"].read_bytes()[:-10])
    (folder / "notes.txt").write_text("no log")
    (folder / "binlog.index").write_text("./cut.000001\n")
    return folder


def plain(value: Any) -> Any:
    """A value as Spark gives it: text is text."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.nightly
def test_rows_are_those_of_the_core_and_problems_are_among_them(load: Any, logs: Path) -> None:
    from pyspark.sql.functions import expr

    options = {"mode": "permissive", "ignoreCorruptFiles": "true", "timestampType": "bigint"}
    commit = "immediate_commit_timestamp"
    rows = load(logs, maxPartitionBytes="8k", **options).withColumn(commit, expr(f"unix_micros({commit})"))
    found = [plain(tuple(row)) for row in rows.collect()]
    assert sorted(found, key=repr) == sorted(
        (
            plain(tuple(record.values()))
            for path in logs.iterdir()
            if path.suffix != ".index"
            for record in records(path)
        ),
        key=repr,
    )
    assert sorted(row[-1][0] for row in found if row[-1]) == ["in-use", "not-a-binlog", "truncated"]


INSERTS = "operation = 'insert'"


def test_no_query_hides_damage(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A log of two is cut. In the default mode each query fails, in the others it warns on the driver, and counts."""
    from scenarios.spark.binlogs import register

    for name, end in (("14-rotate-a", None), ("14-rotate-b", -9)):
        (tmp_path / name).write_bytes(NAMES[name].read_bytes()[:end])
    cut = tmp_path / "14-rotate-b"
    sentence = f"{cut}: the last event is cut off at offset 1050, expected 19, got 14 [truncated]"
    problems = register(spark)
    assert problems is not None

    def load(**options: str) -> Any:
        return spark.read.format("mysql-binlog").options(**options).load(str(tmp_path))

    with pytest.raises(Exception, match="the last event is cut off") as failed:
        load().where(INSERTS).count()
    assert str(failed.value).splitlines()[0].endswith(sentence)  # and no trace of a worker
    assert "Traceback" not in str(failed.value)

    sound = lines(NAMES["14-rotate-a"]) + [line for line in lines(NAMES["14-rotate-b"]) if line["position"] < 1050]
    inserts = sum(line["operation"] == "insert" for line in sound)
    said = f"mode {{}}: {cut}: 1 problem{{}}: {sentence.partition(': ')[2]}"
    marked = load(
        mode="PERMISSIVE", columnNameOfCorruptRecord="bad", metadata="true", columns="bad,_metadata,operation"
    )
    found = marked.collect()
    assert len(found) == len(sound) + 1  # a count has the problem too, as in Spark's own sources
    (row,) = [row for row in found if row["bad"]]
    assert row["bad"] == sentence
    assert (row["_metadata"]["file_name"], row["_metadata"]["file_size"]) == (cut.name, cut.stat().st_size)
    assert caplog.messages == [said.format("PERMISSIVE", "")]
    rows = load(mode="DROPMALFORMED").where(INSERTS)
    assert [rows.count(), rows.count()] == [inserts, inserts]
    assert caplog.messages[1:] == [said.format("DROPMALFORMED", " dropped")] * 2
    load(mode="DROPMALFORMED").limit(1).collect()
    assert problems.count == len(problems.reports) == 4
    (problem,) = load(content="problems").collect()
    assert problem.asDict() == {
        "file": str(cut), "position": 1050, "code": "truncated", "message": sentence.partition(": ")[2],
        "expected": "19", "got": "14", "note": False,
    }  # fmt: skip


def test_images_are_variant_where_that_is_asked_for(load: Any) -> None:
    path = NAMES["12-compressed-payload"]
    found = load(path, documents="variant").selectExpr("position", "inner", "row", "to_json(before)", "to_json(after)")
    images = {tuple(row[:3]): tuple(value and json.loads(value) for value in row[3:]) for row in found.collect()}
    assert images == {
        (record["position"], record["inner"], record["row"]): tuple(
            record[side] and json.loads(record[side]) for side in ("before", "after")
        )
        for record in records(path)
    }


def test_sql_reads_events_and_says_which_option_was_wrong(load: Any, spark: Any) -> None:
    path = NAMES["17-xa-savepoint-rowsquery"]
    spark.sql(f"CREATE TEMPORARY VIEW events USING `mysql-binlog` OPTIONS (path '{path}', content 'events')")
    assert spark.sql("SELECT sum(size) + 4 FROM events").first()[0] == path.stat().st_size
    with pytest.raises(Exception, match="option content: expected rows, events or problems, got 'files'"):
        load(path, content="files")


@pytest.mark.parametrize("options", [{}, {"documents": "bytes"}, {"content": "events", "body": "true"}])
def test_batches_are_bounded_by_bytes(options: dict[str, str]) -> None:
    check_batches(NAMES["02-partial-off-same-sql"], **options)


def test_a_row_that_spark_cannot_hold_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.logs.parts import Part
    from scenarios.spark import batches

    monkeypatch.setattr(batches, "LARGEST", 700)
    path = NAMES["02-partial-off-same-sql"]
    found = [row for batch in batches.read_batches(Part(str(path)), asked(path)) for row in batch.to_pylist()]
    large = [row for row in found if row["problem"]]
    assert len(found) == len(records(path))
    assert 0 < len(large) < len(found)
    assert all(row["problem"]["code"] == "too-large" and row["after"] is None and row["table"] for row in large)


def test_images_without_a_variant_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql.variant_utils import VariantBuilder

    from conformance.logs.parts import Part
    from scenarios.spark.batches import read_batches

    monkeypatch.setattr(VariantBuilder.__init__, "__defaults__", (250,))  # its limit is 16 MB
    path = NAMES["02-partial-off-same-sql"]
    options = asked(path, documents="variant")
    found = [row for batch in read_batches(Part(str(path)), options) for row in batch.to_pylist()]
    none = [row for row in found if row["problem"]]
    assert len(found) == len(records(path))
    assert 0 < len(none) < len(found)
    assert all(row["problem"]["code"] == "no-variant" for row in none)
