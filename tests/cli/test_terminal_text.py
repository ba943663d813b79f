"""The text of a log, a server or a file name cannot steer a terminal; files and pipes get every byte."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from conformance.console import TerminalText
from conformance.messages import did_you_mean, printable
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.writer import begin
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import LONG, VARCHAR, ColumnType
from conformance.reference.tables.metadata import DefaultCharset, Names
from conformance.report.terminal import console_on
from conformance.requirements.versions import dialect_of, parse_version
from conformance.user_errors import unknown
from tests.in_process import lab_here
from tests.live import PROGRAM, ROOT, environment
from tests.reference.text.made_logs import table_of
from tests.written_logs import log_file

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.binlog.event import Body

STEERING = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r"  # sets the title, clears the screen, colours, deletes, goes back
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
UTF8MB4 = 255


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A log whose statement, table, column and value hold control characters; its name does, too."""
    table = table_of(
        ColumnType(LONG), ColumnType(VARCHAR, 400), name=f"t{STEERING}",
        metadata=[DefaultCharset(2, UTF8MB4), Names(("id", f"c{STEERING}"))],
    )  # fmt: skip
    rows = rows_body(table, EventType.WRITE_ROWS, [Row(None, (1, f"é{STEERING}".encode())), Row(None, (2, b"\x9b1m"))])
    change = rows_body(table, EventType.UPDATE_ROWS, [Row((1, f"é{STEERING}".encode()), (1, STEERING.encode()))])
    statement = Query(text=f"CREATE TABLE other(i INT) -- {STEERING}".encode() + b"\x9b5m", schema=b"d")
    path = tmp_path / "b\x1b[1mlog"
    bodies: list[Body] = [statement, begin("d"), table, rows, change, Xid(xid=7)]
    path.write_bytes(log_file("9.7.4", dialect_of(parse_version("9.7.4")), bodies))
    return path


def on_terminal(*arguments: str) -> str:
    """All that a command writes to a terminal, both streams."""
    reader, writer = pty.openpty()
    environ = environment(TERM="xterm")
    with subprocess.Popen([*PROGRAM, *arguments], stdin=writer, stdout=writer, stderr=writer, env=environ) as child:
        os.close(writer)
        parts = []
        try:
            while part := os.read(reader, 65536):
                parts.append(part)
        except OSError:  # Linux says EIO when the last writer has gone
            pass
        os.close(reader)
    assert child.returncode in (0, 2)
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n")


COMMANDS = (
    ("decode",), ("decode", "-vv", "--table-metadata"), ("decode", "--format", "jsonl", "--events", "all"),
    ("apply",), ("apply", "--format", "json"), ("explain",), ("matrix", "estimate"),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_control_character_of_a_log_reaches_a_terminal(command: tuple[str, ...], hostile: Path) -> None:
    text = on_terminal(*command, str(hostile))
    assert "\\x1b" in text or "\\u001b" in text
    assert CONTROL.findall(text) == []


def test_tables_stand_in_columns_on_a_terminal_and_between_tabs_in_a_pipe(hostile: Path) -> None:
    orders = ROOT / "docs" / "tutorials" / "orders.binlog"
    assert '  id  status  details\n   1  new     {"items"' in on_terminal("apply", str(orders))
    assert '  id\tstatus\tdetails\n  1\tnew\t{"items"' in lab_here("apply", orders).out
    lines = on_terminal("apply", str(hostile)).splitlines()
    (head,) = [line for line in lines if line.startswith("  id  ")]
    (first,) = [line for line in lines if line.startswith("   1  ")]
    assert head.index("c\\x1b]0") == first.index("\\x1b]0") == 6
    assert "   2  9B316D" in lines


def test_a_pipe_gets_the_bytes_as_the_client_prints_them(hostile: Path) -> None:
    done = subprocess.run([*PROGRAM, "decode", str(hostile)], env=environment(), capture_output=True, check=True)
    assert STEERING.encode() + b"\x9b5m" in done.stdout
    shown = on_terminal("decode", str(hostile))
    text = done.stdout.decode("utf-8", "backslashreplace")
    assert printable(text) in shown


def test_the_name_of_a_file_in_an_error_is_escaped_also_in_a_pipe(tmp_path: Path) -> None:
    name = str(tmp_path / "no\x1b[2Jsuch")
    done = subprocess.run([*PROGRAM, "decode", name], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no\\x1b[2Jsuch" in done.stderr
    assert CONTROL.findall(on_terminal("decode", name).replace("\x1b[31m\x1b[1merror:\x1b[0m", "")) == []


def test_styles_of_a_summary_reach_the_terminal_and_its_texts_do_not_steer_it() -> None:
    stream = io.StringIO()
    console = console_on(stream, highlight=False, force_terminal=True, color_system="standard")
    console.print(f"said: {STEERING}", style="red", markup=False)
    assert stream.getvalue().startswith("\x1b[31m")
    assert CONTROL.findall(stream.getvalue().replace("\x1b[31m", "").replace("\x1b[0m", "")) == []
    assert "\\x1b]0;title" in stream.getvalue()


def test_a_stream_on_a_terminal_escapes_what_is_written_and_lends_itself_for_styles() -> None:
    below = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    stream = TerminalText(below)
    assert stream.write("a\x1bé\n") == 4
    stream.flush()
    assert below.buffer.getvalue() == "a\\x1bé\n".encode()
    assert stream.styled is below


def test_letters_line_feeds_and_tabs_stay() -> None:
    assert printable("é\t\U0001f600\u2028\n") == "é\t\U0001f600\u2028\n"
    assert printable("\x00\x1b\x7f\x80\x9f\r") == "\\x00\\x1b\\x7f\\x80\\x9f\\x0d"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fr5", " (did you mean FR5?)"),
        ("conformanse", " (did you mean conformance?)"),
        ("xyz", ""),
        ("lists", " (did you mean list or lisp?)"),
    ],
)
def test_the_nearest_name_is_suggested_whatever_its_case(name: str, said: str) -> None:
    assert did_you_mean(name, ["FR5", "FR15", "conformance", "list", "lisp"]) == said


def test_each_unknown_name_has_its_own_suggestion() -> None:
    problem = unknown("requirement", ["fr5", "nothing"], ["FR5"], hint="look there")
    assert (str(problem), problem.hint) == ("unknown requirement fr5 (did you mean FR5?), nothing", "look there")
    assert problem.exit_code == 2
