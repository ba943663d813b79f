"""A requirement in words: its sentence, its source, how it is judged, and the versions on which it was seen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import group_of
from conformance.checks.decoders.data_files import file_requirements
from conformance.checks.decoders.run import about_subjects, requirements_of
from conformance.checks.decoders.suite import load_requirements
from conformance.harness.experiments.manifests import all_facts, sentence_of
from conformance.harness.updates.captures import recorded_versions
from conformance.judge.probes import value_words
from conformance.messages import counted
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.coverage import CoverageState, judged_in_words, state_of
from conformance.requirements.deviations import load_deviations
from conformance.requirements.versions import FIRST, LAST_OBSERVED, MARKS, SWITCHES, text_of
from conformance.requirements.volume import UPDATES, least_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.requirements.catalogue import Requirement

_NEEDS: Final = {
    "1S": "a server",
    "2S": "a source and a replica",
    "3S": "a chain of three servers",
    "OLD": "a server from before the feature",
    "SUBJECT": "a decoder",
}
_UNLISTED: Final = {
    CoverageState.NOT_JUDGED: "It was judged on no version.",
    CoverageState.MODEL: "It says nothing of a server of any version.",
    CoverageState.UNRELEASED: "It was judged on no version: none was released with it.",
    CoverageState.DECODER: "No deviations are listed for decoders: one that differs fails.",
}


def requirement_lines(name: str) -> Iterator[str]:
    """Yield the lines about a requirement of the catalogue; one that is indented by two blanks may be folded."""
    row = REQUIREMENTS[name]
    yield f"{row.id}  {row.level}  {row.group}"
    yield f"  {row.statement}"
    yield from ("", "Source", f"  {row.document}, {row.section}")
    yield f"  {row.document}: {row.revision}"
    yield f"  It is known from: {row.basis}"
    yield f"  What satisfies it: {row.allowed}"
    yield from ("", "How it is judged")
    yield from _judged(row)
    yield from ("", "Versions")
    yield from _versions(row)


def _judged(row: Requirement) -> Iterator[str]:
    yield f"  {judged_in_words(row)}"
    if row.reason is not None:
        return
    yield f"  It needs {' and '.join(_NEEDS[need] for need in row.needs)}."
    if row.finite:
        yield f"  Its Cases are listed, not generated: {row.finite}."
    for check, cases in _checks(row.within or row.id):
        least = f", {cases:,} Cases or more in the profile quick" if cases > 1 else ""
        yield f"  - {check}{least}: {sentence_of(check)}"
    yield from _groups(row.within or row.id)
    subject = " --subject SUBJECT" if row.needs == ("SUBJECT",) else ""
    yield f"  binlog-lab conformance -r {row.within or row.id}{subject}"


def _checks(name: str) -> list[tuple[str, int]]:
    """The checks of a requirement, with their number of Cases where it is known: those of the manifests, and those
    whose requirements depend on data."""
    known = {check: rows[name] for check, rows in least_cases().items() if name in rows and check != UPDATES}
    listed = {facts.id for facts in all_facts() if name in facts.requirements}
    return sorted({**dict.fromkeys(listed - {check.partition("[")[0] for check in known}, 0), **known}.items())


def _groups(name: str) -> Iterator[str]:
    """Yield the groups of the suites for decoders and for readers of data files, with their Cases of a requirement."""
    if not about_subjects(name):
        return
    for check, suite in (("logs", load_requirements()), ("files", file_requirements())):
        found = Counter(group_of(case) for case, names in suite.items() if name in requirements_of(names))
        for group, cases in found.items():
            yield f"  - decoders/{check}[{group}]: {counted(cases, 'Case')}"


def _versions(row: Requirement) -> Iterator[str]:
    if row.feature:
        switch = SWITCHES[row.feature]
        yield f"  {switch.what}"
        for cell in switch.cells:
            sure = "assumed, " if cell.probe else ""
            yield f"    {text_of(cell.since):<7} {value_words(cell.value):<6} {sure}{cell.mark}"
        used = {word for cell in switch.cells for word in cell.mark.replace(",", " ").split()}
        yield f"  {'; '.join(f'{mark}: {words}' for mark, words in MARKS.items() if mark in used)}."
    if row.basis.startswith("observed"):
        yield (
            f"  It was {row.basis}: a difference counts as a failure from {text_of(FIRST)} to"
            f" {text_of(LAST_OBSERVED)} alone."
        )
    if any(check.startswith(f"{UPDATES}/") for check, _ in _checks(row.within or row.id)):
        versions = " and ".join(recorded_versions())
        yield f"  Recorded updates of {versions} come with the kit; this judges them:"
        yield f"  binlog-lab conformance --server none -r {row.within or row.id}"
    yield from _deviations(row)


def _deviations(row: Requirement) -> Iterator[str]:
    """Yield the table of listed deviations from a requirement, or from the one that it is part of."""
    names = {row.id, row.within or row.id}
    listed = [entry for entry in load_deviations() if names & set(entry.requirements)]
    if not listed:
        yield f"  {_UNLISTED.get(state_of(row), 'No deviation is listed: a server of any version that differs fails.')}"
        return
    cells = [(entry.id, entry.versions, ", ".join(entry.observed) or "none") for entry in listed]
    cells.insert(0, ("deviation", "expected in", "seen on"))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "    " + "  ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
    yield "  binlog-lab explain DEVIATION says what each is."
