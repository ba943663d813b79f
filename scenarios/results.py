"""``results.json`` of a matrix run: the common frame of the lab's runs, with digest, budgets and cells.

The file has everything that page and summary show, so that both can be rendered again from it alone.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.requirements.catalogue import REQUIREMENTS
from conformance.verdict import SEVERITY, Verdict
from conformance.version import __version__
from scenarios import costs
from scenarios import overview as overviews
from scenarios.codes import Code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenarios.budgets import JudgedBudget, Judgement
    from scenarios.costs import Cost, Memory
    from scenarios.live import Live
    from scenarios.matrix import Matrix
    from scenarios.overview import Overview

SUBJECT: Final = "reference"
_UNSOUND: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a run itself. ``seconds`` is its wall clock time, the start of the session excluded."""

    matrix: Matrix
    started: str
    seconds: float
    scenarios: int  # scenarios of this run, without those of an earlier, broken-off run
    resumed: int
    command: str | None = None
    environment: dict[str, Any] = field(default_factory=dict)
    live: Live | None = None
    costs: tuple[Cost, ...] = ()
    memory: Memory | None = None


def backing(facts: Facts) -> str:
    """The authority of the figures: the model alone, unless scenarios were compared with a real server."""
    live = facts.live
    if live is None:
        return "model against model"
    if live.mismatches:
        return f"model, and {live.server} differs from it"
    return f"model, tied to {live.server} by {live.scenarios:,} scenarios"


def results(facts: Facts, judgement: Judgement, overview: Overview) -> dict[str, Any]:
    """The object of the file."""
    matrix = facts.matrix
    by_requirement: dict[str, list[JudgedBudget]] = {}
    for item in judgement.budgets:
        by_requirement.setdefault(item.budget.requirement, []).append(item)
    breaking = _breaking(matrix, judgement, list(by_requirement))
    for name in breaking:
        by_requirement.setdefault(name, [])
    wrong = judgement.unexplained
    return {
        "schema": 1,
        "kit": __version__,
        "run": {
            "seed": matrix.digest,
            "profile": None,
            "started": facts.started,
            "seconds": round(facts.seconds, 3),
            "complete": not judgement.unsound,
            "incomplete_reason": "; ".join(judgement.unsound[:5]) or None,
            "exit_code": exit_code(facts, judgement),
            "selected": len(matrix.budgets),
            "updates": judgement.rows or None,
            "command": facts.command,
            "scenarios": facts.scenarios,
            "resumed": facts.resumed,
            "unsound": list(judgement.unsound[:_UNSOUND]),
        },
        "subjects": [
            {"id": SUBJECT, "role": "model", "version": __version__, "dialect": "mysql-9.7", "capabilities": []}
        ],
        "requirements": {
            name: _requirement(name, items, breaking[name]) for name, items in sorted(by_requirement.items())
        },
        "totals": {
            "cases": judgement.rows,
            "verdicts": {Verdict.PASS: judgement.rows - wrong, Verdict.FAIL: wrong},
            "updates_compared": judgement.rows,
            "bytes_compared": overview.bytes,
            "texts_compared": 0,
            "sizes_compared": 0,
            "mismatches": wrong + (facts.live.mismatches if facts.live else 0),
            "deviating": judgement.verdicts.get("EXPLAINED", 0),
        },
        "census": {f"verdict/{word}": count for word, count in judgement.verdicts.items()},
        "failures": [*_failures(judgement), *_differences(facts)],
        "findings": [],
        "deviations": [],
        "digest": judgement.digest,
        "backing": backing(facts),
        "live": None if facts.live is None else _live(facts.live),
        "matrix": {"name": matrix.name, "title": matrix.title, "digest": matrix.digest, "engine": matrix.engine},
        "budgets": [
            {
                "id": item.budget.id,
                "requirement": item.budget.requirement,
                "title": item.title,
                "verdict": item.verdict,
                "met": item.met,
                "broken": item.broken,
                "constants": dict(item.budget.constants),
                "where": item.budget.where,
                "must": item.budget.must,
                "worst": [{"replay": offender.replay, "value": offender.value} for offender in item.offenders],
            }
            for item in judgement.budgets
        ],
        "cells": [
            {"cell": cell, "settings": matrix.cell(cell), **entry._asdict(), **overview.cells.get(cell, {})}
            for cell, entry in sorted(judgement.cells.items())
        ],
        "overview": overviews.as_data(overview),
        "took": costs.as_data(facts.costs, facts.memory),
        "environment": facts.environment,
    }


def _live(live: Live) -> dict[str, Any]:
    return {**dataclasses.asdict(live), "words": live.words, "spread": live.spread}


def exit_code(facts: Facts, judgement: Judgement) -> int:
    """0 as expected, 1 something is broken, 4 rows are missing or too many."""
    if judgement.unsound:
        return 4
    if facts.live is not None and facts.live.mismatches:
        return 1
    if judgement.unexplained or any(item.verdict is Verdict.FAIL for item in judgement.budgets):
        return 1
    return 0 if judgement.passed else 4


def _breaking(matrix: Matrix, judgement: Judgement, names: Sequence[str]) -> Counter[str]:
    """How many rows with a wrong code count against each requirement: the one that the engine names for the code, or
    each of the matrix.
    """
    found: Counter[str] = Counter()
    for word, count in judgement.verdicts.items():
        if Code[word].wrong:
            known = matrix.module.BREAKS.get(Code[word])
            for name in names if known is None else (known,):
                found[name] += count
    return found


def _requirement(name: str, items: list[JudgedBudget], wrong: int) -> dict[str, Any]:
    """The verdict of a requirement: its budgets, and the rows with a wrong code that count against it."""
    row = REQUIREMENTS.get(name)
    verdicts = [item.verdict for item in items] + [Verdict.FAIL] * bool(wrong)
    verdict = min(verdicts, key=SEVERITY.index)
    cases, failed = sum(item.met for item in items) + wrong, sum(item.broken for item in items) + wrong
    cell = {"verdict": verdict, "cases": cases, "failed": failed, "not_run": 0, "deviations": 0}
    return {
        "verdict": verdict,
        "cases": cases,
        "failed": failed,
        "basis": row.basis if row is not None else "worklog",
        "title": row.statement if row is not None else name,
        "subjects": {SUBJECT: cell},
    }


def _differences(facts: Facts) -> list[dict[str, Any]]:
    """The differences of a real server from the model."""
    if facts.live is None:
        return []
    out = []
    for text in facts.live.differences:
        name, _, message = text.partition(": ")
        out.append(
            {
                "case": name, "requirement": "live", "verdict": Verdict.FAIL,
                "subject": facts.live.server, "check": "live",
                "message": message, "replay": f"binlog-lab replay {name} --server process",
            }
        )  # fmt: skip
    return out


def _failures(judgement: Judgement) -> list[dict[str, Any]]:
    found = [
        {
            "case": row.replay, "requirement": "worker", "verdict": Verdict.FAIL,
            "subject": SUBJECT, "check": row.code, "message": f"error {row.error}" if row.error else row.code,
            "replay": f"binlog-lab replay {row.replay}",
        }
        for row in judgement.wrong
    ]  # fmt: skip
    for item in judgement.budgets:
        if item.broken:
            found += [
                {
                    "case": offender.replay, "requirement": item.budget.requirement, "verdict": Verdict.FAIL,
                    "subject": SUBJECT, "check": item.budget.id, "message": item.title,
                    "replay": f"binlog-lab replay {offender.replay}",
                }
                for offender in item.offenders
            ]  # fmt: skip
    return found
