"""Clients that connect as a replica: the conversation, with a server of the lab's own in each request.

Before each request the source makes the tables of the Case. A client that starts at a position gets the Case's own
log; for others the source writes it anew, and the reference reads it: it must hold the Case's changes. The client then
reads up to the marker behind them. Positions, times and server ids are not compared.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import sets_tag
from conformance.judge.decoding.exact_json import parse
from conformance.reference.binlog.files import FileReader
from conformance.reference.errors import CodecError
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of
from conformance.servers.errors import ConnectionLost, ServerError
from conformance.subjects.answers import Answer, Failure, Hello
from conformance.subjects.capabilities import FILE, POSITION
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from conformance.subjects.lab_source import LabSource
from conformance.subjects.source import MARKERS, SCHEMA, NotServed, Served, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.cases.decoder_case import DecoderCase

TIMED_OUT: Final = "timed-out"  # the code of an error: the client says nothing more, and no reason
_COMPARED: Final = ("schema", "table", "operation", "before", "after")
_SHARE: Final = 0.6  # of the time for a request, after which an adapter gives up waiting for its client
_HELLO: Final = 150.0  # seconds: some clients connect before they introduce themselves, and take a minute for it


class Stream:
    """A client. ``open_source`` starts the server, at the first need and after its death."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        capabilities: tuple[str, ...] | None = None,
        limits: Limits | None = None,
        name: str = "",
        open_source: Callable[[], Source | LabSource] = Source,
    ) -> None:
        limits = limits or Limits()
        self._limits = replace(limits, hello=max(limits.hello, _HELLO))
        self._command = tuple(command)
        self._capabilities = capabilities
        self._name = name
        self._open_source = open_source
        self._source: Source | LabSource | None = None
        self._client: Conversation | None = None
        self._tagged = False  # the source writes sets of GTIDs in the tagged form

    def hello(self) -> Hello:
        """Start the server, and let the client introduce itself. Raises :class:`SubjectUnavailable`."""
        return self._started()[1].hello()

    def _started(self) -> tuple[Source | LabSource, Conversation]:
        if self._source is not None and not self._source.alive():
            self.close()
        if self._source is None:
            self._source = self._open_source()
        if self._client is None:
            self._client = Conversation(
                self._command,
                capabilities=self._capabilities,
                name=self._name,
                limits=self._limits,
                introduction=self._introduction,
            )
        return self._source, self._client

    def _introduction(self) -> dict[str, Any]:
        """The parameters of ``hello``: a client that reads on from the present end may connect at once."""
        assert self._source is not None
        return {"server": self._source.request()}

    def decode(self, case: DecoderCase, path: str) -> Answer:
        """Write the log of a Case with its SQL, and let the client read it."""
        begun = time.perf_counter()
        if FILE in case.needs:
            return Answer(inapplicable="the Case is a file that no server has")
        answer = self._decode(case, path)
        if answer is None:  # the server died; another one may live longer
            answer = self._decode(case, path) or Answer(inapplicable="the server dies of the Case")
        return replace(answer, seconds=time.perf_counter() - begun)

    def _decode(self, case: DecoderCase, path: str) -> Answer | None:
        try:
            tagged = sets_tag((*case.prepare, *case.statements))
            if self._tagged and not tagged:
                self.close()
            source, client = self._started()
            if not (case.prepare or source.any_log):
                return Answer(inapplicable="the Case is a file that no server has")
            self._tagged = tagged
            anywhere = POSITION in client.hello().capabilities
            if not (anywhere or case.statements or source.any_log):
                return Answer(inapplicable="the client reads on from the present end, and no server writes the Case")
            served = source.serve(case, exact=anywhere)
            if not anywhere and (problem := _other_log(source.log(served), case)):
                return Answer(inapplicable=problem)
            server = {**source.request(served), "timeout": self._limits.request * _SHARE}
            answer = client.request("decode", path, server=server)
        except NotServed as problem:
            return Answer(inapplicable=str(problem))
        except ConnectionLost:
            return None
        except ServerError as problem:
            return Answer(inapplicable=f"the server cannot serve the Case: {problem}")
        return _of_case(answer, served) if source.alive() else None

    def close(self) -> None:
        """End the client and the server; a second call does nothing."""
        client, self._client = self._client, None
        source, self._source = self._source, None
        try:
            if client is not None:
                client.close()
        finally:
            if source is not None:
                source.close()


def _of_case(answer: Answer, served: Served) -> Answer:
    """The answer without the lab's markers, and without what stands in front of the first."""
    changes: list[dict[str, Any]] = []
    for change in answer.changes:
        if (change["schema"], change["table"]) != (SCHEMA, MARKERS):
            changes.append({key: change[key] for key in _COMPARED})
        elif served.begin in (change["after"] or {}).values():
            changes.clear()
    answer = replace(answer, changes=tuple(changes))
    if answer.error.startswith(TIMED_OUT):
        return replace(answer, error="", failure=Failure.TIMED_OUT, detail=answer.error)
    return answer


def _other_log(log: bytes, case: DecoderCase) -> str:
    """How the server's log differs from the Case's; empty if it has the same changes."""
    found: list[dict[str, Any]] = []
    changes, reader = RowChanges(tagged=True), FileReader(expand=True, rules_for=rules_of)
    changes.start_file(case.file_name)
    try:
        reader.feed(log)
        for event in reader.events():
            found.extend(parse(line) for line in changes.event(event, None))
    except CodecError as error:
        return f"the log that this server writes cannot be read: {error}"
    found = [change for change in found if (change["schema"], change["table"]) != (SCHEMA, MARKERS)]
    if len(found) != len(case.expected):
        return f"this server writes {len(found)} changes for the Case, not {len(case.expected)}"
    for number, (ours, theirs) in enumerate(zip(case.expected, found, strict=True)):
        if differing := [key for key in _COMPARED if ours[key] != theirs[key]]:
            return f"this server writes other changes for the Case: {', '.join(differing)} of number {number}"
    return ""


SOURCES: Final[dict[str, Callable[[], Source | LabSource]]] = {"": Source, "mysql": Source, "lab": LabSource}


def open_stream(
    command: Sequence[str], capabilities: tuple[str, ...] | None, limits: Limits, name: str = "", source: str = ""
) -> Stream:
    """The subject of ``wire:PROGRAM …``; ``source``: what it connects to."""
    return Stream(command, capabilities=capabilities, limits=limits, name=name, open_source=SOURCES[source])
