"""The form in which an update stands in the log, in few words.

There is one word per row, or per statement:

* ``none`` (nothing logged), ``query`` (as a statement);
* ``full`` (UPDATE_ROWS), ``full-v1`` (its version 1);
* ``partial``, ``empty``, ``whole``: PARTIAL_UPDATE_ROWS with diffs, with an empty list of diffs, or with the whole
  document;
* ``none-json`` (PARTIAL_UPDATE_ROWS whose after-image has no JSON column).

``headless`` stands in front of the words of a PARTIAL_UPDATE_ROWS that lacks the length of extra data, as events of
version 1 do: no reader takes it. Its own length counts the two bytes that it lacks. So it takes the first two of the
next event, and nothing behind it can be read (observed on 8.0.45). ``bogus log``: the server that wrote the events does
not send them, because it cannot read them itself (that event, observed on 8.0.45).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, checksum_of, kind_of
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, RowsBody, included
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterable


BOGUS: Final = "bogus log"
_EXTRA: Final = HEADER_SIZE + 8  # where the length of extra data stands, behind table id and flags
_NO_EXTRA: Final = b"\x02\x00"  # it counts itself


def form_of(events: Iterable[bytes]) -> str:
    """The form of what these events log."""
    forms: list[str] = []
    events = list(events)
    for _, event, error in iter_events(events):
        if event is None:
            place = next(filter(lambda place: _lacks_head(events[place]), range(len(events))), None)
            if place is None:
                return f"unreadable: {error}"
            found = form_of([*events[:place], _with_head(events[place])])
            return f"unreadable: {error}" if found.startswith("unreadable") else f"headless {found}"
        body = event.body
        if isinstance(body, Query) and body.text not in (b"BEGIN", b"COMMIT"):
            forms.append("query")
        elif isinstance(body, RowsBody):
            forms += row_forms(body)
    return ", ".join(forms) or "none"


def _lacks_head(raw: bytes) -> bool:
    return kind_of(raw) == EventType.PARTIAL_UPDATE_ROWS and raw[_EXTRA : _EXTRA + 2] != _NO_EXTRA


def _with_head(raw: bytes) -> bytes:
    """The event with an empty length of extra data, and without the bytes of the next event."""
    out = raw[:_EXTRA] + _NO_EXTRA + raw[_EXTRA : -FOOTER_SIZE - len(_NO_EXTRA)]
    return out + checksum_of(out).to_bytes(FOOTER_SIZE, "little")


def row_forms(body: RowsBody) -> list[str]:
    """The forms of the updates in one event; none for an event of another kind."""
    if body.type == EventType.UPDATE_ROWS:
        return ["full"]
    if body.type == EventType.UPDATE_ROWS_V1:
        return ["full-v1"]
    return [_row_form(body, row) for row in body.rows] if body.type == EventType.PARTIAL_UPDATE_ROWS else []


def _row_form(body: RowsBody, row: Row) -> str:
    if any(isinstance(value, PartialJson) for value in row.before or ()):
        return "diffs in a before-image"
    json_columns = body.map().json_columns
    columns = included(body.after_columns or 0, body.column_count)
    values = [value for index, value in zip(columns, row.after or (), strict=True) if index in json_columns]
    if not values:
        return "none-json"
    if any(isinstance(value, PartialJson) and value.diffs for value in values):
        return "partial"
    return "empty" if any(isinstance(value, PartialJson) for value in values) else "whole"
