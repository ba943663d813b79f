"""The command that gives planted faults to the main job: parts first, the first failure ends it, lives are named."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.faults import child, live
from tests.faults.__main__ import Kept, Outcome, arguments_of
from tests.faults.catalogue import LIVE_FAULTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.tools import Step

BY_ID = {fault.id: fault for fault in LIVE_FAULTS}
TEXT = BY_ID["array-insert-as-insert"]
ROWS = BY_ID["full-event-is-over-the-limit"]


def answering(**words: str | None) -> Callable[[str, Step], Outcome]:
    return lambda _, step: Outcome(words.get(step.name.replace(" ", "_")), 1.0)


def test_a_fault_meets_some_updates_its_own_room_and_then_everything() -> None:
    names = [step.name for step in live.steps(TEXT, 10_000, "1", "auto")]
    assert names == ["updates", "its own room", "the whole job"]
    *_, whole = live.steps(ROWS, 10_000, "7", "mysql://there")
    assert whole.arguments == ("live", "auto", "7", "10000")
    assert [step.name for step in live.steps(ROWS, 10_000, "7", "mysql://there")] == ["updates", "the whole job"]
    assert live.steps(ROWS, 10_000, "7", "mysql://there")[0].arguments[1] == "mysql://there"


def test_the_first_failure_is_enough() -> None:
    planned = live.steps(TEXT, 100, "1", "auto")
    found = live.judge(TEXT, planned, Kept(None), answering(its_own_room="mysqlbinlog_output/text (FR7): another line"))
    assert found == {
        "updates": Outcome(None, 1.0),
        "its own room": Outcome("mysqlbinlog_output/text (FR7): another line", 1.0),
    }
    assert live.line(TEXT, found).startswith("caught text.pseudo_json")


def test_errors_of_the_lab_are_counted_apart_and_what_lives_is_named() -> None:
    planned = live.steps(ROWS, 100, "1", "auto")
    results = {
        "a": live.judge(ROWS, planned, Kept(None), answering(updates="updates/event-bytes (FR1): other bytes")),
        "b": live.judge(ROWS, planned, Kept(None), answering(updates=f"{live.LAB}KeyError")),
        "c": live.judge(ROWS, planned, Kept(None), answering()),
    }
    assert live.line(ROWS, results["b"]).startswith("lab ")
    assert live.line(ROWS, results["c"]).startswith("LIVES ")
    assert live.summary(results) == [
        "lives: c",
        "2/3 caught/planted, 1 of them by an error of the lab, 4 s of CPU",
    ]


def test_too_many_that_live_are_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    options = arguments_of(["--live"])
    assert live.main([ROWS, TEXT], options, Kept(None), answering(updates="found")) == 0
    assert live.main([ROWS, TEXT], options, Kept(None), answering(its_own_room="found")) == 1
    assert f"lives: {ROWS.id}" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "pays"), [("diffs-of-the-same-size-pay", "True"), ("", "False")])
def test_worker_processes_have_the_fault_as_well(name: str, pays: str) -> None:
    """A worker runs the main module of its parent under another name, before anything else."""
    program = (
        "import runpy; runpy.run_module('tests.faults.child', run_name='__mp_main__', alter_sys=True); "
        "from conformance.reference.partial.decision import diffs_pay; print(diffs_pay(1, 5))"
    )
    environment = {**os.environ, **({child.OF_WORKERS: name} if name else {})}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{pays}\n", done.stderr
