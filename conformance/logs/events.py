"""The events of one input of a command, or of a part of it, with errors and notes for the user, and progress."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from conformance.console import narrate, progress
from conformance.logs.inputs import STDIN, opened
from conformance.logs.refusals import check_start, refused, tell_unread
from conformance.logs.remote import RemoteName
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.plain_log import plain_log
from conformance.reference.binlog.start_position import read_from
from conformance.reference.errors import CodecError
from conformance.user_errors import InputCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.logs.parts import Part
    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import Dialect
    from conformance.reference.encryption.keyring import Keyring

_BIG: Final = 32 << 20  # files of this size and above get a progress display
_OFTEN: Final = 2048  # events between two progress updates


def log_reader(
    *, expand: bool = True, dialect: Dialect | None = None, limit: int | None = None, unread: UnreadEvents | None = None
) -> FileReader:
    """A reader of one file.

    ``dialect``: the writer's dialect, if it is not what the file's own version says. ``limit``: the most bytes that a
    compressed transaction may have; without one, the bounds of :mod:`conformance.reference.binlog.unfolding`.
    ``unread``: what takes the events that nobody reads, and is told at the end of all logs; without it, the first that
    may not be passed over ends the reading.
    """
    from conformance.requirements.reading import rules_in, rules_of

    reader = FileReader(
        expand=expand, limit=limit, rules_for=rules_of if dialect is None else lambda _: rules_in(dialect)
    )
    reader.decoder.unread = UnreadEvents(stops=True) if unread is None else unread
    return reader


def read_log(
    path: str,
    *,
    expand: bool = True,
    dialect: Dialect | None = None,
    limit: int | None = None,
    start: int = 0,
    reader: FileReader | None = None,
    keyring: Keyring | None = None,
    part: Part | None = None,
) -> Iterator[Event]:
    """The events of one file. Damage ends it with :class:`InputCorrupt`, a file that is no log with :class:`Usage`.

    ``start``: the position of the first event behind the FORMAT_DESCRIPTION. ``reader``: a reader from
    :func:`log_reader`, whose caller tells what it did not read; without one, ``expand``, ``dialect`` and ``limit`` are
    given to that function. ``keyring``: the master keys of encrypted files. ``part``: the part of the file to read;
    notes on the file are printed with its last part only.
    """
    own = UnreadEvents(stops=True) if reader is None else None
    reader = reader or log_reader(expand=expand, dialect=dialect, limit=limit, unread=own)
    if reader.decoder.unread is not None:
        reader.decoder.unread.source = path
    with ExitStack() as stack:
        raw = stack.enter_context(opened(path))
        show = stack.enter_context(_position(path))
        try:
            file = raw if isinstance(path, RemoteName) else plain_log(raw, keyring)
            events = read_from(file, start, reader=reader) if part is None else _part(file, start, reader, part)
            if show is None:
                yield from events
            else:
                for number, event in enumerate(events):
                    if not number % _OFTEN:
                        show(reader.position)
                    yield event
        except CodecError as error:
            if start > len(MAGIC) and reader.position == start:
                check_start(path, start)
            raise refused(path, error, reader.position) from error
        except OSError as problem:
            raise InputCorrupt(f"{path}: reading stopped at offset {reader.position}: {problem.strerror}") from problem
        except KeyboardInterrupt:
            if not (isinstance(path, RemoteName) and path.waits):
                raise
            path.following = None
            narrate(f"{path}: stopped at offset {reader.position}")
            return
    if start > len(MAGIC) and reader.position == start:
        check_start(path, start)
    for note in reader.notes if part is None or part.stop is None else ():
        narrate(f"{path}: {note.message} (offset {note.position})")
    if own is not None:
        tell_unread(own)


def give_events(
    path: str, take: Callable[[Event], object], *, reader: FileReader, keyring: Keyring | None = None
) -> None:
    """Give each event of a file to ``take``; one that it cannot read ends the file as damage does."""
    for event in read_log(path, reader=reader, keyring=keyring):
        try:
            take(event)
        except CodecError as problem:
            raise refused(path, event.located(problem), event.position) from problem


def _part(file: BinaryIO, start: int, reader: FileReader, part: Part) -> Iterator[Event]:
    from conformance.logs.part_events import part_events

    if part.start is None:
        assert part.stop is not None, "a whole file is no part"
        yield from read_from(cast("BinaryIO", _Beginning(file, part.stop, reader)), start, reader=reader)
    else:
        yield from part_events(reader, file, part)
        reader.finish()


class BesideEventsError(Exception):
    """No event begins at the end of a part, if the file is read from the given position on."""


class _Beginning:
    """The bytes of a file up to ``stop``. Raises :class:`BesideEventsError` if no event ends exactly there."""

    def __init__(self, file: BinaryIO, stop: int, reader: FileReader) -> None:
        self._file, self._stop, self._reader = file, stop, reader
        self.seekable, self.seek = file.seekable, file.seek

    def read(self, size: int) -> bytes:
        """Read up to this number of bytes."""
        data = self._file.read(min(size, max(0, self._stop - self._file.tell())))
        if not data and self._reader.position != self._stop:
            raise BesideEventsError
        return data


@contextmanager
def _position(path: str) -> Iterator[Callable[[int], None] | None]:
    """A function that takes positions and shows the progress in a large file, unless data go to the terminal."""
    size = 0 if path == STDIN or isinstance(path, RemoteName) else Path(path).stat().st_size
    if size < _BIG or not sys.stderr.isatty() or sys.stdout.isatty():
        yield None
        return
    from conformance.stream import Progress

    with progress() as sink:
        yield lambda position: sink(Progress(label=path, done=position, total=size, unit="B"))
        sink(Progress(label=path, done=size, total=size, unit="B"))
