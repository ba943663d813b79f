"""Filters and formats of the commands that read logs: what is left of their output, and where it is refused."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cli import main as frame
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import STMT_END, LazyRows
from tests.live import PROGRAM, ROOT, environment, lab

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Run: TypeAlias = Callable[..., str]

LOGS: Final = Path(__file__).parents[1] / "data" / "binlogs"
SOUND: Final = LOGS / "12-compressed-payload.binlog"
SOURCE: Final = "6d31aba5-e4a6-11f1-9d7e-02fc00000001"
EVENTS: Final = (4, 127, 158, 235, 356, 433, 569, 648, 850, 929, 1130, 1209, 1290, 1341, 1398, 1429)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, and return what it printed."""

    def run(*words: str | Path, code: int = 0) -> str:
        assert frame.run([str(word) for word in words]) == code
        return capsys.readouterr().out

    return run


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("words", [(), ("--events", "all"), ("--types", "--resolve")])
@pytest.mark.parametrize("name", ["07-all-types-metadata-full", "10-tagged-gtids-a", "12-compressed-payload"])
def test_csv_has_the_fields_of_a_json_line(run: Run, name: str, words: tuple[str, ...]) -> None:
    log = LOGS / f"{name}.binlog"
    expected = records(run("decode", "--format", "jsonl", *words, log))
    found = list(csv.DictReader(io.StringIO(run("decode", "--format", "csv", *words, log), newline="")))
    assert len(found) == len(expected) > 0
    for record, line in zip(found, expected, strict=True):
        assert list(record) == list(line)
        for key, value in line.items():
            if key in ("before", "after"):
                assert (json.loads(record[key]) if record[key] else None) == value
            else:
                assert record[key] == ("" if value is None else str(value))


def test_csv_of_a_log_without_changes_is_its_first_line(run: Run) -> None:
    text = run("decode", "--format", "csv", "--include-gtids", f"{SOURCE}:1", SOUND)
    assert text == "file,position,event,timestamp,server_id,gtid,schema,table,operation,row,before,after,inner\n"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("--start-position", "929"), lambda line: line["position"] >= 929),
        (("--stop-position", "929"), lambda line: line["position"] < 929),
        (("--stop-position", "930"), lambda line: line["position"] <= 929),
        (("--include-gtids", f"{SOURCE}:4"), lambda line: line["gtid"].endswith(":4")),
        (("--exclude-gtids", f"{SOURCE}:4"), lambda line: not line["gtid"].endswith(":4")),
        (("-d", "d"), lambda _line: True),
        (("--table", "t"), lambda _line: True),
        (("--table", "d.t"), lambda _line: True),
        (("-j", "929"), lambda line: line["position"] >= 929),
    ],
)
def test_json_lines_are_those_of_the_printed_events(
    run: Run, words: tuple[str, ...], kept: Callable[[dict[str, Any]], bool]
) -> None:
    every = records(run("decode", "--format", "jsonl", SOUND))
    found = records(run("decode", "--format", "jsonl", *words, SOUND))
    expected = [line for line in every if kept(line)]
    for line in found:  # the GTID may stand before the start
        line["gtid"] = line["gtid"] or next(other["gtid"] for other in every if other["position"] == line["position"])
    assert found == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--database", "D"), "no event of the schema 'D' was read (did you mean d?)"),
        (("--database", "nope", "--jobs", "2"), "no event of the schema 'nope' was read\n"),
        (("--table", "T"), "no rows of the table 'T' were read (did you mean t?)"),
        (("--table", "d.tt", "--format", "jsonl"), "no rows of the table 'd.tt' were read (did you mean d.t?)"),
        (("--start-position", "1000"), "no event begins at 1000: one begins at 929, the next at 1130"),
        (("--start-position", "9999", "--format", "jsonl"), "no event begins at 9999: the file ends at 1473"),
    ],
)
def test_names_and_places_that_no_log_has_are_told(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert frame.run(["decode", *words, str(SOUND)]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "### " not in captured.out


def test_the_result_file_has_what_would_be_printed_and_is_no_input(run: Run, tmp_path: Path) -> None:
    text, target = run("decode", SOUND), tmp_path / "out.sql"
    for words in ((), ("--jobs", "2")):
        assert run("decode", "-r", target, *words, SOUND) == ""
        assert target.read_text() == text
    assert run("decode", "-r", target, target, code=2) == ""
    assert target.read_text() == text
    run("decode", "-r", tmp_path / "no" / "folder", SOUND, code=3)


def test_rows_whose_table_is_before_the_start_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert frame.run(["decode", "--format", "jsonl", "--start-position", "1341", str(SOUND)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the TABLE_MAP of the rows at 1341 is before --start-position" in captured.err


def test_an_end_inside_a_statement_drops_its_rows_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    log = LOGS / "16-row-split-partition-gipk.binlog"
    with log.open("rb") as file:
        rows = [(event.position, event.body) for event in read_events(file) if isinstance(event.body, LazyRows)]
    split = next(number for number, (_, body) in enumerate(rows) if not body.flags & STMT_END)
    texts = []
    for place, _ in rows[split : split + 2]:
        assert frame.run(["decode", "-v", "--stop-position", str(place), str(log)]) == 0
        captured = capsys.readouterr()
        texts.append([line for line in captured.out.splitlines() if line.startswith("###")])
        assert ("the end is inside a statement" in captured.err) == (place != rows[split][0])
    assert texts[0] == texts[1]


def test_apply_replays_what_is_left(run: Run) -> None:
    states = [
        json.loads(run("apply", "--format", "json", "--include-gtids", f"{SOURCE}:1-{last}", SOUND))["d.t"]["rows"]
        for last in (2, 3, 4, 5)
    ]
    assert [len(rows) for rows in states] == [0, 1, 2, 2]
    assert [json.loads(rows[0][1])["n"] for rows in states[1:]] == [1, 2, 3]
    assert states[-1] == json.loads(run("apply", "--format", "json", SOUND))["d.t"]["rows"]
    assert json.loads(run("apply", "--format", "json", "--stop-position", "1209", SOUND))["d.t"]["rows"] == states[2]


def test_apply_prints_the_tables_of_the_name(run: Run) -> None:
    log = LOGS / "17-xa-savepoint-rowsquery.binlog"
    every = json.loads(run("apply", "--format", "json", log))
    assert set(every) == {"d.t", "d.m", "d.c2"}
    assert json.loads(run("apply", "--format", "json", "--table", "m", log)) == {"d.m": every["d.m"]}
    assert json.loads(run("apply", "--format", "json", "--table", "d.m", log)) == {"d.m": every["d.m"]}
    assert json.loads(run("apply", "--format", "json", "--database", "nope", log, code=2)) == {}


def explained(text: str) -> list[int]:
    return [int(line.split()[2].rstrip(":")) for line in text.splitlines() if line.startswith("event at")]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ((), EVENTS),
        (("--start-position", "929"), EVENTS[EVENTS.index(929) :]),
        (("--start-position", "900", "--stop-position", "1209"), (929, 1130)),
        (("--include-gtids", f"{SOURCE}:4"), (4, 127, 850, 929, 1429)),
        (("--exclude-gtids", f"{SOURCE}:1-3"), (4, 127, 850, 929, 1130, 1209, 1290, 1341, 1398, 1429)),
        (("--stop-datetime", "2026-11-20 06:00:40"), (4, 127)),
    ],
)
def test_explain_prints_the_events_that_are_left(words: tuple[str, ...], places: tuple[int, ...]) -> None:
    done = lab("explain", *words, SOUND, env={"TZ": "UTC"})
    assert done.code == 0, done.text
    assert tuple(explained(done.out)) == places


def test_explain_leaves_out_events_inside_payloads(run: Run) -> None:
    text = run("explain", "--database", "nope", SOUND, code=2)
    assert explained(text) == [4, 127, 158, 356, 569, 648, 850, 929, 1130, 1209, 1398, 1429]
    inner = [line.split(": ")[1].split(",")[0] for line in text.splitlines() if line.startswith("event inside")]
    assert inner == ["QUERY_EVENT", "XID_EVENT"] * 2


@pytest.mark.parametrize("words", [("explain",), ("decode", "--start-position", "929"), ("apply",)])
def test_standard_input_is_read_as_the_file(words: tuple[str, ...]) -> None:
    with subprocess.Popen(["cat", SOUND], stdout=subprocess.PIPE) as pipe:
        done = subprocess.run([*PROGRAM, *words, "-"], cwd=ROOT, env=environment(), stdin=pipe.stdout,
                              capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == lab(*words, SOUND).out
