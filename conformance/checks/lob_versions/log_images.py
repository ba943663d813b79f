"""The documents of each row change in the binary log: whole ones, and those that the reference's applier makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.judge.updates.events import readable_events
from conformance.reference.binlog.rows import ROWS_TYPES, RowsBody
from conformance.reference.dialect import SOURCE
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.binlog.images import Image

Documents = dict[str, bytes]
_COLUMNS = {1: "j", 2: "k"}  # by place in the table


class LoggedChange(NamedTuple):
    """One row change: ``before`` is None for an insert. ``partial``: diffs were applied to make ``after``."""

    table: str
    id: int
    before: Documents | None
    after: Documents
    partial: bool


def logged_changes(events: Iterable[bytes], thread: int) -> Iterator[LoggedChange]:
    """The row changes of a session, in order. The log has FULL images. Raises for an event that cannot be read."""
    for _, event in readable_events(groups_of_thread(events, thread)):
        if not isinstance(event.body, RowsBody) or event.body.type not in ROWS_TYPES:
            continue
        for row in event.body.rows:
            assert row.after is not None
            before = None if row.before is None else _documents(row.before)
            partial = any(isinstance(value, PartialJson) for value in row.after)
            key = row.after[0]
            assert isinstance(key, int)
            yield LoggedChange(event.body.map().table, key, before, _documents(row.after, before), partial)


def _documents(image: Image, before: Documents | None = None) -> Documents:
    found: Documents = {}
    for place, name in _COLUMNS.items():
        value = image[place]
        if isinstance(value, PartialJson):
            assert before is not None
            value = apply_field(before[name], value.diffs, SOURCE)
        assert isinstance(value, bytes)
        found[name] = value
    return found
