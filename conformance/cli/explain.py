"""``binlog-lab explain``: annotated hex of a binary log, or a requirement in words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.filters import filter_options
from conformance.cli.helpful import LabCommand
from conformance.cli.log_options import MAX_UNCOMPRESSED
from conformance.logs.explanation import explain
from conformance.logs.remote import resolve
from conformance.logs.selection import NOTHING_LEFT_OUT
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.text.event_filter import Selection


@click.command(name="explain", cls=LabCommand)
@click.argument("file", metavar="LOG|REQ|DEVIATION")
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
    """Print every byte of a binary log with its field and meaning, or a requirement in words.

    The events of a compressed transaction follow its payload event, with offsets (+N) in the uncompressed bytes. Of a
    value of more than 256 bytes only the beginning is shown. LOG may be - for standard input, or
    mysql://USER@HOST:PORT/NAME for a server's log. The command reads the file from its beginning, also for the options
    that leave events out.

    REQ is the id of a requirement, such as FR5: its sentence and source are printed, how it is judged, and since when
    and where servers deviate. DEVIATION is the id of a listed deviation.
    """
    if remote is None and not os.path.lexists(file):
        from conformance.runs.explained.printing import lines_about, print_lines  # the catalogue, for ids alone

        if (about := lines_about(file)) is not None:
            if stop_never or keyring or limit or position is not None or selection != NOTHING_LEFT_OUT:
                raise Usage(f"{file} is no log: the other options belong to logs")
            print_lines(about)
            return
    names = resolve([file], remote, waits=stop_never)
    if len(names) > 1:
        raise Usage(f"explain takes one log of the server, of {', '.join(names)}", hint="mysql://USER@HOST:PORT/NAME")
    (name,) = names
    explain(name, position, selection, keyring=keyring, limit=limit)
