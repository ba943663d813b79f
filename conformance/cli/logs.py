"""Common parts of the commands that read binary log files: opening, errors with their exit codes, notes, progress."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import click

from conformance.cli.console import InputCorrupt, Usage, narrate, progress
from conformance.cli.remote_logs import RemoteLog, RemoteName
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.plain_log import DecryptedLog, plain_log
from conformance.reference.binlog.start_position import read_from
from conformance.reference.binlog.unfolding import DEFAULT_LIMIT
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import Dialect
    from conformance.reference.encryption.keyring import Keyring
    from scenarios.binlogs.parts import Part

STDIN: Final = "-"
_BIG: Final = 32 << 20  # files of this size and above get a progress display
_OFTEN: Final = 2048  # events between two progress updates
_IN_MEMORY: Final = 8 << 20
_ENDLESS: Final = 1 << 62


_GO_ON: Final = dict.fromkeys(
    ("payload-bomb", "payload-too-large"), "--max-uncompressed MB goes on up to so many megabytes, if the log is yours"
)


def check_files(paths: Sequence[str]) -> None:
    """Raise unless all files exist; called before anything is printed."""
    for path in paths:
        if path == STDIN or isinstance(path, RemoteName):
            continue
        if Path(path).is_dir():
            raise Usage(f"{path} is a directory", hint="give the binary log files themselves")
        with _open(path):
            pass


def _open(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem


MAX_UNCOMPRESSED: Final = click.option(
    "--max-uncompressed", "limit", type=click.IntRange(min=1), metavar="MB",
    callback=lambda _context, _option, megabytes: None if megabytes is None else megabytes << 20,
    help="Read compressed transactions of up to MB megabytes, whatever their ratio."
         f" [default: {DEFAULT_LIMIT >> 20}, and a bomb is refused]",
)  # fmt: skip


def log_reader(*, expand: bool = True, dialect: Dialect | None = None, limit: int | None = None) -> FileReader:
    """A reader of one file.

    ``dialect``: the writer's dialect, if it is not what the file's own version says. ``limit``: the most bytes that a
    compressed transaction may have; without one, the bounds of :mod:`conformance.reference.binlog.unfolding`.
    """
    from conformance.requirements.reading import rules_in, rules_of

    return FileReader(
        expand=expand, limit=limit, rules_for=rules_of if dialect is None else lambda _: rules_in(dialect)
    )


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

    ``start``: the position of the first event behind the FORMAT_DESCRIPTION. ``reader`` is one of :func:`log_reader`,
    whose parameters ``expand``, ``dialect`` and ``limit`` are. ``keyring``: the master keys of encrypted files.
    ``part``: the part of the file to read; only the last one tells the notes on the file.
    """
    reader = reader or log_reader(expand=expand, dialect=dialect, limit=limit)
    with ExitStack() as stack:
        raw = stack.enter_context(_opened(path))
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
            raise refused(path, error) from error
        except OSError as problem:
            raise InputCorrupt(f"{path}: reading stopped at offset {reader.position}: {problem.strerror}") from problem
        except KeyboardInterrupt:
            if not (isinstance(path, RemoteName) and path.waits):
                raise
            path.following = None
            narrate(f"{path}: stopped at offset {reader.position}")
            return
    for note in reader.notes if part is None or part.stop is None else ():
        narrate(f"{path}: {note.message} (offset {note.position})")


def _part(file: BinaryIO, start: int, reader: FileReader, part: Part) -> Iterator[Event]:
    from scenarios.binlogs.reading import part_events

    if part.start is None:
        assert part.stop is not None, "a whole file is no part"
        yield from read_from(cast("BinaryIO", _Beginning(file, part.stop, reader)), start, reader=reader)
    else:
        yield from part_events(reader, file, part)
        reader.finish()


class BesideEventsError(Exception):
    """Reading from the given position on does not come by the place where the file is cut: no event begins there."""


class _Beginning:
    """The bytes of a file up to a place, where its reader must be then."""

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
def _opened(path: str) -> Iterator[BinaryIO]:
    """The bytes behind a name: standard input, a server's log, or a file."""
    if path == STDIN:
        yield sys.stdin.buffer
    elif isinstance(path, RemoteName):
        with closing(RemoteLog(path)) as log:
            yield cast("BinaryIO", log)
    else:
        with _open(path) as file:
            yield file


def with_following(paths: Sequence[str]) -> Iterator[str]:
    """All paths, and the logs that a server began while the last of them was read."""
    yield from paths
    last = paths[-1] if paths else ""
    while isinstance(last, RemoteName) and (following := last.next_log()) is not None:
        last = following
        yield last


@contextmanager
def whole_file(path: str, keyring: Keyring | None) -> Iterator[tuple[BinaryIO, int]]:
    """A file, decrypted, with its size, which is no limit for a server's log. Standard input is copied to a temporary
    file first."""
    with ExitStack() as stack:
        file = stack.enter_context(_opened(path))
        if isinstance(path, RemoteName):
            yield file, _ENDLESS
            return
        if path == STDIN:
            copy = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            file = copy
        size = os.fstat(file.fileno()).st_size
        try:
            plain = plain_log(file, keyring)
        except CodecError as error:
            raise refused(path, error) from error
        if isinstance(plain, DecryptedLog):
            from conformance.reference.binlog.encrypted_file import HEADER_SIZE

            size -= HEADER_SIZE
        yield plain, size


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


def refused(path: str, error: CodecError) -> Usage | InputCorrupt:
    """The command's error for an error of the decoder."""
    if error.code == "not-a-binlog":
        return Usage(f"{path}: {error.message}")
    hint = "give the keyring of its server with --keyring" if error.code == "encrypted" else hint_of(error.code)
    return InputCorrupt(f"{path}: {error}", hint=hint)


def hint_of(code: str) -> str | None:
    """How to go on in spite of an error with this code."""
    return _GO_ON.get(code)


class FileSpool:
    """Rows that wait for the end of their statement: in memory while they are few, in a temporary file beyond that."""

    def __init__(self) -> None:
        self._file = self._new()

    @staticmethod
    def _new() -> tempfile.SpooledTemporaryFile[bytes]:
        return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        """Drop the rows that were not taken."""
        self._file.close()

    def add(self, text: bytes) -> None:
        """Store a piece of text."""
        self._file.write(text)

    def take(self) -> Iterable[bytes]:
        """Return all pieces, and drop them."""
        file, self._file = self._file, self._new()
        with file:
            file.seek(0)
            while data := file.read(1 << 16):
                yield data
