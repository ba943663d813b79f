"""``binlog-lab sdi``: the dictionary information in InnoDB's data files, as ibd2sdi prints it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.console import Usage, narrate
from conformance.cli.data_files import refusals, tablespaces
from conformance.cli.logs import Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cli.data_files import DataFile


@click.command(name="sdi")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-i", "--id", "only_id", type=click.IntRange(min=0), metavar="N", help="Only objects with this id.")
@click.option("-t", "--type", "only_type", type=click.IntRange(min=0), metavar="N",
              help="Only objects of this type: 1 tables, 2 tablespaces.")  # fmt: skip
@click.option("-s", "--skip-data", is_flag=True, help="Print types and ids only.")
@click.option("-p", "--pretty/--skip-pretty", "indented", default=True, show_default=True,
              help="Indent the JSON, or print it as it is stored.")  # fmt: skip
@click.option("-n", "--no-check", is_flag=True, help="Do not verify the checksums of pages.")
@click.option("-d", "--dump-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write to this file instead of standard output.")  # fmt: skip
def command(
    files: tuple[str, ...],
    only_id: int | None,
    only_type: int | None,
    skip_data: bool,
    indented: bool,
    no_check: bool,
    dump_file: Path | None,
) -> None:
    """Print the dictionary information (SDI) of InnoDB tablespaces, as ibd2sdi prints it.

    Each file is a tablespace. A file of the system tablespace that continues another one follows it. The array of a
    damaged file stays without its end.
    """
    with ExitStack() as stack:
        found = stack.enter_context(tablespaces(files, verify=not no_check))
        output = Output()
        write, finish = output.write, output.flush
        if dump_file is not None:
            try:
                target = stack.enter_context(dump_file.open("wb"))
            except OSError as problem:
                raise Usage(f"{dump_file}: {problem.strerror or problem}") from problem
            write, finish = target.write, target.flush  # type: ignore[assignment]
        for file in found:
            try:
                _print(file, write, only_id, only_type, skip_data=skip_data, indented=indented)
            finally:
                finish()


def _print(
    file: DataFile,
    write: Callable[[bytes], object],
    only_id: int | None,
    only_type: int | None,
    *,
    skip_data: bool,
    indented: bool,
) -> None:
    from conformance.reference.innodb.ibd2sdi_output import printed
    from conformance.reference.innodb.sdi import has_sdi, sdi_objects

    space = file.space
    if not has_sdi(space):
        narrate(f"{file.name}: the tablespace has no dictionary information")
        return
    if not space.flags.has_sdi:
        narrate(f"{file.name}: the flags of the tablespace do not announce the dictionary information that it has")
    empty = True
    with refusals(file.name):
        for piece in printed(
            sdi_objects(space), only_id=only_id, only_type=only_type, skip_data=skip_data, indented=indented
        ):
            write(piece)
            empty = False
    if empty:
        narrate(f"{file.name}: the dictionary information is empty")
