"""Generated table definitions: repeatable, of every type and attribute, inside the limits of the server."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from conformance.reference.tables.definitions import create_table, table_map
from conformance.reference.tables.metadata import Field
from conformance.reference.tables.table_map import TableMap
from generators.definitions import COLUMNS, definition, row_values
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.reference.tables.definitions import Table


@cache
def tables() -> list[Table]:
    return [definition(Stream("test", number)) for number in range(250)]


def test_a_definition_depends_on_its_key_alone() -> None:
    again = [definition(Stream("test", number)) for number in range(20)]
    assert again == tables()[:20]
    assert len({create_table(table) for table in tables()}) == len(tables())


def test_every_field_and_both_forms_occur() -> None:
    found = {item.field for table in tables() for item in table_map(table, "FULL").metadata}
    assert found == set(Field)
    assert any(table.generated_primary_key for table in tables())
    assert any(column.generated_sql for table in tables() for column in table.columns)
    assert any(column.invisible for table in tables() for column in table.columns)
    assert any(table.other_keys for table in tables())
    assert any(len(column.members) > 255 for table in tables() for column in table.columns)


def test_definitions_keep_the_limits_of_names_and_keys() -> None:
    for table in tables():
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        assert all(0 < len(name) <= 64 and max(name) <= "\uffff" and not name.endswith(" ") for name in names)
        assert len(table.primary_key) <= 16
        assert any(not column.invisible for column in table.columns)
        assert set(row_values(table)) <= set(names)


def test_the_longest_tables() -> None:
    for count in (COLUMNS, 4_096):
        table = definition(Stream("long", count), count=count)
        assert len(table.columns) == count
        for mode in ("MINIMAL", "FULL"):
            wanted = table_map(table, mode)
            assert TableMap.decode(wanted.encode()) == wanted
            assert len(wanted.columns) == count + table.generated_primary_key
