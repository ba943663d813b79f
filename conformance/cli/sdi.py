"""``binlog-lab sdi``: the dictionary information in InnoDB's data files, as ibd2sdi prints it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import click

from conformance.cli.console import Output, Usage, error, narrate
from conformance.cli.data_files import refusals, tablespaces
from conformance.cli.encryption import keyring_option
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.cli.data_files import DataFile
    from conformance.reference.innodb.sdi import SdiObject


class Choice(NamedTuple):
    """The choice of what is printed of a file, and how."""

    id: int | None
    type: int | None
    skip_data: bool
    indented: bool
    create: bool


@click.command(name="sdi")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-i", "--id", "only_id", type=click.IntRange(min=0), metavar="N", help="Only objects with this id.")
@click.option("-t", "--type", "only_type", type=click.IntRange(min=0), metavar="N",
              help="Only objects of this type: 1 tables, 2 tablespaces.")  # fmt: skip
@click.option("-s", "--skip-data", is_flag=True, help="Print types and ids only.")
@click.option("-p", "--pretty/--skip-pretty", "indented", default=True, show_default=True,
              help="Indent the JSON, or print it as it is stored.")  # fmt: skip
@click.option("-n", "--no-check", is_flag=True, help="Do not verify the checksums of pages.")
@keyring_option
@click.option("-d", "--dump-file", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write to this file instead of standard output.")  # fmt: skip
@click.option("--create", is_flag=True, help="Print CREATE TABLE for every table instead of JSON.")
@click.option("--check", is_flag=True, help="Compare tables and tablespaces with those of --server.")
@click.option("--server", metavar="mysql://USER@HOST:PORT", help="The server that --check asks.")
def command(
    files: tuple[str, ...],
    only_id: int | None,
    only_type: int | None,
    skip_data: bool,
    indented: bool,
    no_check: bool,
    keyring: Path | None,
    dump_file: str | None,
    create: bool,
    check: bool,
    server: str | None,
) -> int:
    """Print the dictionary information (SDI) of InnoDB tablespaces, as ibd2sdi prints it.

    Each file is a tablespace. A file of the system tablespace that continues another one follows it. The array of a
    damaged file stays without its end.

    --create prints what SHOW CREATE TABLE would print for the tables. A table's dictionary information is in its first
    file only: the other files of a partitioned table print nothing.

    --check prints what differs between the tables and tablespaces in the files and in the INFORMATION_SCHEMA of the
    server. Exit code 1 if anything does.
    """
    if check != (server is not None) or (check and create):
        raise Usage("--check and --server go together, without --create")
    if create and (skip_data or not indented):
        raise Usage("--create prints no JSON: it excludes --skip-data and --skip-pretty")
    choice = Choice(only_id, only_type, skip_data, indented, create)
    with ExitStack() as stack:
        found = stack.enter_context(tablespaces(files, verify=not no_check, keyring=keyring))
        output = Output()
        write, finish = output.write, output.flush
        if dump_file is not None:
            try:
                target = stack.enter_context(open(dump_file, "wb"))  # noqa: PTH123 - as the data files
            except OSError as problem:
                raise Usage(f"{dump_file}: {problem.strerror or problem}") from problem
            write, finish = target.write, target.flush  # type: ignore[assignment]
        if check:
            from conformance.cli.sdi_check import check as check_files

            try:
                return check_files(found, str(server), write)
            finally:
                finish()
        for file in found:
            try:
                _print(file, write, choice)
            finally:
                finish()
    return 0


def _print(file: DataFile, write: Callable[[bytes], object], choice: Choice) -> None:
    from conformance.reference.innodb.sdi import has_sdi

    space = file.space
    if not has_sdi(space):
        narrate(f"{file.name}: the tablespace has no dictionary information")
        return
    if not space.flags.has_sdi:
        narrate(f"{file.name}: the flags of the tablespace do not announce the dictionary information that it has")
    empty = True
    with refusals(file.name):
        for piece in (_statements if choice.create else _json)(file, choice):
            write(piece)
            empty = False
    if empty:
        narrate(f"{file.name}: {'no table' if choice.create else 'the dictionary information is empty'}")


def _objects(file: DataFile) -> Iterator[SdiObject]:
    """The objects that can be read, then the error of the last one that cannot; those before it are printed."""
    from conformance.reference.innodb.sdi import sdi_objects

    problems: list[CodecError] = []
    yield from sdi_objects(file.space, damage=problems.append)
    texts = list(dict.fromkeys(map(str, problems)))
    for text in texts[:-1]:
        error(f"{file.name}: {text}")
    if problems:
        raise problems[-1]


def _json(file: DataFile, choice: Choice) -> Iterator[bytes]:
    from conformance.reference.innodb.ibd2sdi_output import printed

    return printed(
        _objects(file), only_id=choice.id, only_type=choice.type,
        skip_data=choice.skip_data, indented=choice.indented,
    )  # fmt: skip


def _statements(file: DataFile, choice: Choice) -> Iterator[bytes]:
    """CREATE TABLE for each table that is chosen."""
    from conformance.reference.innodb.sdi import TABLE, TABLESPACE
    from conformance.reference.innodb.show_create_table import create_table

    objects: list[SdiObject] = []
    problem: CodecError | None = None
    try:
        objects.extend(_objects(file))
    except CodecError as found:
        problem = found
    tablespace = next((item.object["dd_object"] for item in objects if item.type == TABLESPACE), None)
    for item in objects:
        if item.type == TABLE and choice.id in {None, item.id} and choice.type in {None, TABLE}:
            text = create_table(item.object["dd_object"], tablespace)
            yield f"{text};\n".encode("utf-8", "surrogatepass")
    if problem is not None:
        raise problem
