"""Logs through a replay: the events with their errors, and what is told at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.console import narrate, warn
from conformance.reference.binlog.rows import ROWS_TYPES
from conformance.reference.text.event_filter import Choice
from conformance.user_errors import InputCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.selection import SelectedLogs
    from conformance.reference.binlog.event import Event
    from conformance.reference.replay.engine import Replay


def replayed_events(logs: SelectedLogs, replay: Replay) -> Iterator[Event]:
    """The events of the logs, each replayed."""
    from conformance.reference.errors import CodecError

    for path, chosen in logs.each():
        for event, choice in chosen:
            if choice is not Choice.PRINTED:
                continue
            try:
                replay.event(event)
            except CodecError as error:
                raise InputCorrupt(f"{path}: {_placed(error, event)}") from error
            yield event


def close(open_changes: int, prepared: int, changes: int) -> None:
    """Tell what was applied at the end of the logs, and what was not."""
    if open_changes:
        warn(f"the input ends inside a transaction: {open_changes} row changes of it are not applied")
    if prepared:
        warn(f"not applied: {prepared} XA transactions that were prepared and never decided")
    narrate(f"{changes} row events applied")


def is_rows(event: Event) -> bool:
    """Whether this is an event with rows."""
    return event.header.type in ROWS_TYPES


def _placed(error: Exception, event: Event) -> str:
    """The error message with its position in the file: errors about an event's meaning have no offset of their own."""
    from conformance.reference.errors import CodecError

    assert isinstance(error, CodecError)
    return str(event.located(error))
