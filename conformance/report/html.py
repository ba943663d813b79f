"""``index.html``: one file that opens from a disk without a network, and needs no script.

The first screen says what came out, which bytes differ, the worst kinds of failure, and whether the subject may ship.
Then: decoders with their matrices; requirements by servers; failures by requirement and kind; and, folded, deviations,
what did not run, versions, census, checks, environment. A failure shows its bytes aligned by field and the command that
repeats it; those of a decoder stand on its own page. A short script filters, copies commands, and opens what a link
names. The content policy allows style and script by their hashes and forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import shlex
import sys
from collections import Counter
from contextlib import suppress
from importlib import resources
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.messages import printable
from conformance.report import cards, evidence, lob_sketch, wording
from conformance.report.cells import Cell
from conformance.report.kinds import worst
from conformance.report.matrix import SUBJECTS_DIR
from conformance.report.results import COUNTERS, RunOutcome
from conformance.stream import DECODER, MODEL, RUN_FILE, RequirementInfo
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import BytecodeCache
    from jinja2.bccache import Bucket

    from conformance.report.kinds import FailureKind
    from conformance.report.results import Summary
    from conformance.stream import Subject

PER_KIND: Final = 5  # failures shown with evidence; run.jsonl has the first ones of each block
IN_ALL: Final = 200  # cases without result
WORST: Final = 5  # kinds on the first screen
FEW: Final = 12  # rows of a matrix that nothing folds
Rows = dict[str, tuple[RequirementInfo, Cell, dict[str, Cell]]]
_NOT_ANCHOR = re.compile(r"[^\w.:/@-]+")


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
        identity=id,
        printable=printable,
    )
    environment.globals.update(tone=_tone, glyphs=wording.GLYPHS, evidence_rows=evidence.rows)
    style, script = _template("report.css") + extra_style, _template("report.js")
    own = {"style": style, "style_hash": _hash(style), "script": script, "script_hash": _hash(script)}
    return environment.get_template(template).render(**own, **context)


def _template(name: str) -> str:
    return resources.files("conformance.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    """The hash by which a content policy allows an inline style or script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
    kinds = summary.kinds([verdict for verdict in summary.failures if not held(verdict)])
    anchors = _anchors(kinds)
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
        "judged": (judged := _judged_on(columns, rows)),
        "judged_verdicts": {row[1].verdict for row in judged.values()},
        "models": models,
        "judged_on_models": _judged_on(models, rows),
        "rows": rows,
        "groups": _groups(rows),
        "needs": wording.NEEDS,
        "unconfirmed": wording.UNCONFIRMED,
        "coverage": summary.coverage(),
        "coverage_words": wording.coverage(summary),
        "figures": summary.figures,
        "log_bytes": wording.sentence(wording.bytes_of_the_log(summary)),
        "ship": wording.may_ship(summary),
        "worst": worst(kinds, WORST),
        "kinds": kinds,
        "anchors": anchors,
        "failing": _by_requirement(kinds, rows),
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
        "deviating": _deviations_of(summary),
        "asked": summary.asked,
        "asked_rows": _asked_rows(summary),
        "lob_updates": summary.lob_updates,
        "lob_sides": lob_sketch.sides,
        "asked_words": wording.asked_words,
        "notices": list(wording.notices(summary.notices)),
        "table_findings": [wording.table_finding(row) for row in summary.table_findings()],
        "cell_words": wording.cell_words,
        "row_groups": _row_groups,
        "links": cards.links,
        "script_command": cards.script_command,
        "per_kind": PER_KIND,
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


def _anchors(kinds: list[FailureKind]) -> dict[int, str]:
    """An id for each record of a failure that is shown, by the identity of the record."""
    out: dict[int, str] = {}
    taken: set[str] = set()
    for verdict in (verdict for kind in kinds for verdict in kind.verdicts[:PER_KIND]):
        own = anchor(verdict.case)
        for more in (anchor(verdict.subject), anchor(verdict.requirement)):
            own = f"{own}--{more}" if own in taken else own
        while own in taken:
            own += "-"
        taken.add(own)
        out[id(verdict)] = own
    return out


def _by_requirement(kinds: list[FailureKind], rows: Rows) -> dict[str, list[FailureKind]]:
    """The kinds of each requirement that they are filed under, in the order of the catalogue."""
    out: dict[str, list[FailureKind]] = {name: [] for name in rows}
    for kind in kinds:
        out.setdefault(kind.requirement, []).append(kind)
    return {name: own for name, own in out.items() if own}


def _deviations_of(summary: Summary) -> dict[str, list[str]]:
    """The listed deviations that explain cases of each requirement."""
    out: dict[str, list[str]] = {}
    for entry in summary.deviations():
        for name in entry["requirements"]:
            out.setdefault(name, [])
            if entry["id"] not in out[name]:
                out[name].append(entry["id"])
    return out


def _row_groups(rows: Rows) -> list[tuple[str, Rows]]:
    """The rows of a matrix: those that stay in sight, then those to be folded, each part with its title."""
    failing = {name: row for name, row in rows.items() if row[1].failed}
    passed = {name: row for name, row in rows.items() if row[1].verdict is Verdict.PASS}
    others = {name: row for name, row in rows.items() if name not in failing and name not in passed}
    if len(rows) <= FEW:
        return [("", {**failing, **others, **passed})]
    words = ", ".join(
        f"{count} {verdict}" for verdict, count in Counter(row[1].verdict for row in others.values()).items()
    )
    return [("", failing), (words, others), (f"{len(passed)} passed", passed)]
