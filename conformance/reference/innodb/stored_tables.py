"""The tables in data files with their rows: every column's value, deleted rows too, and what is left behind damage
(innodb-lob 1).

The files are those of one server, each tablespace once: :func:`stored_tables` puts partitions together, and takes one
entry of the dictionary for each table. Values have the form of :mod:`conformance.reference.tables.columns`, so that
whoever prints the rows of a log prints these.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError
from conformance.reference.innodb.btree import index_page, leaf_pages, page_records
from conformance.reference.innodb.column_facts import column_info
from conformance.reference.innodb.column_values import stored_value
from conformance.reference.innodb.dictionary import clustered_indexes, dictionary_errors, parts
from conformance.reference.innodb.dictionary_entry import HIDDEN_BY_ENGINE
from conformance.reference.innodb.large_values import LobReader, indexes_in, table_objects
from conformance.reference.innodb.lob import open_value
from conformance.reference.innodb.records import OffPage, free_list, index_id, read_record
from conformance.reference.innodb.sdi import has_sdi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.reference.innodb.dictionary import ClusteredIndex
    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import Record
    from conformance.reference.tables.metadata import ColumnInfo

    Json = dict[str, Any]
    Problem = Callable[[str, CodecError], object]
    """``problem(file, error)``: what cannot be read."""

_OF_TABLE: Final = frozenset((1, 4))  # the dictionary's numbers for columns of the user, visible or not


class Absent(Enum):
    """A value that a row does not have."""

    VIRTUAL = "no file has the values of virtual columns"
    UNREADABLE = "the value is damaged, or no longer there"


class RowState(StrEnum):
    """The state of a record. A ``FREE`` one was removed, or its row moved: it may be an older state of another row."""

    CURRENT = "current"
    DELETE_MARKED = "delete-marked"
    FREE = "free"


class StoredColumn(NamedTuple):
    """A column of the user. ``field``: its place in the records; None for a virtual column."""

    name: str
    info: ColumnInfo
    entry: Json
    field: int | None

    @property
    def generated(self) -> bool:
        """Whether the server computes the values."""
        return bool(self.entry["generation_expression"])


class TablePart(NamedTuple):
    """The table, or one of its partitions. ``file`` and ``space`` are None if no file has it."""

    partition: str | None
    tree: ClusteredIndex
    file: str | None
    space: Tablespace | None


class TableRow(NamedTuple):
    """A row. ``values`` follow the table's columns; ``lsn`` is that of its page. ``problems``: errors of its values."""

    file: str
    partition: str | None
    page: int
    origin: int
    lsn: int
    state: RowState
    values: tuple[Any, ...]
    problems: tuple[CodecError, ...] = ()


@dataclass(frozen=True)
class StoredTable:
    """A table of the dictionary, and the files that have its rows."""

    entry: Json
    parts: tuple[TablePart, ...]

    @property
    def name(self) -> tuple[str, str]:
        """Schema and table."""
        return str(self.entry["schema_ref"]), str(self.entry["name"])

    @property
    def of_engine(self) -> bool:
        """Whether the engine hides the table and alone knows its records: it is part of a FULLTEXT index, say."""
        return bool(self.entry["hidden"] == HIDDEN_BY_ENGINE)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, in the order of the partitions."""
        return tuple(dict.fromkeys(part.file for part in self.parts if part.file is not None))

    @property
    def absent(self) -> tuple[str, ...]:
        """The partitions of which there is no file."""
        return tuple(part.partition or self.name[1] for part in self.parts if part.space is None)

    @cached_property
    def columns(self) -> tuple[StoredColumn, ...]:
        """The columns of the user, in the order of the table."""
        with dictionary_errors(self.entry):
            fields = {field.name: place for place, field in enumerate(self.parts[0].tree.format.fields)}
            return tuple([
                StoredColumn(str(column["name"]), column_info(column), column,
                             None if column["is_virtual"] else fields[column["name"]])
                for column in self.entry["columns"] if column["hidden"] in _OF_TABLE
            ])  # fmt: skip

    def rows(self, *, deleted: bool = False, problem: Problem | None = None) -> Iterator[TableRow]:
        """The rows in the order of the partitions, then of the keys.

        ``deleted``: also records that are marked as deleted, and those on the list of free ones of each page.
        ``problem`` gets the errors of pages and records, and all other rows follow. A value that cannot be read is then
        :attr:`Absent.UNREADABLE`, and its error is among the row's ``problems``. Without it the first error is raised.
        """
        if self.of_engine:
            return
        readers: dict[int, LobReader] = {}
        for part in self.parts:
            if part.space is None or part.file is None:
                continue
            lobs = readers.setdefault(part.space.space_id, LobReader(part.space))
            yield from _PartRows(self.columns, part.partition, part.tree, part.file, part.space, lobs).read(
                problem, deleted=deleted
            )


class _PartRows(NamedTuple):
    """The rows of one tree."""

    columns: tuple[StoredColumn, ...]
    partition: str | None
    tree: ClusteredIndex
    file: str
    space: Tablespace
    lobs: LobReader

    def read(self, problem: Problem | None, *, deleted: bool) -> Iterator[TableRow]:
        damage = None if problem is None else lambda error: problem(self.file, error)
        tree = self.tree
        for page in leaf_pages(self.space, tree.root, tree.format, owner=tree.index_id, damage=damage):
            for record in page_records(page, tree.format, damage):
                if not record.deleted:
                    yield self._row(page, record, RowState.CURRENT, problem)
                elif deleted:
                    yield self._row(page, record, RowState.DELETE_MARKED, problem)
            if deleted:
                yield from self._free(page)

    def _free(self, page: Page) -> Iterator[TableRow]:
        """The records on the page's list of free ones. What cannot be read there was not promised to anybody."""
        compressed = self.space.flags.compressed  # such pages keep no bytes of their free records
        try:
            places = [] if compressed else free_list(page, compact=not self.tree.format.redundant)
        except CodecError:
            return
        for origin in places:
            try:
                record = read_record(page, origin, self.tree.format)
            except CodecError:
                continue
            yield self._row(page, record, RowState.FREE, None)

    def _row(self, page: Page, record: Record, state: RowState, problem: Problem | None) -> TableRow:
        values: list[Any] = []
        problems: list[CodecError] = []
        for column in self.columns:
            try:
                values.append(self._value(record, column, state))
            except CodecError as error:
                error.at(f"record[{record.origin}]").at(f"page[{record.page}]")
                if problem is None and state is not RowState.FREE:
                    raise
                values.append(Absent.UNREADABLE)
                problems.append(error)
        return TableRow(self.file, self.partition, record.page, record.origin, page.lsn, state, tuple(values),
                        tuple(problems))  # fmt: skip

    def _value(self, record: Record, column: StoredColumn, state: RowState) -> Any:
        if column.field is None:
            return Absent.VIRTUAL
        value = record.values[column.field]
        try:
            if isinstance(value, OffPage):
                current = state is RowState.CURRENT  # of others the pages may have another owner by now
                lob = self.lobs.open(value) if current else open_value(self.space, value)
                value = value.prefix + lob.read()
            return None if value is None else stored_value(column.entry, value)
        except CodecError as error:
            raise error.at(column.name) from None


def stored_tables(
    files: Sequence[tuple[str, Tablespace]],
    *,
    problem: Problem,
    dictionary: Iterable[Json] | None = None,
    superseded: Callable[[str, tuple[str, str]], object] | None = None,
) -> Iterator[StoredTable]:
    """The tables of files, in the order of the files. No tablespace may be there twice.

    ``problem`` gets the errors of dictionary entries. ``dictionary``: entries of tables that take the place of those
    in the files. ``superseded(file, table)`` is told of an entry that another one of the same table takes the place of.
    """
    spaces = {space.space_id: (name, space) for name, space in files}
    found: dict[tuple[str, str], list[tuple[str, StoredTable]]] = {}
    for file, space in files:
        for entry in _entries(file, space, problem) if dictionary is None else dictionary:
            try:
                table = StoredTable(entry, _parts(entry, spaces))
            except CodecError as error:
                problem(file, error)
                continue
            found.setdefault(table.name, []).append((file, table))
        if dictionary is not None:
            break
    for candidates in found.values():
        best = max(candidates, key=lambda each: _rank(each[1]))
        for each in candidates:
            if each is not best and superseded is not None:
                superseded(each[0], each[1].name)
        yield best[1]


def _entries(file: str, space: Tablespace, problem: Problem) -> Iterator[Json]:
    if not has_sdi(space):
        return iter(())
    return table_objects(space, damage=lambda error: problem(file, error))


def _parts(entry: Json, spaces: dict[int, tuple[str, Tablespace]]) -> tuple[TablePart, ...]:
    with dictionary_errors(entry):
        names = [part["name"] if entry["partitions"] else None for part in parts(entry)]
    places = []
    for name, index in zip(names, clustered_indexes(entry), strict=True):
        file, space = spaces.get(index.space_id, (None, None))
        if space is None and len(spaces) == 1 and not entry["partitions"]:
            file, space = next(iter(spaces.values()))
            old = next(iter(indexes_in(space, entry, alone=True)), None)  # a file from before the dictionary
            file, space, index = (None, None, index) if old is None else (file, space, old)
        places.append(TablePart(name, index, file, space))
    return tuple(places)


def _rank(table: StoredTable) -> tuple[int, int, int]:
    """The rank of an entry among those of a table: its trees are where it says, then it is the newest."""
    there = 0
    for part in table.parts:
        try:
            there += part.space is not None and index_id(index_page(part.space, part.tree.root)) == part.tree.index_id
        except CodecError:
            continue
    altered, number = table.entry.get("last_altered", 0), table.entry.get("se_private_id", 0)
    return there, altered if isinstance(altered, int) else 0, number if isinstance(number, int) else 0
