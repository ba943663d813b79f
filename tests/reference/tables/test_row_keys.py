"""The key that TABLE_MAP names with binlog_row_metadata=FULL where a table has no primary key, as 9.7.4 wrote it."""

from __future__ import annotations

import pytest

from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.metadata import Field, Numbers

TEXT = Column(name="s", type="VARCHAR", length=20, nullable=False)
VIRTUAL = Column(name="v", type="INT", generated_sql="q + 1", nullable=False)
STORED = Column(name="v", type="INT", generated_sql="q + 1", stored=True, nullable=False)


def number(name: str, *, nullable: bool = False, invisible: bool = False) -> Column:
    return Column(name=name, type="INT", nullable=nullable, invisible=invisible)


@pytest.mark.parametrize(
    ("columns", "unique", "key"),
    [
        ([number("x", nullable=True), number("id")], [[(1, 0)]], (1,)),
        ([number("id", nullable=True)], [[(0, 0)]], None),
        ([number("p"), number("q")], [[(1, 0)], [(0, 0)]], (1,)),
        ([TEXT], [[(0, 5)]], None),
        ([TEXT], [[(0, 20)]], (0,)),
        ([TEXT, number("q")], [[(0, 5)], [(1, 0)]], (1,)),
        ([number("q"), VIRTUAL], [[(1, 0)]], None),
        ([number("q"), STORED], [[(1, 0)]], (1,)),
        ([number("q"), number("r"), number("n", nullable=True)], [[(2, 0), (0, 0)], [(1, 0), (0, 0)]], (1, 0)),
        ([number("q", invisible=True), number("r", nullable=True)], [[(0, 0)]], (0,)),
    ],
)
def test_the_first_unique_key_that_can_stands_for_the_primary_key(
    columns: list[Column], unique: list[list[tuple[int, int]]], key: tuple[int, ...] | None
) -> None:
    table = Table(schema="d", name="t", columns=tuple(columns), unique_keys=tuple(map(tuple, unique)))
    fields = {item.field: item for item in table_map(table, "FULL").metadata}
    found = fields.get(Field.SIMPLE_PRIMARY_KEY)
    assert (found.numbers if isinstance(found, Numbers) else None) == key
    assert Field.PRIMARY_KEY_WITH_PREFIX not in fields
    assert Field.SIMPLE_PRIMARY_KEY not in {item.field for item in table_map(table).metadata}
