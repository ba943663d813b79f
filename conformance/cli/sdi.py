"""``binlog-lab sdi``: the dictionary information in InnoDB's data files, as ibd2sdi prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.data_files.dictionary_information import Choice, print_dictionary
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="sdi", cls=LabCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-i", "--id", "only_id", type=click.IntRange(min=0), metavar="N", help="Only objects with this id.")
@click.option("-t", "--type", "only_type", type=click.IntRange(min=0), metavar="N",
              help="Only objects of this type: 1 tables, 2 tablespaces.")  # fmt: skip
@click.option("-s", "--skip-data", is_flag=True, help="Print types and ids only.")
@click.option("-p", "--pretty/--skip-pretty", "indented", default=True, show_default=True,
              help="Indent the JSON, or print it as it is stored.")  # fmt: skip
@click.option("-n", "--no-check", is_flag=True, help="Do not verify the checksums of pages.")
@keyring_option
@click.option("-d", "--dump-file", type=click.Path(dir_okay=False), metavar="OUT",
              help="Write to this file instead of standard output.")  # fmt: skip
@click.option("--create", is_flag=True, help="Print CREATE TABLE for every table instead of JSON.")
@click.option("--check", is_flag=True, help="Compare tables and tablespaces with those of --server.")
@click.option("--server", metavar="mysql://USER@HOST:PORT", help="The server that --check asks.")
def command(
    *, files: tuple[str, ...], only_id: int | None, only_type: int | None, skip_data: bool, indented: bool,
    no_check: bool, keyring: Path | None, dump_file: str | None, create: bool, check: bool, server: str | None,
) -> int:  # fmt: skip
    """Print the dictionary information (SDI) of InnoDB tablespaces, as ibd2sdi prints it.

    Each file is a tablespace. A file of the system tablespace that continues another one follows it. The array of a
    damaged file stays without its end.

    --create prints what SHOW CREATE TABLE would print for the tables. A table's dictionary information is in its first
    file only: the other files of a partitioned table print nothing.

    --check prints what differs between the tables and tablespaces in the files and in the INFORMATION_SCHEMA of the
    server.
    """
    if check != (server is not None) or (check and create):
        raise Usage("--check and --server go together, without --create")
    if create and (skip_data or not indented):
        raise Usage("--create prints no JSON: it excludes --skip-data and --skip-pretty")
    choice = Choice(only_id, only_type, skip_data, indented, create)
    return print_dictionary(files, choice, verify=not no_check, keyring=keyring, dump_file=dump_file, server=server)
