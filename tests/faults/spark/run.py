"""``python -m tests.faults --spark``: every budget of every matrix with its planted faults, run by Spark's workers.

First each matrix runs without a fault, cut in two ways: all budgets must hold, with one digest. Then workers make the
rows of each fault, and the budgets judge them. A line for each budget and fault, and a table. Exit status 1 if a budget
holds although a fault should break it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.verdict import Verdict
from scenarios import plan
from scenarios.budgets import judge
from scenarios.inline import SqliteStore
from scenarios.matrix import load_matrix, matrix_names
from scenarios.overview import Overview
from scenarios.results import Facts, results
from scenarios.runs import run_matrix
from scenarios.spark.session import session
from tests.faults.spark.catalogue import BROKEN_BY, FAULTS
from tests.faults.spark.planting import faulty_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenarios.matrix import Matrix

SCENARIOS: Final = {
    "break-even": 460, "compression": 320, "equivalence": 1152, "images": 720, "safety": 2240, "size-budget": 1000,
}  # fmt: skip
"""Of a run without a fault and of each with one: two to twenty a cell."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a run: verdicts by budget and by requirement, its digest and its exit code."""

    budgets: dict[str, str]
    requirements: dict[str, str]
    digest: str
    exit_code: int

    @classmethod
    def of(cls, content: dict[str, Any]) -> Outcome:
        """From the content of ``results.json``."""
        return cls(
            {item["id"]: item["verdict"] for item in content["budgets"]},
            {name: entry["verdict"] for name, entry in content["requirements"].items()},
            content["digest"],
            content["run"]["exit_code"],
        )

    def caught(self, budget: str, requirement: str) -> bool:
        """Whether the budget failed, and its requirement and the run with it."""
        return (self.budgets[budget], self.requirements[requirement], self.exit_code) == (Verdict.FAIL, "fail", 1)


def sound_run(spark: Any, name: str, scenarios: int, *, small: bool) -> Outcome:
    """A run without a fault. ``small``: in many groups of many tasks."""
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(plan, "TASK_SECONDS", 0.05)
            patch.setattr(plan, "GROUP_SECONDS", 0.2)
        ran = run_matrix(
            name, spark=spark, report=Path(place, "report"), scenarios=scenarios, narrate=lambda _: None
        )  # fmt: skip
    return Outcome.of(ran.results)


def faulty_runs(spark: Any, matrix: Matrix, faults: Sequence[str], scenarios: int) -> dict[str, Outcome]:
    """Let the budgets judge the rows that workers made with each fault, and return the outcomes by fault."""
    counts = matrix.share(scenarios)
    facts = Facts(matrix=matrix, started="", seconds=1.0, scenarios=scenarios, resumed=0)
    found = {}
    for fault, rows in faulty_rows(spark, matrix, counts, faults).items():
        with closing(SqliteStore(matrix, rows)) as store:
            found[fault] = Outcome.of(results(facts, judge(matrix, store, counts), Overview()))
    return found


def selected(names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Matrix -> fault -> budgets. ``names``: only of these matrices, faults or budgets."""
    found: dict[str, dict[str, list[str]]] = {}
    for matrix, budgets in BROKEN_BY.items():
        for budget, faults in budgets.items():
            for fault in faults:
                if not names or {matrix, fault, budget, f"{matrix}/{budget}"} & set(names):
                    found.setdefault(matrix, {}).setdefault(fault, []).append(budget)
    if not found:
        raise SystemExit(f"no matrix, budget or fault is called {', '.join(names)}")
    return found


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def holds(spark: Any, name: str) -> bool:
    """Whether a matrix without a fault holds, with one digest, cut in two ways."""
    first, second = (sound_run(spark, name, SCENARIOS[name], small=small) for small in (False, True))
    well = first.exit_code == second.exit_code == 0 and set(first.budgets.values()) == {Verdict.PASS}
    same = first.digest == second.digest
    _say(f"{'holds' if well else 'BROKEN'}   {name:14} {first.digest} {'in both cuts' if same else second.digest}")
    return well and same


def table(caught: dict[tuple[str, str, str], bool]) -> list[str]:
    """One line a budget, then the sum. ``caught``: by matrix, budget and fault."""
    lines = []
    for matrix, budgets in BROKEN_BY.items():
        for budget in budgets:
            known = {key[2]: well for key, well in caught.items() if key[:2] == (matrix, budget)}
            if known:
                lives = ", ".join(fault for fault, well in known.items() if not well)
                said = f"  LIVES: {lives}" if lives else ""
                lines.append(f"{matrix:14} {budget:28} {sum(known.values())}/{len(known)} failed/planted{said}")
    return [*lines, f"{sum(caught.values())}/{len(caught)} pairs of budget and fault: the budget fails"]


def main(names: Sequence[str], record: Path | None) -> int:
    """Run them all in one session of two cores."""
    begun = time.monotonic()
    wanted = selected(names)
    caught: dict[tuple[str, str, str], bool] = {}
    with session("local[2]", name="binlog-lab faults") as spark:
        sound = [holds(spark, name) for name in matrix_names() if name in wanted]
        for name, faults in wanted.items():
            matrix = load_matrix(name)
            rules = {budget.id: budget.requirement for budget in matrix.budgets}
            for fault, outcome in faulty_runs(spark, matrix, list(faults), SCENARIOS[name]).items():
                for budget in faults[fault]:
                    well = caught[name, budget, fault] = outcome.caught(budget, rules[budget])
                    _say(f"{'failed' if well else 'LIVES'}  {name:14} {budget:28} {fault:28} {FAULTS[fault].sentence}")
    _say("\n".join(["", *table(caught), f"{time.monotonic() - begun:.0f} seconds"]))
    if record is not None:
        rows = [{"matrix": key[0], "budget": key[1], "fault": key[2], "failed": well} for key, well in caught.items()]
        record.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(not all(sound) or not all(caught.values()))
