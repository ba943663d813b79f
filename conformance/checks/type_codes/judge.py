"""The type codes of row events against those of the worklog's section 4. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem
from conformance.judge.updates.events import inner_events
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, kind_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script
    from conformance.judge.updates.mismatch import Mismatch

# Written down from the worklog (section 4, F1), and never taken from the kit's own table of events.
_OFF, _ON = 31, 39
_UPDATES: Final = (24, 31, 39)  # 24: of version 1
_PAYLOAD: Final = 40
_TYPES: Final = "event types"  # the field of a mismatch that is about the events of a transaction


def update_types(events: Iterable[bytes]) -> Iterator[int]:
    """The type codes of updates, those inside compressed transactions too; 0 for a payload that cannot be read."""
    for event in events:
        kind = kind_of(event)
        if kind == _PAYLOAD:
            try:
                data = TransactionPayload.decode(event[HEADER_SIZE:-FOOTER_SIZE]).uncompressed()
            except CodecError:
                yield 0
            else:
                yield from update_types(inner_events(data))
        elif kind in _UPDATES:
            yield kind


def type_codes(script: Script, observation: Observation) -> list[Problem]:
    """F1: every update of the session has the type of its option, and each statement that changes rows has one."""
    on = script.case.session.partial_json
    due = _ON if on else _OFF
    words = f"with the option {'on' if on else 'off'}"
    found = [*update_types(observation.events)]
    problems = [
        Problem(f"update event {place}", f"type {due}", f"type {kind}", f"an update has another type code {words}")
        for place, kind in enumerate(found)
        if kind != due
    ]
    least = sum(bool(prediction.events) for prediction in script.predictions)
    if len(found) < least:
        message = "an update is not logged, or has no type code of an update"
        problems.append(Problem("update events", f"{least} or more", str(len(found)), message))
    return problems


def other_differences(mismatches: Iterable[Mismatch], *, wrong_codes: bool) -> Iterator[Problem]:
    """F3: everything else that differs from the prediction. ``wrong_codes``: the types of updates are wrong, so that
    those of a transaction's events are F1's."""
    for item in mismatches:
        if item.field != _TYPES or not wrong_codes:
            message = item.message or "the statement or its events are not those predicted"
            yield Problem(item.field, item.expected, item.got, message)
