"""Common parts of experiments with altered TABLE_MAP events: the log that has them, and a client's text of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from conformance.checks.table_metadata.definitions import head_of
from conformance.reference.text.table_metadata import metadata_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.checks.table_metadata.run import DefinitionLog
    from conformance.reference.tables.table_map import TableMap

NEXT: Final = b"# at "  # what the client prints behind an event
_AROUND: Final = 100


class Altered(Protocol):
    """The TABLE_MAP as the server wrote it, its fields, the event in its place, and the rows behind it."""

    @property
    def written(self) -> bytes: ...
    @property
    def plain(self) -> TableMap: ...
    @property
    def event(self) -> bytes: ...
    @property
    def rows(self) -> bytes: ...


Map = TypeVar("Map", bound=Altered)


def file_of(log: DefinitionLog, made: Iterable[Altered]) -> bytes:
    """The log of the inserts with these events in the place of the server's."""
    instead = {one.written: one.event for one in made}
    last = max(log.captured.events.index(one.rows) for one in made)
    events = tuple(instead.get(event, event) for event in log.captured.events[: last + 2])
    return replace(log.captured, events=events).file_bytes()


def other_texts(made: Iterable[Map], text: bytes) -> Iterator[tuple[Map, bytes, bytes, int]]:
    """The events of which the client does not print what it prints of the plain one: with the expected text, the text
    that is shown, and its place; -1: the client does not show the table."""
    place = 0
    for one in made:
        head = head_of(one.plain)
        start = text.find(head, place)
        place = place if start < 0 else start + len(head)
        expected = metadata_text(one.plain)
        if start < 0:
            yield one, expected, b"not there", -1
        elif not text.startswith(expected + NEXT, place):
            yield one, expected, text[place : place + len(expected) + _AROUND], place
