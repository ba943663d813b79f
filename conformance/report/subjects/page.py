"""``subjects/NAME.html``: what one decoder loses, alters and refuses, grouped by distinct defect.

Of each defect the page shows the smallest Case whole; the others open by their names, without scripts.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.report import cards, evidence, wording
from conformance.report.html import anchor, render
from conformance.report.matrix import issue_url
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.report.matrix import Defect
    from conformance.report.results import Summary
    from conformance.stream import CaseVerdict, Subject

WINDOW, NARROW = evidence.Window(8, 40), evidence.Window(6, 28)
SECTIONS: Final = {
    "loses": ("Loses", "Something of the log does not arrive, and nothing says so."),
    "alters": ("Alters", "Something arrives with another value, and nothing says so."),
    "crashes": ("Crashes or hangs", "The process dies, or gives no answer in time."),
    "fails": ("Fails", "Changes are invented, repeated or out of order, or the answer is outside of the protocol."),
    "refuses": ("Refuses", "The subject says itself that it cannot read the log: honest, and no pass."),
    "lenient": ("Says less than it should", "Nothing is lost, but a requirement that is a should is not met."),
    "unshown": (
        "Not said of it",
        "A difference that no script has shown of the program alone: perhaps the lab's adapter is wrong.",
    ),
    "other": ("Other", "Neither passed nor failed."),
}
_OF_VERDICT: Final = {
    Verdict.CRASH: "crashes", Verdict.TIMEOUT: "crashes", Verdict.FAIL: "fails", Verdict.DIFFERS: "fails",
    Verdict.REFUSED: "refuses", Verdict.LENIENT: "lenient", Verdict.INCONCLUSIVE: "unshown",
}  # fmt: skip
_IN_WORDS: Final = {
    Verdict.SILENT_LOSS: "loses or alters", Verdict.CRASH: "crashes on", Verdict.TIMEOUT: "hangs on",
    Verdict.FAIL: "fails", Verdict.DIFFERS: "differs in", Verdict.LENIENT: "says too little of",
    Verdict.REFUSED: "refuses", Verdict.INCONCLUSIVE: "is not charged with what came of",
}  # fmt: skip
MISSING: Final = "missing"  # the kind of a difference whose other side has nothing


@dataclass(frozen=True, slots=True)
class Section:
    """The defects of one sort."""

    id: str
    title: str
    sentence: str
    defects: tuple[Defect, ...]

    @property
    def cases(self) -> int:
        """Cases that count for one of these defects."""
        return sum(defect.counted for defect in self.defects)


def sections(defects: Iterable[Defect]) -> list[Section]:
    """The defects by sort, worst first; only the sorts that occur."""
    grouped: defaultdict[str, list[Defect]] = defaultdict(list)
    for defect in defects:
        grouped[sort_of(defect.first)].append(defect)
    return [Section(id_, *words, tuple(grouped[id_])) for id_, words in SECTIONS.items() if id_ in grouped]


def sort_of(verdict: CaseVerdict) -> str:
    """The section of a verdict. A loss without a word either misses something or alters it."""
    if verdict.verdict is not Verdict.SILENT_LOSS:
        return _OF_VERDICT.get(verdict.verdict, "other")
    return "loses" if MISSING in verdict.kind or (not verdict.kind and verdict.got is None) else "alters"


def headline(summary: Summary, subject: Subject) -> str:
    """The subject in one or two sentences."""
    matrix = summary.matrix
    counts = matrix.counts(subject.id)
    applicable = counts.total() - counts[Verdict.NOT_APPLICABLE]
    parts = [f"{words} {counts[verdict]:,}" for verdict, words in _IN_WORDS.items() if counts[verdict]]
    distinct = len(matrix.accusations(subject.id))
    if not parts:
        return f"Passes {counts[Verdict.PASS]:,} of {wording.plural(applicable, 'Case')}."
    return (
        f"Of {wording.plural(applicable, 'Case')} it passes {counts[Verdict.PASS]:,}, {', '.join(parts)}: "
        f"{wording.plural(distinct, 'distinct defect')}."
    )


def page(summary: Summary, subject: Subject) -> str:
    """The whole page of one subject."""
    matrix = summary.matrix
    defects = matrix.defects(subject.id)
    verdicts = matrix.verdicts[subject.id].values()
    by_requirement: defaultdict[str, list[Defect]] = defaultdict(list)
    for defect in defects:
        own = [] if defect.finding and defect.finding.cases else [verdict.requirement for verdict in defect.cases]
        for requirement in dict.fromkeys([defect.requirement, *own]):
            by_requirement[requirement].append(defect)
    catalogue = summary.run.requirements if summary.run else {}
    cells = [(name, cells[subject.id]) for name, cells in matrix.cells().items() if subject.id in cells]
    titles: defaultdict[str, str] = defaultdict(str, {name: info.title for name, info in catalogue.items()})
    name = matrix.names()[subject.id]
    said = headline(summary, subject)
    return render(
        "conformance.report", "subject.html.j2", "",
        name=name, headline=said, file_name=name, subject=subject, spec=subject.spec or subject.id,
        worst=matrix.worst(subject.id), run=summary.run, suites=matrix.suites.values(),
        issues=matrix.issues_of(subject.id),
        sections=sections(defects), cells=cells, titles=titles, by_requirement=by_requirement,
        excluded=[verdict for verdict in verdicts if verdict.verdict is Verdict.NOT_APPLICABLE],
        passed=[verdict for verdict in verdicts if verdict.verdict is Verdict.PASS],
        window=WINDOW, values_of=_values, bytes_of=_bytes, differing=_differing, of_log=evidence.of_log,
        titled=titled, amount=amount, reasons=reasons, at_fault=at_fault, anchor=anchor,
        cell_words=wording.cell_words, issue_url=issue_url, links=cards.links,
    )  # fmt: skip


def titled(defect: Defect) -> str:
    """The finding's own words, or the class of the defect."""
    return defect.finding.message if defect.finding and defect.finding.message else defect.signature


def reasons(defect: Defect) -> list[str]:
    """Return the cause and what users suffer; of a defect without a cause, why its Case matters."""
    finding = defect.finding
    found = [finding.reason, finding.why] if finding else []
    return list(filter(None, found)) or list(filter(None, [defect.info.why]))


def amount(defect: Defect) -> str:
    """Return how many Cases count for a defect, and how many more show it."""
    behind = f"{defect.behind:,} behind another defect" if defect.behind else ""
    return " and ".join(filter(None, [wording.plural(defect.counted, "case") if not defect.alone else "", behind]))


def at_fault(defect: Defect) -> str:
    """The program at fault and how that is known; nothing for a subject with an adapter of its own."""
    known = defect.first if defect.first.proof or defect.finding is None else defect.finding
    words = [
        f"At fault: {known.program}." if known.program else "",
        f"By a script: {known.proof}." if known.proof else "",
    ]
    return "".join(f" {word}" for word in words if word)


def _values(verdict: CaseVerdict) -> CaseVerdict:
    """The verdict with the bare values alone, which :func:`evidence.rows` shows where there are no fields."""
    return dataclasses.replace(verdict, evidence=())


def _bytes(verdict: CaseVerdict) -> CaseVerdict:
    """The verdict with the bytes alone, each field with its own place."""
    return dataclasses.replace(verdict, field=None, offset=None)


def _differing(verdict: CaseVerdict) -> list[evidence.Row]:
    """The value that differs, then the fields of the log that do."""
    shown = evidence.rows(_values(verdict), window=NARROW)
    if verdict.evidence and not evidence.of_log(verdict):
        shown += evidence.rows(_bytes(verdict), window=NARROW)
    return [row for row in shown if row.differs or row.first]
