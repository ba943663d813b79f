"""A decoder without a fault, from the reference, with places where faults go in."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.binlog.event import Event

    Change = dict[str, Any]


def events_of(path: str) -> Iterator[Event]:
    """The events of a log; damage raises."""
    with Path(path).open("rb") as file:
        yield from read_events(file, reader=FileReader(expand=True, rules_for=rules_of))


def read(path: str, keep: Callable[[Event], bool], *, tagged: bool) -> Iterator[Change]:
    """The changes of the events that ``keep`` lets through."""
    writer = RowChanges(tagged=tagged)
    for event in events_of(path):
        if keep(event):
            for line in writer.event(event):
                yield parse(line)


def parse(line: str) -> Change:
    """The change of a line."""
    found: Change = json.loads(line, parse_int=_whole, parse_float=_fraction)
    return found


def _whole(text: str) -> int | str:
    return text if text == "-0" else int(text)


def _fraction(text: str) -> float | str:
    """A double, or the text of a number that is none: a DECIMAL."""
    return float(text) if Decimal(repr(float(text))) == Decimal(text) else text


class Reader:
    """A subject: ``change`` alters each change, ``value`` each value of a column, ``keep`` chooses events."""

    capabilities: tuple[str, ...] = ("file", "types")
    tagged = True

    def hello(self) -> dict[str, Any]:
        """Introduce the subject."""
        return {"name": type(self).__name__, "version": "1", "capabilities": self.capabilities}

    def decode(self, path: str) -> Iterator[Change]:
        """The changes of a log, with the fault."""
        for change in read(path, self.keep, tagged=self.tagged):
            for image in ("before", "after"):
                if change[image] is not None:
                    change[image] = {name: self.value(value) for name, value in change[image].items()}
            yield self.change(change)

    def keep(self, event: Event) -> bool:
        """Whether the subject reads the event."""
        return event is not None

    def value(self, value: Any) -> Any:
        """The value that the subject gives for a column's value."""
        return value

    def change(self, change: Change) -> Change:
        """The change that the subject gives."""
        return change
