"""``decode``, ``apply`` and ``explain`` as programs: output, exit codes, trouble."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.checks.boundaries.judge import mark_events
from conformance.reference.binlog import statement_events
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows, Row, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import BLOB, LONG, YEAR, ColumnType
from conformance.reference.tables.metadata import Bits, Field
from conformance.requirements.versions import dialect_of, parse_version
from tests.live import PROGRAM, ROOT, Ended, environment, lab
from tests.reference.text.made_logs import table_of
from tests.written_logs import log_file

CORPUS = Path(__file__).parents[1] / "data" / "binlogs"
SOUND = CORPUS / "01-partial-minimal.binlog"
COMMANDS = ("decode", "apply", "explain")


def row_event() -> tuple[int, int]:
    """Offset and length of the 30th row event of the sound file."""
    with SOUND.open("rb") as file:
        events = [event for event in read_events(file) if isinstance(event.body, LazyRows)]
    position = events[29].position
    assert position is not None
    return position, events[29].header.length


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A file that ends inside a row event."""
    position, _ = row_event()
    path = tmp_path / "cut.binlog"
    path.write_bytes(SOUND.read_bytes()[: position + 30])
    return path


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A file with one byte changed, inside a row event."""
    position, _ = row_event()
    data = bytearray(SOUND.read_bytes())
    data[position + 40] ^= 1
    path = tmp_path / "changed.binlog"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cut_off_file_gives_what_comes_before_and_its_offset(command: str, cut: Path) -> None:
    done = lab(command, cut)
    assert done.code == 1, done.text
    assert f"offset {row_event()[0]}" in done.err
    assert done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_changed_byte_is_found(command: str, changed: Path) -> None:
    done = lab(command, changed)
    assert done.code == 1, done.text
    assert "checksum" in done.err
    assert f"event@{row_event()[0]}" in done.err
    assert "d.t" in done.out or "`t`" in done.out or "event at" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_an_encrypted_file_is_input_that_cannot_be_read(command: str, tmp_path: Path) -> None:
    path = tmp_path / "encrypted"
    path.write_bytes(b"\xfdbin" + bytes(600))
    done = lab(command, path)
    assert done.code == 1, done.text
    assert "encrypted" in done.err
    assert "offset 0" in done.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [b"", b"\xfebi", b"hello, this is a text\n"], ids=["empty", "short", "text"])
def test_another_kind_of_file_is_a_wrong_argument(command: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    done = lab(command, path)
    assert done.code == 2, done.text
    assert "binary log" in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_files_directories_and_no_file_are_wrong_arguments(command: str, tmp_path: Path) -> None:
    for arguments in ([tmp_path / "missing"], [tmp_path], []):
        done = lab(command, *arguments)
        assert done.code == 2, done.text
        assert not done.out
        assert "Traceback" not in done.err


def test_a_missing_second_file_is_noticed_before_anything_is_printed(tmp_path: Path) -> None:
    done = lab("decode", SOUND, tmp_path / "missing")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_open_file_is_read_with_a_note(command: str, tmp_path: Path) -> None:
    done = lab(command, CORPUS / "18-not-closed.binlog")
    assert done.code == 0, done.text
    assert "not closed" in done.err
    half = tmp_path / "half"
    half.write_bytes((CORPUS / "18-not-closed.binlog").read_bytes()[:-10])
    done = lab(command, half)
    assert done.code == 0, done.text
    assert "truncated" in done.err or "cut off" in done.err


def test_a_broken_pipe_is_quiet() -> None:
    command = f"{' '.join(PROGRAM)} decode {SOUND} | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert "error" not in done.stderr


def test_standard_input_is_a_file_too() -> None:
    with SOUND.open("rb") as file:
        done = subprocess.run(
            [*PROGRAM, "decode", "--format", "jsonl", "-"],
            cwd=ROOT,
            env=environment(),
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 59


# --- decode ----------------------------------------------------------------------------------------------------------


def test_text_is_the_clients_and_stderr_counts_what_is_not_shown() -> None:
    done = lab("decode", "-vv", CORPUS / "17-xa-savepoint-rowsquery.binlog", env={"TZ": "UTC"})
    assert done.code == 0
    golden = (CORPUS.parent / "mysqlbinlog" / "17-xa-savepoint-rowsquery.vv.txt").read_text()
    assert [line for line in done.out.splitlines() if line.startswith("###")] == golden.splitlines()
    assert "# insert into t values(1,1)" in done.out
    assert done.err.splitlines()[-1].endswith("contents not shown: none")
    plain = lab("decode", CORPUS / "17-xa-savepoint-rowsquery.binlog")
    assert plain.err.splitlines()[-1].endswith("contents not shown: 8 ROWS_QUERY_LOG_EVENT")


def test_comments_have_local_times() -> None:
    done = lab("decode", SOUND, env={"TZ": "JST-9"})  # a name needs tzdata, which an empty Debian 12 lacks
    utc = lab("decode", SOUND, env={"TZ": "UTC"})
    assert done.out.splitlines()[4].startswith("#261120 15:")
    assert utc.out.splitlines()[4].startswith("#261120  6:")


def test_metadata_of_tables_is_printed_on_demand() -> None:
    done = lab("decode", "--table-metadata", CORPUS / "09-table-metadata-edge-cases.binlog")
    assert "#         `d` ENUM('é', 'b c') CHARSET utf8mb4" in done.out
    assert "# Primary Key(b(3), a)" in done.out


def test_lines_name_the_file_as_it_was_given_and_end_with_counts() -> None:
    done = lab("decode", "--format", "jsonl", SOUND, CORPUS / "12-compressed-payload.binlog")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert len(lines) == 59 + 4
    assert {line["file"] for line in lines} == {str(SOUND), str(CORPUS / "12-compressed-payload.binlog")}
    assert [line["inner"] for line in lines[-4:]] == [2, 2, 4, None]
    assert done.err.splitlines()[-1].startswith("63 row changes; events not shown: ")


def test_all_events_and_resolved_documents() -> None:
    done = lab("decode", "--format", "jsonl", "--events", "all", SOUND)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert {line["event"] for line in lines} >= {"GTID_LOG_EVENT", "TABLE_MAP_EVENT", "XID_EVENT"}
    done = lab("decode", "--format", "jsonl", "--resolve", SOUND)
    assert '"diffs"' not in done.out
    assert done.err.splitlines()[-1].endswith("diffs without a known document: 0")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.binlog")), ids=lambda path: path.stem)
def test_rows_have_the_gtid_of_their_transaction_whether_its_event_is_shown_or_not(path: Path) -> None:
    rows = lab("decode", "--format", "jsonl", path).out.splitlines()
    everything = lab("decode", "--format", "jsonl", "--events", "all", path).out.splitlines()
    assert rows == [line for line in everything if json.loads(line)["operation"] is not None]


def test_a_gtid_ends_with_its_file(tmp_path: Path) -> None:
    with SOUND.open("rb") as file:
        gtid = [event for event in read_events(file) if event.header.type == EventType.GTID][-1]
    end = (gtid.position or 0) + gtid.header.length
    first = tmp_path / "first.binlog"
    first.write_bytes(SOUND.read_bytes()[:end])
    done = lab("decode", "--format", "jsonl", first, CORPUS / "11-no-gtid.binlog")
    assert done.code == 0
    found = [json.loads(line) for line in done.out.splitlines()]
    assert {row["gtid"] for row in found if row["file"].endswith("11-no-gtid.binlog")} == {None}
    assert None not in {row["gtid"] for row in found if row["file"] == str(first)}


@pytest.mark.parametrize(
    "options",
    [["--types"], ["--events", "all"], ["--resolve"], ["--format", "jsonl", "-v"], ["--format", "xml"]],
    ids=" ".join,
)
def test_options_that_do_not_fit_are_refused(options: list[str]) -> None:
    done = lab("decode", *options, SOUND)
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_large_statements_need_little_memory(form: str, tmp_path: Path) -> None:
    """One statement of 200 row events of 1 MB: its text can be printed after the last of them only."""
    table = table_of(ColumnType(LONG), ColumnType(BLOB, 4))
    writer = FileWriter(timestamp=1)
    big = tmp_path / "big.binlog"
    with big.open("wb") as file:
        file.write(writer.start())
        file.write(writer.add(begin("d")) + writer.add(table))
        for number in range(200):
            rows = [Row(None, (number, b"x" * (1 << 20)))]
            file.write(writer.add(rows_body(table, EventType.WRITE_ROWS, rows, flags=int(number == 199))))
        file.write(writer.add(Xid()))
    # Not ru_maxrss: it begins with what the parent, a pytest that has run thousands of tests, had when it forked.
    program = (
        "import pathlib, re, sys; from conformance.cli.main import run; code = run(sys.argv[1:]);"
        "status = pathlib.Path('/proc/self/status').read_text();"
        "print(code, re.search(r'VmHWM:\\s+(\\d+) kB', status)[1], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "decode", "--format", form, str(big)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    code, kilobytes = done.stderr.splitlines()[-1].split()
    assert code == "0"
    assert int(kilobytes) < 150 << 10


@pytest.mark.parametrize("command", COMMANDS)
def test_a_compressed_transaction_over_the_limit_is_refused_and_one_below_is_read(command: str, tmp_path: Path) -> None:
    writer = FileWriter()
    rows = statement_events.RowsQuery(text=bytes(3 << 20))
    path = tmp_path / "bomb.binlog"
    path.write_bytes(writer.start() + writer.add(writer.compressed([begin("d"), rows, Xid()])))
    assert path.stat().st_size < 2000
    done = lab(command, "--max-uncompressed", "2", path)
    assert done.code == 1
    assert "more events than allowed" in done.err
    assert "[payload-too-large]" in done.err
    assert lab(command, "--max-uncompressed", "4", path).code == 0
    assert "1024" in lab(command, "--help").out


# --- apply -----------------------------------------------------------------------------------------------------------


def tables(done: Ended) -> dict[str, Any]:
    assert done.code == 0, done.text
    loaded: dict[str, Any] = json.loads(done.out)
    return loaded


def test_apply_prints_the_tables_of_several_files() -> None:
    names = ("14-rotate-a.binlog", "14-rotate-b.binlog")
    found = tables(lab("apply", "--format", "json", *[CORPUS / name for name in names]))
    assert found["d.t"]["columns"] == ["id", "j"]
    assert [row[0] for row in found["d.t"]["rows"]] == ["1", "2"]


def test_apply_in_text_form_has_one_line_a_row() -> None:
    done = lab("apply", CORPUS / "17-xa-savepoint-rowsquery.binlog")
    assert done.code == 0
    assert "d.t: 3 rows\n  a\tb\n  1\t1\n  2\t1\n  3\t5\n" in done.out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("14-rotate-b.binlog", "the row to change is not there"),
        ("13-statement-format.binlog", "cannot be followed"),
        ("19-load-data-statement.binlog", "LOAD DATA"),
    ],
)
def test_what_cannot_be_replayed_ends_with_the_place_and_code_1(name: str, words: str) -> None:
    done = lab("apply", "--format", "json", CORPUS / name)
    assert done.code == 1
    assert words in done.err
    assert "event@" in done.err
    assert isinstance(json.loads(done.out), dict)


def test_an_input_that_ends_in_a_transaction_says_so(tmp_path: Path) -> None:
    data = SOUND.read_bytes()
    position, length = row_event()
    path = tmp_path / "open.binlog"
    path.write_bytes(data[: position + length])
    done = lab("apply", "--format", "json", path)
    assert "not applied" in done.err
    assert done.code == 0


# --- explain ---------------------------------------------------------------------------------------------------------


def test_explain_shows_one_event_down_to_its_diffs() -> None:
    done = lab("explain", "--at", "1258", CORPUS / "18-not-closed.binlog")
    assert done.code == 0
    assert "event at 1258: PARTIAL_UPDATE_ROWS_EVENT, 57 bytes" in done.out
    line = next(line for line in done.out.splitlines() if "diffs[0].path " in line)
    assert line.split() == ["1304", "242e6e", "rows[0].after.@2.diffs[0].path", "'$.n'"]
    assert lab("explain", "--at", "1300", CORPUS / "18-not-closed.binlog").out == done.out


def test_explain_has_nothing_to_show_outside_the_file() -> None:
    done = lab("explain", "--at", "999999", SOUND)
    assert done.code == 2
    assert "999999" in done.err


def test_explain_goes_into_compressed_transactions() -> None:
    done = lab("explain", "--at", "929", CORPUS / "12-compressed-payload.binlog")
    assert "event inside, at +0: QUERY_EVENT" in done.out
    assert "JSON" in done.out or "diffs[0].operation" in done.out


def test_the_programs_work_from_any_directory(tmp_path: Path) -> None:
    assert os.path.isabs(SOUND)  # noqa: PTH117
    done = lab("decode", SOUND, cwd=tmp_path)
    assert done.code == 0


def test_markers_show_as_comments_and_those_that_do_not_fit_are_told(tmp_path: Path) -> None:
    data = SOUND.read_bytes()
    events = []
    position = 4
    while position < len(data):
        end = position + int.from_bytes(data[position + 9 : position + 13], "little")
        events.append(data[position:end])
        position = end
    marked = mark_events(events)
    whole, broken = tmp_path / "whole.binlog", tmp_path / "broken.binlog"
    whole.write_bytes(data[:4] + b"".join(marked))
    done = lab("decode", whole)
    assert done.code == 0, done.text
    assert done.out.count("# boundary: ") == len(marked)
    assert "Unable to change" not in done.err

    assert marked[2][4] == EventType.GTID
    broken.write_bytes(data[:4] + b"".join(marked[:2] + marked[3:-2]))  # no GTID, no XID
    done = lab("decode", broken, whole)
    assert done.code == 0, done.text
    place = 4 + len(marked[0]) + len(marked[1])
    message = "Unable to change boundary parser from Self Contained to End Transaction."
    assert f"broken.binlog: QUERY_EVENT at {place}: {message}" in done.err
    assert done.err.count("Unable to change") == 1  # the next transaction is sound, and each file begins anew
    assert "broken.binlog: the last transaction has no end in this file" in done.err
    assert lab("decode", SOUND).err.count("boundary") == 0


def old_log(tmp_path: Path, version: str) -> Path:
    """A file in the form of a version: an INT, a YEAR and an unsigned INT, and flags that only the newest prints."""
    columns = (ColumnType(LONG), ColumnType(YEAR), ColumnType(LONG))
    table = table_of(*columns, metadata=(Bits(Field.SIGNEDNESS, (False, True, True)),))
    rows = rows_body(table, EventType.WRITE_ROWS, [Row(None, (-1, 2000, 4_000_000_000))], flags=0x5)
    dialect = dialect_of(parse_version(version))
    path = tmp_path / f"{version}.binlog"
    path.write_bytes(log_file(version, dialect, [table, rows]))
    return path


def test_signs_are_read_as_the_files_own_version_writes_them(tmp_path: Path) -> None:
    for version in ("8.0.15", "8.0.43", "9.7.4"):
        (line,) = lab("decode", "--format", "jsonl", old_log(tmp_path, version)).out.splitlines()
        assert list(json.loads(line)["after"].values()) == [-1, "2000", 4_000_000_000], version
    # Told that somebody else wrote it, the second bit is the year's.
    (line,) = lab("decode", "--format", "jsonl", "--dialect", "9.7.4", old_log(tmp_path, "8.0.15")).out.splitlines()
    assert list(json.loads(line)["after"].values()) == [-1, "2000", 4_000_000_000 - (1 << 32)]


def test_text_is_that_of_the_versions_client(tmp_path: Path) -> None:
    path = old_log(tmp_path, "8.0.43")
    assert "flags: STMT_END_F RELAXED_UNIQUE_CHECKS_F\n" in lab("decode", path).out
    assert "flags: STMT_END_F\n" in lab("decode", "--dialect", "8.0.43", path).out
    wrong = lab("decode", "--dialect", "10.11.6-MariaDB", path)
    assert (wrong.code, wrong.out) == (2, "")
    assert "fork" in wrong.err
