"""``summary.md``: a run in a few lines of Markdown, for a pull request. From the content of ``results.json`` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.report.wording import GLYPHS
from scenarios import costs, overview
from scenarios.figures import percent, size_word
from scenarios.page import OUTCOMES, headline

if TYPE_CHECKING:
    from collections.abc import Mapping


def summary(content: Mapping[str, Any]) -> str:
    """The Markdown text."""
    outcome, glyph, _ = OUTCOMES[content["run"]["exit_code"]]
    seen = overview.from_data(content["overview"])
    lines = [
        f"### {glyph} `{content['matrix']['name']}`: {outcome.lower()}",
        "",
        f"{headline(content)} Figures: {content['backing']}; digest `{content['digest']}`.",
        "",
        "| | requirement | budget | rows | broken |",
        "|---|---|---|---:|---:|",
    ]
    lines += [
        f"| {GLYPHS[item['verdict']]} | {item['requirement']} | {item['title']} | {item['met']:,} |"
        f" {item['broken']:,} |"
        for item in content["budgets"]
    ]
    axis = next((name for name in ("size", "update") if name in seen.lines), None)
    if axis is not None:
        lines += ["", f"| {axis} | saved | median event |", "|---|---:|---:|"]
        for line in seen.lines[axis]:
            value = size_word(int(line.value)) if axis == "size" else line.value
            lines.append(f"| {value} | {percent(line.saving)} | {line.percentiles[2] / 10:.1f} % |")
    lines += _took(content)
    if content["live"] is not None:
        lines += ["", content["live"]["words"] + "."]
    wrong = [failure["replay"] for failure in content["failures"] if failure["requirement"] == "worker"][:5]
    wrong += [
        f"binlog-lab replay {item['worst'][0]['replay']}"
        for item in content["budgets"]
        if item["broken"] and item["worst"]
    ]
    if wrong:
        lines += ["", "Again:", "", *(f"    {command}" for command in wrong)]
    if content["run"]["unsound"]:
        lines += ["", *(f"- {problem}" for problem in content["run"]["unsound"][:5])]
    return "\n".join(lines) + "\n"


def _took(content: Mapping[str, Any]) -> list[str]:
    found, memory = costs.from_data(content["took"])
    if not found:
        return []
    lines = ["", "| documents | scenarios | /s per core | MB/s per core |", "|---|---:|---:|---:|"]
    for one in found:
        size = "all" if one.size is None else size_word(one.size)
        lines.append(f"| {size} | {one.scenarios:,} | {one.rate:,.0f} | {one.throughput:.2f} |")
    if memory is not None:
        lines += ["", f"Peak memory: {costs.memory_words(memory)}."]
    return lines
