"""The one-shot command, ``cmd:PROGRAM … {file}``: a log in, lines of row changes out; or a data file, and its rows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DECODE
from conformance.subjects.answers import Answer, Failure, Hello
from conformance.subjects.capabilities import FILE
from conformance.subjects.child import Child, Limits, Stopped, ending
from conformance.subjects.protocol import Malformed, numbered_lines, read_change, read_mark, read_object
from conformance.subjects.stored_data import read_output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from conformance.cases.decoder_case import DecoderCase
    from conformance.subjects.answers import Mark

PLACE: Final = "{file}"
_SHELL_SIGNAL: Final = 126  # from here on, shells report that a program could not run, or its signal


class OneShot:
    """A command that is started for each log."""

    def __init__(self, command: Sequence[str], *, hello: Hello | None = None, limits: Limits | None = None) -> None:
        self._command = tuple(command)
        self._hello = hello or Hello(name=self._command[0], capabilities=(FILE,))
        self._limits = limits or Limits()

    def hello(self) -> Hello:
        """The introduction, as the caller gave it: a one-shot command does not introduce itself."""
        return self._hello

    def decode(self, case: DecoderCase | None, path: str) -> Answer:
        """Run the command on a log, or on a data file."""
        begun = time.perf_counter()
        child = Child([word.replace(PLACE, path) for word in self._command], self._limits)
        failure: Failure | None = None
        detail = ""
        with child:
            try:
                output = child.read(self._limits.seconds_for(path))
            except Stopped as stop:
                failure, detail, output = stop.failure, stop.detail, child.said()
            status = child.status() or 0
            stderr = child.stderr()
        error = ""
        if failure is None and (status < 0 or status >= _SHELL_SIGNAL or (status and not stderr)):
            silent = ", nothing on standard error" if status > 0 and not stderr else ""
            failure, detail = Failure.CRASHED, f"{ending(status)}{silent}"
        elif failure is None and status:
            error = stderr.splitlines()[-1].strip()
        marks: tuple[Mark, ...] = ()
        if case is None or case.role == DECODE:
            changes, marks, wrong = read_lines(output, whole=failure is None)
        else:
            changes, wrong = read_output(case.role, output, whole=failure is None and not error)
            wrong = "" if error else wrong  # what is refused may break off
        if wrong and failure is None:
            failure, detail, error = Failure.GARBLED, wrong, ""
        return Answer(
            changes=changes,
            marks=marks,
            error=error,
            failure=failure,
            detail=detail,
            stderr=stderr,
            seconds=time.perf_counter() - begun,
        )

    def close(self) -> None:
        """Do nothing: each request has a process of its own, which has ended."""


def read_lines(output: bytes, *, whole: bool) -> tuple[tuple[dict[str, Any], ...], tuple[Mark, ...], str]:
    """The changes and marks of an output, up to the first line that is neither, and what is wrong with that line.

    ``whole``: the output is not cut off, so that its last line may lack its end.
    """
    changes: list[dict[str, Any]] = []
    marks: list[Mark] = []
    for line, where in numbered_lines(output, whole=whole):
        try:
            found = read_object(line, where)
            if set(found) == {"mark"}:
                marks.append(read_mark(found["mark"], where))
            elif found.get("operation", "") is not None:  # null: an event without rows
                changes.append(read_change(found, where))
        except Malformed as problem:
            return tuple(changes), tuple(marks), str(problem)
    return tuple(changes), tuple(marks), ""
