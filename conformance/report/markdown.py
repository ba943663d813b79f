"""``summary.md``: a run in a few lines of Markdown, for a pull request or a step summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.report import wording
from conformance.report.kinds import worst
from conformance.report.subjects.markdown import matrix
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.report.results import Summary

FAILURES_SHOWN = 10


def write_markdown(summary: Summary, path: Path) -> None:
    """Write the file; the caller puts it into place."""
    path.write_text("\n".join(build(summary)) + "\n", encoding="utf-8")


def build(summary: Summary) -> Iterator[str]:
    """The lines: outcome, headline, decoders, requirements without a pass, listed deviations, failures with command."""
    yield f"### {wording.OUTCOME_GLYPHS[summary.outcome]} {summary.outcome.capitalize()}"
    yield ""
    yield wording.escaped(wording.headline(summary))
    yield from matrix(summary)
    yield from _requirements(summary)
    yield from _deviations(summary)
    for line in wording.notices(summary.notices):
        yield ""
        yield wording.escaped(line)
    yield from _failures(summary)


def _requirements(summary: Summary) -> Iterator[str]:
    rows = summary.requirement_rows()
    shown = {
        name: row
        for name, row in rows.items()
        if row[1].cases and not (summary.matrix and set(row[2]) <= set(summary.matrix.decoders))
    }
    if not shown and summary.matrix:
        return
    yield ""
    yield f"{wording.coverage(summary)}."
    if all(cell.verdict is Verdict.PASS for _, cell, _ in shown.values()):
        return
    yield ""
    yield "| | requirement | verdict | cases |"
    yield "|---|---|---|---|"
    for name, (info, cell, _) in shown.items():
        if cell.verdict is not Verdict.PASS:
            glyph, words = wording.GLYPHS[cell.verdict], wording.escaped(wording.cell_words(cell))
            yield f"| {glyph} | **{name}** {wording.escaped(wording.titled(info))} | {cell.verdict} | {words} |"


def _deviations(summary: Summary) -> Iterator[str]:
    entries = summary.deviations()
    if not entries:
        return
    yield ""
    yield "| | listed deviation | requirements | cases |"
    yield "|---|---|---|---:|"
    for entry in entries:
        verdict = Verdict(entry["verdict"])
        ends = f", ends {entry['ends']}" if entry["ends"] else ""
        requirements = ", ".join(entry["requirements"])
        yield f"| {wording.GLYPHS[verdict]} | `{entry['id']}` {verdict}{ends} | {requirements} | {entry['cases']:,} |"


def _failures(summary: Summary) -> Iterator[str]:
    kinds = summary.kinds()
    for kind in worst(kinds, FAILURES_SHOWN):
        failure = kind.first
        yield ""
        broken = ", ".join(failure.requirements)
        title = f"{wording.GLYPHS[failure.verdict]} {failure.verdict} **{broken}** `{failure.case}`"
        yield f"- {title} {failure.subject}: {wording.escaped(f'{failure.message} {wording.difference(failure)}')}"
        if failure.replay:
            yield ""
            yield f"      {failure.replay}"
    if len(kinds) > FAILURES_SHOWN:
        yield ""
        yield f"And {wording.plural(len(kinds) - FAILURES_SHOWN, 'more kind')} of failure."
