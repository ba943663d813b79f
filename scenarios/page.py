"""The report of a matrix run for people: one file that opens from a disk, in the frame of the lab's other reports."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from conformance.report.html import render
from scenarios import figures
from scenarios.costs import memory_words
from scenarios.results import backing, exit_code

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.budgets import Judgement
    from scenarios.overview import Overview
    from scenarios.runs import Facts

GLYPHS: Final = {"pass": "✓", "fail": "✗", "inconclusive": "?"}
TONES: Final = {"pass": "good", "fail": "bad", "inconclusive": "warn"}
OUTCOMES: Final = {0: ("Within budget", "✓", "good"), 1: ("Over budget", "✗", "bad"), 4: ("Incomplete", "…", "warn")}
_OFFENDERS: Final = 5


def write_page(path: Path, facts: Facts, judgement: Judgement, seen: Overview) -> None:
    """Write the page."""
    path.write_text(page(facts, judgement, seen), "utf-8")


def page(facts: Facts, judgement: Judgement, seen: Overview) -> str:
    """The whole page."""
    style = resources.files("scenarios").joinpath("templates/matrix.css").read_text("utf-8")
    return render("scenarios", "matrix.html.j2", style, **_context(facts, judgement, seen))


def headline(judgement: Judgement) -> str:
    """What came out, in a sentence."""
    passed = sum(item.verdict == "pass" for item in judgement.budgets)
    return (
        f"{judgement.rows:,} scenarios in {sum(entry.rows > 0 for entry in judgement.cells.values())} cells:"
        f" {passed} of {len(judgement.budgets)} budgets hold, {judgement.unexplained:,} unexplained rows."
    )


def _context(facts: Facts, judgement: Judgement, seen: Overview) -> dict[str, Any]:
    outcome, glyph, tone = OUTCOMES[exit_code(facts, judgement)]
    pictures = []
    for image, heat in seen.heat.items():
        title = "Saving by size and share of the update" + (f", row image {image}" if image else "")
        pictures.append((title, figures.heat_map(heat)))
    if seen.points:
        pictures.append(("Diffs against whole documents", figures.scatter(seen.points)))
    if seen.overhead:
        words = {extra: f"{extra} B" for extra in seen.overhead}
        label = "Bytes of the event beside diffs and documents"
        pictures.append(
            ("Overhead of an event", figures.histogram(seen.overhead, words, label, "bytes beside what is exchanged"))
        )
    if seen.sizes:
        words = {bits: figures.size_word(1 << bits) for bits in seen.sizes}
        pictures.append(
            ("Documents by size", figures.histogram(seen.sizes, words, "Documents by size", "from this size on"))
        )
    return {
        "matrix": facts.matrix,
        "facts": facts,
        "memory": memory_words(facts.memory) if facts.memory else "",
        "judgement": judgement,
        "outcome": outcome,
        "glyph": glyph,
        "tone": tone,
        "headline": headline(judgement),
        "backing": backing(facts),
        "glyphs": GLYPHS,
        "tones": TONES,
        "pictures": pictures,
        "lines": seen.lines,
        "bytes_compared": seen.bytes,
        "offenders": _OFFENDERS,
        "rate": facts.scenarios / facts.seconds if facts.scenarios else 0,
    }
