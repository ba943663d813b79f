"""The proof of an adapter, step by step, before the suite judges the subject behind it.

Each step says what it did and what came of it. The first step that cannot work ends the proof, because all later ones
would only repeat the message.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DECODE, SDI
from conformance.cases.decoder_case import ROWS as STORED_ROWS
from conformance.harness.decoders import observed
from conformance.judge.decoding.judge import judge
from conformance.subjects.answers import Failure, SubjectUnavailable
from conformance.subjects.capabilities import CAPABILITIES, FILE
from conformance.subjects.conversation import Conversation
from conformance.subjects.specs import open_subject
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.judge.decoding.judge import Judgement
    from conformance.subjects.answers import Answer, Hello, Subject
    from conformance.subjects.specs import SubjectSpec

ROWS: Final = ("columns/int", "columns/varchar")  # Cases that every decoder of rows can read
FILES: Final = {STORED_ROWS: "rows/plain", SDI: "entries/plain"}  # a Case of each role about data files
FEATURES: Final = ("jsonb/literals", "diffs/replace-scalar", "files/several-transactions", "payload/insert")
_LINES: Final = 5  # of standard error
_LEAVES: Final = "it ends when it is asked to"
_STAYS: Final = "it does not end when it is asked to: the lab kills it"
_NO_LOG: Final = b"this is a text, neither a binary log nor a data file\n" * 8


class StepOutcome(StrEnum):
    """The outcome of a step."""

    OK = "ok"
    NOTE = "note"  # the adapter works; the suite will judge this
    LOSES = "LOSES"  # the adapter answers, and row changes are lost or altered in silence
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was done, what came of it, and more lines about it."""

    outcome: StepOutcome
    title: str
    lines: tuple[str, ...] = ()
    ends: bool = False  # the proof


def steps(spec: SubjectSpec, cases: Mapping[str, DecoderCase], narrate: Callable[[str], None]) -> Iterator[Step]:
    """Prove an adapter. Raises :class:`SubjectUnavailable` if its program is missing; the rest are steps."""
    subject = open_subject(spec, narrate=narrate)
    try:
        with tempfile.TemporaryDirectory(prefix="binlog-lab-") as place:
            for step in _steps(subject, spec, cases, Path(place)):
                yield step
                if step.ends:
                    return
        subject.close()
        if isinstance(subject, Conversation):
            yield Step(*((StepOutcome.NOTE, _STAYS) if subject.stays else (StepOutcome.OK, _LEAVES)))
    finally:
        subject.close()


def _steps(subject: Subject, spec: SubjectSpec, cases: Mapping[str, DecoderCase], place: Path) -> Iterator[Step]:
    try:
        hello = subject.hello()
    except SubjectUnavailable as problem:
        yield Step(StepOutcome.WRONG, "it introduces itself", (str(problem),), ends=True)
        return
    yield _introduced(hello, spec)
    for role, name in FILES.items():
        if role in hello.roles:
            step = _rows(subject, hello, cases[name], place)
            yield step
            if step.ends:
                return
            yield _no_log(subject, cases[name], place)
    if DECODE not in hello.roles:
        return
    for name in ROWS:
        step = _rows(subject, hello, cases[name], place)
        yield step
        if step.ends:
            return
    yield _twice(subject, cases[ROWS[0]], place)
    for name in FEATURES:
        yield _feature(subject, hello, cases[name], place)
    if FILE in hello.capabilities:
        yield _no_log(subject, cases[ROWS[0]], place)


def _introduced(hello: Hello, spec: SubjectSpec) -> Step:
    lines = [f"name {hello.name}, version {hello.version or 'not said'}, roles {', '.join(hello.roles) or 'none'}"]
    lines += [f"capability {name}: {CAPABILITIES[name]}" for name in hello.capabilities]
    if not hello.capabilities:
        lines.append("no capabilities: Cases that need one are not applicable")
    if spec.kind == "cmd" and "capabilities" not in spec.options:
        lines.append("a one-shot command cannot introduce itself; ?capabilities=FILE at the end of the spec does it")
    return Step(StepOutcome.OK, "it introduces itself", tuple(lines))


def _answer(subject: Subject, case: DecoderCase, place: Path) -> Answer:
    return subject.decode(case, str(case.write(place / case.id)))


def _rows(subject: Subject, hello: Hello, case: DecoderCase, place: Path) -> Step:
    """The rows of a log that every decoder can read."""
    title = f"it reads {case.id}: {case.title}"
    answer = _answer(subject, case, place)
    if answer.failure is not None:
        return Step(StepOutcome.WRONG, title, _failure(answer), ends=True)
    if answer.inapplicable or answer.error:
        said = answer.inapplicable or f"it refused: {answer.error}"
        return Step(StepOutcome.WRONG, title, (said, *_stderr(answer)))
    judgement = judge(case, hello.capabilities, observed(answer))
    if judgement.verdict.failing:
        return Step(StepOutcome.WRONG, title, (*_compared(case, answer, judgement), *_stderr(answer)))
    level = f", equal at the level {judgement.level}" if judgement.level else ""
    return Step(StepOutcome.OK, title, (f"{len(answer.changes)} changes in {answer.seconds:.2f} s{level}",))


def _compared(case: DecoderCase, answer: Answer, judgement: Judgement) -> tuple[str, ...]:
    """Return the lines with the verdict, what was expected, and what came."""
    changes = [
        json.dumps(change, ensure_ascii=False, default=str) for change in (case.expected[0], *answer.changes[:1])
    ]
    return (
        f"{judgement.verdict}: {judgement.message}",
        *(f"{found.place}: expected {found.expected}, got {found.got}" for found in judgement.differences[:_LINES]),
        f"first change expected: {changes[0]}",
        f"first change given: {changes[1] if answer.changes else 'none'}",
    )


def _twice(subject: Subject, case: DecoderCase, place: Path) -> Step:
    title = "it gives the same answer again"
    one, two = (replace(_answer(subject, case, place), seconds=0.0, stderr="") for _ in range(2))
    if one == two:
        return Step(StepOutcome.OK, title)
    if two.failure is not None:
        return Step(StepOutcome.WRONG, title, _failure(two))
    return Step(
        StepOutcome.WRONG, title, (f"{len(one.changes)} changes, then {len(two.changes)} others of the same log",)
    )


def _feature(subject: Subject, hello: Hello, case: DecoderCase, place: Path) -> Step:
    """Try a feature that not every decoder reads: a refusal is no fault, but people want to know of each loss."""
    title = f"it reads {case.id}: {case.title}"
    answer = _answer(subject, case, place)
    if answer.failure is Failure.GARBLED:
        return Step(StepOutcome.WRONG, title, _failure(answer))
    if answer.inapplicable or answer.failure is not None or answer.error:
        return Step(
            StepOutcome.NOTE, title, (answer.inapplicable or answer.error or f"{answer.failure}: {answer.detail}",)
        )
    judgement = judge(case, hello.capabilities, observed(answer))
    if judgement.verdict in (Verdict.PASS, Verdict.LENIENT):
        return Step(StepOutcome.OK, title)
    lost = judgement.verdict is Verdict.SILENT_LOSS
    return Step(StepOutcome.LOSES if lost else StepOutcome.NOTE, title, _compared(case, answer, judgement))


def _no_log(subject: Subject, case: DecoderCase, place: Path) -> Step:
    """A file of another kind must be refused, and the next request answered."""
    title = f"it refuses a file that is no {'log' if case.role == DECODE else 'data file'}"
    answer = _answer(subject, replace(case, log=_NO_LOG, id="no/log"), place)
    if answer.failure is not None:
        return Step(StepOutcome.WRONG, title, _failure(answer))
    if answer.error:
        return Step(StepOutcome.OK, title, (answer.error,))
    return Step(StepOutcome.NOTE, title, (f"no error, and {len(answer.changes)} changes: damage may go unnoticed",))


def _failure(answer: Answer) -> tuple[str, ...]:
    return (f"{answer.failure}: {answer.detail}", *_stderr(answer))


def _stderr(answer: Answer) -> tuple[str, ...]:
    lines = answer.stderr.splitlines()
    return tuple(f"standard error: {line}" for line in lines[-_LINES:])
