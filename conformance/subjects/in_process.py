"""A Python object as a subject of this very process: at full speed, and in sight of tools that watch the process."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.cases.decoder_case import DECODE
from conformance.subjects import python_host
from conformance.subjects.answers import Answer, Failure, Hello
from conformance.subjects.conversation import answer_of
from conformance.subjects.protocol import Malformed, read_hello, read_object

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase


class InProcess:
    """An object that answers as it does behind ``python_host``: through the same lines of JSON.

    ``raised``: the exception with which it refused the last request. Raises what importing its module raises.
    """

    def __init__(self, name: str, *, capabilities: tuple[str, ...] | None = None, called: str = "") -> None:
        self._name = name
        self._capabilities = capabilities
        self._called = called
        self._object: Any = python_host.load(name)
        self.raised: Exception | None = None

    def hello(self) -> Hello:
        """The introduction of the object."""
        hello, _ = read_hello(self._ask("hello")["result"])
        capabilities = hello.capabilities if self._capabilities is None else self._capabilities
        return replace(hello, name=self._called or hello.name, capabilities=capabilities)

    def decode(self, case: DecoderCase | None, path: str) -> Answer:
        """The row changes of a log, or what a data file has."""
        method = DECODE if case is None else case.role
        begun = time.perf_counter()
        try:
            answer = answer_of(method, self._ask(method, path=path), "")
        except Malformed as problem:
            answer = Answer(failure=Failure.GARBLED, detail=str(problem))
        return replace(answer, seconds=time.perf_counter() - begun)

    def _ask(self, method: str, **parameters: str) -> dict[str, Any]:
        self.raised = None
        found = python_host.answer(self._object, self._name, {"method": method, **parameters}, self._refusal)
        return read_object(python_host.written({"id": 0, **found}).encode(), f"the answer to {method}")

    def _refusal(self, problem: Exception) -> dict[str, Any]:
        self.raised = problem
        return {"code": type(problem).__name__, "message": str(problem)}

    def close(self) -> None:
        """Do nothing: the object ends with the process."""
