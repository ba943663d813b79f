"""Distinct defects of a subject: one for each cause, shown by a log as small as the time allows."""

from __future__ import annotations

import json
import re
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DECODE, DecoderCase, Equality
from conformance.cases.shrinking.logs import shrink_log
from conformance.judge.decoding.difference import MISSING, Difference, DifferenceKind
from conformance.judge.decoding.exact_json import parse
from conformance.judge.decoding.signatures import signature_of
from conformance.logs.row_change_lines import Reading, read_log
from conformance.requirements.reading import rules_of
from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.builtin import installed
from conformance.subjects.capabilities import SERVER
from conformance.subjects.specs import open_subject, parse_subject
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from conformance.checks.decoders.causes.clusters import Cluster
    from conformance.harness.decoders import JudgedCase, OpenedSubject
    from conformance.judge.decoding.judge import Judgement

PRINTER: Final = "mysqlbinlog"
_SLOW: Final = 2.0  # seconds of one answer, above which there is no time to shrink
_LEAST: Final = 1.0  # seconds for one defect
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Defect:
    """One cause, a Case that shows it, and the lines of its changes. ``signature`` is that of the difference in it.

    ``first``: the Case of the suite that the small one was made of. ``size_before``: bytes of its log.
    """

    cluster: Cluster
    signature: str
    first: DecoderCase
    case: DecoderCase
    judged: JudgedCase
    judgement: Judgement
    expected: tuple[str, ...]
    resolved: tuple[str, ...]
    size_before: int

    @property
    def difference(self) -> Difference | None:
        """The difference that the signature is about."""
        return next((item for item in self.judgement.differences if signature_of(item) == self.signature), None)


def signatures_of(judgement: Judgement) -> tuple[str, ...]:
    """The signature of the verdict, then those of further differences that came with it without a word."""
    further: list[str] = []
    if judgement.verdict in (Verdict.SILENT_LOSS, Verdict.LENIENT):
        hard = judgement.verdict is Verdict.SILENT_LOSS
        further = [signature_of(item) for item in judgement.differences if (item.level is not Equality.TYPE) is hard]
    return tuple(dict.fromkeys([judgement.signature, *further]))


def defects_of(subject: OpenedSubject, clusters: Sequence[Cluster], *, seconds: float) -> Iterator[Defect]:
    """The defects, each with a Case that is shrunk within its share of the time.

    One that Cases only show behind another is left out where no log shows it alone.
    """
    deadline = time.monotonic() + seconds
    with _Printer() as printer:
        for number, cluster in enumerate(clusters):
            share = max(_LEAST, (deadline - time.monotonic()) / (len(clusters) - number))
            defect = _Witness(subject, cluster, printer.reads).smallest(share)
            if cluster.cases or defect.judgement.signature == defect.signature:
                yield defect


class _Witness:
    """One Case of a signature, and the question whether another log shows the same. A data file stays as it is."""

    def __init__(self, subject: OpenedSubject, cluster: Cluster, reads: Callable[[bytes], bool]) -> None:
        self.subject = subject
        self.cluster = cluster
        self.signature = cluster.witness.signature
        self.case = cluster.witness.case
        self.judged = cluster.witness.judged
        self.reads = reads
        self.reading = read_log(self.case.log, self.case.file_name, sparse=self.case.sparse)

    def smallest(self, seconds: float) -> Defect:
        """The defect with its smallest log."""
        case, judged = self.case, self.judged
        slow = judged.verdict is Verdict.TIMEOUT or judged.answer.seconds > _SLOW
        if not slow and case.role == DECODE:
            fails = self.same_changes if SERVER in self.subject.hello.capabilities else self.shows
            log, sparse = shrink_log(case.log, fails, seconds=seconds, sparse=case.sparse, rules_for=rules_of)
            if log != case.log and not (sparse or self.reading.error or self.reads(log)):
                log, sparse = shrink_log(
                    case.log,
                    lambda data, zeros: fails(data, zeros) and (bool(zeros) or self.reads(data)),
                    seconds=seconds,
                    sparse=case.sparse,
                    rules_for=rules_of,
                )
            if log != case.log or sparse != case.sparse:
                smaller = self.case_of(log, sparse)
                assert smaller is not None
                if SERVER in self.subject.hello.capabilities:  # the client got the same rows from a server
                    case = replace(smaller, prepare=case.prepare, statements=case.statements)
                else:
                    case, judged = smaller, self.subject.judge(smaller)
        if judged.judgement is None or judged.judgement.signature != self.signature:
            case, judged = self.case, self.judged  # the first Case shows it, if only behind another defect
        assert judged.judgement is not None
        return Defect(
            self.cluster, self.signature, self.case, case, judged, judged.judgement,
            self._lines(case, resolve=False), self._lines(case, resolve=True), len(self.case.log),
        )  # fmt: skip

    def _lines(self, case: DecoderCase, *, resolve: bool) -> tuple[str, ...]:
        if case.role != DECODE:
            return tuple(json.dumps(change, ensure_ascii=False, default=str) for change in case.expected)
        return read_log(case.log, case.file_name, resolve=resolve, sparse=case.sparse).lines

    def case_of(self, log: bytes, sparse: int) -> DecoderCase | None:
        """The Case with another log, as the reference reads it; ``None`` for a log of another sort."""
        reading = read_log(log, self.case.file_name, sparse=sparse)
        if _code(reading) != _code(self.reading):
            return None
        if self.case.rolled_back and len(reading.lines) != len(self.reading.lines):
            return None
        if _unnamed(reading) > _unnamed(self.reading):  # a smaller list of members leaves a value without a name
            return None
        resolved = read_log(log, self.case.file_name, resolve=True, sparse=sparse)
        return replace(
            self.case,
            log=log,
            sparse=sparse,
            expected=tuple(map(parse, reading.lines)),
            resolved=tuple(map(parse, resolved.lines)),
            prepare=(),
            statements=(),
        )

    def shows(self, log: bytes, sparse: int) -> bool:
        """Whether the subject fails in the same way on another log."""
        case = self.case_of(log, sparse)
        if case is None:
            return False
        judged = self.subject.judge(case)
        return (
            judged.judgement is not None
            and judged.verdict is self.judged.verdict
            and self.signature in signatures_of(judged.judgement)
            and self.cluster.shows(case, judged)
        )

    def same_changes(self, log: bytes, sparse: int) -> bool:
        """Whether another log has the same rows, in the same tables. A client gets logs from servers alone."""
        case = self.case_of(log, sparse)
        return case is not None and _plain(case) == _plain(self.case)


def _code(reading: Reading) -> str:
    return "" if reading.error is None else reading.error.code


def _unnamed(reading: Reading) -> int:
    return sum(line.count('{"index": ') for line in reading.lines)


def _plain(case: DecoderCase) -> list[tuple[object, ...]]:
    wanted = ("event", "schema", "table", "operation", "row", "before", "after")
    return [tuple(change[name] for name in wanted) for change in case.expected]


class _Printer:
    """MySQL's own mysqlbinlog, where it is installed: a second reader of each smaller log."""

    def __init__(self) -> None:
        self._files = tempfile.TemporaryDirectory(prefix="binlog-lab-")
        self._program = None
        try:
            if installed(PRINTER) is not None:
                self._program = open_subject(parse_subject(PRINTER), lambda _: None)
        except SubjectUnavailable:
            pass

    def reads(self, log: bytes) -> bool:
        """Whether mysqlbinlog reads the whole log; true without one."""
        if self._program is None:
            return True
        path = Path(self._files.name) / "log.binlog"
        path.write_bytes(log)
        answer = self._program.decode(None, str(path))  # type: ignore[arg-type]
        return not answer.error and answer.failure is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._program is not None:
            self._program.close()
        self._files.cleanup()


# --- words -----------------------------------------------------------------------------------------------------------

_FACTS: Final = {
    DifferenceKind.MISSING_CHANGE: "the row change of {event} does not arrive",
    DifferenceKind.EXTRA_CHANGE: "a row change arrives that is not in the log",
    DifferenceKind.REPEATED_CHANGE: "a row change arrives twice",
    DifferenceKind.MOVED_CHANGE: "row changes arrive in another order",
    DifferenceKind.MALFORMED: "a row change arrives in no form of the protocol",
    DifferenceKind.TABLE: "a row change arrives under another table: {got} instead of {expected}",
    DifferenceKind.OPERATION: "a row change arrives as {got}, but is {expected}",
    DifferenceKind.HEADER: "the {field} of a row change is {got} instead of {expected}",
    DifferenceKind.MISSING_IMAGE: "the {field} image of a row does not arrive",
    DifferenceKind.EXTRA_IMAGE: "a {field} image arrives that is not in the log",
    DifferenceKind.MISSING_COLUMN: "{what} does not arrive",
    DifferenceKind.EXTRA_COLUMN: "a column arrives that is not in the image",
    DifferenceKind.ABSENT_AS_NULL: "a column that is not in the image arrives as NULL",
    DifferenceKind.NULL: "{what} arrives as {got} instead of {expected}",
    DifferenceKind.FORM: "a document arrives in another form: {got} instead of {expected}",
    DifferenceKind.MISSING_DIFF: "a diff of a JSON column does not arrive: {expected}",
    DifferenceKind.EXTRA_DIFF: "a diff arrives that is not in the log: {got}",
    DifferenceKind.MOVED_DIFF: "diffs arrive in another order",
    DifferenceKind.DIFF: "a diff arrives with another {cause}: {got} instead of {expected}",
    DifferenceKind.ALTERED: "{what} arrives altered: {got} instead of {expected}",
    DifferenceKind.TYPE: "{what} arrives without its type: {got} instead of {expected}",
}
_OF_FILES: Final = {"the row change of an event": "a row", "row change": "row", "the log": "the file"}
_ARTICLES: Final = {"ENUM", "INT", "INTEGER", "UNSIGNED", "OPAQUE", "OBJECT", "ARRAY"}


def headline(defect: Defect) -> str:
    """The defect in one sentence: the title of its cause, else what the smallest Case shows."""
    return _ended(defect.cluster.title) if defect.cluster.title else sentence(defect)


def sentence(defect: Defect) -> str:
    """Return in one sentence what the Case of a defect shows."""
    judgement, answer = defect.judgement, defect.judged.answer
    said = answer.error or next((mark.message or mark.event for mark in answer.marks), "")
    if judgement.verdict in (Verdict.CRASH, Verdict.TIMEOUT) or not (defect.difference or said):
        return _ended(judgement.message)
    if judgement.verdict is Verdict.REFUSED:
        thing = "log" if defect.case.role == DECODE else "file"
        return _ended(f"it refuses the {thing} of “{defect.case.title}”: {_cut(said, 2 * _SHOWN)}")
    found = defect.difference
    assert found is not None
    fact = _FACTS[found.kind].format(
        event=f"a {found.event}" if found.event else "an event",
        what=_what(found.what),
        cause=found.cause or "content",
        field=found.place.rpartition(".")[2],
        expected=_cut(found.expected),
        got=_cut(found.got),
    )
    if defect.case.role != DECODE:
        for words, of_files in _OF_FILES.items():
            fact = fact.replace(words, of_files)
    if found.cause and "{cause}" not in _FACTS[found.kind] and found.kind is not DifferenceKind.TYPE:
        fact += f" ({found.cause})"
    if judgement.verdict is Verdict.SILENT_LOSS:
        fact += ", and nothing says so"
    elif found.kind in MISSING or said:
        fact += f"; its own words: {_cut(said)}" if said else ""
    return _ended(fact)


def _what(what: str) -> str:
    """``JSON TIME`` is ``a JSON value of type TIME``, ``TIME column`` is ``the value of a TIME column``."""
    if what.startswith("JSON ") and what != "JSON column":
        return f"a JSON value of type {what.removeprefix('JSON ')}"
    if what.endswith(" column"):
        article = "an" if what.partition(" ")[0] in _ARTICLES else "a"
        return f"the value of {article} {what}"
    return what or "a value"


def _cut(text: str, most: int = _SHOWN) -> str:
    text = re.sub(r"\s+", " ", "".join(char if char.isprintable() else "�" for char in text))
    return text if len(text) <= most else f"{text[:most]}…"


def _ended(text: str) -> str:
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
