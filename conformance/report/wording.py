"""The words and glyphs that every report uses, so that a verdict looks the same everywhere."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from conformance.report.results import Coverage, RunOutcome
from conformance.stream import MODEL
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.report.cells import Cell
    from conformance.report.results import Summary
    from conformance.stream import Asked, CaseVerdict, Notice, RequirementInfo

WHOLE = "updates_of_profile"  # option of a run: the updates that its profile has, or that were recorded
NOTICES = 3  # of one kind that are told
RECORDED = "recorded"  # capability of a subject that consists of captures, not of a living server
UNCONFIRMED = "unconfirmed: seen on another version, and its witness has not run on this one"
SERVER_ROLES = frozenset({"server", "source", "replica"})  # the headline names the versions of these subjects

GLYPHS: dict[Verdict, str] = {
    Verdict.SILENT_LOSS: "✗",
    Verdict.CRASH: "✗",
    Verdict.TIMEOUT: "✗",
    Verdict.FAIL: "✗",
    Verdict.DIFFERS: "≠",
    Verdict.DEVIATES: "≈",
    Verdict.FIXED: "✓",
    Verdict.LENIENT: "~",
    Verdict.REFUSED: "⊘",
    Verdict.INCONCLUSIVE: "?",
    Verdict.INFO: "i",
    Verdict.NOT_APPLICABLE: "·",
    Verdict.PASS: "✓",
    Verdict.NOT_RUN: "○",
}
OUTCOME_GLYPHS: dict[RunOutcome, str] = {
    RunOutcome.CONFORMANT: "✓",
    RunOutcome.DEVIATES: "≈",
    RunOutcome.NONCONFORMANT: "✗",
    RunOutcome.COULD_NOT_RUN: "!",
    RunOutcome.INCOMPLETE: "○",
    RunOutcome.REFUSED: "⊘",
    RunOutcome.NOTHING: "○",
}
COUNTER_LABELS: dict[str, str] = {
    "updates_compared": "updates compared",
    "updates_given_up": "updates given up behind a difference of their row",
    "bytes_compared": "bytes compared",
    "bytes_predicted": "bytes predicted",
    "bytes_by_rule": "bytes checked by rule",
    "bytes_on_trust": "bytes taken on trust",
    "texts_compared": "document texts compared",
    "sizes_compared": "sizes compared",
    "mismatches": "mismatches",
    "deviating": "explained by listed deviations",
}
_NO_RESULT = frozenset({Verdict.NOT_RUN, Verdict.NOT_APPLICABLE})
_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def plural(count: int, noun: str) -> str:
    """``1 case``, ``2 cases``, ``1,234 mismatches``."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "s")) else "s"
    return f"{count:,} {noun}{ending}"


def amount_of_bytes(count: int) -> str:
    """``840 bytes``, ``12.3 MB`` (powers of ten)."""
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return plural(count, "byte")


def share(part: float) -> str:
    """``25 %``, ``1.4 %``, ``0.03 %``: a percentage with two significant digits."""
    percent = 100 * part
    digits = 0 if percent >= 10 or not percent else 1 if percent >= 0.95 else 2
    return f"{percent:.{digits}f} %"


def duration(seconds: float) -> str:
    """``0.8 s``, ``42 s``, ``4 min 12 s``, ``1 h 03 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def server_versions(summary: Summary) -> list[str]:
    """The versions of the servers among the subjects; recorded subjects are marked as such."""
    found = set()
    silent = _without_result(summary)
    for subject in summary.subjects.values():
        if subject.role in SERVER_ROLES and subject.version and subject.id not in silent:
            recorded = "recorded captures of " if RECORDED in subject.capabilities else ""
            name = "" if any(character.isalpha() for character in subject.version) else "MySQL "
            found.add(f"{recorded}{name}{subject.version}")
    return sorted(found)


def _without_result(summary: Summary) -> set[str]:
    """Columns of a matrix in which nothing passed, failed or differed: the run compared nothing with them."""
    if len(summary.columns) < 2:
        return set()
    compared = {
        name
        for (_, name), totals in summary.checks.items()
        if any(count for verdict, count in totals.verdicts.items() if verdict not in _NO_RESULT)
    }
    return set(summary.columns) - compared


def headline(summary: Summary) -> str:
    """The outcome of the run in one sentence."""
    figures = summary.figures
    versions = server_versions(summary)
    against = f" with {', '.join(versions)}" if versions else ""
    if decoders := len(summary.matrix.judged) if summary.matrix else 0:
        against = f"{against}{' and' if versions else ' with'} {plural(decoders, 'decoder')}"
    lost = summary.counters["updates_given_up"]
    given_up = f"; {plural(lost, 'update')} given up behind the first difference of a row" if lost else ""
    compared = (
        f"{plural(figures.updates_compared, 'update')} compared byte for byte{against}: "
        f"{figures.updates_differing:,} differ{given_up}.{_of_the_profile(summary)}"
        if figures.updates_compared
        else f"{plural(summary.cases, 'case')} judged{against}."
    )
    match summary.outcome:
        case RunOutcome.CONFORMANT:
            return f"{compared}{_fixed(summary)}"
        case RunOutcome.DEVIATES:
            return f"{_except(summary)} {compared}{_fixed(summary)}"
        case RunOutcome.NONCONFORMANT:
            incomplete = "" if summary.complete else f" The run is incomplete: {summary.incomplete_reason}."
            return f"{failed(summary)} {compared}{incomplete}"
        case RunOutcome.REFUSED:
            return f"Every case was refused with an error: nothing is lost in silence, and nothing is read. {compared}"
        case RunOutcome.NOTHING:
            return "No case gave a result: nothing was selected, or nothing applies to the subjects."
        case _:
            reason = summary.incomplete_reason or f"{summary.verdicts[Verdict.NOT_RUN]:,} selected cases did not run"
            until = f" Until then: {compared}" if summary.cases else ""
            return f"{sentence(reason.splitlines()[0])}{until}"  # what follows is detail: a server's log, say


def failed(summary: Summary) -> str:
    """``21 of 155 judged requirements fail in 45 kinds, 2,205 cases; the server died in 3, a replica in 4.``"""
    figures = summary.figures
    judged = plural(figures.requirements_judged, "judged requirement")
    kinds, cases = plural(figures.kinds_failed, "kind"), plural(figures.cases_failed, "case")
    died = ", ".join(
        f"{program}{' died' if not index else ''} in {kinds:,}"
        for index, (program, kinds) in enumerate(figures.ended.items())
    )
    verb = "fails" if figures.requirements_failed == 1 else "fail"
    return (
        f"{figures.requirements_failed:,} of {judged} {verb}: {kinds} of failure, {cases} failed{_of_model(summary)}"
        f"{f'; {died}' if died else ''}."
    )


def bytes_of_the_log(summary: Summary) -> str:
    """``0 of 1,000 updates differ``: whether the log has the predicted bytes."""
    figures = summary.figures
    if not figures.updates_compared:
        return "no update of this run was compared"
    return f"{figures.updates_differing:,} of {plural(figures.updates_compared, 'update')} differ"


def may_ship(summary: Summary) -> str:
    """Whether what was judged stands in the way of a release, in one sentence."""
    figures, outcome = summary.figures, summary.outcome
    met = [entry for entry in summary.deviations() if entry["verdict"] == "deviates"]
    doubted = len({entry["id"] for entry in met if not entry["confirmed"]})
    unconfirmed = f", {doubted:,} of them not confirmed on this version" if doubted else ""
    judged = plural(figures.requirements_judged, "judged requirement")
    match outcome:
        case RunOutcome.NONCONFORMANT:
            return f"Not as it is: {figures.requirements_failed:,} of {judged} failed."
        case RunOutcome.CONFORMANT:
            return f"Nothing of {judged} stands against it."
        case RunOutcome.DEVIATES:
            listed = plural(len({entry["id"] for entry in met}), "listed deviation")
            return f"Nothing new stands against it: {listed}{unconfirmed}."
        case _:
            return "This run does not say."


def _of_model(summary: Summary) -> str:
    """How many of the failures say nothing about a server."""
    failed = sum(totals.failed for (_, subject), totals in summary.checks.items() if subject == MODEL)
    return f", {failed:,} of them on the kit's own model" if failed else ""


def _of_the_profile(summary: Summary) -> str:
    """``Only 1 of the 2,000 updates of the profile quick was looked at.``; nothing where all were."""
    run = summary.run
    due = run.options.get(WHOLE, 0) if run else 0
    columns = len(set(summary.columns) - _without_result(summary)) or 1
    looked = summary.counters["updates_compared"] + summary.counters["updates_given_up"]
    if run is None or not isinstance(due, int) or looked >= due * columns:
        return ""
    verb = "was" if looked == 1 else "were"
    whose = "that were recorded" if run.options.get("server") == "none" else f"of the profile {run.profile}"
    return f" Only {looked:,} of the {due * columns:,} updates {whose} {verb} looked at."


def _except(summary: Summary) -> str:
    """``Conformant except 18 known deviations, 4 of which end the server and 2 mysqlbinlog.``"""
    shown = {entry["id"]: entry.get("ends", "") for entry in summary.deviations() if entry["verdict"] == "deviates"}
    ended = [f"{count} {name}" for name, count in Counter(filter(None, shown.values())).items()]
    deaths = " and ".join(filter(None, (", ".join(ended[:-1]), *ended[-1:]))).replace(" ", " of which end ", 1)
    return f"Conformant except {plural(len(shown), 'known deviation')}{f', {deaths}' if deaths else ''}."


def _fixed(summary: Summary) -> str:
    count = len({verdict.deviation for verdict in summary.fixed if not verdict.fails})
    return (
        f" {plural(count, 'listed deviation')} {'is' if count == 1 else 'are'} gone: narrow the range." if count else ""
    )


def sentence(text: str) -> str:
    """The text with a final full stop, and with a capital unless it begins with a path or a name in another style."""
    # A first word such as "jsonl:node" or "changes[0].after" is a name.
    is_word = text.partition(" ")[0].rstrip(",:").isalpha()
    start = text[:1].upper() if is_word else text[:1]
    end = "" if text.rstrip().endswith((".", "!", "?", "…")) else "."
    return f"{start}{text[1:].rstrip()}{end}"


def escaped(text: str) -> str:
    """Escape text of servers and cases: one line, nothing that Markdown or HTML reads as markup."""
    for character in "\\`*_[]<>|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def difference(failure: CaseVerdict) -> str:
    """``First difference: rows[0].after.j, offset 17.``, or nothing where the record names no field."""
    if not failure.field:
        return ""
    return f"First difference: {failure.field}{f', offset {failure.offset}' if failure.offset is not None else ''}."


NEEDS = {
    "1S": "one server",
    "2S": "a source and a replica",
    "3S": "a chain of three",
    "OLD": "a server older than the feature",
    "SUBJECT": "a decoder",
}


def coverage(summary: Summary) -> str:
    """How much of the catalogue this run judged: ``12 of 15 judged requirements passed, of 140; 26 as part of …``."""
    figures = summary.figures
    counts = summary.coverage_counts()
    model = counts[Coverage.MODEL]
    apart = f"{model} on the kit's own model and not on the server, " if model else ""
    return (
        f"{figures.requirements_passed} of {plural(figures.requirements_judged, 'judged requirement')} passed; "
        f"of all {sum(counts.values())} requirements, {counts[Coverage.WITHIN]} judged as part of these, "
        f"{apart}{counts[Coverage.NOT_JUDGED]} not judged"
    )


def titled(info: RequirementInfo) -> str:
    """The title of a requirement, with a note if its verdicts are about the kit's own model."""
    return f"{info.title} (the kit's own model)" if info.judged_on == MODEL else info.title


def about(info: RequirementInfo) -> str:
    """Level and basis of a requirement, with a note if its verdicts are not about the server."""
    model = " · the kit's own model, no verdict about the server" if info.judged_on == MODEL else ""
    return f"{info.level} · {info.basis}{model}"


def table_finding(row: dict[str, Any]) -> str:
    """One row of the table of versions that a server contradicts."""
    return (
        f"{row['row']}: the table says {row['predicted']} ({row['mark']}), "
        f"{row['subject']} {row['version'] or ''} shows {row['found']}"
    )


def asked_words(asked: Asked) -> str:
    """Say in one sentence what a server showed about the table of versions."""
    if asked.note:
        return asked.note
    agreeing = sum(row.get("agrees") is True for row in asked.rows)
    silent = sum("found" not in row for row in asked.rows)
    parts = [f"{plural(len(asked.rows), 'row')}: {agreeing} as predicted", f"{silent} not shown"]
    settled = [f"{row['row']} {row['found']} (assumed {row['predicted']})" for row in asked.settled()]
    if settled:
        parts.append(f"settled what the table only assumes: {', '.join(settled)}")
    wrong = len(asked.contradictions())
    return "; ".join([*parts, f"{wrong} contradicted" if wrong else "none contradicted"])


def notices(counts: Mapping[Notice, int]) -> Iterator[str]:
    """Yield the notices of what the run met in its surroundings, the first few of each kind."""
    kinds: dict[tuple[str, str], list[Notice]] = {}
    for notice in counts:
        kinds.setdefault((notice.subject, notice.kind), []).append(notice)
    for (subject, _), alike in kinds.items():
        for notice in alike[:NOTICES]:
            times = f" ({counts[notice]:,} times)" if counts[notice] > 1 else ""
            yield f"{notice.check or subject}: {notice.message}{times}"
        if len(alike) > NOTICES:
            yield f"{subject}: {len(alike) - NOTICES:,} more like these"


def short_cell(cell: Cell) -> str:
    """A cell of the matrix: the glyph, the word, and the cases that did not pass."""
    verdict = cell.verdict
    if verdict is Verdict.PASS:
        return f"{GLYPHS[verdict]} {cell.verdicts[Verdict.PASS]:,}"
    if verdict is Verdict.DEVIATES:
        return f"{GLYPHS[verdict]} {cell.verdicts[Verdict.PASS]:,}, {cell.deviations:,} {verdict}"
    count = f" {cell.failed:,} of {cell.cases:,}" if cell.failed else ""
    return f"{GLYPHS[verdict]} {verdict}{count}"


def cell_words(cell: Cell) -> str:
    """The line below a cell's word: passed cases of all cases, and the other verdicts."""
    parts = [f"{cell.verdicts[Verdict.PASS]:,} of {cell.cases:,}"]
    parts += [
        f"{count:,} {verdict}"
        for verdict in Verdict
        if (count := cell.verdicts[verdict]) and verdict is not Verdict.PASS
    ]
    return " · ".join(parts)
