"""A subject in use: it gets the log of a decoder Case, and the judge gets its answer.

A subject that gives no answer in time, several times in succession, gets no further request: a run must end.
"""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.observed import Observed
from conformance.stream import DECODER
from conformance.stream import Subject as SubjectRecord
from conformance.subjects.answers import Answer, Failure, SubjectUnavailable
from conformance.subjects.builtin.catalogue import catalogue
from conformance.subjects.place import Place
from conformance.subjects.specs import open_subject, parse_subject, shown
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from conformance.cases.decoder_case import DecoderCase
    from conformance.judge.decoding.judge import Judgement
    from conformance.subjects.answers import Hello, Subject

PATIENCE: Final = 5  # answers in succession that did not come


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The result of one Case: a judgement, or the reason why there is none."""

    judgement: Judgement | None
    answer: Answer
    verdict: Verdict
    reason: str = ""


class OpenedSubject:
    """A subject that has introduced itself. Raises :class:`SubjectUnavailable` if it cannot run."""

    def __init__(self, spec: str, narrate: Callable[[str], None] = lambda _: None) -> None:
        self.spec = spec
        self.judged: list[tuple[DecoderCase, JudgedCase]] = []  # the Cases that the run has judged so far
        self._in_vain = 0
        self._files = tempfile.TemporaryDirectory(prefix="binlog-lab-", ignore_cleanup_errors=True)
        self._subject: Subject | None = None
        try:
            self._subject = open_subject(parse_subject(spec), narrate)
            self.hello: Hello = self._subject.hello()
        except BaseException:
            self.close()
            raise

    def judge(self, case: DecoderCase) -> JudgedCase:
        """Let the subject read the log of a Case, and judge its answer."""
        capabilities = self.hello.capabilities
        if case.role not in self.hello.roles:
            return JudgedCase(None, Answer(), Verdict.NOT_APPLICABLE, f"the Case needs the role {case.role}")
        if not set(case.needs) <= set(capabilities):
            answer = Answer()
        elif self._in_vain >= PATIENCE:
            reason = f"not asked any more: no answer came {PATIENCE} times in succession"
            return JudgedCase(None, Answer(), Verdict.NOT_RUN, reason)
        else:
            try:
                answer = self._ask(case)
            except Exception as problem:  # noqa: BLE001 - an adapter of the kit failed: one Case has no verdict
                reason = f"the adapter of the kit failed: {type(problem).__name__}: {problem}"
                return JudgedCase(None, Answer(), Verdict.NOT_RUN, reason)
            if answer.inapplicable:
                return JudgedCase(None, answer, Verdict.NOT_APPLICABLE, answer.inapplicable)
        judgement = judge(case, capabilities, observed(answer))
        return JudgedCase(judgement, answer, judgement.verdict)

    def _ask(self, case: DecoderCase) -> Answer:
        assert self._subject is not None
        path = case.write(Path(self._files.name) / case.id)
        try:
            answer = self._subject.decode(case, str(path))
        except SubjectUnavailable as problem:  # the program was there, and is not any more
            answer = Answer(failure=Failure.CRASHED, detail=str(problem))
        finally:
            path.unlink(missing_ok=True)
        self._in_vain = self._in_vain + 1 if answer.failure is Failure.TIMED_OUT else 0
        return answer

    def replay(self, case: DecoderCase) -> str:
        """The command that shows the verdict on a Case again."""
        words = ["binlog-lab", "replay", f"decoder:{case.id}", "--subject", shown(self.spec)]
        return place_of(self.spec).command(words)

    def close(self) -> None:
        """End the subject; a second call does nothing."""
        try:
            if self._subject is not None:
                self._subject.close()
        finally:
            with contextlib.suppress(OSError):
                self._files.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def observed(answer: Answer) -> Observed:
    """An answer as the judge takes it."""
    return Observed(
        changes=answer.changes,
        marks=answer.marks,
        error=answer.error,
        failure=answer.failure or "",
        detail=answer.detail,
    )


def place_of(spec: str) -> Place:
    """Where a subject was started; nowhere in particular for a built-in one."""
    return Place() if spec.partition("?")[0] in catalogue() else Place.here()


def subject_record(column: str, spec: str, hello: Hello | None = None, *, unavailable: str = "") -> SubjectRecord:
    """The subject as the result stream has it."""
    entry = catalogue().get(spec.partition("?")[0])
    place = place_of(spec)
    return SubjectRecord(
        id=column,
        role=DECODER,
        version=(hello.version or None) if hello else None,
        capabilities=hello.capabilities if hello else (),
        note=(hello.note or None) if hello else None,
        name=hello.name if hello else "",
        language=entry.language if entry else "",
        url=entry.project if entry else "",
        spec=shown(spec),
        folder=place.folder,
        python_path=place.modules,
        unavailable=unavailable,
    )
