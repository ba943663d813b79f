"""The decoders in Markdown: the matrix of requirements for ``summary.md``, and ``subjects.md`` with every defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.report import wording
from conformance.report.matrix import issue_url
from conformance.report.subjects.page import amount, at_fault, headline, reasons, sections, titled
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.report.results import Summary


def write_subjects(summary: Summary, path: Path) -> None:
    """Write ``subjects.md``; the caller puts it into place."""
    path.write_text("\n".join(build(summary)) + "\n", encoding="utf-8")


def build(summary: Summary) -> Iterator[str]:
    """The lines of ``subjects.md``: the matrix, then each subject with its defects."""
    yield "# Decoders"
    for suite in summary.matrix.suites.values():
        yield ""
        yield f"{suite.name} {suite.version}, {wording.plural(suite.cases, 'Case')}, digest `{suite.digest[:16]}`"
    yield from matrix(summary)
    names = summary.matrix.names()
    for subject in summary.matrix.judged:
        yield ""
        yield f"## {names[subject.id]} {wording.escaped(subject.version or '')}".rstrip()
        yield ""
        yield headline(summary, subject)
        for section in sections(summary.matrix.defects(subject.id)):
            yield ""
            yield f"### {section.title}"
            yield ""
            for defect in section.defects:
                first = defect.first
                issues = "".join(f" [{issue.issue}]({issue_url(issue)})" for issue in defect.issues)
                yield (
                    f"- {wording.GLYPHS[first.verdict]} **{defect.requirement}** "
                    f"{wording.escaped(wording.sentence(titled(defect)))} {amount(defect).capitalize()}, "
                    f"smallest `{first.case}`.{issues}{at_fault(defect)}"
                )
                for line in reasons(defect):
                    yield f"  {wording.escaped(line)}"


def matrix(summary: Summary) -> Iterator[str]:
    """The tables of subjects by verdict and of requirements by subject; no line if the run judged no decoder."""
    table = summary.matrix
    if not table:
        return
    names = table.names()
    counts = {subject.id: table.counts(subject.id) for subject in table.judged}
    seen = [verdict for verdict in Verdict if any(count[verdict] for count in counts.values())]
    yield ""
    yield f"| subject | version | supported | not supported | {' | '.join(seen)} | distinct defects |"
    yield f"|---|---|{'---:|' * (len(seen) + 3)}"
    for subject in table.judged:
        figures = " | ".join(f"{counts[subject.id][verdict]:,}" for verdict in seen)
        glyph = wording.GLYPHS[table.worst(subject.id)]
        defects = len(table.accusations(subject.id))
        version = wording.escaped(subject.version or "")
        support = table.support(subject.id)
        figures = f"{support.supported:,} | {support.unsupported:,} | {figures}"
        yield f"| {glyph} {wording.escaped(names[subject.id])} | {version} | {figures} | {defects} |"
    for subject in table.absent:
        reason = wording.escaped(subject.unavailable or subject.note or "no verdict in this run")
        yield f"| ○ {wording.escaped(names[subject.id])} | not available: {reason} |{' |' * (len(seen) + 3)}"
    if not table.judged:
        return
    yield ""
    yield f"| requirement | {' | '.join(wording.escaped(names[subject.id]) for subject in table.judged)} |"
    yield f"|---|{'---|' * len(table.judged)}"
    for name, cells in table.cells().items():
        row = []
        for subject in table.judged:
            cell = cells.get(subject.id)
            passed = f"{cell.verdicts[Verdict.PASS]:,} of {cell.cases:,}" if cell else ""
            row.append(f"{wording.GLYPHS[cell.verdict]} {cell.verdict} {passed}" if cell else "")
        yield f"| {name} | {' | '.join(row)} |"
