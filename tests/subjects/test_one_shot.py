"""One-shot commands: exit status, standard error and lines as an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.subjects.answers import Answer, Failure
from conformance.subjects.child import Limits
from conformance.subjects.one_shot import OneShot
from tests.subjects.scripts import CHANGE, program

if TYPE_CHECKING:
    from pathlib import Path

SHORT = Limits(request=1.0, output=1 << 20)
PRINT = f"import os, sys, time\nprint('''{CHANGE}''', flush=True)\n"
MARK = '{"mark": {"message": "event 39 left out", "event": "PARTIAL_UPDATE_ROWS_EVENT", "position": 4}}'


def decode(place: Path, source: str) -> Answer:
    return OneShot([*program(place, source), "{file}"], limits=SHORT).decode(None, str(place / "log.binlog"))


def test_lines_are_changes_and_marks(tmp_path: Path) -> None:
    answer = decode(tmp_path, f"{PRINT}print()\nprint('''{MARK}''')\nprint('''{CHANGE}''', end='')")
    assert (len(answer.changes), answer.failure, answer.error) == (2, None, "")
    assert [(mark.event, mark.position) for mark in answer.marks] == [("PARTIAL_UPDATE_ROWS_EVENT", 4)]


def test_the_file_has_its_place(tmp_path: Path) -> None:
    source = f"import json, sys\nc = json.loads('''{CHANGE}''')\nprint(json.dumps(c | {{'schema': sys.argv[1]}}))"
    assert decode(tmp_path, source).changes[0]["schema"] == str(tmp_path / "log.binlog")


def test_an_exit_status_with_words_is_a_refusal(tmp_path: Path) -> None:
    answer = decode(tmp_path, f"{PRINT}print('first', file=sys.stderr)\nsys.exit('corrupt at 120')")
    assert (answer.error, answer.failure, len(answer.changes)) == ("corrupt at 120", None, 1)
    assert answer.stderr == "first\ncorrupt at 120"


BAD = {
    "signal": ("os.kill(os.getpid(), 9)", Failure.CRASHED, "died of SIGKILL", 1),
    "no words": ("sys.exit(1)", Failure.CRASHED, "ended with exit status 1, nothing on standard error", 1),
    "a signal as shells report it": ("sys.stderr.write('x')\nsys.exit(139)", Failure.CRASHED, "exit status 139", 1),
    "hangs": ("time.sleep(60)", Failure.TIMED_OUT, "did not end within 1 s", 1),
    "closes its output and hangs": (
        "os.close(1)\ntime.sleep(60)", Failure.TIMED_OUT, "closed its standard output, but did not end", 1
    ),
    "floods": ("while True: os.write(1, b'{}\\n' * 30000)", Failure.FLOODED, "more than 1,048,576 bytes", 1),
    "garbage": ("print('rows: 1')", Failure.GARBLED, "line 2 of standard output is not JSON", 1),
    "half a line": ("print('{\"schema\"', end='')", Failure.GARBLED, "line 2 of standard output is not JSON", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_failure_is_named_and_what_came_before_it_is_kept(name: str, tmp_path: Path) -> None:
    source, failure, detail, changes = BAD[name]
    answer = decode(tmp_path, PRINT + source)
    assert (answer.failure, detail in answer.detail, len(answer.changes)) == (failure, True, changes), answer


def test_a_process_that_holds_the_output_open_does_not_count(tmp_path: Path) -> None:
    answer = decode(tmp_path, f"{PRINT}if not os.fork():\n    os.setsid()\n    time.sleep(60)")
    assert (answer.failure, len(answer.changes)) == (None, 1)
    assert answer.seconds < 0.9


def test_events_without_rows_are_passed_over(tmp_path: Path) -> None:
    assert decode(tmp_path, 'print(\'{"event": "XID_EVENT", "operation": null}\')').changes == ()


def test_half_of_a_surrogate_pair_stays_an_escape_that_can_be_stored(tmp_path: Path) -> None:
    changed = CHANGE.replace('{"id": 1, "d": 1.50}', r'{"id": "\ud83d\ude00 \\ud800 caf\udce9"}')
    answer = decode(tmp_path, f"print({changed!r})")
    assert answer.changes[0]["after"] == {"id": "\U0001f600 \\ud800 caf\\udce9"}
