"""``summary.md``: a run in a few lines of Markdown, for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.page import GLYPHS, OUTCOMES, headline
from scenarios.results import backing, exit_code

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.budgets import Judgement
    from scenarios.overview import Overview
    from scenarios.runs import Facts


def write_summary(path: Path, facts: Facts, judgement: Judgement, seen: Overview) -> None:
    """Write the file."""
    path.write_text(summary(facts, judgement, seen), "utf-8")


def summary(facts: Facts, judgement: Judgement, seen: Overview) -> str:
    """The text."""
    outcome, glyph, _ = OUTCOMES[exit_code(facts, judgement)]
    lines = [
        f"### {glyph} `{facts.matrix.name}`: {outcome.lower()}",
        "",
        f"{headline(judgement)} Figures: {backing(facts)}; digest `{judgement.digest}`.",
        "",
        "| | requirement | budget | rows | broken |",
        "|---|---|---|---:|---:|",
    ]
    lines += [
        f"| {GLYPHS[item.verdict]} | {item.budget.requirement} | {item.title} | {item.met:,} | {item.broken:,} |"
        for item in judgement.budgets
    ]
    axis = next((name for name in ("size", "update") if name in seen.lines), None)
    if axis is not None:
        lines += ["", f"| {axis} | saved | median event |", "|---|---:|---:|"]
        lines += [
            f"| {line.value} | {line.saving:.1%} | {line.percentiles[2] / 10:.1f} % |" for line in seen.lines[axis]
        ]
    if facts.live is not None:
        lines += ["", facts.live.words + "."]
    wrong = [row.replay for row in judgement.wrong[:5]]
    wrong += [item.offenders[0].replay for item in judgement.budgets if item.broken and item.offenders]
    if wrong:
        lines += ["", "Again:", "", *(f"    binlog-lab replay {name}" for name in wrong)]
    lines += [f"- {problem}" for problem in judgement.unsound[:5]]
    return "\n".join(lines) + "\n"
