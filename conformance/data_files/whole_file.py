"""One data file as a subject reads it: all rows as JSON lines, or the dictionary information, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.data_files.tablespaces import tablespaces
from conformance.reference.errors import CodecError
from conformance.reference.innodb.pages import of_server
from conformance.reference.innodb.sdi import has_sdi, sdi_objects
from conformance.reference.innodb.sdi_views.ibd2sdi_output import printed
from conformance.reference.innodb.stored_tables import stored_tables
from conformance.reference.text.row_changes import Form
from conformance.reference.text.stored_rows import json_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from conformance.data_files.tablespaces import DataFile
    from conformance.reference.innodb.stored_tables import StoredTable, TableRow

    Problem = Callable[[str, CodecError], object]
    Read = Callable[[TableRow], str]


def read_rows(path: str, problem: Callable[[str], object], *, tagged: bool) -> Iterator[tuple[str, int]]:
    """The rows of a file, each with the number of its page; ``problem`` gets what cannot be read, and the rest follows.

    ``tagged``: documents have tags for leaves that JSON has no type for. Raises :class:`UserError` for no data file.
    """

    def told(_: str, found: CodecError) -> None:
        problem(str(found))

    with tablespaces([path]) as found:
        files = list(found)
        used: set[int] = set()
        for table in stored_tables([(file.name, file.space) for file in files], problem=told):
            used |= spaces_of(table)
            if not table.of_engine:
                yield from _rows(table, told, Form.TAGGED if tagged else Form.PLAIN)
        for file in unexplained(files, used):
            problem(f"nothing tells the columns of the rows of {file.name}")


def _rows(table: StoredTable, problem: Problem, form: Form) -> Iterator[tuple[str, int]]:
    try:
        line = json_lines(table, form)
    except CodecError as found:
        problem("", found)
        return
    for row in table.rows(problem=problem):
        for each in row.problems:
            problem(row.file, each)
        try:
            yield line(row), row.page
        except CodecError as found:
            problem(row.file, found.at(f"record[{row.origin}]").at(f"page[{row.page}]"))


def read_dictionary(path: str, problem: Callable[[str], object]) -> bytes:
    """The dictionary information of a file, as ibd2sdi prints it; ``problem`` as in :func:`read_rows`."""
    with tablespaces([path]) as found:
        (file,) = found
        if not has_sdi(file.space):
            problem("the tablespace has no dictionary information")
            return b""
        objects = sdi_objects(file.space, damage=lambda error: problem(str(error)))
        return b"".join(printed(objects))


def spaces_of(table: StoredTable) -> set[int]:
    """The tablespaces that have rows of a table."""
    return {part.space.space_id for part in table.parts if part.space is not None}


def unexplained(files: Iterable[DataFile], used: Collection[int]) -> Iterator[DataFile]:
    """The files of users whose rows no table explains. ``used``: the tablespaces of tables."""
    for file in files:
        space = file.space
        if space.space_id not in used and not of_server(space.space_id) and not space.flags.shared:
            yield file
