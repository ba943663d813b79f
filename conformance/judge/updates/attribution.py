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
    from collections.abc import Callable, Iterable, Sequence

    from conformance.cases.predict import StepPrediction
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.rows import Row

LOG: Final = "FR1"  # the choice, and everything else in the log
OPTION, CHAIN, SIZE, BEFORE_IMAGE, BYTES = "D2", "D5", "D6", "D7", "F3"
ALL: Final = (LOG, OPTION, CHAIN, SIZE, BEFORE_IMAGE, BYTES)
UNREADABLE: Final = (LOG, BYTES)
UPDATES: Final = frozenset((EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS))
_OF_TABLES: Final = frozenset((*ROWS_TYPES, EventType.TABLE_MAP))
_NAMES: Final = frozenset(map(event_name, _OF_TABLES))


def of_types(expected: Sequence[int], got: Sequence[int], is_update: Callable[[int], bool]) -> tuple[str, ...]:
    """A transaction with other events. In place of an update another one may stand that can be read, as without the
    option; or an event of a type that it may not have, or that its bytes do not fit. ``is_update``: whether the event
    at this place is an update that can be read."""
    if len(expected) != len(got):
        return (LOG,)
    pairs = enumerate(zip(expected, got, strict=True))
    instead = [place for place, (ours, theirs) in pairs if ours != theirs and ours in UPDATES]
    if not instead:
        return (LOG,)
    return (LOG, OPTION) if all(map(is_update, instead)) else (LOG, BYTES)


def is_update(event: Event) -> bool:
    """Whether the rows of an UPDATE can be read, and hold documents where documents are due."""
    try:
        body = event.typed().body
    except CodecError:
        return False
    if not isinstance(body, RowsBody) or body.type not in UPDATES:
        return False
    return not any(_has_no_document(row, body) or _has_no_new_document(row, body) for row in body.rows)


def of_rule(field: str, kinds: Iterable[str]) -> tuple[str, ...]:
    """A field whose rule is broken in events of these names. Nobody can read rows without their TABLE_MAP."""
    if field.endswith("_ROWS_EVENT.table_id"):
        return UNREADABLE
    found = {BYTES if kind in _NAMES else LOG for kind in kinds}
    return tuple(name for name in ALL if name in found)


def of_event(
    prediction: StepPrediction | None, expected: object, observed: Event | None, names: Sequence[str]
) -> tuple[str, ...]:
    """An event with other bytes. ``names``: the table's column names."""
    if observed is None:
        return UNREADABLE
    if not isinstance(expected, RowsBody | TableMap):
        return (LOG,)
    try:
        got = observed.typed().body
        found = {BYTES}
        if prediction is not None and isinstance(expected, RowsBody) and isinstance(got, RowsBody):
            for wanted, row in zip(expected.rows, got.rows, strict=False):
                found |= _of_row(prediction, wanted, row, expected, got, names)
    except CodecError:
        return UNREADABLE
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
    return any(not _is_document(value) for value in _documents(row.before, body.before_columns, body))


def _has_no_new_document(row: Row, body: RowsBody) -> bool:
    """Whether a JSON column of the after-image has neither diffs nor a document."""
    values = _documents(row.after, body.after_columns, body)
    return any(not isinstance(value, PartialJson) and not _is_document(value) for value in values)


def _documents(image: Sequence[object] | None, present: int | None, body: RowsBody) -> list[object]:
    """The values of the JSON columns in an image that are not NULL."""
    columns, documents = included(present or 0, body.column_count), body.map().json_columns
    values = zip(columns, image or (), strict=False)
    return [value for index, value in values if index in documents and value is not None]


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
