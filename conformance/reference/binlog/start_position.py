"""Reading a file from a position on, as mysqlbinlog does (mysqlbinlog-output 8).

The FORMAT_DESCRIPTION is needed all the same. The client looks for it up to the start, and no further than the first
event that is not of the file's frame: the last one that it meets is printed before the events from the start on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

from conformance.reference.binlog.files import WINDOW, FileReader, read_events
from conformance.reference.binlog.header import MAGIC
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event

_FRAME: Final = frozenset((EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.ROTATE))


def read_from(file: BinaryIO, start: int, *, reader: FileReader, window: int = WINDOW) -> Iterator[Event]:
    """The FORMAT_DESCRIPTION in force at ``start``, and the events from there on.

    Its ``position`` is the one that the client prints: where the last event begins that was read to find it.
    """
    if start <= len(MAGIC):
        yield from read_events(file, reader=reader, window=window)
        return
    frame = FileReader(limit=reader.decoder.limit)
    frame.decoder = reader.decoder
    read = b""
    description = last = None
    kept = b""
    while not (last and _ends(last, frame, start)) and (data := file.read(window)):
        read += data
        frame.feed(data)
        for last in frame.events():
            if last.header.type == EventType.FORMAT_DESCRIPTION:
                description, kept = last, frame.decoder.event_bytes
            if _ends(last, frame, start):
                break
    if not (last and _ends(last, frame, start)):
        frame.finish()
    reader.in_use = frame.in_use
    reader.notes += frame.notes
    if description is not None and last is not None:
        frame.decoder.event_bytes = kept
        yield description._replace(position=last.position)
    place = max(start, frame.position)
    reader.skip_to(place)
    reader.feed(read[place:])
    _skip(file, place - len(read), window)
    yield from reader.events()
    yield from read_events(file, reader=reader, window=window)


def _ends(last: Event, frame: FileReader, start: int) -> bool:
    return frame.position >= start or last.header.type not in _FRAME


def _skip(file: BinaryIO, count: int, window: int) -> None:
    """Pass over bytes that nobody needs; a pipe cannot seek."""
    if count > 0 and file.seekable():
        file.seek(count, 1)
        return
    while count > 0 and (data := file.read(min(count, window))):
        count -= len(data)
