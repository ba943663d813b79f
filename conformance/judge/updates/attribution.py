"""Which requirements a difference in the log breaks (requirements FR1, D2, D5, D6, D7, F3).

The bytes of table maps and of row events are F3's. FR1 is the choice between diffs and whole documents, and that
nothing else changes in the log; a wrong choice breaks the condition that decides it as well. An event that cannot be
read breaks both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.rows import ROWS_TYPES, RowsBody, included
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.jsonb.decode import decode
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.cases.predict import StepPrediction
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.rows import Row

LOG: Final = "FR1"  # the choice, and everything else in the log
OPTION, CHAIN, SIZE, BEFORE_IMAGE, BYTES = "D2", "D5", "D6", "D7", "F3"
ALL: Final = (LOG, OPTION, CHAIN, SIZE, BEFORE_IMAGE, BYTES)
_UNREADABLE: Final = (LOG, BYTES)
_UPDATES: Final = frozenset((EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS))
_OF_TABLES: Final = frozenset((*ROWS_TYPES, EventType.TABLE_MAP))
_NAMES: Final = frozenset(map(event_name, _OF_TABLES))


def of_types(expected: Sequence[int], got: Sequence[int]) -> tuple[str, ...]:
    """A transaction with other events. In place of an update another event may stand: the old one, or one of no type
    that it may have."""
    if len(expected) != len(got):
        return (LOG,)
    instead = {theirs for ours, theirs in zip(expected, got, strict=True) if ours != theirs and ours in _UPDATES}
    return (LOG, *((OPTION,) if instead & _UPDATES else ()), *((BYTES,) if instead else ()))


def of_rule(field: str, kinds: Iterable[str]) -> tuple[str, ...]:
    """A field whose rule is broken in events of these names. Nobody can read rows without their TABLE_MAP."""
    if field.endswith("_ROWS_EVENT.table_id"):
        return _UNREADABLE
    found = {BYTES if kind in _NAMES else LOG for kind in kinds}
    return tuple(name for name in ALL if name in found)


def of_event(
    prediction: StepPrediction | None, expected: object, observed: Event | None, names: Sequence[str]
) -> tuple[str, ...]:
    """An event with other bytes. ``names``: of the table's columns."""
    if observed is None:
        return _UNREADABLE
    if not isinstance(expected, RowsBody | TableMap):
        return (LOG,)
    try:
        got = observed.typed().body
        found = {BYTES}
        if prediction is not None and isinstance(expected, RowsBody) and isinstance(got, RowsBody):
            for wanted, row in zip(expected.rows, got.rows, strict=False):
                found |= _of_row(prediction, wanted, row, expected, got, names)
    except CodecError:
        return _UNREADABLE
    return tuple(name for name in ALL if name in found)


def _of_row(
    prediction: StepPrediction, wanted: Row, row: Row, expected: RowsBody, got: RowsBody, names: Sequence[str]
) -> set[str]:
    found = {BEFORE_IMAGE} if _has_no_document(row, got) else set()
    if expected.after_columns != got.after_columns:
        return found
    columns = included(expected.after_columns or 0, expected.column_count)
    for index, ours, theirs in zip(columns, wanted.after or (), row.after or (), strict=False):
        if isinstance(ours, PartialJson) is not isinstance(theirs, PartialJson):
            found |= {LOG, *_conditions(prediction, names[index], whole=not isinstance(ours, PartialJson))}
    return found


def _has_no_document(row: Row, body: RowsBody) -> bool:
    """Whether a JSON column of the before-image has something else than a whole document."""
    columns = included(body.before_columns or 0, body.column_count)
    documents = body.map().json_columns
    values = [value for index, value in zip(columns, row.before or (), strict=False) if index in documents]
    return any(value is not None and not _is_document(value) for value in values)


def _is_document(value: object) -> bool:
    if not isinstance(value, bytes):
        return False
    try:
        decode(value)
    except CodecError:
        return False
    return True


def _conditions(prediction: StepPrediction, name: str, *, whole: bool) -> tuple[str, ...]:
    """The conditions that forbid diffs where ``whole`` documents are due; those that may have been taken as broken."""
    if not whole:
        return CHAIN, SIZE
    change = next((row.change.columns[name] for row in prediction.rows if name in row.change.columns), None)
    if change is None or "eligible/no" in change.rules:
        return (CHAIN,)
    return (OPTION,) if change.diffs is None else (SIZE,)
