"""Binary logs as tuples: the rows of the command, however a file is cut and whatever is wrong with it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance.logs.parts import parts_of
from conformance.logs.paths import find_logs
from conformance.logs.rows.options import PARTITION, Mode, OptionError
from conformance.logs.rows.tuples import BinlogProblem, read_rows, require_log
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.binlog.writer import FileWriter
from generators.draw import Stream
from generators.streams import Starts
from scenarios.spark.options import parse_options
from tests.scenarios.binlog_checks import (
    FILES,
    GTID,
    NAMES,
    asked,
    check_damaged,
    check_events,
    check_lines,
    check_modes,
    check_reported,
    check_split,
    check_truncated,
    damaged,
    generated_log,
    lines,
    problems,
    records,
    relay_of_another,
    same,
    sound,
    with_and_without_gtids,
    without_gtids,
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_rows_are_those_of_the_command(path: Path) -> None:
    check_lines(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_events_are_those_of_the_file(path: Path) -> None:
    check_events(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_any_split_gives_the_same_rows(path: Path) -> None:
    parts = check_split(path)
    assert parts > 1 or path.stem == "20-relay-log" or len(path.read_bytes()) < 1300


def test_a_log_without_gtids_is_split_too(tmp_path: Path) -> None:
    path = without_gtids(tmp_path / "old.000001")
    check_lines(path)
    assert check_split(path, (1, 500, 4000)) > 100


@pytest.mark.parametrize("start", [None, Starts.GTID, Starts.TAGGED, Starts.ANONYMOUS, Starts.NOTHING])
def test_generated_logs_give_the_same_rows_however_they_are_split(start: str | None, tmp_path: Path) -> None:
    """Transactions of every kind, statements, XA, incidents, compressed ones, and what stands between them."""
    for seed in range(8):
        draw = Stream("split", str(start), seed)
        path = generated_log(tmp_path / "log", draw, start)
        assert check_split(path, (1, 1 + draw.below(2000))) > 4


def test_a_part_never_needs_what_stands_before_it(tmp_path: Path) -> None:
    assert check_split(with_and_without_gtids(tmp_path / "mixed"), (1, 500)) > 2
    relay = relay_of_another(tmp_path / "relay")
    assert len(sound(relay)) > 3
    assert check_split(relay, (1, 500)) == 1


def test_a_small_file_is_one_part_and_every_part_reaches_its_size() -> None:
    path = str(NAMES["01-partial-minimal"])
    size = Path(path).stat().st_size
    assert len(parts_of(path)) == len(parts_of(path, size)) == 1
    cut = parts_of(path, 4000)
    assert len(cut) in (6, 7)
    assert all((part.stop or size) - (part.start or 0) >= 4000 for part in cut[:-1])


@pytest.mark.parametrize("name", ["14-rotate-b", "15-checksum-none", "12-compressed-payload"])
def test_a_file_cut_off_anywhere_gives_its_whole_events_and_says_so(name: str, tmp_path: Path) -> None:
    data = NAMES[name].read_bytes()
    check_truncated(NAMES[name], tmp_path / "cut", range(0, len(data) + 1, 1 if name == "14-rotate-b" else 7))


def test_an_open_file_that_is_cut_off_is_read_with_two_notes(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.write_bytes(NAMES["18-not-closed"].read_bytes()[:-9])
    for split in ({}, {"splitBytes": "300"}):
        assert [code for code, _ in problems(place, **split)] == ["in-use", "truncated"]
    for mode in ("failfast", "dropmalformed"):  # notes are no failures, and no rows
        assert records(place, mode=mode) == sound(place)


def test_damage_is_told_and_what_stands_before_it_comes_out(tmp_path: Path) -> None:
    check_damaged(NAMES["14-rotate-b"], tmp_path / "damaged", 3)


def test_damage_that_no_checksum_tells_raises_nothing(tmp_path: Path) -> None:
    """A changed byte may be another value, or make the rest unreadable, which is a row like any other problem."""
    data, place, told = NAMES["15-checksum-none"].read_bytes(), tmp_path / "damaged", 0
    for at in range(0, len(data), 5):
        place.write_bytes(damaged(data, at))
        for content in ("rows", "events"):
            found = records(place, content=content)
            told += any(row["problem"] for row in found)
            assert same(records(place, content=content, splitBytes="1"), found), at
    assert told > 80


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    check_reported(tmp_path)


def test_a_payload_that_cannot_be_uncompressed_is_an_event_and_a_problem(tmp_path: Path) -> None:
    writer = FileWriter()
    data = writer.start() + writer.group(GTID, [TransactionPayload(payload=b"not a frame", uncompressed_size=99)])
    place = tmp_path / "payload"
    place.write_bytes(data + writer.group(GTID, []))
    for body in ("false", "true"):
        found = records(place, content="events", body=body)
        assert [r["type"] for r in found] == [15, 35, 33, 40, None]
        assert found[-1]["problem"][0] == b"bad-compression"
    assert [code for code, _ in problems(place)] == ["bad-compression"]


def test_a_mode_says_what_becomes_of_damage_and_no_query_hides_it(tmp_path: Path) -> None:
    check_modes(tmp_path)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_file_that_is_no_log_is_an_error_unless_such_files_are_ignored(mode: Mode, tmp_path: Path) -> None:
    place = tmp_path / "notes"
    place.write_bytes(b"no log")
    for read in (lambda: records(place, mode=mode), lambda: require_log(str(place), asked(place, mode=mode))):
        with pytest.raises(
            BinlogProblem, match=r"notes: not a binary log at offset 0, expected fe62696e, got 6e6f206c"
        ):
            read()
    ignored = records(place, mode=mode, ignoreCorruptFiles="true")
    assert [row["problem"][0] for row in ignored] == [b"not-a-binlog"] * (mode is Mode.PERMISSIVE)
    require_log(str(place), asked(place, content="problems"))
    assert [row["code"] for row in records(place, content="problems")] == [b"not-a-binlog"]


@pytest.mark.parametrize(
    "name", ["05-partial-multi-json-minimal", "04-partial-multi-json-full", "12-compressed-payload"]
)
def test_documents_come_as_bytes(name: str) -> None:
    path = NAMES[name]
    found = iter(sound(path, documents="bytes"))
    for event in decode_file(path.read_bytes(), expand=True):
        if not isinstance(event.body, RowsBody):
            continue
        body, table = event.body, event.body.map()
        json = [table.column_names[index] for index in table.json_columns]
        for number, row in enumerate(body.rows):
            record = next(found)
            assert (record["position"], record["row"]) == (event.position, number)
            images = [record[side].decode() if record[side] else "" for side in ("before", "after")]
            for document in record["documents"]:
                column = document.column.decode()
                assert column in json
                stored = [value for value in (document.before, document.after) if value is not None]
                values = [*(row.before or ()), *(row.after or ())]
                assert all(value in values for value in stored)
                if document.diffs is not None:
                    assert document.after is None
                    assert document.diffs in [getattr(value, "diffs", None) for value in values]
                if stored:
                    assert f'"{column}": {{' not in "".join(images)
    assert next(found, None) is None


def test_tables_types_and_body_choose() -> None:
    path = NAMES["16-row-split-partition-gipk"]
    every = lines(path)
    tables = sorted({f"{line['schema']}.{line['table']}" for line in every})
    assert len(tables) > 1
    wanted = [line for line in every if f"{line['schema']}.{line['table']}" == tables[0]]
    assert len(sound(path, tables=f" {tables[0]} ,no.such")) == len(wanted) < len(every)
    assert len(sound(path, tables="*.*")) == len(sound(path, tables="?*.*")) == len(every)
    assert sound(path, tables="*.no") == []
    updates = [line for line in every if line["event"] == "UPDATE_ROWS_EVENT"]
    assert len(sound(path, types="31")) == len(sound(path, types="update_rows")) == len(updates)
    slim = sound(path, body="false")
    assert len(slim) == len(every)
    assert not {"before", "after"} & set(slim[0])
    events = sound(path, content="events", types="TABLE_MAP_EVENT, GTID", tables=tables[0])
    assert {record["event"] for record in events} == {b"TABLE_MAP_EVENT"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"content": "row"}, "option content: expected rows, events or problems, got 'row'"),
        ({"documents": "xml"}, "option documents: expected json, tagged, variant or bytes, got 'xml'"),
        ({"documents": "json", "content": "events"}, "option documents: belongs to content=rows with body=true"),
        ({"body": "1"}, "option body: expected true or false, got '1'"),
        ({"types": "UPDATE"}, "option types: expected names or numbers of event types, .* got 'UPDATE'"),
        ({"types": "300"}, "option types: expected names or numbers .* got '300'"),
        ({"types": "XID"}, "XID_EVENT has no rows; expected types of rows events"),
        ({"tables": "t"}, "option tables: expected schema.table, with \\* for any, as in shop.\\*; got 't'"),
        ({"tables": "a.b,"}, "option tables: expected schema.table, .* got ''"),
        ({"splitBytes": "0"}, "option splitBytes: expected a number of bytes, such as 67108864 or 64m, got '0'"),
        ({"batchBytes": "lots"}, "option batchBytes: expected a number of bytes, .* got 'lots'"),
        ({"problems": "ignore"}, "option problems: expected rows or fail, got 'ignore'"),
        ({"mode": "fast"}, "option mode: expected FAILFAST, PERMISSIVE or DROPMALFORMED, got 'fast'"),
        ({"mode": "failfast", "problems": "rows"}, "problems: is a former name of the option mode; .* got both"),
        (
            {"splitBytes": "1", "maxPartitionBytes": "1"},
            "splitBytes: is a former name of maxPartitionBytes; .* got both",
        ),
        ({"timestampType": "int"}, "option timestampType: expected TIMESTAMP or BIGINT, got 'int'"),
        (
            {"table": "a.b"},
            r"option table: not known \(did you mean tables\?\); expected one of path",
        ),
        ({"path": ""}, "option path: expected a file, a directory or a pattern"),
        ({"paths": "[]"}, "option paths: expected a JSON array of paths"),
    ],
)
def test_an_option_that_cannot_be_used_says_what_was_expected(given: dict[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        parse_options({"path": "x", **given})


def test_options_are_read_in_any_case_and_sizes_with_units() -> None:
    options = parse_options({"PATH": "x", "SPLITBYTES": "64m", "batchbytes": "2 KB", "Content": " Events "})
    assert (options.split_bytes, options.batch_bytes, options.content, options.body) == (
        64 << 20,
        2048,
        "events",
        False,
    )
    assert parse_options({"paths": '["a", "b"]'}).paths == ("a", "b")
    assert parse_options({"path": "x"}).split_bytes == PARTITION
    assert (
        parse_options({"path": "x", "maxPartitionBytes": "134217728b"}).split_bytes == PARTITION
    )  # as Spark writes it
    modes = [parse_options({"path": "x"}, streams=streams).mode for streams in (False, True)]
    assert modes == [Mode.FAILFAST, Mode.PERMISSIVE]


def test_a_path_is_a_file_a_directory_or_a_pattern(tmp_path: Path) -> None:
    for name in ("binlog.000002", "binlog.000001", "binlog.index", ".hidden", "_SUCCESS", "odd [1]"):
        shutil.copy(NAMES["14-rotate-a"], tmp_path / name)
    (tmp_path / "more").mkdir()
    shutil.copy(NAMES["14-rotate-b"], tmp_path / "more" / "binlog.000003")

    def names(path: object, **options: Any) -> list[str]:
        return [str(Path(name).relative_to(tmp_path)) for name in find_logs(str(path), **options)]

    logs = ["binlog.000001", "binlog.000002"]
    assert names(tmp_path) == [*logs, "odd [1]"]
    assert names(tmp_path / "binlog.*") == logs
    assert names(tmp_path, recursive=True) == [*logs, "more/binlog.000003", "odd [1]"]
    assert names(tmp_path, recursive=True, name_filter="*[23]") == ["binlog.000002", "more/binlog.000003"]
    with pytest.raises(OptionError, match=r"no files in .* with \*\.gz"):
        names(tmp_path, name_filter="*.gz")
    assert names(tmp_path / "odd [1]") == ["odd [1]"]
    assert names(f"file://{tmp_path}/odd%20%5B1%5D") == ["odd [1]"]
    assert names(tmp_path / "m*") == ["more/binlog.000003"]
    assert names(tmp_path / "binlog.index") == ["binlog.index"]  # asked for by its name
    for path, said in (
        (tmp_path / "no", "no such file or directory"),
        (tmp_path / "no*", "no files in"),
        ("s3://bucket/binlog.1", "expected a path of the file system"),
    ):
        with pytest.raises(OptionError, match=said):
            find_logs(str(path))


def test_a_part_is_read_alone() -> None:
    """As a task does: with nothing but the part and the options."""
    path = NAMES["10-tagged-gtids-a"]
    cut = parts_of(str(path), 1)
    last = [row for row in read_rows(cut[-1], asked(path)) if row[6]]
    assert cut[-1].start is not None
    assert {row[6] for row in last} <= {line["gtid"].encode() for line in lines(path)}
