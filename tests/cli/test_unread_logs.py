"""Logs that are not read whole: each command against each kind, as the table of the documentation has it."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import conformance
from conformance.logs.parts import Part
from conformance.logs.rows.options import Content, Mode, Options
from conformance.logs.rows.tuples import BinlogProblem, columns_of, read_rows
from conformance.reference.binlog.header import MAGIC
from conformance.reference.errors import Unsupported
from conformance.reference.event_types import MariadbEventType
from tests.in_process import lab_here

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "data" / "reports"
UNKNOWN = LOGS / "unknown-event-121.binlog"
IGNORABLE = LOGS / "kit-ignorable-100.binlog"
MARIADB = LOGS / "mariadb-compressed.binlog"
FILES = {
    "unknown event": UNKNOWN,
    "unknown event that may be ignored": IGNORABLE,
    "MariaDB's compressed rows": MARIADB,
    "encrypted by MariaDB": LOGS / "mariadb-encrypted.binlog",
    "damaged": LOGS / "one-bit-flipped.binlog",
}
CELL = re.compile(r"(\d)(?:: `(.+)`)?")


def table() -> Iterator[tuple[str, str, int, str]]:
    """Yield each cell of the table in the documentation: command, log, exit code and words of the message."""
    text = (ROOT / "docs" / "reference" / "exit-codes.md").read_text("utf-8")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    head = next(cells for cells in lines if cells[0] == "command")
    for cells in lines[lines.index(head) + 1 :]:
        for name, cell in zip(head[1:], cells[1:], strict=True):
            found = CELL.fullmatch(cell)
            assert found is not None, cell
            yield cells[0].strip("`"), name, int(found[1]), found[2] or ""


CELLS = list(table())


@pytest.mark.parametrize(("command", "log", "code", "words"), CELLS, ids=lambda value: str(value).replace("/", ""))
def test_the_exit_code_and_the_message_are_those_of_the_table(
    command: str, log: str, code: int, words: str, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    given = [str(tmp_path / word) if word == "OUT" else word for word in command.split()]
    ended = lab_here(*given, FILES.get(log, empty))
    assert ended.code == code, ended.text
    assert words in ended.err, ended.text
    assert (tmp_path / "OUT").exists() == (code == 0 and "OUT" in command)


def test_no_command_ends_with_0_where_rows_may_be_missing() -> None:
    ends_with_0 = {log for _, log, code, _ in CELLS if code == 0}
    assert ends_with_0 == {"unknown event that may be ignored", "MariaDB's compressed rows"}  # the second is read
    assert {log for _, log, _, _ in CELLS} == {*FILES, "empty file"}


def test_an_unknown_event_is_named_with_type_number_and_position() -> None:
    ended = lab_here("decode", "--format", "jsonl", UNKNOWN)
    assert f"{UNKNOWN}: not read, so that changes may be missing: UNKNOWN_EVENT(121), once, at 1146" in ended.err
    assert [json.loads(line)["position"] for line in ended.out.splitlines()] == [595, 866]


def test_several_logs_are_read_to_their_end_and_counted_together() -> None:
    for jobs in ((), ("--jobs", "2")):
        ended = lab_here("decode", "--format", "jsonl", *jobs, UNKNOWN, IGNORABLE, UNKNOWN)
        assert ended.code == 1
        assert "UNKNOWN_EVENT(121), 2 times, first at 1146" in ended.err
        assert f"{IGNORABLE}: passed over, as it may be ignored: Aurora's event of type 100, once, at 670" in ended.err
        assert len(ended.out.splitlines()) == 6


def test_a_replay_ends_in_front_of_the_event_and_says_so() -> None:
    ended = lab_here("apply", UNKNOWN)
    assert "event@1146: UNKNOWN_EVENT(121)" in ended.err


def test_verify_ends_at_the_event_too(tmp_path: Path) -> None:
    data_file = tmp_path / "t.ibd"
    data_file.write_bytes(gzip.decompress((ROOT / "tests/data/innodb/alter_instant.ibd.gz").read_bytes()))
    for jobs in ("1", "2"):
        ended = lab_here("apply", UNKNOWN, "--jobs", jobs, "--verify", data_file)
        assert ended.code == 1
        assert "unknown-event" in ended.err


def test_check_names_each_event_that_is_not_mysql_s() -> None:
    ended = lab_here("check", "--format", "json", MARIADB)
    found = {each["type"]: each for each in json.loads(ended.out)["other_events"]}
    assert {each["writer"] for each in found.values()} == {"MariaDB"}
    assert found[MariadbEventType.GTID]["event"] == "GTID_EVENT"
    assert (found[MariadbEventType.GTID]["events"], found[MariadbEventType.GTID]["position"]) == (7, 314)
    assert {160, 161, 162, 163, 165, 166, 167, 168} <= found.keys()
    text = lab_here("check", IGNORABLE)
    assert text.code == 0
    assert "Aurora's event of type 100, once, at kit-ignorable-100.binlog:670: passed over" in text.out


def test_a_log_of_no_event_is_cut_off(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(MAGIC)
    for words in (["decode"], ["apply"], ["check"], ["explain"], ["matrix", "estimate"]):
        ended = lab_here(*words, log)
        assert ended.code == 1
        assert "the log ends before its first event" in ended.err


def test_the_library_refuses_what_it_does_not_know() -> None:
    rows = conformance.read_rows(UNKNOWN)
    assert [next(rows)["position"], next(rows)["position"]] == [595, 866]
    with pytest.raises(Unsupported, match="UNKNOWN_EVENT"):
        next(rows)
    assert len(list(conformance.read_rows(IGNORABLE))) == 2


def test_the_rows_of_a_part_have_the_event_as_a_problem() -> None:
    options = Options(paths=(str(UNKNOWN),), mode=Mode.PERMISSIVE)
    names = [name for name, _ in columns_of(options)]
    found = [dict(zip(names, row, strict=True)) for row in read_rows(Part(str(UNKNOWN)), options)]
    assert [(row["position"], row["problem"] and row["problem"][0]) for row in found] == [
        (595, None), (866, None), (1146, b"unknown-event"),
    ]  # fmt: skip
    with pytest.raises(BinlogProblem, match="UNKNOWN_EVENT"):
        list(read_rows(Part(str(UNKNOWN)), replace(options, mode=Mode.FAILFAST)))
    assert all(row[-1] is None for row in read_rows(Part(str(IGNORABLE)), options))


def test_events_of_a_part_are_rows_whatever_their_type() -> None:
    options = Options(paths=(str(UNKNOWN),), content=Content.EVENTS)
    rows = list(read_rows(Part(str(UNKNOWN)), options))
    types = [row[[name for name, _ in columns_of(options)].index("type")] for row in rows]
    assert 121 in types
    assert len(rows) == 20
