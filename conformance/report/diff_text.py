"""A comparison of two runs for people: plain lines, and Markdown for a pull request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conformance.report import wording
from conformance.report.diff import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.report.diff import Diff, Line, Rechecked, Result

GLYPHS = {
    Change.NEW: "✗",
    Change.FIXED: "✓",
    Change.LISTED: "≈",
    Change.STILL: "=",
    Change.GONE: "○",
    Change.CHANGED: "~",
}
QUIET = Change.STILL  # cases that fail in both runs are counted, and listed in the JSON alone


def text(diff: Diff) -> Iterator[str]:
    """Plain lines: requirements by subject, then the cases that changed, and the sum."""
    for letter, side in (("A", diff.before), ("B", diff.after)):
        yield f"{letter}: {side.name}{f' ({side.note})' if side.note else ''}"
    if diff.conditions:
        yield ""
        yield "not the same in both runs, so that differences may come from there:"
        yield from (f"  {each.what}: {each.before} → {each.after}" for each in diff.conditions)
    for title, lines in (("requirements", diff.requirements), ("cases", diff.cases)):
        subject = None
        for line in sorted(_listed(lines), key=lambda line: list(diff.subjects).index(line.subject)):
            if line.subject != subject:
                subject = line.subject
                yield ""
                yield f"{_named(diff, subject)}, {title}"
            about = f"  [{line.requirement}]" if line.case else ""
            yield f"  {GLYPHS[line.change]} {line.change:<7} {line.case or line.requirement}  {_sides(line)}{about}"
    yield ""
    yield f"requirements: {_sum(diff.requirements)}"
    yield f"cases: {_sum(diff.cases)}"
    yield "B has new failures" if diff.new_failures else "B has no new failure"


def rechecked(cases: Sequence[Rechecked]) -> Iterator[str]:
    """A line for each case that was run again."""
    yield ""
    yield (
        f"{wording.plural(len(cases), 'case')} that fail in one run only, run again:"
        if cases
        else "nothing to run again"
    )
    for each in cases:
        told = f": {each.told}" if each.told else ""
        about = f"{each.line.case}  {each.line.change} [{each.line.requirement}]"
        yield f"  {each.word or 'not run again':<8} {about}{told}"


def markdown(diff: Diff) -> Iterator[str]:
    """A heading that says it, and a table for requirements and one for cases."""
    yield f"### {'✗ New failures' if diff.new_failures else '✓ No new failure'}"
    yield ""
    sides = [f"{wording.escaped(side.name)}{wording.escaped(f' ({side.note})') if side.note else ''}"
             for side in (diff.before, diff.after)]  # fmt: skip
    yield f"{sides[0]} → {sides[1]}. Requirements: {_sum(diff.requirements)}. Cases: {_sum(diff.cases)}."
    if diff.conditions:
        words = ", ".join(f"{each.what} {each.before} → {each.after}" for each in diff.conditions)
        yield ""
        yield f"Not the same in both runs, so that differences may come from there: {wording.escaped(words)}."
    for title, lines in (("requirement", diff.requirements), ("case", diff.cases)):
        listed = _listed(lines)
        if listed:
            yield ""
            yield f"| | | subject | {title} | A → B |"
            yield "|---|---|---|---|---|"
        for line in listed:
            name = wording.escaped(line.case or line.requirement)
            subject = wording.escaped(_named(diff, line.subject))
            yield f"| {GLYPHS[line.change]} | {line.change} | {subject} | {name} | {_sides(line)} |"


def _listed(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if not (line.case and line.change is QUIET)]


def _named(diff: Diff, name: str) -> str:
    """The subject, with both ids where they differ."""
    a, b = diff.subjects[name]
    if a and b:
        return name if a == b else f"{name} ({a} → {b})"
    return f"{name} (only in {'A' if a else 'B'})"


def _sides(line: Line) -> str:
    return f"{_result(line, line.before)} → {_result(line, line.after)}"


def _result(line: Line, result: Result | None) -> str:
    if result is None:
        return "absent"
    if line.case or not result.failed:
        return result.verdict.value
    return f"{result.verdict} {result.failed:,} of {result.cases:,}"


def _sum(lines: Sequence[Line]) -> str:
    counts = Counter(line.change for line in lines)
    return ", ".join(f"{counts[change]:,} {change}" for change in Change)
