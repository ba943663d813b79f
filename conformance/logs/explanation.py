"""Annotated hex of a binary log: every byte with its field and meaning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.console import Output, narrate
from conformance.keyring_file import read_keyring
from conformance.logs.inputs import STDIN, check_files, whole_file
from conformance.logs.refusals import refused, tell_unread
from conformance.logs.remote import RemoteName, ending_well, followed
from conformance.logs.selection import NOTHING_LEFT_OUT, check_names
from conformance.logs.spools import SortedSpool, TupleSpool
from conformance.messages import counted
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.text.event_filter import Choice, EventFilter
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.files import EventDecoder
    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.errors import CodecError
    from conformance.reference.tables.table_map import TableMap
    from conformance.reference.text.annotated_hex import Span
    from conformance.reference.text.event_filter import Selection

_ROW: Final = 16  # bytes on a line
_WHOLE: Final = 256  # of a longer value only the beginning is shown
_BEGINNING: Final = 64


def explain(file: str, position: int | None, selection: Selection, *, keyring: Path | None, limit: int | None) -> None:
    """Print the bytes of the events that are selected; with ``position`` those of one event."""
    check_files([file])
    if file != STDIN and not isinstance(file, RemoteName) and not Path(file).is_file():
        raise Usage(f"{file}: not a file whose size is known, which explain needs")
    keys = read_keyring(keyring)
    output, waits = Output(), followed([file])
    shown = 0
    unread = UnreadEvents()
    chosen = EventFilter(selection)
    try:
        with ending_well([file]):
            for lines in _explained(file, position, selection, chosen, keys, limit, unread):
                shown += 1
                for line in lines:
                    output.write(line.encode("utf-8", "backslashreplace") + b"\n")
                if waits:
                    output.flush()
    except KeyboardInterrupt:
        if not waits:
            raise
    finally:
        output.flush()
        if shown or position is None:
            narrate(f"{counted(shown, 'event')} explained")
    if not shown and position is not None:
        raise Usage(f"{file}: there is no event at offset {position}")
    tell_unread(unread)
    if position is None:
        check_names(selection, chosen.met)


def _explained(
    path: str,
    position: int | None,
    selection: Selection,
    chosen: EventFilter,
    keyring: Keyring | None,
    limit: int | None,
    unread: UnreadEvents,
) -> Iterator[Iterator[str]]:
    """The lines of each event that the command prints; they must be taken before the next event."""
    from conformance.reference.binlog.files import EventDecoder
    from conformance.reference.binlog.header import FOOTER_SIZE, Checksum
    from conformance.reference.errors import CodecError

    decoder = EventDecoder(verify=False, limit=limit)
    decoder.unread = unread
    unread.source = path
    explanation = Explanation()
    chosen.start_file(last=True)
    filtered = selection != replace(NOTHING_LEFT_OUT, start_position=selection.start_position)
    for start, data in _frames(path, keyring):
        try:
            decoder.check_encrypted()
        except CodecError as error:
            raise refused(path, error.at(f"event@{start}", start), start) from error
        wanted = position is None or start <= position < start + len(data)
        wanted = wanted and start >= selection.start_position
        footer = FOOTER_SIZE if decoder.algorithm == Checksum.CRC32 else 0
        tables = dict(decoder.tables) if wanted else {}  # as they are before the event: a TABLE_MAP is kept
        choice = Choice.PRINTED
        event = problem = None
        if wanted and not filtered:
            problem = explanation.read(data, tables, footer)  # ends before the event is decoded, which takes memory too
        try:
            event = decoder.decode(data, start)
        except CodecError as error:
            problem = problem or error
        else:
            choice = chosen.choose(event)
        if choice is Choice.STOP:
            return
        wanted = wanted and choice is Choice.PRINTED
        if wanted and filtered:
            problem = explanation.read(data, tables, footer) or problem
        if wanted:
            yield explanation.lines(f"event at {start}: {_title(data)}", data, start, "")
        if problem is not None:
            raise refused(path, problem.at(f"event@{start}", start), start)
        if event is not None:
            try:
                yield from _inner(decoder, event, chosen, explanation if wanted else None, filtered=filtered)
            except CodecError as error:
                error.offset = start
                raise refused(path, error.at(f"event@{start}"), start) from error
        if position is not None and wanted:
            return


def _inner(
    decoder: EventDecoder, event: Event, chosen: EventFilter, explanation: Explanation | None, *, filtered: bool
) -> Iterator[Iterator[str]]:
    """The events of a compressed transaction. They are decoded even if not printed, for their TABLE_MAPs."""
    from conformance.reference.binlog.payload import TransactionPayload

    if not isinstance(event.body, TransactionPayload):
        return
    for frame in event.body.inner_frames(decoder.limit):
        data = frame.data
        tables = {} if explanation is None else dict(decoder.tables)
        problem = None
        if explanation is not None and not filtered:
            problem = explanation.read(data, tables, 0)
        choice = chosen.choose(decoder.inner_event(frame))
        if explanation is not None and choice is Choice.PRINTED:
            if filtered:
                problem = explanation.read(data, tables, 0)
            yield explanation.lines(f"event inside, at +{frame.start}: {_title(data)}", data, frame.start, "+")
            if problem is not None:
                raise problem


def _frames(path: str, keyring: Keyring | None) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each event, from the headers alone."""
    from conformance.reference.binlog.header import ENCRYPTED_MAGIC, HEADER_SIZE, MAGIC
    from conformance.reference.errors import Unsupported

    with whole_file(path, keyring) as (file, size):
        magic = file.read(len(MAGIC))
        if magic == ENCRYPTED_MAGIC:
            raise refused(path, Unsupported("encrypted", "the binary log is encrypted", offset=0))
        if magic != MAGIC:
            raise Usage(f"{path}: not a binary log")
        start = len(MAGIC)
        open_file = False
        if size <= start:
            raise InputCorrupt(f"{path}: the log ends before its first event")
        while head := file.read(HEADER_SIZE):
            length = int.from_bytes(head[9:13], "little")
            if len(head) == HEADER_SIZE and not any(head):
                narrate(f"{path}: zeros after the last event (offset {start})")
                return
            if len(head) == HEADER_SIZE and length < HEADER_SIZE:
                raise InputCorrupt(f"{path}: an event of {length} bytes at offset {start}")
            left = size - start
            rest = file.read(length - HEADER_SIZE) if HEADER_SIZE <= length <= left else b""
            if start == len(MAGIC):
                open_file = bool(len(head) == HEADER_SIZE and head[17] & 1)
            if left < max(length, HEADER_SIZE):
                words = f"{path}: the last event is cut off at offset {start}"
                if not open_file:
                    raise InputCorrupt(f"{words}, expected {length} bytes, got {left}")
                narrate(f"{words}; the file was not closed")
                return
            yield start, head + rest
            start += length
        if open_file:
            narrate(f"{path}: the file was not closed")


def _title(data: bytes) -> str:
    from conformance.reference.event_types import event_name

    return f"{event_name(data[4])}, {len(data)} bytes"


class Explanation:
    """The spans of one event after another. They wait until the widest name of a field is known."""

    def __init__(self) -> None:
        self._spool = TupleSpool()
        self._width = 0

    def read(self, data: bytes, tables: Mapping[int, TableMap], footer: int) -> CodecError | None:
        """Explain an event; returns its damage. The lines of the event before are dropped, if nobody took them."""
        from conformance.reference.jsonb.spans import bounds_of
        from conformance.reference.text.annotated_hex import write_spans

        self._spool, self._width = TupleSpool(), 0
        return write_spans(data, tables, footer, self._add, lambda: SortedSpool(bounds_of))

    def _add(self, span: Span) -> None:
        self._width = max(self._width, len(span.field))
        self._spool.add((span.offset, len(span.data), span.field, span.meaning))

    def lines(self, title: str, data: bytes, base: int, sign: str) -> Iterator[str]:
        """The lines of the event that was read last, which is ``data``."""
        yield title
        for offset, length, field, meaning in self._spool.take():
            yield from _lines(data[offset : offset + length], base + offset, sign, field.ljust(self._width), meaning)
        yield ""


def _lines(data: bytes, start: int, sign: str, field: str, meaning: str) -> Iterator[str]:
    """The lines of one span."""
    shown = data if len(data) <= _WHOLE else data[:_BEGINNING]
    pieces = [shown[place : place + _ROW] for place in range(0, len(shown), _ROW)] or [b""]
    first = f"{sign}{start}"
    yield f"{first:>10}  {pieces[0].hex():<32}  {field}  {_one_line(meaning)}".rstrip()
    for number, piece in enumerate(pieces[1:], 1):
        place = f"{sign}{start + number * _ROW}"
        yield f"{place:>10}  {piece.hex()}"
    if len(shown) < len(data):
        yield f"{'':>10}  and {len(data) - len(shown)} bytes more"


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r")
