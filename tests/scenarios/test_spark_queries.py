"""A query decodes only what it asks for: filters, columns, and the columns of one table; and a stream's rows."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.scenarios.binlog_checks import NAMES, lines, records

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

MANY = NAMES["16-row-split-partition-gipk"]
LATER = NAMES["21-replica-binlog"]
TYPES = NAMES["07-all-types-metadata-full"]
QUERIES = (
    "operation = 'update'",
    "schema = 'd' AND `table` IN ('part', 'gipk')",
    "`table` LIKE '%t' AND `table` <> 'part'",
    "`table` IS NOT NULL AND event = 'WRITE_ROWS_EVENT'",
    "timestamp >= timestamp_seconds({middle})",
    "timestamp < timestamp_seconds({middle}) AND schema LIKE '%d%'",
    "NOT `table` LIKE '%x%' AND timestamp <=> timestamp_seconds({middle})",
    "operation = 'update' OR `table` = 't'",
)


@pytest.fixture(scope="module")
def load(spark: Any) -> Any:
    """``load(path, push, **options)``: a DataFrame, with filters pushed down or not."""
    from scenarios.spark.binlogs import register

    def loaded(path: object, *, push: bool = True, **options: str) -> Any:
        register(spark, push_filters=push)
        return spark.read.format("mysql-binlog").options(**options).load(str(path))

    return loaded


def decoded(metrics: Path) -> tuple[int, int]:
    """Bytes that the tasks of a query read and decoded."""
    found = [json.loads(path.read_text("utf-8")) for path in metrics.glob("*.json")]
    shutil.rmtree(metrics)
    return sum(item["bytes_read"] for item in found), sum(item["bytes_decoded"] for item in found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("condition", QUERIES)
def test_a_filter_changes_no_answer_and_saves_the_decoding(load: Any, condition: str, tmp_path: Path) -> None:
    logs = (MANY, LATER)
    for path in logs:
        shutil.copy(path, tmp_path / path.name)
    changes = [line for path in logs for line in lines(path)]
    condition = condition.format(middle=max(line["timestamp"] for line in changes))
    answers, work = [], []
    for push in (False, True):
        rows = load(tmp_path / "*.binlog", push=push, metrics=str(tmp_path / "metrics"), splitBytes="1k").where(
            condition
        )
        answers.append(sorted(map(repr, rows.collect())))
        work.append(decoded(tmp_path / "metrics"))
    assert answers[0] == answers[1]
    assert answers[0]
    (read, all_rows), (read_too, some) = work
    assert read == read_too
    assert all_rows == sum(
        event["size"] for path in logs for event in records(path, content="events") if event["type"] in (30, 31, 32, 39)
    )
    assert len(answers[0]) < len(changes)
    assert (some < all_rows) is ("OR" not in condition)


def test_a_filter_on_events_is_pushed_down_too(load: Any) -> None:
    events = load(MANY, content="events").where("event = 'TABLE_MAP_EVENT' AND `table` IS NOT NULL")
    expected = [r for r in records(MANY, content="events") if r["event"] == b"TABLE_MAP_EVENT"]
    assert events.count() == len(expected)


def test_columns_are_those_that_are_named(load: Any, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [(line["operation"], line["schema"], line["row"]) for line in lines(MANY)]
    found = load(MANY, columns="operation, schema, row")
    assert found.columns == ["operation", "schema", "row"]
    assert sorted(map(tuple, found.collect())) == sorted(expected)
    own = spark.read.format("mysql-binlog").schema("operation STRING, schema STRING, row INT").load(str(MANY))
    assert sorted(map(tuple, own.collect())) == sorted(expected)
    with pytest.raises(Exception, match=r"option columns: expected some of file, position.*got 'opera'"):
        load(MANY, columns="opera")
    with pytest.raises(Exception, match="schema: column row: expected int, got string"):
        spark.read.format("mysql-binlog").schema("row STRING").load(str(MANY)).collect()
    with pytest.raises(Exception, match=r"schema: column rows: expected one of file, position, .*, got another name"):
        spark.read.format("mysql-binlog").schema("rows INT").load(str(MANY)).collect()
    times = spark.read.format("mysql-binlog").schema("timestamp BIGINT").load(str(MANY)).collect()
    assert sorted(row[0] for row in times) == sorted(line["timestamp"] for line in lines(MANY))


def test_images_that_nobody_selects_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.logs.parts import Part
    from conformance.logs.rows import tuples as rows
    from scenarios.spark.batches import read_batches
    from tests.scenarios.binlog_checks import asked

    monkeypatch.setattr(rows, "changes_of", None)
    found = [row for b in read_batches(Part(str(MANY)), asked(MANY, columns="inner,row,file")) for row in b.to_pylist()]
    assert [(row["inner"], row["row"]) for row in found] == [(line["inner"], line["row"]) for line in lines(MANY)]


# ------------------------------------------------------------------------------------------------- columns of one table


def test_rows_have_the_columns_of_their_table(load: Any) -> None:
    """Each value is that of the command's text, in the type that its column has."""
    (first, *_) = lines(TYPES)
    found = load(TYPES, schema="typed", tables=f"{first['schema']}.{first['table']}")
    kinds = {field.name: field.dataType.simpleString() for field in found.schema["after"].dataType.fields}
    assert list(kinds) == list(first["after"])
    for row, line in zip(found.orderBy("position", "row").collect(), lines(TYPES), strict=True):
        assert row["before"] is None
        assert row["logged"]["after"] == list(line["after"])
        for name, text in line["after"].items():
            assert same_value(row["after"][name], text, kinds[name]), (name, row["after"][name], text)
        nothing = [n for n, text in line["after"].items() if text is not None and row["after"][n] is None]
        assert all(f"column {name}: " in row["problem"]["message"] for name in nothing)
    assert {"tinyint", "smallint", "bigint", "decimal(20,0)", "date", "timestamp", "timestamp_ntz", "binary"} <= set(
        kinds.values()
    )


def same_value(value: Any, text: Any, kind: str) -> bool:
    """Whether a value of Spark is what the command prints."""
    if value is None:
        return text is None or text.startswith("0000-00-00")
    if isinstance(value, (bytes, bytearray)):
        return bool(text == {"hex": value.hex()})
    if isinstance(value, dt.datetime):
        return str(value.replace(tzinfo=None)).rstrip("0").rstrip(".") in (text, text.rstrip("0").rstrip("."))
    if isinstance(value, dt.date):
        return bool(str(value) == text)
    if isinstance(text, dict):
        return bool(json.loads(value) == text["json"])
    if isinstance(value, float):
        return float(f"{value:.5g}") == float(f"{float(text):.5g}")
    return Decimal(value) == Decimal(text) if not isinstance(value, str) else value == text


@pytest.mark.parametrize("documents", ["json", "variant"])
def test_diffs_stand_beside_the_columns(load: Any, documents: str) -> None:
    path = NAMES["06-partial-ten-json-columns"]
    found = load(path, schema="typed", tables="*.*", documents=documents).orderBy("position", "row")
    rows = found.selectExpr("*", "to_json(before) AS old", "to_json(after) AS new").collect()
    assert len(rows) == len(lines(path))
    seen = 0
    for row, line in zip(rows, lines(path), strict=True):
        for side, text in (("before", row["old"]), ("after", row["new"])):
            image = json.loads(text or "{}")
            for name, value in (line[side] or {}).items():
                if isinstance(value, dict) and "diffs" in value:
                    diffs = [d for d in row["diffs"] if d["column"] == name and d["operation"]]
                    told = [{"operation": d["operation"], "path": d["path"]} for d in diffs]
                    assert told == [{k: d[k] for k in ("operation", "path")} for d in value["diffs"]]
                    values = [d["value"] and json.loads(d["value"]) for d in diffs]
                    assert values == [d.get("value") for d in value["diffs"]]
                    assert name not in image
                    seen += 1
                elif isinstance(value, dict):
                    document = json.loads(image[name]) if documents == "json" else image[name]
                    assert document == value["json"]
                elif value is not None:
                    assert image[name] == value
    assert seen


def test_typed_rows_are_for_one_table_and_its_schema_may_be_given(load: Any, spark: Any) -> None:
    with pytest.raises(Exception, match=r"option schema: typed is for one table, .* got 3: "):
        load(MANY, schema="typed", tables="*.*")
    with pytest.raises(Exception, match="got none in these logs"):
        load(MANY, schema="typed", tables="no.such")
    (table, *_) = {f"{line['schema']}.{line['table']}" for line in lines(MANY)}
    known = load(MANY, schema="typed", tables=table)
    reader = spark.read.format("mysql-binlog").schema(known.schema).option("schema", "typed").option("tables", table)
    assert reader.load(str(MANY)).collect() == known.collect()


# --------------------------------------------------------------------------------------------------------- file systems


def test_a_path_of_hadoop_gives_the_rows_of_the_source(load: Any, spark: Any, tmp_path: Path) -> None:
    """Through Spark's own file reader: names are Spark's, the rows are those of the data source."""
    from scenarios.spark.hadoop import read_binlogs

    for path in (MANY, LATER):
        shutil.copy(path, tmp_path / path.name)
    (tmp_path / "cut.binlog").write_bytes(TYPES.read_bytes()[:-9])
    (tmp_path / "binlog.index").write_text("./cut.binlog")
    data = bytearray(MANY.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "changed.binlog").write_bytes(data)
    names = ("'file:' || file AS file", "* EXCEPT (file)")
    expected = load(tmp_path / "*", mode="permissive").selectExpr(*names).collect()
    assert sum(row["problem"] is not None for row in expected) == 2
    for size in ("1g", "1500"):
        found = read_binlogs(spark, f"file://{tmp_path}/*", mode="permissive", maxPartitionBytes=size)
        assert sorted(map(repr, found.collect())) == sorted(map(repr, expected))
    with pytest.raises(Exception, match=r"file:/.*\.binlog: .* at offset \d+, expected"):
        read_binlogs(spark, f"{tmp_path}/*", columns="operation").count()
    typed = {"schema": "typed", "tables": "d.gipk", "pathGlobFilter": MANY.name}
    found = read_binlogs(spark, str(tmp_path), maxPartitionBytes="1500", **typed)
    known = load(tmp_path, **typed).selectExpr(*names)
    assert found.schema["after"] == known.schema["after"]
    assert sorted(map(repr, found.collect())) == sorted(map(repr, known.collect()))


# -------------------------------------------------------------------------------------------------------------- streams


@pytest.mark.nightly
def test_a_stream_reads_what_is_there_and_goes_on_from_its_checkpoint(load: Any, spark: Any, tmp_path: Path) -> None:
    """In batches of a transaction, and stopped between two logs."""
    logs = tmp_path / "logs"
    logs.mkdir()
    load(MANY)

    def run() -> Any:
        stream = spark.readStream.format("mysql-binlog").option("maxBytesPerTrigger", "400").load(f"{logs}/binlog.*")
        query = (
            stream.select("file", "position", "row", "operation", "problem").writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
            .start(str(tmp_path / "rows"))
        )  # fmt: skip
        assert query.awaitTermination(120)
        return query

    for number, name in enumerate(("14-rotate-a", "14-rotate-b"), 1):
        shutil.copy(NAMES[name], logs / f"binlog.{number:06}")
        run()
    found = spark.read.parquet(str(tmp_path / "rows")).select("file", "position", "row", "operation").collect()
    expected = [
        (f"{logs}/binlog.{number:06}", line["position"], line["row"], line["operation"])
        for number, name in enumerate(("14-rotate-a", "14-rotate-b"), 1)
        for line in lines(NAMES[name])
    ]
    assert sorted(map(tuple, found)) == sorted(expected)
