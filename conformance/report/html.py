"""``index.html``: one file that opens from a disk without a network and contains no scripts.

The page says first what came out, then why. Its parts: the strip; decoders with the matrices of requirements and Cases;
requirements by servers; failures; what did not run; the census of exercised rules; and the run's environment. A failure
shows its bytes aligned by field and the command that repeats it; those of a decoder stand on its own page. The content
policy allows the page's style by its hash and forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import shlex
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.messages import printable
from conformance.report import cards, evidence, lob_sketch, wording
from conformance.report.matrix import SUBJECTS_DIR
from conformance.report.results import COUNTERS, RunOutcome
from conformance.stream import DECODER, MODEL, RUN_FILE, RequirementInfo
from conformance.verdict import SEVERITY, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jinja2 import BytecodeCache
    from jinja2.bccache import Bucket

    from conformance.report.results import Summary
    from conformance.stream import CaseVerdict, Subject

PER_SIGNATURE, IN_ALL = 5, 200  # failures shown with evidence; run.jsonl has the first ones of each block
_NOT_ANCHOR = re.compile(r"[^\w.:/@-]+")


@dataclass(frozen=True, slots=True)
class Failure:
    """One case and subject, with every verdict about it."""

    anchor: str
    verdicts: tuple[CaseVerdict, ...]

    @property
    def worst(self) -> CaseVerdict:
        """The verdict that heads the article."""
        return min(self.verdicts, key=lambda verdict: SEVERITY.index(verdict.verdict))


def write_html(summary: Summary, path: Path) -> None:
    """Write the page; the caller puts it into place."""
    path.write_text(page(summary), encoding="utf-8")


def page(summary: Summary) -> str:
    """The whole page."""
    return render("conformance.report", "report.html.j2", "", **_context(summary))


def render(package: str, template: str, extra_style: str, **context: Any) -> str:
    """Fill a package's template with the shared style and ``extra_style``: the frame of all reports."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.PackageLoader(package, "templates"), bytecode_cache=_bytecode(package),
    )  # fmt: skip
    environment.filters.update(
        about=wording.about,
        bytes=wording.amount_of_bytes,
        duration=wording.duration,
        count=lambda number: f"{number:,}",
        plural=wording.plural,
        share=wording.share,
        sentence=wording.sentence,
        spaced=evidence.spaced,
        quoted=shlex.quote,
        printable=printable,
    )
    environment.globals.update(tone=_tone, glyphs=wording.GLYPHS, evidence_rows=evidence.rows)
    style = resources.files("conformance.report").joinpath("templates/report.css").read_text("utf-8") + extra_style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template(template).render(style=style, style_hash=digest, **context)


def _bytecode(package: str) -> BytecodeCache:
    """The compiled templates of a package, kept beside them as Python keeps its own: to compile them takes longer than
    to fill them."""
    import jinja2

    class Beside(jinja2.FileSystemBytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            with suppress(OSError):
                super().load_bytecode(bucket)

        def dump_bytecode(self, bucket: Bucket) -> None:
            if not sys.dont_write_bytecode:
                with suppress(OSError):  # a directory of somebody else, or a full disk
                    Path(self.directory).mkdir(parents=True, exist_ok=True)
                    super().dump_bytecode(bucket)

    directory = Path(cache_from_source(str(resources.files(package) / "templates" / "all"))).parent
    return Beside(str(directory), f"jinja2-{version('jinja2')}-%s.cache")


def _groups(rows: dict[str, Any]) -> dict[str, list[str]]:
    """The requirements of the coverage list under the headings of the catalogue."""
    out: dict[str, list[str]] = {}
    for name, (info, _, _) in rows.items():
        out.setdefault(info.group, []).append(name)
    return out


def _context(summary: Summary) -> dict[str, Any]:
    rows = summary.requirement_rows()
    held = summary.matrix.holds
    failures = _failures(verdict for verdict in summary.failures if not held(verdict))
    shown = _shown(failures)
    not_passed = [v for v in summary.others if v.verdict is not Verdict.PASS and not held(v)]
    subjects = [subject for subject in summary.subjects.values() if not summary.matrix.shows(subject)]
    columns, models = ([s for s in subjects if (s.role == MODEL) is of_model] for of_model in (False, True))
    if summary.matrix and not columns:  # the catalogue's other requirements are about servers
        rows = {name: row for name, row in rows.items() if row[1].cases or row[0].judged_on == DECODER}
    return {
        "summary": summary,
        "run": summary.run,
        "outcome": summary.outcome,
        "outcome_glyph": wording.OUTCOME_GLYPHS[summary.outcome],
        "headline": wording.headline(summary),
        "reason_detail": "\n".join((summary.incomplete_reason or "").splitlines()[1:]),
        "counters": [
            (name, wording.COUNTER_LABELS[name], summary.counters[name]) for name in COUNTERS
        ],
        "verdicts": [(verdict, summary.verdicts[verdict]) for verdict in Verdict],
        "columns": columns,
        "judged": _judged_on(columns, rows),
        "models": models,
        "judged_on_models": _judged_on(models, rows),
        "rows": rows,
        "groups": _groups(rows),
        "needs": wording.NEEDS,
        "unconfirmed": wording.UNCONFIRMED,
        "coverage": summary.coverage(),
        "coverage_words": wording.coverage(summary),
        "failures": shown,
        "failures_total": len(failures),
        "failed_cases": sum(
            totals.failed for key, totals in summary.checks.items() if key not in summary.matrix.checks
        ),
        "others": not_passed[:IN_ALL],
        "others_total": len(not_passed),
        "census": summary.census.groups() if columns or not summary.matrix else [],
        "census_counted": bool(summary.census),
        "mix": summary.census.mix(),
        "not_exercised": len(summary.census.not_exercised()) if summary.census else 0,
        "deviations": summary.deviations(),
        "asked": summary.asked,
        "asked_rows": _asked_rows(summary),
        "lob_updates": summary.lob_updates,
        "lob_sides": lob_sketch.sides,
        "asked_words": wording.asked_words,
        "notices": list(wording.notices(summary.notices)),
        "table_findings": [wording.table_finding(row) for row in summary.table_findings()],
        "cell_words": wording.cell_words,
        "links": cards.links,
        "script_command": cards.script_command,
        "per_signature": PER_SIGNATURE,
        "stream_file": RUN_FILE,
        **_decoders(summary),
    }  # fmt: skip


def _judged_on(subjects: list[Subject], rows: dict[str, Any]) -> dict[str, Any]:
    """The requirements with Cases of these subjects."""
    shown = {subject.id for subject in subjects}
    return {name: row for name, row in rows.items() if row[1].cases and shown.intersection(row[2])}


def _decoders(summary: Summary) -> dict[str, Any]:
    """Return the values that the page shows of decoders: nothing where the run judged none."""
    matrix = summary.matrix
    rows = matrix.rows()
    anomalies = [row for row in rows if row.anomalies]
    names = matrix.names()
    catalogue = summary.run.requirements if summary.run else {}
    counts = [matrix.counts(subject.id) for subject in matrix.judged]
    return {
        "matrix": matrix,
        "suites": matrix.suites.values(),
        "decoders": matrix.judged if matrix else [],
        "absent": matrix.absent,
        "short": names,
        "pages": {id_: f"{SUBJECTS_DIR}/{name}.html" for id_, name in names.items()},
        "defects": {subject.id: len(matrix.accusations(subject.id)) for subject in matrix.judged},
        "seen": [verdict for verdict in Verdict if any(count[verdict] for count in counts)],
        "verdicts_of_decoders": sum(counts, Counter()),
        "bars": _bars,
        "anchor": anchor,
        "decoder_requirements": [
            (name, (catalogue.get(name, RequirementInfo(title="")), cells)) for name, cells in matrix.cells().items()
        ],
        "case_rows": rows,
        "anomalies": len(anomalies),
        "case_parts": [(worst, list(part)) for worst, part in itertools.groupby(anomalies, lambda row: row.worst)],
        "calm": rows[len(anomalies) :],
    }


def _bars(counts: Counter[Verdict]) -> Iterator[tuple[int, int, Verdict]]:
    """Start and width of each verdict's part of a bar, worst first."""
    start = 0
    for verdict in Verdict:
        if counts[verdict]:
            yield start, counts[verdict], verdict
            start += counts[verdict]


def anchor(text: str) -> str:
    """The id of an element about a case."""
    return _NOT_ANCHOR.sub("-", text)


def _asked_rows(summary: Summary) -> dict[str, dict[str, dict[str, Any]]]:
    """The table of versions: row -> subject -> the predicted and the found value."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for subject, asked in summary.asked.items():
        for row in asked.rows:
            out.setdefault(row["row"], {})[subject] = row
    return out


def _tone(verdict: Verdict | RunOutcome) -> str:
    """The class that gives a verdict its colour; the glyph and the word carry the same information."""
    if isinstance(verdict, RunOutcome):
        return {RunOutcome.CONFORMANT: "good", RunOutcome.DEVIATES: "warn", RunOutcome.REFUSED: "warn"}.get(
            verdict, "bad"
        )
    if verdict.failing:
        return "bad"
    if verdict in (Verdict.PASS, Verdict.FIXED):
        return "good"
    if verdict in (Verdict.DEVIATES, Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.REFUSED, Verdict.LENIENT):
        return "warn"
    return "quiet"


def _failures(verdicts: Iterable[CaseVerdict]) -> list[Failure]:
    grouped: defaultdict[tuple[str, str], list[CaseVerdict]] = defaultdict(list)
    for verdict in verdicts:
        grouped[verdict.case, verdict.subject].append(verdict)
    taken: set[str] = set()
    out: list[Failure] = []
    for (case, subject), members in grouped.items():
        own = anchor(case)
        if own in taken:  # the case failed for another subject too
            own = f"{own}--{anchor(subject)}"
        taken.add(own)
        out.append(Failure(own, tuple(members)))
    return sorted(out, key=lambda failure: SEVERITY.index(failure.worst.verdict))


def _shown(failures: list[Failure]) -> list[Failure]:
    """A few of each signature, so that one frequent failure does not hide the others."""
    seen: defaultdict[str, int] = defaultdict(int)
    out: list[Failure] = []
    for failure in failures:
        signature = failure.worst.signature or failure.anchor
        seen[signature] += 1
        if seen[signature] <= PER_SIGNATURE and len(out) < IN_ALL:
            out.append(failure)
    return out
