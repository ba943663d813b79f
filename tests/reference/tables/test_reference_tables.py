"""Table definitions: the statement, and the TABLE_MAP that 9.7.4 wrote for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.sql.quoting import quote_identifier, quote_string
from conformance.reference.tables.definitions import Column, Table, create_table, table_map
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap

_VECTORS = json.loads((Path(__file__).parents[2] / "data" / "vectors" / "table-maps.json").read_text())["vectors"]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _table(data: dict[str, Any]) -> Table:
    columns = tuple(Column(**{key: _tuples(item) for key, item in column.items()}) for column in data["columns"])
    return Table(**{key: _tuples(item) for key, item in data.items() if key != "columns"}, columns=columns)


def test_table_maps_are_those_of_the_server() -> None:
    for vector in _VECTORS:
        stored = bytes.fromhex(vector["body_hex"])
        captured = TableMap.decode(stored)
        assert captured.encode() == stored
        predicted = table_map(_table(vector["table"]), vector["metadata"], table_id=captured.table_id)
        assert predicted.encode() == stored, create_table(_table(vector["table"]))


def test_the_vectors_hold_both_modes_and_every_column_type() -> None:
    assert {vector["metadata"] for vector in _VECTORS} == {"MINIMAL", "FULL"}
    captured = {column.real_type for vector in _VECTORS for column in _map(vector).columns}
    assert captured == {1, 2, 3, 4, 5, 8, 9, 10, 13, 15, 16, 17, 18, 19, 242, 245, 246, 247, 248, 252, 254, 255}
    assert {field.field for vector in _VECTORS for field in _map(vector).metadata} == set(range(1, 14))
    assert any(_map(vector).flags & GENERATED_INVISIBLE_PK for vector in _VECTORS)


def _map(vector: dict[str, Any]) -> TableMap:
    return TableMap.decode(bytes.fromhex(vector["body_hex"]))


def test_the_statement_says_all_of_the_definition() -> None:
    table = Table(
        schema="d`b",
        name="t",
        columns=(
            Column(name="id", type="BIGINT", unsigned=True, auto_increment=True, nullable=False),
            Column(name="a`b", type="VARCHAR", length=20, charset="latin1", default_sql="'x'"),
            Column(name="d", type="DECIMAL", length=10, scale=3),
            Column(name="f", type="DATETIME", scale=6, nullable=False),
            Column(name="s", type="TIMESTAMP"),
            Column(name="e", type="ENUM", members=("it's", "back\\slash"), collation="utf8mb4_bin"),
            Column(name="g", type="INT", generated_sql="`id` + 1", stored=True, invisible=True),
            Column(name="v", type="INT", generated_sql="`id`"),
        ),
        primary_key=((0, 0), (1, 5)),
        unique_keys=(((2, 0),),),
        collation="utf8mb4_bin",
    )
    assert create_table(table, qualified=True) == (
        "CREATE TABLE `d``b`.`t` (\n"
        "  `id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,\n"
        "  `a``b` VARCHAR(20) CHARACTER SET latin1 DEFAULT 'x',\n"
        "  `d` DECIMAL(10,3),\n"
        "  `f` DATETIME(6) NOT NULL,\n"
        "  `s` TIMESTAMP NULL,\n"
        "  `e` ENUM('it''s', 'back\\\\slash') COLLATE utf8mb4_bin,\n"
        "  `g` INT GENERATED ALWAYS AS (`id` + 1) STORED INVISIBLE,\n"
        "  `v` INT GENERATED ALWAYS AS (`id`) VIRTUAL,\n"
        "  PRIMARY KEY (`id`, `a``b`(5)),\n"
        "  UNIQUE KEY (`d`)\n"
        ") DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin"
    )
    assert create_table(table).startswith("CREATE TABLE `t` (")


def test_key_columns_are_never_null() -> None:
    table = Table(
        schema="d",
        name="t",
        columns=(Column(name="id", type="TIMESTAMP"), Column(name="n", type="INT")),
        primary_key=((0, 0),),
    )
    assert table_map(table).nullable == (False, True)
    assert "`id` TIMESTAMP,\n" in create_table(table)


@pytest.mark.parametrize(
    ("column", "metadata"),
    [
        (Column(name="a", type="BLOB", length=5), "MINIMAL"),
        (Column(name="a", type="SHORTBLOB"), "MINIMAL"),
        (Column(name="a", type="CHAR", charset="klingon"), "MINIMAL"),
        (Column(name="a", type="ENUM", charset="latin1", members=("\N{SNOWMAN}",)), "FULL"),
        (Column(name="a", type="INT"), "NONE"),
    ],
)
def test_what_cannot_be_predicted_is_an_error(column: Column, metadata: str) -> None:
    with pytest.raises(CodecError):
        table_map(Table(schema="d", name="t", columns=(column,)), metadata)


def test_quoting() -> None:
    assert quote_identifier("a`b") == "`a``b`"
    assert quote_string("it's \\") == "'it''s \\\\'"
