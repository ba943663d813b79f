"""The conversation, ``jsonl:PROGRAM …``: requests and answers as JSON objects, one a line, one process for all logs."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import DECODE, ROWS, SDI
from conformance.subjects.answers import Answer, Failure, Hello, SubjectUnavailable
from conformance.subjects.child import Child, Limits, Stopped
from conformance.subjects.protocol import (
    PROTOCOL,
    Malformed,
    quoted,
    read_changes,
    read_error,
    read_hello,
    read_marks,
    read_object,
)
from conformance.subjects.stored_data import read_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.cases.decoder_case import DecoderCase

_SECOND_ANSWER: Final = 0.005  # seconds in which a second answer to the same request would come
_GOODBYE: Final = 2.0  # seconds to end after ``bye``
_BASE64_LIMIT: Final = 256 << 20  # bytes of a log that go into one line
_VALUES: Final = {"decode_json": "document", "apply": "document", "print": "text"}


class Conversation:
    """A process that answers requests. After a failure the next request starts it again.

    ``capabilities`` and ``name`` replace those of the subject's own introduction. ``introduction`` gives the parameters
    of ``hello`` at each start.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        capabilities: tuple[str, ...] | None = None,
        name: str = "",
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
        introduction: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self._introduction = introduction
        self._command = tuple(command)
        self._capabilities = capabilities
        self._name = name
        self._limits = limits or Limits()
        self._environment = environment
        self._directory = directory
        self._child: Child | None = None
        self._hello: Hello | None = None
        self._input = "path"
        self._last = 0  # id of the last request
        self.stays = False  # the process did not end after ``bye``

    def hello(self) -> Hello:
        """Start the process and let it introduce itself; raises :class:`SubjectUnavailable`."""
        if self._hello is None:
            try:
                self._start()
            except (Stopped, Malformed) as problem:
                said = self._end()
                last = f"; standard error: {said.splitlines()[-1]}" if said else ""
                raise SubjectUnavailable(f"no introduction: {problem}{last}") from problem
        assert self._hello is not None
        return self._hello

    def decode(self, case: DecoderCase | None, path: str) -> Answer:
        """Ask for the row changes of a log, or for what a data file has."""
        return self.request(DECODE if case is None else case.role, path)

    def request(self, method: str, path: str | None = None, **parameters: Any) -> Answer:
        """Ask for something; ``path`` is that of a log or of a data file."""
        begun = time.perf_counter()
        try:
            child = self._start()
            if path is not None:
                parameters = {"path": path, **parameters}
                if self._input == "base64":
                    if Path(path).stat().st_size > _BASE64_LIMIT:
                        return Answer(error="the lab sends no log of this size as base64")
                    parameters["base64"] = base64.b64encode(Path(path).read_bytes()).decode("ascii")
            seconds = self._limits.request if path is None else self._limits.seconds_for(path)
            found = self._ask(child, method, parameters, seconds)
            if more := child.unasked(_SECOND_ANSWER):
                raise Stopped(Failure.GARBLED, f"a line behind the answer: {quoted(more)}")
            answer = answer_of(method, found, child.stderr())
        except Malformed as problem:
            answer = Answer(failure=Failure.GARBLED, detail=str(problem), stderr=self._end())
        except Stopped as stop:
            answer = Answer(failure=stop.failure, detail=stop.detail, stderr=self._end())
        except SubjectUnavailable as problem:
            answer = Answer(failure=Failure.CRASHED, detail=f"does not start again: {problem}")
        return replace(answer, seconds=time.perf_counter() - begun)

    def close(self) -> None:
        """Say goodbye, and end the process; a second call does nothing."""
        if self._child is not None:
            self.stays = not self._child.finish(self._line("bye", {}), _GOODBYE)
            self._end()

    def _start(self) -> Child:
        if self._child is None:
            self._child = Child(
                self._command, self._limits, talks=True, environment=self._environment, directory=self._directory
            )
            introduced = self._ask(self._child, "hello", self._introduction(), self._limits.hello)
            hello, self._input = read_hello(_result(introduced))
            if self._hello is None:
                self._hello = Hello(
                    name=self._name or hello.name,
                    version=hello.version,
                    roles=hello.roles,
                    capabilities=hello.capabilities if self._capabilities is None else self._capabilities,
                    note=hello.note,
                )
        return self._child

    def _ask(self, child: Child, method: str, parameters: dict[str, Any], seconds: float) -> dict[str, Any]:
        line = self._line(method, parameters)
        number = self._last
        answer = read_object(child.ask(line, seconds), f"the answer to {method}")
        if answer.get("id") != number or isinstance(answer.get("id"), bool):
            got = quoted(answer["id"]) if "id" in answer else "missing"
            raise Malformed(f"the answer to {method}: id is {got}, expected {number}")
        if ("result" in answer) == ("error" in answer):
            raise Malformed(f"the answer to {method} has {_keys(answer)}, expected either 'result' or 'error'")
        if "result" in answer and not isinstance(answer["result"], dict):
            raise Malformed(f"the answer to {method}: result is no object: {quoted(answer['result'])}")
        return answer

    def _line(self, method: str, parameters: dict[str, Any]) -> bytes:
        self._last += 1
        request = {"protocol": PROTOCOL, "id": self._last, "method": method, **parameters}
        return json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogateescape")

    def _end(self) -> str:
        """End the process; returns the end of its standard error."""
        child, self._child = self._child, None
        if child is None:
            return ""
        child.kill()
        return child.stderr()


def _keys(answer: dict[str, Any]) -> str:
    return ", ".join(map(repr, answer))


def _result(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise Malformed(f"hello was refused: {read_error(answer['error'])}")
    found = answer["result"]
    assert isinstance(found, dict)
    return found


def answer_of(method: str, answer: dict[str, Any], stderr: str) -> Answer:
    """Read the answer to one request; raises :class:`Malformed`."""
    stored = method in (ROWS, SDI)
    if "error" in answer:
        found = answer.get(method if stored else "changes") or []
        changes = read_items(method, found) if stored else read_changes(found)
        return Answer(
            error=read_error(answer["error"]),
            changes=changes,
            marks=read_marks(answer.get("marks") or []),
            stderr=stderr,
        )
    result = answer["result"]
    key = _VALUES.get(method, method if stored else "changes")
    if key not in result:
        raise Malformed(f"the result of {method} has no {key!r}; it has {_keys(result) or 'nothing'}")
    if method in _VALUES:
        return Answer(value=result[key], stderr=stderr)
    changes = read_items(method, result[key]) if stored else read_changes(result[key])
    return Answer(changes=changes, marks=read_marks(result.get("marks") or []), stderr=stderr)
