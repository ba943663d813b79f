"""``binlog-lab explain``: annotated hex of a binary log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.filters import filter_options
from conformance.cli.helpful import LabCommand
from conformance.cli.log_options import MAX_UNCOMPRESSED
from conformance.logs.explanation import explain
from conformance.logs.remote import resolve
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.text.event_filter import Selection


@click.command(name="explain", cls=LabCommand)
@click.argument("file", metavar="LOG|REQ")
@click.option("--at", "position", type=click.IntRange(min=0), metavar="POS", help="Only the event at this offset.")
@filter_options
@click.option("-R", "--read-from-remote-server", "remote", metavar="mysql://USER@HOST:PORT",
              help="LOG is a log of this server.")  # fmt: skip
@click.option("--stop-never", is_flag=True, help="At the end of a server's log: wait for more, until Ctrl-C.")
@keyring_option
@MAX_UNCOMPRESSED
def command(
    *, file: str, position: int | None, selection: Selection, remote: str | None, stop_never: bool,
    keyring: Path | None, limit: int | None,
) -> None:  # fmt: skip
    """Print every byte of a binary log with its field and meaning: offset, bytes, field, meaning.

    The events of a compressed transaction follow its payload event, with offsets (+N) in the uncompressed bytes. Of a
    value of more than 256 bytes only the beginning is shown. LOG may be - for standard input, or
    mysql://USER@HOST:PORT/NAME for a server's log. The command reads the file from its beginning, also for the options
    that leave events out.
    """
    names = resolve([file], remote, waits=stop_never)
    if len(names) > 1:
        raise Usage(f"explain takes one log of the server, of {', '.join(names)}", hint="mysql://USER@HOST:PORT/NAME")
    (name,) = names
    explain(name, position, selection, keyring=keyring, limit=limit)
