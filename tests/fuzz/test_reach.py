"""The lines that inputs reach: counted without the fuzzer, and shown with their source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.runs.fuzz_page import page
from fuzz.runner import reach, source_lines
from fuzz.runner.campaign import Campaign
from fuzz.runner.errors import Unfit
from fuzz.runner.launch import environment
from fuzz.runner.reach import Counted, Inputs, Reach, count
from fuzz.runner.results import results
from fuzz.runner.run import Budget, TargetState
from fuzz.runner.source_lines import modules_of, with_source
from fuzz.runner.targets import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.runner.findings import Store
    from fuzz.runner.targets import Target

(DECODE,) = find(["jsonb-decode"])
SOURCE = """import os

class Reader:
    def read(self, data):
        # one
        # two
        # three
        if data:
            return 1
        return 0
"""


def campaign(*counts: Counted) -> Campaign:
    return Campaign([TargetState(DECODE, lines=one) for one in counts], Budget(lines=True))


def counted(file: Path, missing: tuple[int, ...], before: tuple[int, ...], lines: int = 6) -> Counted:
    return Counted(1, 0, (Reach("mine.reader", str(file), lines, 2, 1, missing, before),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "reader.py"
    path.write_text(SOURCE, "utf-8")
    return path


def test_lines_of_later_inputs_are_told_apart(toy: Callable[[str], Target], tmp_path: Path) -> None:
    pytest.importorskip("coverage")
    for name, data in (("one", b"x"), ("two", b"TOYBxx")):
        (tmp_path / name).write_bytes(data)
    found = count([Inputs(toy("bug"), [tmp_path / "one"], [tmp_path / "two"])], 30)
    assert (found.inputs, found.left) == (2, 0)
    (module,) = found.modules
    assert module.module == "toy_reader"
    assert set(module.missing) < set(module.missing_before)
    assert 0 < module.branches_reached < module.branches
    assert module.lines_reached == module.lines - len(module.missing)
    late = count([Inputs(toy("bug"), [tmp_path / "one"], [tmp_path / "two"])], -1)
    assert (late.inputs, late.left) == (0, 2)
    assert [one.missing for one in late.modules] == [one.missing_before for one in late.modules]


def test_inputs_without_time_are_left(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x")
    numbers, ran = [0, 0], list[bytes]()
    for seconds in (None, -1.0):
        reach._run(ran.append, [str(tmp_path / "one")], reach._Clock(seconds), numbers)
    assert (numbers, ran) == ([1, 1], [b"x"])


def test_without_coverage_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "find_spec", lambda _: None)
    with pytest.raises(Unfit, match=r"pip install .*\[fuzz\]"):
        count([Inputs(DECODE, [])])


def test_what_another_target_reaches_is_reached(file: Path) -> None:
    (module,) = modules_of(campaign(counted(file, (8, 9, 10), (8, 9, 10)), counted(file, (9,), (8, 9))))
    assert (module.new, module.never, module.reached) == ((8,), (9,), 5)


def test_lines_stand_among_others_behind_their_function(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = modules_of(campaign(counted(file, (9,), (9, 10))))
    (module,) = with_source(modules)
    (hunk,) = module.hunks
    assert [(line.number, line.mark) for line in hunk] == [(4, ""), (7, ""), (8, ""), (9, "never"), (10, "new")]
    monkeypatch.setattr(source_lines, "_ALTOGETHER", 1)
    (module,) = with_source(modules)
    assert ([line.mark for line in module.hunks[0]].count("new"), module.left) == (1, 1)
    (module,) = with_source(modules_of(campaign(counted(file, (1, 3), (1, 3), lines=2))))
    assert (module.reached, module.hunks) == (0, ())


def test_the_page_and_the_results_have_the_lines(file: Path, store: Store) -> None:
    run = campaign(counted(file, (9,), (9, 10)))
    run.states.append(TargetState(DECODE, uncounted="no <lines>"))
    text = page(run, store, "one run")
    assert '<i class="never">    9 \N{MINUS SIGN}             return 1</i>' in text
    assert '<i class="new">   10 +         return 0</i>' in text
    assert "jsonb-decode: no &lt;lines&gt;" in text
    (module,) = results(run, "")["code"]
    assert module == {"module": "mine.reader", "lines": 6, "lines_reached": 5, "new": [10], "missing": [9]}


def test_compiled_modules_are_passed_over() -> None:
    """They have neither blocks to instrument nor lines."""
    assert environment(DECODE)["BINLOG_LAB_PURE"] == "1"
