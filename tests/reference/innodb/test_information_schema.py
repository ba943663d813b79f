"""Facts of INFORMATION_SCHEMA: nothing that a server says about the options of a table is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.innodb.sdi_views.information_schema import facts_of_server, tablespace_facts_of_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.innodb.sdi_views.information_schema import Row

_TABLE = ("", "InnoDB", "DYNAMIC", "utf8mb4_0900_ai_ci", "")


def options(*rows: Row, table: Sequence[Row] = (_TABLE,)) -> dict[str, str]:
    """The facts about options, of a server that gives these rows."""

    def query(sql: str) -> Sequence[Row]:
        if "CREATE_OPTIONS" in sql:
            return rows
        return table if "TABLE_COMMENT" in sql else ()

    facts = facts_of_server(query, "s", "t")
    return {name: value for name, value in facts.items() if name.startswith("option")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("partitioned", {}),
        ("row_format=DYNAMIC", {"option ROW_FORMAT": "DYNAMIC"}),
        ("max_rows=5 partitioned KEY_BLOCK_SIZE=8", {"option MAX_ROWS": "5", "option KEY_BLOCK_SIZE": "8"}),
        ("COMPRESSION=\"zlib\" ENCRYPTION='Y'", {"option COMPRESSION": "zlib", "option ENCRYPTION": "Y"}),
        ("max_rows=5 abc", {"option MAX_ROWS": "5", "options: other words": "abc"}),
        (None, {"options: other words": "NULL"}),
    ],
)
def test_every_word_of_the_options_is_a_fact(text: str | None, expected: dict[str, str]) -> None:
    assert options((text,)) == expected


def test_a_row_that_is_there_twice_is_a_fact() -> None:
    index = ("k", "", "", "YES", "a", None, "")

    def query(sql: str) -> Sequence[Row]:
        return (index, index, ("l", *index[1:])) if "STATISTICS" in sql else ()

    facts = facts_of_server(query, "s", "t")
    assert {name: value for name, value in facts.items() if name.endswith("rows")} == {
        "index k: rows": "2", "options: rows": "0",
    }  # fmt: skip
    space = ("s/t", "5", "16417", "Dynamic", "16384", "0", "Single", "N", "s/t.ibd", "5", "16417", "0")
    assert tablespace_facts_of_server(lambda _: (space, space), "s/t")["rows"] == "2"
    assert "rows" not in tablespace_facts_of_server(lambda _: (space,), "s/t")


def test_another_number_of_rows_is_a_fact() -> None:
    assert options() == {"options: rows": "0"}
    assert options(("",), ("",)) == {"options: rows": "2"}
    assert options(table=()) == {}  # there is no such table
