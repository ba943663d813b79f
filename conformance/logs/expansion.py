"""A binary log rewritten without events 39 and 40, for tools that read neither."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.console import narrate
from conformance.keyring_file import read_keyring
from conformance.logs.events import log_reader, read_log
from conformance.logs.inputs import STDIN, check_files, whole_file
from conformance.logs.refusals import refused, tell_unread
from conformance.logs.remote import RemoteName
from conformance.reference.binlog.event import UnreadEvents
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.replay.expansion import Expansion
    from conformance.reference.replay.full_rows import FullRows


def expand(
    file: str, target: str, earlier: Sequence[str], *, max_size: int, limit: int | None, keyring: Path | None,
    mariadb: bool = False,
) -> None:  # fmt: skip
    """Rewrite ``file``; documents of MINIMAL images may come from ``earlier`` logs. The target is written whole, or
    not at all. ``mariadb``: as MariaDB reads it.
    """
    if STDIN in (file, *earlier):
        raise Usage("IN is read twice, so it must be a file")
    check_files((file, *earlier))
    inputs = [path for path in (file, *earlier) if not isinstance(path, RemoteName)]
    out = Path(target)
    if out.exists() and any(out.samefile(path) for path in inputs):
        raise Usage(f"{target} is one of the inputs", hint="name another file behind -o")
    from conformance.reference.replay.expansion import Expansion
    from conformance.reference.replay.full_rows import FullRows

    keys = read_keyring(keyring)
    follow = _lacks_documents(file, limit, keys)
    full = FullRows(follow=follow)
    for path in earlier if follow else ():
        _follow(path, full, limit, keys)
    counts: dict[str, Counter[str]] = {}
    expansion = Expansion(full, row_event_max_size=max_size, limit=limit, mariadb=mariadb)
    _write(out, _expanded(file, expansion, limit, keys, counts))
    found = counts[file]
    narrate(
        f"{target}: rewrote {found['PARTIAL_UPDATE_ROWS_EVENT']} PARTIAL_UPDATE_ROWS events ({found['rows']} rows, "
        f"{full.documents} documents) and {found['TRANSACTION_PAYLOAD_EVENT']} TRANSACTION_PAYLOAD events"
        + (f", and {found['compressed']} compressed events of MariaDB" if found["compressed"] else "")
    )


def _lacks_documents(path: str, limit: int | None, keyring: Keyring | None) -> bool:
    """Whether documents must come from earlier events: only then are the tables of the log kept in memory."""
    from conformance.reference.binlog.files import read_events
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.full_rows import needs_earlier_rows

    reader = log_reader(limit=limit)
    with whole_file(path, keyring) as (file, _):
        try:
            return any(needs_earlier_rows(event) for event in read_events(file, reader=reader))
        except CodecError as error:
            raise refused(path, error, reader.position) from error


def _follow(path: str, full: FullRows, limit: int | None, keyring: Keyring | None) -> None:
    """Take the rows of an earlier log."""
    from conformance.reference.binlog.rows import LazyRows
    from conformance.reference.errors import CodecError

    for event in read_log(path, limit=limit, keyring=keyring):
        try:
            if isinstance(event.body, LazyRows):
                full.follow(event.body)
            else:
                full.other(event)
        except CodecError as error:
            raise refused(path, event.located(error), event.position) from error


def _expanded(
    path: str,
    expansion: Expansion,
    limit: int | None,
    keyring: Keyring | None,
    counts: dict[str, Counter[str]],
) -> Iterator[bytes]:
    """The bytes of the rewritten file."""
    from conformance.reference.errors import CodecError

    unread = UnreadEvents(stops=True)
    reader = log_reader(limit=limit, unread=unread)
    reader.decoder.keep_bytes = True
    for event in read_log(path, reader=reader, keyring=keyring):
        raw = bytes(reader.decoder.event_bytes) if event.inner is None else b""
        try:
            yield from expansion.event(event, raw)
        except CodecError as error:
            raise refused(path, event.located(error), event.position) from error
    try:
        yield from expansion.finish()
    except CodecError as error:
        raise refused(path, error) from error
    counts[path] = expansion.counts
    tell_unread(unread)


def _write(target: Path, pieces: Iterator[bytes]) -> None:
    """Write the file as a whole, or not at all."""
    try:
        with ExitStack() as undo:
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
                undo.callback(_remove, file.name)
                file.writelines(pieces)
            mask = os.umask(0)
            os.umask(mask)
            Path(file.name).chmod(0o666 & ~mask)
            Path(file.name).replace(target)
            undo.pop_all()
    except OSError as problem:
        raise CouldNotRun(f"{target}: {problem.strerror or problem}") from problem


def _remove(name: str) -> None:
    with suppress(OSError):
        Path(name).unlink()
