"""Copies of the tables' data files, taken while the server writes nothing to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.lob import open_lob
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.innodb.records import OffPage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.checks.lob_versions.transactions import Table
    from conformance.reference.innodb.large_values import Row
    from conformance.reference.innodb.lob import Lob
    from conformance.servers.files import Files
    from conformance.servers.wire.connection import Connection


class Stored(NamedTuple):
    """A document outside its record, as one copy of the file has it."""

    row: Row
    value: OffPage
    lob: Lob

    @property
    def document(self) -> bytes:
        return self.value.prefix + self.lob.read()


@dataclass(frozen=True)
class FileCopy:
    """The file of a table. ``documents`` by id and column."""

    data: bytes = field(repr=False)
    space: Tablespace = field(repr=False)
    documents: dict[tuple[int, str], Stored] = field(repr=False)

    @classmethod
    def of(cls, data: bytes) -> FileCopy:
        """Read the rows and open their documents. Raises for a document that is in its record."""
        space = tablespace(data)
        reader, documents = LobReader(space), {}
        for value in large_values(space, table_objects(space)):
            assert isinstance(value.value, OffPage), f"{value.row.key} {value.column} is in the record"
            (_, number), *_ = value.row.key
            assert isinstance(number, int)
            documents[number, value.column] = Stored(value.row, value.value, reader.open(value.value))
        return cls(data, space, documents)

    def read(self, value: OffPage) -> bytes:
        """The document behind a reference that an older row had."""
        return value.prefix + open_lob(self.space, value.reference).read(value.reference.version)

    def live_pages(self) -> set[int]:
        """The pages of all documents, those of their older versions included."""
        return {page for stored in self.documents.values() for page in stored.lob.all_pages}


def tablespace(data: bytes) -> Tablespace:
    """A file in memory. Checksums are not verified: a campaign reads some thousand pages a second."""
    return Tablespace.of_bytes(data, verify=False)


def copies(files: Files, session: Connection, schema: str, tables: Iterable[Table]) -> dict[Table, FileCopy]:
    """The files of the tables at one moment."""
    tables = tuple(tables)
    session.execute(f"FLUSH TABLES {', '.join(f'{schema}.{table.name}' for table in tables)} FOR EXPORT")
    try:
        found = files.matching(*(f"{schema}/{table.name}.ibd" for table in tables))
    finally:
        session.execute("UNLOCK TABLES")
    return {table: FileCopy.of(found[f"{schema}/{table.name}.ibd"]) for table in tables}
