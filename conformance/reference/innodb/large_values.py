"""JSON columns and off-page values of the tables in a tablespace, row by row (innodb-lob 1 and 2).

The dictionary information names tables and columns. :func:`first_pages` finds LOBs in a file that has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.column_values import column_value
from conformance.reference.innodb.dictionary import WHOLE, ColumnType, clustered_indexes, dictionary_errors, parts
from conformance.reference.innodb.dictionary_entry import HIDDEN_BY_ENGINE, table_entry
from conformance.reference.innodb.lob import open_first, open_value
from conformance.reference.innodb.pages import PageType
from conformance.reference.innodb.records import OffPage, index_id
from conformance.reference.innodb.sdi import TABLE, has_sdi, sdi_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.innodb.btree import Damage
    from conformance.reference.innodb.dictionary import ClusteredIndex
    from conformance.reference.innodb.lob import IndexedLob, Lob
    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import IndexFormat, Record

    Json = dict[str, Any]

# The most bytes of a column; a JSON document is no longer than a packet of the client protocol.
_LONGEST: Final = {
    ColumnType.TINY_BLOB: 255, ColumnType.BLOB: 0xFFFF, ColumnType.MEDIUM_BLOB: 0xFFFFFF, ColumnType.VARCHAR: 0xFFFF,
    ColumnType.JSON: 1 << 30,
}  # fmt: skip
_OLD_ROOT: Final = 3  # the first index of a file without dictionary information, behind the page of its segments


class Row(NamedTuple):
    """A row: its table or partition, its key, and the place of its record. ``transaction``: where DB_TRX_ID begins."""

    schema: str
    table: str
    partition: str | None
    key: tuple[tuple[str, int | str | bytes | None], ...]
    page: int
    origin: int
    deleted: bool
    transaction: int


class StoredRow(NamedTuple):
    """A row, its clustered record, and the tree that it is in. ``types`` follow the fields of the record."""

    row: Row
    record: Record
    tree: ClusteredIndex
    types: tuple[ColumnType, ...]


class LargeValue(NamedTuple):
    """A value of a row: bytes in the record, or a reference with the prefix that the record holds."""

    row: Row
    column: str
    type: ColumnType
    value: bytes | OffPage

    @property
    def is_json(self) -> bool:
        return self.type == ColumnType.JSON


class LobReader:
    """Opens the LOBs of one file. A page belongs to one LOB: damage that says otherwise is an error.

    So the work of a listing is bounded by the size of the file.
    """

    def __init__(self, space: Tablespace) -> None:
        self._space = space
        self._owners: dict[int, int] = {}

    def open(self, value: OffPage) -> Lob:
        """The LOB of a row."""
        lob = open_value(self._space, value)
        if value.reference.owned:
            self._own(lob)
        return lob

    def open_first(self, page: Page) -> IndexedLob:
        """A LOB by its first page; its highest version stands for the version of the row."""
        lob = open_first(self._space, page)
        self._own(lob)
        return lob

    def _own(self, lob: Lob) -> None:
        first = lob.first.number
        for number in lob.all_pages:
            if number in self._owners:
                raise DecodeError("page-shared", "the page belongs to two values", expected=f"page {first}",
                                  got=f"page {self._owners[number]}", path=(f"page[{number}]",))  # fmt: skip
            self._owners[number] = first


def table_objects(space: Tablespace, *, damage: Damage | None = None) -> Iterator[Json]:
    """The dictionary's entries of the tables in a tablespace. ``damage`` gets the errors, and the others follow."""
    for found in sdi_objects(space, damage=damage):
        if found.type != TABLE:
            continue
        try:
            entry = table_entry(found.object["dd_object"])
        except CodecError as error:
            if damage is None:
                raise
            damage(error)
            continue
        yield entry


def rows(
    space: Tablespace, tables: Iterable[Json], *, deleted: bool = False, damage: Damage | None = None
) -> Iterator[StoredRow]:
    """The rows of tables in this file, in the order of their keys.

    ``deleted``: also those that wait for purge. ``tables`` may come from another file, for partitions.
    Tables that the engine hides, such as those of FULLTEXT indexes, have no rows of users.
    ``damage`` gets the errors of pages and records, and the other rows follow; else the first one is raised.
    """
    listed = list(tables)
    for table in listed:
        with dictionary_errors(table):
            columns = {column["name"]: column for column in table["columns"]}
            names = [(part["name"] if table["partitions"] else None) for part in parts(table)]
            schema, name = str(table["schema_ref"]), str(table["name"])
        if table.get("hidden") == HIDDEN_BY_ENGINE:
            continue  # its entry does not have the fields of its records
        for partition, index in zip(names, indexes_in(space, table, alone=len(listed) == 1), strict=True):
            if index is None:
                continue
            with dictionary_errors(table):
                kinds = tuple([ColumnType(columns[field.name]["type"]) for field in index.format.fields])
                system = [field.name for field in index.format.fields].index("DB_TRX_ID")
            for _, record in leaf_records(space, index.root, index.format, owner=index.index_id, damage=damage):
                if record.deleted and not deleted:
                    continue
                with dictionary_errors(table):
                    key = _key(record, index.format, columns)
                row = Row(schema, name, partition, key, record.page, record.origin, record.deleted,
                          record.starts[system])  # fmt: skip
                yield StoredRow(row, record, index, kinds)


def indexes_in(space: Tablespace, table: Json, *, alone: bool) -> Iterator[ClusteredIndex | None]:
    """The clustered index of each part of a table; None for a part in another file.

    A file of a server from before the dictionary information has one table, whose clustered index is its first. So a
    table that is ``alone`` in its dictionary, and defined in the same way, gives its columns (innodb-sdi A.9).
    """
    for index in clustered_indexes(table):
        if index.space_id == space.space_id:
            yield index
        elif alone and not has_sdi(space) and not table["partitions"]:
            owner = index_id(space.page(_OLD_ROOT))
            yield index._replace(space_id=space.space_id, root=_OLD_ROOT, index_id=owner)
        else:
            yield None


def large_values(
    space: Tablespace, tables: Iterable[Json], *, deleted: bool = False, damage: Damage | None = None
) -> Iterator[LargeValue]:
    """All values of JSON columns, and all off-page values, in the order of the rows. Parameters as in rows."""
    for row, record, tree, kinds in rows(space, tables, deleted=deleted, damage=damage):
        for field, kind, value in zip(tree.format.fields, kinds, record.values, strict=True):
            if isinstance(value, OffPage) and value.reference.length > _LONGEST.get(kind, WHOLE):
                too_long = DecodeError("bad-lob-length", "the value is longer than its column", offset=value.at + 16,
                                       expected=f"<= {_LONGEST[kind]}", got=value.reference.length,
                                       path=(f"page[{record.page}]", field.name))  # fmt: skip
                if damage is None:
                    raise too_long
                damage(too_long)
            elif isinstance(value, OffPage) or (value is not None and kind == ColumnType.JSON):
                yield LargeValue(row, field.name, kind, value)


def _key(
    record: Record, index: IndexFormat, columns: dict[str, Json]
) -> tuple[tuple[str, int | str | bytes | None], ...]:
    return tuple([
        (field.name, column_value(columns[field.name], value) if isinstance(value, bytes) else None)
        for field, value in zip(index.fields[: index.keys], record.values, strict=False)
    ])  # fmt: skip


def first_pages(space: Tablespace, *, damage: Damage | None = None) -> Iterator[Page]:
    """Every page that begins a LOB of the formats since 8.0; a freed one stays until its page is used again."""
    for number in range(space.pages):
        try:
            page = space.page(number)
        except CodecError as error:
            if damage is None:
                raise
            damage(error)
            continue
        if page.type in {PageType.LOB_FIRST, PageType.ZLOB_FIRST}:
            yield page
