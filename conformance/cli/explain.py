"""``binlog-lab explain``: annotated hex of a binary log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.console import InputCorrupt, Output, Usage, narrate
from conformance.cli.encryption import keyring_option, read_keyring
from conformance.cli.filters import filter_options
from conformance.cli.logs import MAX_UNCOMPRESSED, STDIN, check_files, refused, whole_file
from conformance.reference.text.event_filter import Choice, EventFilter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.files import EventDecoder
    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.errors import CodecError
    from conformance.reference.text.annotated_hex import Span
    from conformance.reference.text.event_filter import Selection

_ROW: Final = 16  # bytes on a line
_WHOLE: Final = 256  # of a longer value only the beginning is shown
_BEGINNING: Final = 64


@click.command(name="explain")
@click.argument("file", metavar="FILE")
@click.option("--at", "position", type=click.IntRange(min=0), metavar="POS", help="Only the event at this offset.")
@filter_options
@keyring_option
@MAX_UNCOMPRESSED
def command(file: str, position: int | None, selection: Selection, keyring: Path | None, limit: int) -> None:
    """Print every byte of a binary log with its field and meaning: offset, bytes, field, meaning.

    The events of a compressed transaction follow its payload event, with offsets (+N) in the uncompressed bytes. Of a
    value of more than 256 bytes only the beginning is shown. FILE may be - for standard input. The command reads the
    file from its beginning, also for the options that leave events out.
    """
    check_files([file])
    if file != STDIN and not Path(file).is_file():
        raise Usage(f"{file}: not a file whose size is known, which explain needs")
    keys = read_keyring(keyring)
    output = Output()
    shown = 0
    try:
        for lines in _explained(file, position, selection, keys, limit):
            shown += 1
            output.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))
    finally:
        output.flush()
        if shown or position is None:
            narrate(f"{shown} event{'' if shown == 1 else 's'} explained")
    if not shown and position is not None:
        raise Usage(f"{file}: there is no event at offset {position}")


def _explained(
    path: str, position: int | None, selection: Selection, keyring: Keyring | None, limit: int
) -> Iterator[list[str]]:
    """The lines of each event that the command prints."""
    from conformance.reference.binlog.files import EventDecoder
    from conformance.reference.binlog.header import FOOTER_SIZE, Checksum
    from conformance.reference.errors import CodecError, DecodeError
    from conformance.reference.text.annotated_hex import explain_event

    decoder = EventDecoder(verify=False, limit=limit)
    chosen = EventFilter(selection)
    chosen.start_file(last=True)
    for start, data in _frames(path, keyring):
        wanted = position is None or start <= position < start + len(data)
        wanted = wanted and start >= selection.start_position
        footer = FOOTER_SIZE if decoder.algorithm == Checksum.CRC32 else 0
        problem: CodecError | None = None
        spans: list[Span] = []
        event = None
        try:
            event = decoder.decode(data, start)
        except CodecError as error:
            problem = error
        choice = Choice.PRINTED if event is None else chosen.choose(event)
        if choice is Choice.STOP:
            return
        wanted = wanted and choice is Choice.PRINTED
        if wanted:
            spans, first_problem = explain_event(data, decoder.tables, footer)
            problem = first_problem or problem
        if wanted:
            yield [f"event at {start}: {_title(data)}", *_lines(spans, start, ""), ""]
        if problem is not None:
            raise refused(path, problem.at(f"event@{start}", start))
        if event is not None:
            try:
                yield from _inner(decoder, event, chosen if wanted else None)
            except DecodeError as error:
                error.offset = start
                raise refused(path, error.at(f"event@{start}")) from error
        if position is not None and wanted:
            return


def _inner(decoder: EventDecoder, event: Event, chosen: EventFilter | None) -> Iterator[list[str]]:
    """The events of a compressed transaction. They are decoded even if not printed, for their TABLE_MAPs."""
    from conformance.reference.binlog.payload import TransactionPayload
    from conformance.reference.text.annotated_hex import explain_event

    if not isinstance(event.body, TransactionPayload):
        return
    data = event.body.uncompressed(decoder.limit)
    start = 0
    for inner in decoder.inner_events(event):
        raw = data[start : start + inner.header.length]
        if chosen is not None and chosen.choose(inner) is Choice.PRINTED:
            spans, problem = explain_event(raw, decoder.tables, 0)
            yield [f"event inside, at +{start}: {_title(raw)}", *_lines(spans, start, "+"), ""]
            if problem is not None:
                raise problem
        start += inner.header.length


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


def _lines(spans: list[Span], base: int, sign: str) -> Iterator[str]:
    width = max((len(span.field) for span in spans), default=0)
    for span in spans:
        data = span.data if len(span.data) <= _WHOLE else span.data[:_BEGINNING]
        pieces = [data[place : place + _ROW] for place in range(0, len(data), _ROW)] or [b""]
        first = f"{sign}{base + span.offset}"
        yield f"{first:>10}  {pieces[0].hex():<32}  {span.field:<{width}}  {_one_line(span.meaning)}".rstrip()
        for number, piece in enumerate(pieces[1:], 1):
            place = f"{sign}{base + span.offset + number * _ROW}"
            yield f"{place:>10}  {piece.hex()}"
        if len(data) < len(span.data):
            yield f"{'':>10}  and {len(span.data) - len(data)} bytes more"


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r")
