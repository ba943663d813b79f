"""The report of a matrix run for people: one file that opens from a disk, in the frame of the lab's other reports.

The page is rendered from the content of ``results.json`` and nothing else.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from conformance.report.html import render
from conformance.report.wording import GLYPHS
from conformance.verdict import Verdict
from scenarios import costs, figures, overview

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenarios.overview import Overview

TONES: Final = {Verdict.PASS: "good", Verdict.FAIL: "bad", Verdict.INCONCLUSIVE: "warn"}
OUTCOMES: Final = {0: ("Within budget", "✓", "good"), 1: ("Over budget", "✗", "bad"), 4: ("Incomplete", "…", "warn")}
_OFFENDERS: Final = 5
_HEAT: Final = (
    "A field is the scenarios with one size of document and one share of it that the diffs have; its number says how"
    " many bytes of row events the option saves, and below zero what it costs."
)
_SCATTER: Final = (
    "A dot is a scenario: green was logged as diffs, amber whole; on the dashed line, 4 + D = F, both have one size."
)
_OVERHEAD: Final = "A column counts the events with so many bytes beside the diffs or the document."
_SIZES: Final = "A column counts the scenarios whose document has this size or more, up to the next column."


def page(content: Mapping[str, Any]) -> str:
    """The whole page."""
    style = resources.files("scenarios").joinpath("templates/matrix.css").read_text("utf-8")
    return render("scenarios", "matrix.html.j2", style, **_context(content))


def headline(content: Mapping[str, Any]) -> str:
    """The outcome in a sentence."""
    budgets, cells, totals = content["budgets"], content["cells"], content["totals"]
    passed = sum(item["verdict"] == Verdict.PASS for item in budgets)
    return (
        f"{totals['cases']:,} scenarios in {sum(entry['rows'] > 0 for entry in cells):,} cells:"
        f" {passed} of {len(budgets)} budgets hold, {totals['verdicts']['fail']:,} unexplained rows."
    )


def _context(content: Mapping[str, Any]) -> dict[str, Any]:
    run, seen = content["run"], overview.from_data(content["overview"])
    outcome, glyph, tone = OUTCOMES[run["exit_code"]]
    took, memory = costs.from_data(content["took"])
    return {
        "content": content,
        "run": run,
        "matrix": content["matrix"],
        "outcome": outcome,
        "glyph": glyph,
        "tone": tone,
        "headline": headline(content),
        "backing": content["backing"],
        "rows": content["totals"]["cases"],
        "unexplained": content["totals"]["verdicts"]["fail"],
        "verdicts": {name.removeprefix("verdict/"): number for name, number in content["census"].items()},
        "wrong": [failure for failure in content["failures"] if failure["requirement"] == "worker"],
        "glyphs": GLYPHS,
        "tones": TONES,
        "pictures": _pictures(seen),
        "lines": seen.lines,
        "percent": figures.percent,
        "bytes_compared": seen.bytes,
        "offenders": _OFFENDERS,
        "rate": run["scenarios"] / run["seconds"] if run["scenarios"] else 0,
        "took": took,
        "memory": costs.memory_words(memory) if memory is not None else "",
        "size_word": figures.size_word,
    }


def _pictures(seen: Overview) -> list[tuple[str, str, str]]:
    """Title, legend and SVG of each picture."""
    found = []
    for rows, heat in seen.heat.items():
        title = "Saving by size and share of the update" + (f": {rows}" if rows else "")
        found.append((title, _HEAT, figures.heat_map(heat)))
    if seen.points:
        found.append(("Diffs against whole documents", _SCATTER, figures.scatter(seen.points)))
    if seen.overhead:
        words = {extra: f"{extra} B" for extra in seen.overhead}
        label = "Bytes of the event beside diffs and documents"
        picture = figures.histogram(seen.overhead, words, label, "bytes beside what is exchanged")
        found.append(("Overhead of an event", _OVERHEAD, picture))
    if seen.sizes:
        words = {bits: figures.short_size(1 << bits) for bits in range(min(seen.sizes), max(seen.sizes) + 1)}
        picture = figures.histogram(seen.sizes, words, "Documents by size", "bytes, from this size on")
        found.append(("Documents by size", _SIZES, picture))
    return found
