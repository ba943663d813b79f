"""The rows of InnoDB data files as JSON lines or INSERTs: deleted ones too, and what is left behind damage."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from conformance.console import Output, error, narrate
from conformance.data_files.directories import data_files_of
from conformance.data_files.tablespaces import tablespaces
from conformance.data_files.whole_file import spaces_of, unexplained
from conformance.messages import counted
from conformance.reference.errors import CodecError
from conformance.reference.innodb.large_values import table_objects
from conformance.reference.innodb.sdi import has_sdi
from conformance.reference.innodb.stored_tables import RowState, stored_tables
from conformance.reference.text.sql.rows import PROLOGUE
from conformance.reference.text.stored_rows import insert_statements, json_lines
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from conformance.data_files.tablespaces import DataFile
    from conformance.reference.innodb.stored_tables import StoredTable


class RowWishes(NamedTuple):
    """The choice of what is printed. ``tables``: names. ``dictionary``: a file with the entries of tables."""

    as_sql: bool
    deleted: bool
    tables: Sequence[str]
    dictionary: str | None


def print_rows(paths: Sequence[str], wishes: RowWishes, *, verify: bool, keyring: Path | None) -> None:
    """Print the rows. Raises :class:`InputCorrupt` at the end if anything could not be read."""
    listing = _Listing(wishes)
    with ExitStack() as stack:
        files = list(stack.enter_context(
            tablespaces(data_files_of(paths), verify=verify, keyring=keyring, problem=listing.problem)
        ))  # fmt: skip
        if wishes.dictionary is not None:
            opened = stack.enter_context(tablespaces([wishes.dictionary], verify=verify, keyring=keyring))
            listing.entries = list(_entries(next(opened), listing))
        try:
            listing.print(_each_once(files, listing))
        finally:
            listing.end()
    if listing.problems:
        raise InputCorrupt(f"{counted(listing.problems, 'problem')}: not all rows could be read")
    missing = sorted(set(wishes.tables) - listing.seen)
    if missing:
        raise Usage(f"no file has the table {', '.join(missing)}")


def _entries(file: DataFile, listing: _Listing) -> Iterator[dict[str, Any]]:
    if not has_sdi(file.space):
        raise Usage(f"{file.name}: the tablespace has no dictionary information")
    yield from table_objects(file.space, damage=lambda problem: listing.problem(file.name, problem))


def _each_once(files: Sequence[DataFile], listing: _Listing) -> list[DataFile]:
    found: dict[int, DataFile] = {}
    for file in files:
        first = found.setdefault(file.space.space_id, file)
        if first is not file:
            listing.tell(f"{file.name}: the same tablespace as {first.name}")
    return list(found.values())


class _Listing:
    """The rows that were printed, counted, and what could not be read."""

    def __init__(self, wishes: RowWishes) -> None:
        self._wishes = wishes
        self._output = Output()
        self._counts = dict.fromkeys(RowState, 0)
        self._said: set[str] = set()
        self._hidden = 0
        self.entries: list[dict[str, Any]] | None = None
        self.problems = 0
        self.seen: set[str] = set()

    def problem(self, file: str, problem: CodecError) -> None:
        """Report what cannot be read; several ways may lead to the same damage."""
        self.tell(f"{file}: {problem}")

    def tell(self, text: str) -> None:
        """Report a problem in words."""
        if text not in self._said:
            self._said.add(text)
            self.problems += 1
            self._output.flush()
            error(text)

    def print(self, files: Sequence[DataFile]) -> None:
        """Print the rows of all tables that are wanted."""
        used: set[int] = set()
        if self._wishes.as_sql:
            self._write("\n".join(PROLOGUE))
        tables = stored_tables([(file.name, file.space) for file in files], problem=self.problem,
                               dictionary=self.entries, superseded=self._superseded)  # fmt: skip
        for table in tables:
            used |= spaces_of(table)
            if self._wanted(table):
                self._table(table)
        for file in unexplained(files, used):
            self.tell(f"{file.name}: nothing tells the columns of its rows: the dictionary information of the table"
                      " is in another file, which --dictionary names")  # fmt: skip

    def _wanted(self, table: StoredTable) -> bool:
        names = {table.name[1], ".".join(table.name)}
        self.seen |= names
        return not self._wishes.tables or not names.isdisjoint(self._wishes.tables)

    def _table(self, table: StoredTable) -> None:
        name = ".".join(table.name)
        if table.of_engine:
            self._hidden += 1
            return
        if table.absent:
            narrate(f"{name}: no file has the rows of {', '.join(table.absent)}")
        try:
            columns = table.columns
            line = (insert_statements if self._wishes.as_sql else json_lines)(table)
        except CodecError as found:
            self.tell(f"{name}: {found}")
            return
        left = [column.name for column in columns if column.field is None]
        if left:
            narrate(f"{name}: no file has the values of virtual columns: {', '.join(left)}")
        for row in table.rows(deleted=self._wishes.deleted, problem=self.problem):
            if row.state is not RowState.FREE:  # whose values nobody promised
                for each in row.problems:
                    self.problem(row.file, each)
            try:
                self._write(line(row))
            except CodecError as found:
                self.problem(row.file, found.at(f"record[{row.origin}]").at(f"page[{row.page}]"))
                continue
            self._counts[row.state] += 1

    def _superseded(self, file: str, table: tuple[str, str]) -> None:
        narrate(f"{file}: another entry of {'.'.join(table)} in the dictionary information is newer")

    def _write(self, text: str) -> None:
        self._output.write(text.encode("utf-8", "backslashreplace") + b"\n")

    def end(self) -> None:
        """Write what is left, and the counts."""
        self._output.flush()
        if self._hidden:
            narrate(f"{counted(self._hidden, 'hidden table')} of the storage engine: no rows of users are in them")
        others = [f"{count} {state.value}" for state, count in self._counts.items() if state is not RowState.CURRENT]
        words = f", {', '.join(others)}" if self._wishes.deleted else ""
        narrate(f"{counted(self._counts[RowState.CURRENT], 'row')}{words}")
