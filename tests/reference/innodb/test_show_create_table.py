"""CREATE TABLE from the dictionary's JSON is what a real 9.7.4 answered to SHOW CREATE TABLE."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.show_create_table import create_table
from tests.reference.innodb.fixture_files import DATA

RECORDED: list[dict[str, Any]] = json.loads(gzip.decompress((DATA / "show-create-table-9.7.4.json.gz").read_bytes()))


def comparable(text: str) -> str:
    """Without what the file does not have, and without the quotes of names in the PARTITION BY clause."""
    head, mark, partitions = re.sub(r" AUTO_INCREMENT=\d+", "", text).partition("\n/*!")
    return head + mark + partitions.replace("`", "")


def test_the_vectors_are_many() -> None:
    assert len(RECORDED) > 75


@pytest.mark.parametrize("vector", RECORDED, ids=lambda vector: vector["table"]["name"])
def test_show_create_table(vector: dict[str, Any]) -> None:
    assert comparable(create_table(vector["table"], vector["tablespace"])) == comparable(vector["show"])


@pytest.mark.parametrize("key", ["columns", "indexes", "collation_id", "partition_type"])
def test_an_incomplete_entry_is_refused(key: str) -> None:
    table = {name: value for name, value in RECORDED[0]["table"].items() if name != key}
    with pytest.raises(DecodeError, match="not complete"):
        create_table(table)


def generated(expression: str) -> str:
    """The column clause of a generated column with this expression in the file."""
    vector = next(
        vector for vector in RECORDED if any(column["generation_expression"] for column in vector["table"]["columns"])
    )
    table = json.loads(json.dumps(vector["table"]))
    column = next(column for column in table["columns"] if column["generation_expression"])
    column["generation_expression"], column["hidden"] = expression, 1
    return create_table(table).partition("GENERATED ALWAYS AS (")[2].partition(") VIRTUAL")[0].partition(") STORED")[0]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (b"concat(`a`,_utf8mb4'\xc3\xa9')", "concat(`a`,_utf8mb4'é')"),
        (b"concat(`a`,_latin1'\xe9',_latin1'e')", "concat(`a`,_utf8mb4'é',_latin1'e')"),
        (b"concat(_cp1251'\xc4',`_latin1'\xc3\xa9'`)", "concat(_utf8mb4'Д',`_latin1'é'`)"),
        (b"concat(_utf16'\x046\\0\xe9')", "concat(_utf8mb4'жé')"),
        (b"concat(_latin1'\xe9\\'\\\\')", r"concat(_utf8mb4'é\'\\')"),
        (b"(`a` + _none'\xc3\xa9')", "(`a` + _none'é')"),
    ],
)
def test_literals_keep_the_bytes_of_their_character_set(stored: bytes, shown: str) -> None:
    """As 9.7.4 stored them, and as it shows those of a column in utf8mb4 (innodb-sdi B.2)."""
    assert generated(stored.decode("utf-8", "surrogateescape")) == shown


@pytest.mark.parametrize(("kind", "value", "shown"), [(22, "Ag==", "'b'"), (22, "AA==", "''"), (23, "BQ==", "'a,c'")])
def test_defaults_of_enum_and_set_in_binary(kind: int, value: str, shown: str) -> None:
    """The position, or a bit for each member (innodb-sdi B.2)."""
    table = json.loads(json.dumps(RECORDED[0]["table"]))
    table["columns"][0] |= {
        "type": kind, "collation_id": 63, "default_value": value, "default_value_utf8_null": False, "hidden": 1,
        "has_no_default": False, "is_auto_increment": False, "default_option": "", "generation_expression": "",
        "elements": [{"name": name} for name in ("YQ==", "Yg==", "Yw==")],
    }  # fmt: skip
    assert f" DEFAULT {shown}" in create_table(table).splitlines()[1]


def test_autoextend_size_is_that_of_a_file_of_the_tables_own() -> None:
    """TABLESPACE=innodb_file_per_table changes nothing about it; in a general tablespace it is not the table's."""
    table = json.loads(json.dumps(RECORDED[0]["table"]))
    table["options"] = f"{table['options']}explicit_tablespace=1;"
    table.pop("tablespace_ref", None)
    space = {"options": "autoextend_size=4194304;"}
    shown = "TABLESPACE `innodb_file_per_table` */ /*!80023 AUTOEXTEND_SIZE=4194304 */ ENGINE=InnoDB"
    assert shown in create_table(table, space)
    assert "AUTOEXTEND_SIZE" not in create_table(table | {"tablespace_ref": "general"}, space)
