"""The terminal output of a run: progress while it goes on, the summary at its end; plain lines without a terminal."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from conformance.messages import printable
from conformance.report import brief, cards, evidence, wording
from conformance.report.brief import WARNING, style
from conformance.report.kinds import worst
from conformance.report.matrix import SUBJECTS_DIR
from conformance.report.results import OWNERS, RunOutcome
from conformance.stream import MODEL
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console

    from conformance.report.results import Summary
    from conformance.stream import CaseVerdict, Progress, ProgressSink

FAILURES_SHOWN = 5
LINE = evidence.Window(6, 24)
PLAIN_WIDTH = 120  # where there is neither a terminal to ask nor COLUMNS
PLAIN_SECONDS = 5.0  # between two lines about the same job
_COLOURS = {RunOutcome.CONFORMANT: "green", RunOutcome.DEVIATES: WARNING, RunOutcome.REFUSED: WARNING}


class Detail(Enum):
    """How much of a summary is printed: its last lines, some 25, or every requirement, deviation and rule."""

    QUIET = 0
    BRIEF = 1
    VERBOSE = 2

    @classmethod
    def asked(cls, *, quiet: bool, verbose: bool) -> Detail:
        """By the options of a command; ``verbose`` wins."""
        return cls.VERBOSE if verbose else cls.QUIET if quiet else cls.BRIEF


@contextmanager
def progress_sink(file: TextIO) -> Iterator[ProgressSink]:
    """A sink for progress records: bars on a terminal, a plain line every few seconds elsewhere."""
    if file.isatty():
        with _bars(file) as sink:
            yield sink
    else:
        yield PlainProgress(file)


class PlainProgress:
    """Writes a line when a job begins, every few seconds, and at the job's end. Jobs may run side by side."""

    def __init__(self, file: TextIO, *, seconds: float = PLAIN_SECONDS) -> None:
        self._file = file
        self._seconds = seconds
        self._lines: dict[str, float] = {}  # job -> when its last line was written
        self._finished: set[str] = set()

    def __call__(self, record: Progress) -> None:
        """Take one progress record."""
        label, now = record.label, time.monotonic()
        finished = record.total is not None and record.done >= record.total
        new = label not in self._lines
        if finished:
            due = label not in self._finished
            self._finished.add(label)
        else:
            due = now - self._lines.get(label, 0.0) >= self._seconds
            self._finished.discard(label)
        if new or due:
            print(progress_line(record), file=self._file, flush=True)
            self._lines[label] = now


def progress_line(record: Progress) -> str:
    """One line of text with the same words as the bar."""
    amount = f" {_amount(record)}" if record.done or record.total else ""
    note = f"  {record.note}" if record.note else ""
    return f"{record.label}{amount}{note}"


def _amount(record: Progress) -> str:
    if record.unit == "%":
        return f"{record.done:.0f} %"
    if record.unit == "bytes":
        done, total = _mebibytes(record.done), record.total and _mebibytes(record.total)
    else:
        unit = f" {record.unit}" if record.unit not in ("", record.label) else ""
        done, total = f"{record.done:,.0f}", record.total and f"{record.total:,.0f}{unit}"
        if not record.total:
            done += unit
    if not record.total:
        return done
    return f"{done} of {total} ({100 * record.done / record.total:.0f} %)"


def _mebibytes(count: float) -> str:
    return f"{count / 2**20:,.1f} MiB"


def console_on(file: TextIO, **settings: Any) -> Console:
    """A rich console that passes its own styles to the terminal and no control character of the texts."""
    from rich.console import Console
    from rich.segment import Segment

    class Escaping(Console):
        def render(self, *arguments: Any, **more: Any) -> Iterator[Segment]:
            for segment in super().render(*arguments, **more):
                yield segment if segment.control else Segment(printable(segment.text), segment.style)

    return Escaping(file=getattr(file, "styled", file), **settings)


@contextmanager
def _bars(file: TextIO) -> Iterator[ProgressSink]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = console_on(file)
    columns: tuple[Any, ...] = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[words]}", markup=False, style="dim"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=console, transient=False) as bars:
        tasks: dict[str, Any] = {}

        def sink(record: Progress) -> None:
            if record.label not in tasks:
                for earlier in bars.tasks:
                    if earlier.total is None:
                        bars.update(earlier.id, total=earlier.completed)  # done; one with a total may run beside it
                tasks[record.label] = bars.add_task(record.label, total=record.total, words="")
            text = progress_line(record).removeprefix(record.label).strip()
            bars.update(tasks[record.label], completed=record.done, total=record.total, words=text)

        yield sink


class _Plain:
    """A file that is no terminal: tables leave no blanks at the ends of its lines."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(re.sub(r" +\n", "\n", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _width() -> int:
    named = os.environ.get("COLUMNS", "")
    return int(named) if named.isdecimal() and int(named) else PLAIN_WIDTH


def print_summary(
    summary: Summary, file: TextIO, *, directory: Path | None = None, detail: Detail = Detail.BRIEF
) -> None:
    """Print the outcome sentence, requirements, failures with their replay commands, and gaps of the census."""
    if file.isatty():
        console = console_on(file, highlight=False, emoji=False)
    else:
        console = console_on(cast("TextIO", _Plain(file)), highlight=False, emoji=False, width=_width())
    console.on_broken_pipe = _broken_pipe  # type: ignore[method-assign]  # its own ends the process with exit code 1
    colour = _COLOURS.get(summary.outcome, "red")
    glyph = wording.OUTCOME_GLYPHS[summary.outcome]
    if summary.cases and detail is not Detail.QUIET:
        _details(console, summary, whole=detail is Detail.VERBOSE)
        console.print()
    console.print(f"{glyph} {summary.outcome.upper()}", style=f"bold {colour}", markup=False)
    if summary.outcome is RunOutcome.NONCONFORMANT and not summary.complete:
        console.print("○ INCOMPLETE", style="bold red")
    console.print(wording.headline(summary), markup=False)
    if detail is not Detail.QUIET:
        for line in _facts(summary):
            console.print(line, style="dim", markup=False)
    if summary.cases and detail is Detail.BRIEF:
        console.print(brief.MORE, style="dim")
    if directory is not None:
        console.print(f"Report: {directory / 'index.html'}", markup=False, soft_wrap=True)
        names = summary.matrix.names() if len(summary.matrix.judged) == 1 else {}
        for subject in summary.matrix.judged if names else ():
            page = directory / SUBJECTS_DIR / f"{names[subject.id]}.html"
            console.print(f"Its defects: {page}", markup=False, soft_wrap=True)


def _details(console: Console, summary: Summary, *, whole: bool) -> None:
    several = len(summary.columns) > 1
    if whole:
        (_matrix if several else _requirements)(console, summary)
    else:
        brief.requirements(console, summary)
        if several:
            brief.columns(console, summary)
    _decoders(console, summary)
    _failures(console, summary, FAILURES_SHOWN if whole else brief.FAILURES_SHOWN)
    for part in (_census, _deviations) if whole else (brief.census, brief.deviations):
        part(console, summary)
    _asked(console, summary)
    for line in wording.notices(summary.notices):
        console.print(line, style=WARNING, markup=False)


def _broken_pipe() -> NoReturn:
    raise BrokenPipeError


def _facts(summary: Summary) -> Iterator[str]:
    counters = summary.counters
    if counters["updates_compared"]:
        yield (
            f"{wording.amount_of_bytes(counters['bytes_compared'])}, {counters['texts_compared']:,} texts and "
            f"{counters['sizes_compared']:,} sizes compared"
        )
    if any(counters[name] for name in OWNERS):
        yield "bytes: " + ", ".join(
            f"{counters[name]:,} {wording.COUNTER_LABELS[name].removeprefix('bytes ')}" for name in OWNERS
        )
    if summary.trust:
        yield f"taken on trust, for lack of a rule: {', '.join(summary.trust)} (results.json says which part)"
    if summary.run is not None:
        rate = f", {summary.rate:,.0f} updates/s (start-up excluded)" if summary.rate else ""
        seconds = f" in {wording.duration(summary.end.seconds)}" if summary.end else ""
        yield f"seed {summary.run.seed}, profile {summary.run.profile}, {summary.cases:,} cases{seconds}{rate}"
        if "recording" in summary.run.options:
            yield f"digest of verdicts, cases and failures: {summary.digest()}"
    for subject in summary.subjects.values():
        if subject.role == MODEL:
            continue
        note = f" ({subject.note})" if subject.note else ""
        yield f"{subject.role} {subject.id}: version {subject.version or 'unknown'}{note}"


def _requirements(console: Console, summary: Summary) -> None:
    """Print a line for each requirement; its title ends with … where the line is full."""
    from rich.table import Table
    from rich.text import Text

    several = len(summary.subjects.keys() - {MODEL}) > 1
    many = len(summary.matrix.judged) > 1  # then a table of their own, and the matrix in the report
    lines = []
    catalogue = summary.requirement_rows()
    for requirement, (info, _, cells) in catalogue.items():
        shown = [
            (subject, cell) for subject, cell in cells.items() if not (many and subject in summary.matrix.decoders)
        ]
        for index, (subject, cell) in enumerate(shown):
            first = (requirement, Text(wording.titled(info))) if not index else ("", Text(""))
            named = (Text(subject),) if several else ()
            word = Text(f"{wording.GLYPHS[cell.verdict]} {cell.verdict}", style=style(cell.verdict))
            lines.append((*first, *named, word, Text(wording.cell_words(cell))))
    heads = ("requirement", "", *(("subject",) if several else ()), "verdict", "passed of cases")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    room = console.width - sum(widths) + widths[1] - 2 * len(heads)
    for number, (head, width) in enumerate(zip(heads, widths, strict=True)):
        table.add_column(head, no_wrap=True, overflow="ellipsis", width=max(1, room) if number == 1 else width)
    for line in lines:
        table.add_row(*line)
    if lines:
        console.print(table)
    if catalogue:
        console.print(wording.coverage(summary), style="dim")


def _matrix(console: Console, summary: Summary) -> None:
    """A row for each requirement, a column for each server."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("requirement", no_wrap=True)
    for subject in summary.columns.values():
        table.add_column(f"{subject.id}\n{subject.version or 'could not run'}", overflow="fold", min_width=12)
    for requirement, (_, _, cells) in summary.requirement_rows().items():
        if cells.keys() & summary.columns.keys():
            shown = [
                Text(wording.short_cell(cells[name]), style=style(cells[name].verdict)) if name in cells else Text("")
                for name in summary.columns
            ]
            table.add_row(requirement, *shown)
    console.print(table)
    console.print(wording.coverage(summary), style="dim")


def _asked(console: Console, summary: Summary) -> None:
    """Print what the servers showed about the table of versions."""
    for name, asked in summary.asked.items():
        console.print(f"table of versions, {name}: {wording.asked_words(asked)}", style="dim", markup=False)
    for row in summary.table_findings():
        console.print(f"a finding about the table of versions: {wording.table_finding(row)}", style="red", markup=False)


def _failures(console: Console, summary: Summary, most: int) -> None:
    kinds = summary.kinds()
    for kind in worst(kinds, most):
        failure, finding = kind.first, kind.finding
        console.print()
        title = f"{failure.verdict} {failure.case} [{', '.join(kind.requirements)}] {failure.subject}"
        console.print(f"{wording.GLYPHS[failure.verdict]} {title}", style="red", markup=False)
        if kind.defect is not None:
            about = " ".join(filter(None, (kind.defect.message, kind.defect.reason)))
            console.print(f"  {about}", markup=False, soft_wrap=True)
        said = [wording.sentence(failure.message)] if failure.message else []
        said += [wording.difference(failure)] if failure.field else []
        console.print(f"  {' '.join(said)}", markup=False, soft_wrap=True)
        _sides(console, failure)
        if finding is not None and finding.replay != failure.replay:
            console.print(f"  {finding.replay}   (the smallest case)", style="bold", markup=False, soft_wrap=True)
        if failure.replay:
            console.print(f"  {failure.replay}", style="bold", markup=False, soft_wrap=True)
        _offers(console, failure)
    if len(kinds) > most:
        console.print(f"… and {wording.plural(len(kinds) - most, 'more kind')} of failure", style="red")


def _offers(console: Console, failure: CaseVerdict) -> None:
    """Print the script, the kept files, and the nearest listed deviation."""
    script = cards.script_command(failure)
    if script is not None:
        console.print(f"  {script}   (a script that shows it without the lab)", markup=False, soft_wrap=True)
    for link in cards.links(failure):
        if link.path != failure.case_file:  # the commands name that
            console.print(f"  {link.label}: {link.path} {link.detail}".rstrip(), markup=False, soft_wrap=True)
    if failure.nearest:
        console.print(f"  nearest listed deviation: {failure.nearest}", style="dim", markup=False, soft_wrap=True)


def _sides(console: Console, failure: CaseVerdict) -> None:
    """Expected and observed around the first difference, one line each; brackets mark where the sides part."""
    row = next((row for row in evidence.rows(failure, window=LINE) if row.first), None)
    if row is None:
        return
    for name, side in (("expected", row.expected), ("got", row.got)):
        if side is None:
            text = "absent"
        else:
            text = "".join(f"[{piece.text}]" if piece.mark == "first" else piece.text for piece in side) or "empty"
        console.print(f"    {name:<8}  {text}", markup=False, soft_wrap=True)


def _deviations(console: Console, summary: Summary) -> None:
    from rich.padding import Padding
    from rich.text import Text

    several = len(summary.columns) > 1
    told: set[str] = set()
    for entry in summary.deviations():
        if entry["id"] not in told:
            console.print()
        where = f" of {entry['subject']}" if several else ""
        shown = f"explains {wording.plural(entry['cases'], 'case')}" if entry["verdict"] == "deviates" else "is gone"
        title = f"listed deviation {entry['id']}: {shown}{where}"
        parts = [*entry["requirements"], entry["versions"] and f"versions {entry['versions']}"]
        parts.append(entry["observed"] and f"observed on {entry['observed']}")
        doubt = entry["verdict"] == "deviates" and not entry["confirmed"]
        about = ", ".join(filter(None, [*parts, wording.UNCONFIRMED if doubt else ""]))
        console.print(f"{title}{f' ({about})' if about else ''}", style=WARNING, markup=False)
        if entry["reason"] and entry["id"] not in told:
            console.print(Padding(Text(entry["reason"]), (0, 0, 0, 2)))
        told.add(entry["id"])


def _census(console: Console, summary: Summary) -> None:
    from rich.table import Table
    from rich.text import Text

    groups = summary.census.groups()
    if not groups or (summary.matrix and not summary.columns):
        return
    console.print()
    if not summary.census:
        console.print("census: nothing counted, the generated updates are not in this selection", style="dim")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for group in groups:
        figures = [
            f"{rule.name} {rule.count:,}" + (f" ({wording.share(rule.share)})" if rule.share is not None else "")
            for rule in group.rules
            if rule.count
        ]
        table.add_row(group.name, Text(" · ".join(figures) or "nothing"))
    console.print("census: how often each rule was exercised")
    console.print(table)
    if mix := summary.census.mix():
        console.print("the mix, and what a representative run has at least:")
        for part in mix:
            glyph, colour = ("✓", "") if part.reached else ("○", WARNING)
            found = "none" if part.share is None else wording.share(part.share)
            console.print(
                f"  {glyph} {found:>6}  {part.sentence} (≥ {wording.share(part.wanted)})", style=colour, markup=False
            )
    missing = summary.census.not_exercised()
    count = sum(len(group.rules) for group in groups)
    if missing:
        console.print(
            f"{len(missing)} of {count} rules not exercised: {', '.join(missing)}", style=WARNING, markup=False
        )
    else:
        console.print(f"all {count} rules exercised", style="dim")


def _decoders(console: Console, summary: Summary) -> None:
    """Print a line for each decoder: its Cases by verdict, and its distinct defects."""
    from rich.table import Table
    from rich.text import Text

    matrix = summary.matrix
    if not matrix:
        return
    names, counts = matrix.names(), {subject.id: matrix.counts(subject.id) for subject in matrix.judged}
    seen = [verdict for verdict in Verdict if any(count[verdict] for count in counts.values())]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("decoder", overflow="fold")
    for name in ("supports", *seen, "defects"):
        table.add_column(name, justify="right", no_wrap=True)
    for subject in matrix.judged:
        worst, support = matrix.worst(subject.id), matrix.support(subject.id)
        table.add_row(
            Text(f"{wording.GLYPHS[worst]} {names[subject.id]}", style=style(worst)),
            f"{support.supported:,}/{support.total:,}",
            *(f"{counts[subject.id][verdict]:,}" for verdict in seen),
            f"{len(matrix.accusations(subject.id)):,}",
        )
    console.print()
    console.print(table)
    for subject in matrix.absent:
        reason = subject.unavailable or subject.note or "no verdict in this run"
        console.print(f"○ {names[subject.id]}: {reason}", style=WARNING, markup=False, soft_wrap=True)
