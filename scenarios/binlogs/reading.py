"""The events of a part and its problems: no content of a file raises, blocks, or is silently skipped."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from conformance.reference.binlog.files import WINDOW, FileReader
from conformance.reference.binlog.header import HEADER_SIZE, MAGIC
from conformance.reference.binlog.plain_log import plain_log
from conformance.reference.errors import CodecError
from conformance.requirements.reading import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.encryption.keyring import Keyring
    from scenarios.binlogs.parts import Part

NO_LOG: Final = ("not-a-binlog", "not-a-file", "unreadable")  # codes of files that are no binary log at all
_LENGTH: Final = slice(len(MAGIC) + 9, len(MAGIC) + 13)


class Problem(NamedTuple):
    """Damage, which ends the reading of its part, or (``note``) a fact about the file that a reader should know.

    ``code`` is the code of the decoder's error or note, or ``unreadable`` and ``not-a-file``; ``message`` has no file
    name.
    """

    code: str
    message: str
    position: int | None
    note: bool = False


def read_part(
    part: Part, *, window: int = WINDOW, limit: int | None = None, keyring: Keyring | None = None
) -> Iterator[Event | Problem]:
    """The events in order; those of compressed transactions follow their TRANSACTION_PAYLOAD.

    Every part reads the FORMAT_DESCRIPTION; only the first yields it. The caller meets damage inside rows when it reads
    them. ``limit``: the most bytes of a compressed transaction, as :class:`FileReader` takes it.
    ``keyring``: opens an encrypted file, which is read as one part.
    """
    reader = FileReader(expand=True, limit=limit, rules_for=rules_of)
    try:
        if not S_ISREG(os.stat(part.file).st_mode):  # noqa: PTH116 - opening a pipe would wait for a writer
            yield Problem("not-a-file", "not a regular file", None)
            return
        with Path(part.file).open("rb") as log:
            yield from _events(reader, log if part.start is not None else plain_log(log, keyring), part, window)
            reader.finish()
    except CodecError as error:
        yield problem_of(error, reader.position)
    except OSError as problem:
        yield Problem("unreadable", problem.strerror or str(problem), reader.position)
    for note in reader.notes:
        if part.start is None or note.code != "in-use":  # a note on the whole file: the first part has it
            yield Problem(note.code, note.message, note.position, note=True)


def problem_of(error: CodecError, position: int | None) -> Problem:
    """The problem for an error of the decoder. Offsets of errors in a file are positions in it."""
    return Problem(error.code, str(error), position)


def _events(reader: FileReader, log: BinaryIO, part: Part, window: int) -> Iterator[Event]:
    if part.start is not None:
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
