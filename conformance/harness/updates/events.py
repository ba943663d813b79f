"""Checks of the captured events themselves: they decode, encode to the same bytes, and their diffs apply.

These checks start from the server's bytes, not from the prediction: a reference that predicts well may still read
badly. Applying starts from the predicted document before the statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.judge.updates.events import iter_events
from conformance.judge.updates.mismatch import Mismatch
from conformance.reference.binlog.event import Event, encode_event
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included
from conformance.reference.dialect import Dialect, flipped
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import same
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from conformance.cases.observation import Observation
    from conformance.cases.predict import RowPrediction
    from conformance.cases.script import Script


@dataclass(slots=True)
class EventFaults:
    """Counts of events tried, and the failures."""

    decoded: int = 0
    encoded: int = 0
    applied: int = 0
    found: list[Mismatch] = field(default_factory=list)


def check_events(script: Script, observation: Observation) -> EventFaults:
    """Decode, encode and apply every event of an observation."""
    faults = EventFaults()
    updates: list[RowsBody] = []
    for raw, event, error in iter_events(observation.events):
        if event is None:
            faults.found.append(
                Mismatch(kind="decode", step=None, field="event", expected="a readable event", got=str(error))
            )
            continue
        faults.decoded += 1
        reencoded = _encode(event)
        faults.encoded += 1
        if reencoded != raw:
            faults.found.append(
                Mismatch(kind="decode", step=None, field=event.name, expected=raw.hex(), got=reencoded.hex())
            )
        if isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES:
            updates.append(event.body)
    _apply(script, updates, faults)
    return faults


def _encode(event: Event) -> bytes:
    header = event.header
    return encode_event(
        event.body,
        timestamp=header.timestamp,
        server_id=header.server_id,
        log_pos=header.log_pos,
        flags=header.flags,
        algorithm=Checksum.NONE if event.checksum is None else Checksum.CRC32,
    )


def _apply(script: Script, bodies: list[RowsBody], faults: EventFaults) -> None:
    """The diffs of every captured row on the document that the replica has: the predicted one before the statement."""
    rows = [
        (number, row)
        for number, prediction in enumerate(script.predictions)
        for row in prediction.rows
        if row.change.logged
    ]
    captured = [(body, row) for body in bodies for row in body.rows]
    if len(rows) != len(captured):
        return  # another number of rows is reported by the comparison of events
    names = [column.name for column in script.case.table.columns]
    for (step, predicted), (body, row) in zip(rows, captured, strict=True):
        columns = included(body.after_columns or 0, body.column_count)
        for index, value in zip(columns, row.after or (), strict=False):
            # Another table in the log is reported by the comparison of events.
            if isinstance(value, PartialJson) and index < len(names) and names[index] in predicted.decisions:
                faults.applied += 1
                problem = _apply_one(predicted, names[index], value.diffs, script.model.dialect)
                if problem:
                    faults.found.append(
                        Mismatch(
                            kind="apply",
                            step=step,
                            rows=(predicted.index,),
                            field=names[index],
                            expected=problem[0],
                            got=problem[1],
                            deviation=_explained_by(script, predicted, names[index], value.diffs),
                        )
                    )


def _explained_by(script: Script, predicted: RowPrediction, name: str, diffs: bytes) -> str | None:
    """The switch of the dialect that, flipped alone, makes the diffs apply.

    Or the switch without which the server would not have logged these diffs, because a trigger changed the column after
    them.
    """
    switch = "refuse_unchanging_replace"
    if not _apply_one(predicted, name, diffs, flipped(script.model.dialect, switch)):
        return switch
    triggered = any(assignment.column == name for assignment in script.case.trigger)
    return "diffs_miss_triggers" if triggered and diffs == predicted.decisions[name].data else None


def _apply_one(predicted: RowPrediction, name: str, diffs: bytes, dialect: Dialect) -> tuple[str, str] | None:
    """Apply diffs: the due document and the one that they lead to; ``None`` where these are the same."""
    before, after = predicted.change.before[name], predicted.change.after[name]
    assert before is None or isinstance(before, bytes)
    assert after is None or isinstance(after, bytes)
    try:
        applied = apply_field(before, diffs, dialect)
        if applied == after:
            return None
        if applied is not None and after is not None and same(decode(applied), decode(after)):
            return None
    except CodecError as error:
        return _shown(after), str(error)
    return _shown(after), _shown(applied)


def _shown(document: bytes | None) -> str:
    """A document as the server prints it; in hex where it has no text."""
    if document is None:
        return "SQL NULL"
    try:
        return format_text(decode(document))
    except CodecError:
        return document.hex()
