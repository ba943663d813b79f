"""Tablespaces in files: opening, windows, errors for the user, notes."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.console import narrate
from conformance.keyring_file import read_keyring
from conformance.reference.errors import CodecError
from conformance.reference.innodb.pages import Tablespace
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from conformance.reference.encryption.keyring import Keyring


_OTHER_FILES: Final = 64  # that a command has open


class DataFile(NamedTuple):
    """A tablespace and the name under which messages speak of it."""

    name: str
    space: Tablespace


class _Parts:
    """The window over one file, or over the files of the system tablespace one after another."""

    def __init__(self, files: Sequence[BinaryIO]) -> None:
        self._files = files
        self._sizes = [os.fstat(file.fileno()).st_size for file in files]
        self.size = sum(self._sizes)

    def __call__(self, offset: int, count: int) -> bytes:
        out = b""
        for file, size in zip(self._files, self._sizes, strict=True):
            if offset < size and count:
                piece = os.pread(file.fileno(), min(count, size - offset), offset)
                out += piece
                offset, count = offset + len(piece), count - len(piece)
            offset -= size
        return out


@contextmanager
def tablespaces(
    paths: Sequence[str],
    *,
    verify: bool = True,
    keyring: Path | None = None,
    problem: Callable[[str, CodecError], object] | None = None,
) -> Iterator[Iterator[DataFile]]:
    """The tablespaces in files, in order. A file whose first page is not page 0 continues the file before it.

    ``keyring`` is the file with the master keys of encrypted ones. All files are opened before anything is printed.
    ``problem`` gets the errors of first pages, and the other files follow; else the first one ends the command.
    """
    keys = read_keyring(keyring)
    _make_room(len(paths))
    with ExitStack() as stack:
        groups: list[list[tuple[str, BinaryIO]]] = []
        for path in paths:
            file = stack.enter_context(_open(path))
            number = int.from_bytes(os.pread(file.fileno(), 4, 4), "big")
            if number and groups:
                groups[-1].append((path, file))
            else:
                groups.append([(path, file)])
        yield filter(None, (_tablespace(group, verify, keys, problem) for group in groups))


def _make_room(files: int) -> None:
    """Raise the number of files that may be open, as far as this process may."""
    from resource import RLIMIT_NOFILE, getrlimit, setrlimit

    soft, hard = getrlimit(RLIMIT_NOFILE)
    wanted = files + _OTHER_FILES
    if soft < wanted:
        setrlimit(RLIMIT_NOFILE, (min(wanted, hard) if hard >= 0 else wanted, hard))


def _tablespace(
    group: Sequence[tuple[str, BinaryIO]],
    verify: bool,
    keyring: Keyring | None,
    problem: Callable[[str, CodecError], object] | None,
) -> DataFile | None:
    name = ", ".join(path for path, _ in group)
    window = _Parts([file for _, file in group])
    with refusals(name):
        try:
            space = Tablespace(window, window.size, verify=verify, keyring=keyring)
        except CodecError as error:
            if problem is None:
                raise
            problem(name, error)
            return None
    if space.torn:
        narrate(f"{name}: {space.torn} bytes behind the last whole page are ignored")
    return DataFile(name, space)


def _open(path: str) -> BinaryIO:
    try:
        return open(path, "rb")  # noqa: PTH123 - the import of pathlib takes longer than reading the SDI of a file
    except IsADirectoryError as problem:
        raise Usage(
            f"{path} is a directory", hint="give the data files themselves; rows and apply --verify take directories"
        ) from problem
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem


@contextmanager
def refusals(name: str) -> Iterator[None]:
    """Turn errors of the reader into the command's: exit code 2 for what is no data file, 1 for damage."""
    try:
        yield
    except CodecError as error:
        if error.code == "not-a-tablespace":
            raise Usage(f"{name}: {error.message}") from error
        raise InputCorrupt(f"{name}: {error}") from error
    except OSError as problem:
        raise InputCorrupt(f"{name}: reading stopped: {problem.strerror}") from problem
