"""The answers of a subject: its introduction, row changes, a refusal, or the way in which it failed to answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase


class Failure(StrEnum):
    """The ways of not answering."""

    CRASHED = "crashed"  # the process died of a signal, or broke off the conversation
    TIMED_OUT = "timed out"
    FLOODED = "flooded"  # more output than an answer may have
    GARBLED = "garbled"  # output outside of the protocol: no JSON, wrong id, two answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """How a subject introduces itself. Capabilities are words of :mod:`conformance.subjects.capabilities`."""

    name: str
    version: str = ""
    roles: tuple[str, ...] = ("decode",)
    capabilities: tuple[str, ...] = ()
    note: str = ""  # origin, runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A subject's own remark that it left something out, such as an event that it cannot read."""

    message: str
    event: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of one request.

    ``changes``: objects of ``decode --format jsonl``, also those before an error. ``error``: the subject's own refusal.
    ``failure``: why there is no complete answer. ``inapplicable``: why the Case could not be given to the subject; then
    there is nothing else. ``stderr``: the end of what it wrote there during the request.
    """

    changes: tuple[dict[str, Any], ...] = ()
    marks: tuple[Mark, ...] = ()
    error: str = ""
    failure: Failure | None = None
    detail: str = ""  # of the failure: signal, exit status, the line outside of the protocol
    inapplicable: str = ""
    stderr: str = ""
    seconds: float = 0.0
    value: Any = field(default=None)  # of decode_json, apply and print


class Subject(Protocol):
    """An opened subject. A failure ends one answer, never the run: the next request starts the subject again."""

    def hello(self) -> Hello:
        """Introduce the subject; raises :class:`SubjectUnavailable` if it cannot run here."""
        ...

    def decode(self, case: DecoderCase, path: str) -> Answer:
        """Decode the log at ``path``. A subject that connects to a server gets the Case's statements through it."""
        ...

    def close(self) -> None:
        """End the subject's processes; a second call does nothing."""
        ...


class SubjectUnavailable(Exception):
    """The subject cannot run here: what is missing, and how to get it."""

    exit_code = 3
