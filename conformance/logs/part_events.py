"""The events of a part and its problems: no content of a file raises, blocks, or is silently skipped.

What damage costs depends on the file alone, and not on how it was cut: reading goes on at the next place of
:func:`~conformance.logs.parts.starts_of`.
"""

from __future__ import annotations

import os
from io import SEEK_END
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from conformance.logs.parts import starts_of
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.binlog.files import WINDOW, FileReader
from conformance.reference.binlog.header import HEADER, HEADER_SIZE, LENGTH_AND_POSITION, MAGIC, Flag, checksum_of
from conformance.reference.binlog.plain_log import plain_log
from conformance.reference.boundaries.observed_event import GTID_TYPES
from conformance.reference.boundaries.reader import file_footer
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.requirements.reading import rules_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from conformance.logs.parts import Part
    from conformance.reference.binlog.event import Event
    from conformance.reference.encryption.keyring import Keyring

NO_LOG: Final = ("not-a-binlog", "not-a-file", "unreadable")  # codes of files that are no binary log at all
_FIRST: Final = frozenset(map(int, (*GTID_TYPES, EventType.QUERY)))  # every transaction with rows begins with one
_LENGTH: Final = slice(len(MAGIC) + 9, len(MAGIC) + 13)


class Problem(NamedTuple):
    """Damage, which costs the rest of its transactions, or (``note``) a fact about the file that a reader should know.

    ``code`` is the code of the decoder's error or note, or ``unreadable`` and ``not-a-file``; ``message`` has no file
    name. ``expected`` and ``got`` are the error's, as text.
    """

    code: str
    message: str
    position: int | None
    note: bool = False
    expected: str | None = None
    got: str | None = None


def read_part(
    part: Part,
    *,
    window: int = WINDOW,
    limit: int | None = None,
    keyring: Keyring | None = None,
    passes_unread: bool = False,
) -> Generator[Event | Problem]:
    """The events in order; those of compressed transactions follow their TRANSACTION_PAYLOAD.

    Every part reads the FORMAT_DESCRIPTION; only the first yields it. Damage costs the rest of its transactions up to
    the next place where a file may be cut, so that any cut gives the same. A caller that meets damage inside rows
    throws it into this generator. ``limit``: the most bytes of a compressed transaction, as :class:`FileReader` takes
    it. ``keyring``: opens an encrypted file, which is read as one part up to its first damage. ``passes_unread``:
    events of unknown types come as bytes, for those who want no content; else they are damage, unless they may be
    ignored.
    """
    if not _is_file(part.file):
        yield _no_file(part.file)
        return
    places: Iterator[int] | None = None
    left: Part | None = part
    while left is not None:
        reader = FileReader(expand=True, limit=limit, rules_for=rules_of)
        reader.decoder.unread = None if passes_unread else UnreadEvents(stops=True)
        given: Event | None = None
        damage: Problem | None = None
        encrypted = False
        try:
            with Path(left.file).open("rb") as log:
                plain = log if left.start is not None else plain_log(log, keyring)
                encrypted = plain is not log
                for event in part_events(reader, plain, left, window):
                    if event.header.type in _FIRST and event.inner is None:
                        reader.decoder.forget_tables()  # no part reads those of earlier transactions
                    given = event
                    yield event
                    given = None
                reader.finish()
        except CodecError as error:
            damage = problem_of(error, reader.position if given is None else given.position)
            yield damage
        except OSError as problem:
            yield Problem("unreadable", problem.strerror or str(problem), reader.position)
        for note in reader.notes:
            if left.start is None or note.code != "in-use":  # a note on the whole file: the first part has it
                yield Problem(note.code, note.message, note.position, note=True)
        if damage is None or encrypted:
            return
        places = starts_of(part.file) if places is None else places
        left = _behind(part, damage.position or 0, places)


def holds_together(part: Part, window: int = WINDOW) -> bool:
    """Whether the headers of a part lead from event to event to its end, and every checksum is right.

    A first look, which decodes nothing, for readers that want no row of a damaged part. Of a relay log or an encrypted
    file it finds nothing.
    """
    try:
        with Path(part.file).open("rb") as log:
            footer = file_footer(log)
            if _relays(log):
                return True
            size = log.seek(0, SEEK_END)
            position = log.seek(len(MAGIC) if part.start is None else part.start)
            stop = size if part.stop is None else part.stop
            data, pos = b"", 0
            while position < stop:
                if len(data) - pos < HEADER_SIZE:
                    data, pos = data[pos:] + log.read(window), 0
                    if len(data) < HEADER_SIZE:
                        return False
                length, _ = LENGTH_AND_POSITION(data, pos)
                if length < HEADER_SIZE + footer or position + length > stop:
                    return False
                if length > len(data) - pos:
                    data, pos = data[pos:] + log.read(max(window, length)), 0
                body = memoryview(data)[pos : pos + length - footer]
                if footer and checksum_of(body) != int.from_bytes(data[pos + length - footer : pos + length], "little"):
                    return False
                pos += length
                position += length
    except (CodecError, OSError):
        return True  # the reader says what it is
    return True


def _relays(log: BinaryIO) -> bool:
    """Whether each FORMAT_DESCRIPTION of a file holds for the events behind it only."""
    log.seek(len(MAGIC))
    return bool(HEADER.unpack_from(log.read(HEADER_SIZE))[5] & Flag.RELAY_LOG)


def _is_file(file: str) -> bool:
    try:
        return S_ISREG(os.stat(file).st_mode)  # noqa: PTH116 - opening a pipe would wait for a writer
    except OSError:
        return False


def _no_file(file: str) -> Problem:
    try:
        os.stat(file)  # noqa: PTH116 - as above
    except OSError as problem:
        return Problem("unreadable", problem.strerror or str(problem), 0)
    return Problem("not-a-file", "not a regular file", None)


def _behind(part: Part, position: int, places: Iterator[int]) -> Part | None:
    """The rest of a part that can be read behind damage at ``position``, or ``None``. ``places`` is at or before it,
    and goes on."""
    start = next((place for place in places if place > position), None)
    if start is None or (part.stop is not None and start >= part.stop):
        return None
    return part._replace(start=start)


def problem_of(error: CodecError, position: int | None) -> Problem:
    """The problem for an error of the decoder. Offsets of errors in a file are positions in it."""
    expected, got = (None if value is None else str(value) for value in (error.expected, error.got))
    return Problem(error.code, str(error), position, expected=expected, got=got)


def part_events(reader: FileReader, log: BinaryIO, part: Part, window: int = WINDOW) -> Iterator[Event]:
    """The events of a part. A reader of the part before goes on; another one reads the FORMAT_DESCRIPTION first."""
    if part.start is not None:
        if reader.format is None:
            head = log.read(len(MAGIC) + HEADER_SIZE)
            length = int.from_bytes(head[_LENGTH], "little")
            reader.feed(head + log.read(max(0, min(length, window) - HEADER_SIZE)))
            for _ in reader.events():
                pass
        log.seek(part.start)
        reader.skip_to(part.start)
    left = part.stop
    while data := log.read(window if left is None else min(window, left - log.tell())):
        reader.feed(data)
        yield from reader.events()
