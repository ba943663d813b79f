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
