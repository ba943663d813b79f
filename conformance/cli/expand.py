"""``binlog-lab expand``: a binary log rewritten without events 39 and 40, for tools that read neither."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.console import CouldNotRun, Usage, narrate
from conformance.cli.encryption import keyring_option, read_keyring
from conformance.cli.logs import MAX_UNCOMPRESSED, STDIN, check_files, log_reader, read_log, refused, whole_file
from conformance.cli.remote_logs import RemoteName, resolve

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.replay.full_rows import FullRows


@click.command(name="expand")
@click.argument("file", metavar="IN")
@click.option("-o", "--output", "target", required=True, metavar="OUT", help="The file to write.")
@click.option("--earlier", "earlier", multiple=True, metavar="LOG",
              help="A log from before IN, for documents of MINIMAL images; may be repeated, oldest first.")  # fmt: skip
@click.option("--row-event-max-size", "max_size", type=click.IntRange(min=256), metavar="BYTES", default=8192,
              show_default=True, help="Where to split row events; the server's binlog_row_event_max_size.")  # fmt: skip
@keyring_option
@MAX_UNCOMPRESSED
def command(
    file: str, target: str, earlier: tuple[str, ...], max_size: int, keyring: Path | None, limit: int | None
) -> None:
    """Rewrite a binary log so that tools without partial JSON and compression read it.

    PARTIAL_UPDATE_ROWS (39) becomes UPDATE_ROWS with whole documents, and the events of a TRANSACTION_PAYLOAD (40) are
    written one by one. Positions, checksums and transaction lengths of GTIDs fit the new file; all other bytes are
    those of IN. IN may be encrypted, with --keyring, or mysql://USER@HOST:PORT/NAME, a log of a server.

    Images keep their columns. FULL and NOBLOB images have the document before the update. With MINIMAL images it must
    come from an earlier event of IN, or of the logs given with --earlier. A row whose document is not known ends the
    command with exit code 1, and OUT is not written. So does a file that is corrupt, truncated, encrypted without its
    key, or a relay log.
    """
    file, *earlier_logs = resolve((file, *earlier), None, waits=False)
    if STDIN in (file, *earlier_logs):
        raise Usage("IN is read twice, so it must be a file")
    check_files((file, *earlier_logs))
    out = Path(target)
    if out.exists() and any(out.samefile(path) for path in (file, *earlier_logs) if not isinstance(path, RemoteName)):
        raise Usage(f"{target} is one of the inputs", hint="name another file behind -o")
    from conformance.reference.replay.full_rows import FullRows

    keys = read_keyring(keyring)
    follow = _lacks_documents(file, limit, keys)
    full = FullRows(follow=follow)
    for path in earlier_logs if follow else ():
        _follow(path, full, limit, keys)
    counts: dict[str, Counter[str]] = {}
    _write(out, _expanded(file, full, max_size, limit, keys, counts))
    found = counts[file]
    narrate(
        f"{target}: rewrote {found['PARTIAL_UPDATE_ROWS_EVENT']} PARTIAL_UPDATE_ROWS events ({found['rows']} rows, "
        f"{full.documents} documents) and {found['TRANSACTION_PAYLOAD_EVENT']} TRANSACTION_PAYLOAD events"
    )


def _lacks_documents(path: str, limit: int | None, keyring: Keyring | None) -> bool:
    """Whether documents must come from earlier events: only then are the tables of the log kept in memory."""
    from conformance.reference.binlog.files import FileReader, read_events
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.full_rows import needs_earlier_rows
    from conformance.requirements.reading import rules_of

    reader = FileReader(expand=True, limit=limit, rules_for=rules_of)
    with whole_file(path, keyring) as (file, _):
        try:
            return any(needs_earlier_rows(event) for event in read_events(file, reader=reader))
        except CodecError as error:
            raise refused(path, error) from error


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
            raise refused(path, event.located(error)) from error


def _expanded(
    path: str,
    full: FullRows,
    max_size: int,
    limit: int | None,
    keyring: Keyring | None,
    counts: dict[str, Counter[str]],
) -> Iterator[bytes]:
    """The bytes of the rewritten file."""
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.expansion import Expansion

    expansion = Expansion(full, row_event_max_size=max_size, limit=limit)
    reader = log_reader(limit=limit)
    reader.decoder.keep_bytes = True
    for event in read_log(path, reader=reader, keyring=keyring):
        raw = bytes(reader.decoder.event_bytes) if event.inner is None else b""
        try:
            yield from expansion.event(event, raw)
        except CodecError as error:
            raise refused(path, event.located(error)) from error
    try:
        yield from expansion.finish()
    except CodecError as error:
        raise refused(path, error) from error
    counts[path] = expansion.counts


def _write(target: Path, pieces: Iterator[bytes]) -> None:
    """Write the file as a whole, or not at all."""
    try:
        with ExitStack() as undo:
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
                undo.callback(_remove, file.name)
                for piece in pieces:
                    file.write(piece)
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
