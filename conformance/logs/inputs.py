"""The inputs of a command that reads logs: files, standard input, and the logs of servers."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from conformance.logs.refusals import refused
from conformance.logs.remote import RemoteLog, RemoteName
from conformance.reference.binlog.plain_log import DecryptedLog, plain_log
from conformance.reference.errors import CodecError
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.encryption.keyring import Keyring

STDIN: Final = "-"
_ENDLESS: Final = 1 << 62
_GTIDS: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:")
_GTIDS_CHOOSE: Final = "GTIDs are chosen with --include-gtids; the files of the logs stand without an option"


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
        hint = _GTIDS_CHOOSE if _GTIDS.match(path) else None
        raise Usage(f"{path}: {problem.strerror or problem}", hint=hint) from problem


def require_files(paths: Sequence[str], jobs: int) -> None:
    """Raise unless every input can be read in parts, where there are several jobs."""
    for path in paths if jobs > 1 else ():
        if isinstance(path, RemoteName):
            raise Usage(f"--jobs {jobs}: a server sends {path} once and in order, to one reader",
                        hint="copy the log first, or leave --jobs out")  # fmt: skip
        if path == STDIN or not S_ISREG(Path(path).stat().st_mode):
            what = "standard input" if path == STDIN else path
            raise Usage(f"--jobs {jobs}: {what} can be read once only, by one reader",
                        hint="write it to a file first, or leave --jobs out")  # fmt: skip


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
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
        file = stack.enter_context(opened(path))
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


def is_data_file(path: str) -> bool:
    """Whether the name is one that InnoDB gives its tablespaces."""
    name = Path(path).name
    return name.endswith((".ibd", ".ibu", ".isl")) or name.startswith("ibdata")
