"""``binlog-lab rows``: the rows in InnoDB data files, deleted ones too, and those behind damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.data_files.row_listing import RowWishes, print_rows

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="rows", cls=LabCommand)
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR…")
@click.option("-f", "--format", "form", type=click.Choice(("jsonl", "sql")), default="jsonl", show_default=True,
              help="One JSON object a row, or one INSERT statement.")  # fmt: skip
@click.option("--table", "tables", multiple=True, metavar="[SCHEMA.]TABLE", help="Only this table; may be repeated.")
@click.option("--deleted", is_flag=True,
              help="Also the records of deleted rows: those that wait for purge, and free ones.")  # fmt: skip
@click.option("--dictionary", metavar="FILE",
              help="Take the tables from here, if FILE is another partition or older than MySQL 8.0.")  # fmt: skip
@click.option("-n", "--no-check", is_flag=True, help="Do not verify the checksums of pages.")
@keyring_option
def command(
    *, paths: tuple[str, ...], form: str, tables: tuple[str, ...], deleted: bool, dictionary: str | None,
    no_check: bool, keyring: Path | None,
) -> None:  # fmt: skip
    """Print the rows in InnoDB data files, without a server. A directory stands for all tablespaces in it and below.

    Values in JSON are those of decode --format jsonl; every row has its file, page, record and state. INSERT statements
    give back each value, byte for byte; columns that the server computes are not in them. No file has the values of
    virtual columns.

    With --deleted, the state says what a record is: current, delete-marked, or free. A free record was removed, or its
    row moved: it may be an older state of a row that is there. Its large values may be gone.

    Behind damage the other pages and rows are printed: each damage is named with file, page and offset.
    --no-check takes pages with wrong checksums too.
    """
    wishes = RowWishes(form == "sql", deleted, tables, dictionary)
    print_rows(paths, wishes, verify=not no_check, keyring=keyring)
