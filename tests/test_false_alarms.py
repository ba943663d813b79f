"""The command that looks for false alarms: what it runs, what it calls an alarm, and where it goes on."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from conformance.harness.profiles import SIZES
from tests import false_alarms

if TYPE_CHECKING:
    from pathlib import Path


def results(verdict: str = "pass", cases: int = 1_000) -> dict[str, Any]:
    totals = {"cases": cases, "updates_compared": 10, "bytes_compared": 20, "mismatches": 0}
    return {
        "run": {"profile": "quick"},
        "requirements": {
            "FR1": {"verdict": verdict, "cases": cases},
            "FR2": {"verdict": "deviates", "cases": 1_000},
            "F3.1": {"verdict": "within", "cases": 0},  # a word of the report, and no verdict
        },
        "totals": totals,
    }


def program(tmp_path: Path, answer: dict[str, Any], code: int) -> tuple[str, ...]:
    """A program that writes such a report and ends so."""
    text = f"""
import pathlib, sys
report = pathlib.Path(sys.argv[sys.argv.index("--report") + 1])
report.mkdir(parents=True)
(report / "results.json").write_text({json.dumps(answer)!r})
sys.exit({code})
"""
    place = tmp_path / "program.py"
    place.write_text(text, encoding="utf-8")
    return ("python3", str(place))


@pytest.mark.parametrize(
    ("answer", "code", "alarm"),
    [
        (results(), 0, False),
        (results(), 1, True),
        (results("fail"), 0, True),
        (results("silent-loss"), 0, True),
        (results("inconclusive"), 0, False),
        (results(cases=1), 0, True),
    ],
)
def test_an_alarm_keeps_its_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: dict[str, Any], code: int, alarm: bool
) -> None:
    monkeypatch.setattr(false_alarms, "PROGRAMS", {false_alarms.NORMAL: program(tmp_path, answer, code)})
    options = [
        "--seeds",
        "2",
        "--larger",
        "0",
        "--results",
        str(tmp_path / "rows"),
        "--reports",
        str(tmp_path / "kept"),
    ]
    assert false_alarms.main(options) == int(alarm)
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text("utf-8").splitlines()]
    assert [row["command"] for row in rows] == ["binlog-lab conformance --seed 1", "binlog-lab conformance --seed 2"]
    assert len(list((tmp_path / "kept").glob("*/output.txt"))) == 2 * alarm
    assert false_alarms.main(options) == int(alarm)  # nothing runs again
    assert len((tmp_path / "rows").read_text("utf-8").splitlines()) == 2


def test_the_last_seeds_judge_two_requirements_by_more_cases() -> None:
    assert [shlex.join(words) for words in false_alarms.runs(3, 1, 7)] == [
        "binlog-lab conformance --seed 7",
        "binlog-lab conformance --seed 8",
        "python -m tests.false_alarms --enlarged conformance --seed 9",
    ]


def test_the_larger_sizes_are_those_of_every_check_of_the_two_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: dict(sizes) for name, sizes in SIZES.items()}
    for name, sizes in SIZES.items():
        monkeypatch.setitem(SIZES, name, dict(sizes))
    false_alarms.enlarge()
    larger = {name for name, sizes in SIZES.items() if sizes != before[name]}
    assert all(SIZES[name] == before[name] | {"quick": SIZES[name]["quick"]} for name in larger)
    assert {name.partition("/")[0] for name in larger} == {
        "diff_conditions", "diverged_documents", "replica_schema", "replicas", "triggers",
    }  # fmt: skip
    assert SIZES["diverged_documents/applier-damaged"]["quick"] == 200
    assert SIZES["diverged_documents/applier/one-in"]["quick"] == 2
