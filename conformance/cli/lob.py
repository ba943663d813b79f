"""``binlog-lab lob``: JSON columns and off-page values in an InnoDB data file, in all their versions."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.data_files.value_listing import Wishes, print_values


@click.command(name="lob", cls=LabCommand)
@click.argument("file", metavar="FILE")
@click.option("-f", "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--export", "directory", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Write the bytes of each value and version to a file in DIR, which is new or empty.")  # fmt: skip
@click.option("--no-documents", is_flag=True, help="List the values, and do not print the documents.")
@click.option("--deleted", is_flag=True, help="Also the rows that are deleted and wait for purge.")
@click.option("--undo", multiple=True, metavar="FILE",
              help="Undo tablespaces of the server, one each: also print what every older change of a row left."
              )  # fmt: skip
@click.option("--dictionary", metavar="FILE",
              help="Take the tables from here, if FILE is another partition or older than MySQL 8.0.")  # fmt: skip
@click.option("-n", "--no-check", is_flag=True, help="Do not verify the checksums of pages.")
@keyring_option
def command(
    *, file: str, form: str, directory: Path | None, no_documents: bool, deleted: bool, undo: tuple[str, ...],
    dictionary: str | None, no_check: bool, keyring: Path | None,
) -> None:  # fmt: skip
    """List the JSON values in an InnoDB data file, and every other value stored off-page, with all versions.

    An in-place update of a large document keeps the older version until purge. Each version is printed. Changes of at
    most 100 bytes to a first version leave none: only the undo log has the states between (--undo). The
    dictionary information gives tables, keys and columns. Without it, LOBs are found by their first page, freed ones
    included.
    """
    wishes = Wishes(form == "json", not no_documents, directory, deleted, undo, dictionary)
    print_values(file, wishes, verify=not no_check, keyring=keyring)
