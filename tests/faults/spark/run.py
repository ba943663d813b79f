"""``python -m tests.faults --spark``: every budget of every matrix with its planted faults, run by Spark's workers.

First each matrix runs without a fault, cut in two ways: all budgets must hold, with one digest. Then a line for each
budget and fault, and a table. Exit status 1 if a budget holds although a fault should break it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.verdict import Verdict
from scenarios import plan
from scenarios.matrix import load_matrix, matrix_names
from scenarios.runs import run_matrix
from scenarios.spark import store
from scenarios.spark.session import session
from tests.faults.spark.catalogue import BROKEN_BY, FAULTS
from tests.faults.spark.planting import faulty_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

SCENARIOS: Final = {
    "break-even": 460, "compression": 640, "equivalence": 1152, "images": 1440, "safety": 1680, "size-budget": 2000,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run: the verdicts by budget and by requirement, and its digest."""

    budgets: dict[str, str]
    requirements: dict[str, str]
    digest: str
    exit_code: int

    def caught(self, budget: str, requirement: str) -> bool:
        """Whether the budget failed, and its requirement and the run with it."""
        return (self.budgets[budget], self.requirements[requirement], self.exit_code) == (Verdict.FAIL, "fail", 1)


def run(
    spark: Any, name: str, fault: str | None, *, small_tasks: bool = False, scenarios: int | None = None
) -> Outcome:
    """One run of a matrix, with a fault or without. ``small_tasks``: many tasks, in many groups."""
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        if fault is not None:
            patch.setattr(store, "Blocks", faulty_blocks(fault))
        if small_tasks:
            patch.setattr(plan, "TASK_SECONDS", 0.05)
            patch.setattr(plan, "GROUP_SECONDS", 0.2)
        ran = run_matrix(
            name, spark=spark, report=Path(place, "report"), scenarios=scenarios or SCENARIOS[name],
            narrate=lambda _: None,
        )  # fmt: skip
    return Outcome(
        {item["id"]: item["verdict"] for item in ran.results["budgets"]},
        {requirement: entry["verdict"] for requirement, entry in ran.results["requirements"].items()},
        ran.results["digest"],
        ran.results["run"]["exit_code"],
    )


def pairs(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """(matrix, fault, budget) of the catalogue; ``names``: only of these matrices, faults or budgets."""
    found = [
        (matrix, fault, budget)
        for matrix, budgets in BROKEN_BY.items()
        for budget, faults in budgets.items()
        for fault in faults
        if not names or {matrix, fault, budget, f"{matrix}/{budget}"} & set(names)
    ]
    if not found:
        raise SystemExit(f"no matrix, budget or fault is called {', '.join(names)}")
    return found


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def sound(spark: Any, name: str) -> bool:
    """Whether a matrix without a fault holds, cut in two ways."""
    once, again = run(spark, name, None), run(spark, name, None, small_tasks=True)
    holds = once.exit_code == again.exit_code == 0 and set(once.budgets.values()) == {Verdict.PASS}
    same = once.digest == again.digest
    _say(f"{'holds' if holds else 'BROKEN'}  {name:14} {once.digest} {'in both cuts' if same else again.digest}")
    return holds and same


def table(results: dict[tuple[str, str, str], bool]) -> list[str]:
    """One line a budget, then the sum."""
    lines = []
    for matrix, budgets in BROKEN_BY.items():
        for budget in budgets:
            known = {key: caught for key, caught in results.items() if (key[0], key[2]) == (matrix, budget)}
            if known:
                lives = ", ".join(fault for (_, fault, _), caught in known.items() if not caught)
                said = f"  LIVES: {lives}" if lives else ""
                lines.append(f"{matrix:14} {budget:30} {sum(known.values())}/{len(known)} failed/planted{said}")
    return [*lines, f"{sum(results.values())}/{len(results)} pairs of budget and fault failed as they must"]


def main(names: Sequence[str], record: Path | None) -> int:
    """Run them all in one session of two cores."""
    begun = time.monotonic()
    wanted = pairs(names)
    results: dict[tuple[str, str, str], bool] = {}
    with session("local[2]", name="binlog-lab faults") as spark:
        good = [sound(spark, name) for name in matrix_names() if name in {matrix for matrix, _, _ in wanted}]
        for matrix, fault in dict.fromkeys((matrix, fault) for matrix, fault, _ in wanted):
            outcome = run(spark, matrix, fault)
            rules = {budget.id: budget.requirement for budget in load_matrix(matrix).budgets}
            for key in wanted:
                if key[:2] == (matrix, fault):
                    results[key] = outcome.caught(key[2], rules[key[2]])
                    word = "failed" if results[key] else "LIVES "
                    _say(f"{word}  {matrix:14} {key[2]:30} {fault:28} {FAULTS[fault].does}")
    _say("\n".join(["", *table(results), f"{time.monotonic() - begun:.0f} seconds"]))
    if record is not None:
        rows = [
            {"matrix": key[0], "budget": key[2], "fault": key[1], "failed": caught} for key, caught in results.items()
        ]
        record.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(not all(good) or not all(results.values()))
