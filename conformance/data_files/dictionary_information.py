"""The dictionary information in InnoDB's data files: as ibd2sdi prints it, as CREATE TABLE, or beside a server's."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from conformance.console import Output, error, narrate
from conformance.data_files.tablespaces import refusals, tablespaces
from conformance.reference.errors import CodecError
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.data_files.tablespaces import DataFile
    from conformance.reference.innodb.sdi import SdiObject


class Choice(NamedTuple):
    """The choice of what is printed of a file, and how."""

    id: int | None = None
    type: int | None = None
    skip_data: bool = False
    indented: bool = True
    create: bool = False


def print_dictionary(
    files: Sequence[str],
    choice: Choice = Choice(),  # noqa: B008 - a tuple
    *,
    verify: bool = True,
    keyring: Path | None = None,
    dump_file: str | None = None,
    server: str | None = None,
) -> int:
    """Print what is chosen of each file, or what differs from the server; return the exit code."""
    with ExitStack() as stack:
        found = stack.enter_context(tablespaces(files, verify=verify, keyring=keyring))
        output = Output()
        write, finish = output.write, output.flush
        if dump_file is not None:
            try:
                target = stack.enter_context(open(dump_file, "wb"))  # noqa: PTH123 - as the data files
            except OSError as problem:
                raise Usage(f"{dump_file}: {problem.strerror or problem}") from problem
            write, finish = target.write, target.flush  # type: ignore[assignment]
        if server is not None:
            from conformance.data_files.server_comparison import compare

            try:
                return compare(found, server, write)
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
    from conformance.reference.innodb.sdi_views.ibd2sdi_output import printed

    return printed(
        _objects(file), only_id=choice.id, only_type=choice.type,
        skip_data=choice.skip_data, indented=choice.indented,
    )  # fmt: skip


def _statements(file: DataFile, choice: Choice) -> Iterator[bytes]:
    """CREATE TABLE for each table that is chosen."""
    from conformance.reference.innodb.dictionary_entry import HIDDEN_BY_ENGINE
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
        if item.type != TABLE or choice.id not in {None, item.id} or choice.type not in {None, TABLE}:
            continue
        entry = item.object["dd_object"]
        if entry.get("hidden") == HIDDEN_BY_ENGINE:
            name = f"{entry.get('schema_ref')}.{entry.get('name')}"
            narrate(f"{file.name}: {name} is a hidden table of the storage engine: no statement makes it")
            yield b""
            continue
        try:
            text = create_table(entry, tablespace)
        except CodecError as found:
            if problem is not None:
                error(f"{file.name}: {problem}")
            problem = found
            continue
        yield f"{text};\n".encode("utf-8", "surrogatepass")
    if problem is not None:
        raise problem
