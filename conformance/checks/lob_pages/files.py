"""A copy of a table's file, opened: each row's document, and its large object where it has one."""

from __future__ import annotations

from typing import NamedTuple

from conformance.reference.innodb.large_values import LargeValue, LobReader, large_values, table_objects
from conformance.reference.innodb.lob import PlainLob
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.innodb.records import OffPage


class StoredRow(NamedTuple):
    """A row with one JSON column; ``lob`` is None if the document is in the record."""

    value: LargeValue
    document: bytes
    lob: PlainLob | None


class FileCopy(NamedTuple):
    """The pages of a file, and its rows by key."""

    space: Tablespace
    rows: dict[int, StoredRow]


def opened(data: bytes) -> FileCopy:
    """Read all rows of a table ``(id INT PRIMARY KEY, j JSON)``. Raises for damage."""
    space = Tablespace.of_bytes(data)
    reader = LobReader(space)
    found: dict[int, StoredRow] = {}
    for value in large_values(space, table_objects(space)):
        ((_, key),) = value.row.key
        assert isinstance(key, int)
        if isinstance(value.value, OffPage):
            lob = reader.open(value.value)
            assert isinstance(lob, PlainLob)
            found[key] = StoredRow(value, value.value.prefix + lob.read(), lob)
        elif value.value is not None:
            found[key] = StoredRow(value, value.value, None)
    return FileCopy(space, found)
