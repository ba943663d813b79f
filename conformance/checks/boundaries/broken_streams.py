"""Broken streams: what the models predict, and what a receiver and the client report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.boundaries.marked_files import client_output, inner_events
from conformance.judge.problem import Problem
from conformance.reference.boundaries.observed_event import observe
from conformance.reference.boundaries.row_format import RowFormatParser
from conformance.reference.boundaries.shipped import ShippedParser
from conformance.reference.event_types import EventType, event_name
from conformance.servers.roles.receiver import ParserWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.servers.programs import Program
    from generators.streams import Placed

_AT: Final = re.compile(rb"^# at (\d+)$", re.MULTILINE)
_REFUSED: Final = 1  # the status of a client that refuses an event; any other is a death
_AROUND: Final = 8  # events that a problem shows


def counted(counts: Mapping[str, int]) -> str:
    """Counts of warnings as text, the most frequent first."""
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items(), key=lambda item: -item[1]))


def expected_warnings(stream: Sequence[Placed]) -> list[ParserWarning]:
    """The warnings that the model expects from a receiver of a stream."""
    parser = ShippedParser()
    out = []
    for event in stream:
        complaint = parser.feed(observe(event.data))
        if complaint is not None:
            message = complaint.message
            code, words = (0, "") if message is None else message
            out.append(ParserWarning(code, words, event.position, event.file))
    return out


def _before(stream: Sequence[Placed], warned: ParserWarning) -> str:
    """The events up to the one that a warning is about."""
    names = [
        event_name(event.data[4]) for event in stream if event.file == warned.file and event.position <= warned.position
    ]
    return " ".join(names[-_AROUND:])


def judge_warnings(
    expected: Sequence[ParserWarning], got: Sequence[ParserWarning], what: str, stream: Sequence[Placed] = ()
) -> list[Problem]:
    """The first difference between expected and real warnings, with the events of ``stream`` in front of it."""
    for number in range(max(len(expected), len(got))):
        wanted = expected[number] if number < len(expected) else None
        heard = got[number] if number < len(got) else None
        if wanted is None or heard is None or wanted._replace(words="") != heard._replace(words=""):
            message = "the receiver says something else than the model"
        elif wanted.words not in heard.words:
            message = "the receiver gives another reason than the model"
        else:
            continue
        around = _before(stream, heard or wanted or ParserWarning(0, "", 0, ""))
        return [Problem(f"{what}, warning {number}, behind {around}", str(wanted), str(heard), message)]
    return []


def first_refused(stream: Sequence[Placed]) -> int | None:
    """The event at which ``mysqlbinlog --require-row-format`` ends, by the model."""
    parser = RowFormatParser()
    return next((event.position for event in stream if not parser.feed(observe(event.data))), None)


class RowFormatRun(NamedTuple):
    """The end of the real client's run over a file.

    ``refused``: the place of the event that the client refused; ``None``: it read the whole file, or ``died``.
    ``died``: it did neither, but ended by a signal or with another status than that of a refusal.
    """

    refused: int | None
    words: str
    died: bool = False


def run_row_format(program: Program, log: bytes, stream: Sequence[Placed]) -> RowFormatRun:
    """Run ``mysqlbinlog --require-row-format``: the refused event follows the last event that the client printed."""
    status, text, words = client_output(program, log, "--require-row-format", "-v")
    if status == 0:  # none is one that took too long
        return RowFormatRun(None, words)
    if status != _REFUSED:
        return RowFormatRun(None, f"status {status}: {words}", died=True)
    places = _AT.findall(text)
    starts = [event.position for event in stream]
    if not places:
        return RowFormatRun(starts[0], words)
    last = int(places[-1])
    for event in stream:  # events inside a payload are shown at the place behind it
        here = event.data[4] == EventType.TRANSACTION_PAYLOAD and event.position + len(event.data) == last
        if here and places.count(places[-1]) <= len(list(inner_events(event.data))):
            return RowFormatRun(last, words)
    behind = [start for start in starts if start > last]
    return RowFormatRun(behind[0] if behind else None, words)
