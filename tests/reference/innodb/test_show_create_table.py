"""CREATE TABLE from the dictionary's JSON is what a real 9.7.4 answered to SHOW CREATE TABLE."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.dictionary_entry import table_entry
from conformance.reference.innodb.sdi_views.information_schema import facts_of_file
from conformance.reference.innodb.show_create_table import create_table
from conformance.reference.innodb.stored_tables import StoredTable, TablePart
from tests.reference.innodb.fixture_files import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    with pytest.raises(DecodeError, match=rf"table {table['name']}\.{key}: the dictionary entry lacks a key"):
        create_table(table)


LATER = frozenset(("engine_attribute", "secondary_engine_attribute", "is_explicit_collation", "check_constraints"))
OTHERS: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    7,
    1 << 70,
    1.5,
    "",
    "x",
    "a=b;physical_pos=x;storage=9;row_type=x",
    "Zm9v",
    [],
    [1],
    {},
)


def keys(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each key of objects, at any depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(value, dict):
            yield (*path, key)
        yield from keys(item, (*path, key))


def places() -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Each key of an entry, in at most two of the tables that have it."""
    seen: Counter[tuple[str, ...]] = Counter()
    for vector in RECORDED:
        mine = set()
        for path in keys(vector["table"]):
            kind = tuple(part for part in path if isinstance(part, str))
            if kind not in mine and seen[kind] < 2:
                mine.add(kind)
                seen[kind] += 1
                yield vector, path


def altered(table: Any, path: tuple[Any, ...], *value: Any) -> Any:
    """The entry without the key at the path, or with another value there."""
    key, *rest = path
    out = dict(table) if isinstance(table, dict) else list(table)
    if rest:
        out[key] = altered(table[key], tuple(rest), *value)
    elif value:
        (out[key],) = value
    else:
        del out[key]
    return out


USES: dict[str, Callable[[dict[str, Any]], object]] = {
    "create": create_table,
    "rows": lambda table: [StoredTable(table_entry(table), (TablePart(None, each, None, None),)).columns
                           for each in clustered_indexes(table_entry(table))],
    "facts": facts_of_file,
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_no_entry_makes_words_of_python(use: str) -> None:
    """Drop each key in turn, and give it values of each other type."""
    tried = 0
    refused: list[CodecError] = []
    for vector, path in places():
        for table in (altered(vector["table"], path), *(altered(vector["table"], path, other) for other in OTHERS)):
            tried += 1
            try:
                USES[use](table)
            except CodecError as error:
                refused.append(error)
    assert tried > 2000
    assert len(refused) > tried // 3
    assert all(error.path for error in refused)
    assert not [error for error in refused if re.search("Error|object at|index out|literal|<", error.message)]


def test_keys_of_later_versions_may_be_missing() -> None:
    """A table that uses none of what they stand for has the same text without them."""
    plain = 0
    for vector in RECORDED:
        table = vector["table"]
        paths = [path for path in keys(table) if path[-1] in LATER]
        if any(_at(table, path) for path in paths):
            continue
        plain += 1
        for path in paths:
            table = altered(table, path)
        assert not any(key in json.dumps(table) for key in LATER)
        assert comparable(create_table(table, vector["tablespace"])) == comparable(vector["show"])
    assert plain > 20


def _at(table: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        table = table[part]
    return table


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
    space = {
        "name": "t",
        "options": "autoextend_size=4194304;",
        "se_private_data": "",
        "files": [{"filename": "./t.ibd"}],
    }
    shown = "TABLESPACE `innodb_file_per_table` */ /*!80023 AUTOEXTEND_SIZE=4194304 */ ENGINE=InnoDB"
    assert shown in create_table(table, space)
    assert "AUTOEXTEND_SIZE" not in create_table(table | {"tablespace_ref": "general"}, space)
