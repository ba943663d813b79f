"""``binlog-lab expand``: a binary log rewritten without events 39 and 40, for tools that read neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.cli.log_options import MAX_UNCOMPRESSED
from conformance.logs.expansion import expand
from conformance.logs.remote import resolve

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="expand", cls=LabCommand)
@click.argument("file", metavar="LOG")
@click.option("-o", "--output", "target", required=True, metavar="OUT", help="The file to write.")
@click.option("--earlier", "earlier", multiple=True, metavar="LOG",
              help="An earlier log, for documents of MINIMAL images; may be repeated, oldest first.")  # fmt: skip
@click.option("--row-event-max-size", "max_size", type=click.IntRange(min=256), metavar="BYTES", default=8192,
              show_default=True, help="Where to split row events; the server's binlog_row_event_max_size.")  # fmt: skip
@click.option("--for", "reader", type=click.Choice(("mysql", "mariadb")), default="mysql", show_default=True,
              help="The server that is to read OUT; mariadb: JSON as text too.")  # fmt: skip
@keyring_option
@MAX_UNCOMPRESSED
def command(
    file: str, target: str, earlier: tuple[str, ...], max_size: int, reader: str, keyring: Path | None,
    limit: int | None,
) -> None:  # fmt: skip
    """Rewrite a binary log so that tools without partial JSON and compression read it.

    PARTIAL_UPDATE_ROWS (39) becomes UPDATE_ROWS with whole documents, and the events of a TRANSACTION_PAYLOAD (40) are
    written one by one. Positions, checksums and transaction lengths of GTIDs fit the new file; all other bytes are
    those of LOG. LOG may be encrypted, with --keyring, or mysql://USER@HOST:PORT/NAME, a log of a server.

    Images keep their columns. FULL and NOBLOB images have the document before the update. With MINIMAL images it must
    come from an earlier event of LOG, or of the logs given with --earlier. A row whose document is not known ends the
    command, and OUT is not written. So does a file that is corrupt, truncated, encrypted without its
    key, or a relay log.

    With --for mariadb, a replica of MariaDB 10.11 reads OUT: JSON columns become LONGTEXT with the text of documents,
    and GTIDs with tags and collations of MySQL 8.0 give way to those that it has. What it has no words for, such as
    VECTOR, ends the command.
    """
    file, *earlier_logs = resolve((file, *earlier), None, waits=False)
    expand(file, target, earlier_logs, max_size=max_size, limit=limit, keyring=keyring,
           mariadb=reader == "mariadb")  # fmt: skip
