"""Partitions of rows: as 9.7.4 put them (asked with SELECT ... PARTITION), and the clause that makes them."""

from __future__ import annotations

import pytest

from conformance.reference.errors import EncodeError
from conformance.reference.tables.definitions import Column, Table, create_table
from conformance.reference.tables.partitions import Partitions

RANGE = Partitions(method="RANGE", column="n", bounds=(0, 5, None))


def hashed(method: str, count: int, kind: str = "INT") -> Partitions:
    return Partitions(method=method, column="n", kind=kind, count=count)


@pytest.mark.parametrize(
    ("method", "kind", "count", "places"),
    [
        ("KEY", "TINYINT", 61, {-20: 10, -19: 10, -18: 10, -17: 10, -16: 48, -15: 37, -14: 40, -13: 40}),
        ("LINEAR KEY", "TINYINT", 61, {-20: 44, -17: 44, -16: 21, -15: 7, -14: 10, -13: 10}),
        ("KEY", "SMALLINT", 61, {-20: 3, -16: 3, -15: 9, -14: 17}),
        ("KEY", "MEDIUMINT", 61, {-20: 40, -16: 3, -15: 16, -14: 19}),
        ("KEY", "INT", 61, {-20: 38, -16: 36, -15: 19, -14: 29}),
        ("KEY", "BIGINT", 61, {-20: 56, -16: 22, -15: 24, -14: 3}),
        ("KEY", "BIGINT", 8, {-(1 << 62): 3}),
        ("LINEAR KEY", "BIGINT", 61, {100: 21, -(1 << 62): 27, 10**15: 36}),
        ("LINEAR KEY", "SMALLINT", 61, {-20: 33, -16: 49, -15: 53, -14: 37}),
        ("HASH", "INT", 3, {7: 1, 0: 0, -1: 1, -7: 1}),
        ("LINEAR HASH", "INT", 5, {7: 3, 4: 4, 5: 1, 8: 0}),
    ],
)
def test_hashes_are_those_of_the_server(method: str, kind: str, count: int, places: dict[int, int]) -> None:
    partitions = hashed(method, count, kind)
    assert {value: partitions.place({"n": value}) for value in places} == places


def test_bytes_of_a_number_are_hashed_as_text() -> None:
    """Upper and lower case, accents, and a space at the end: a byte of 0x20 at the top of the number."""
    partitions = hashed("KEY", 1 << 20, "SMALLINT")
    assert partitions.place({"n": 0x0061}) == partitions.place({"n": 0x0041})
    assert partitions.place({"n": 0x2041}) == hashed("KEY", 1 << 20, "TINYINT").place({"n": 0x41})
    assert partitions.place({"n": 0x4120}) != hashed("KEY", 1 << 20, "TINYINT").place({"n": 0x41})


def test_null_has_a_partition() -> None:
    assert [RANGE.place({"n": value}) for value in (None, -1, 0, 4, 5, 1 << 40)] == [0, 0, 1, 1, 2, 2]
    listed = Partitions(method="LIST", column="n", values=((1, 2), (None, 3)))
    assert [listed.place({"n": value}) for value in (1, 2, 3, None)] == [0, 0, 1, 1]
    assert [hashed("HASH", count).place({"n": None}) for count in (2, 3, 5)] == [0, (1 << 63) % 3, (1 << 63) % 5]


def test_subpartitions_count_through() -> None:
    sub = Partitions(method="HASH", column="id", count=3)
    divided = Partitions(method="RANGE", column="n", bounds=(5, None), sub=sub)
    assert [divided.place({"n": n, "id": i}) for n, i in ((1, 0), (1, 2), (9, 0), (9, 4))] == [0, 2, 3, 4]


def test_a_value_without_a_partition_is_refused() -> None:
    with pytest.raises(EncodeError, match="no partition has this value"):
        Partitions(method="LIST", column="n", values=((1,),)).place({"n": 2})
    with pytest.raises(EncodeError, match="no partition has this value"):
        Partitions(method="RANGE", column="n", bounds=(1,)).place({"n": 2})
    with pytest.raises(EncodeError, match="integers only"):
        RANGE.place({"n": b"x"})


def test_the_table_is_made_with_its_partitions() -> None:
    columns = (Column(name="id", type="INT"), Column(name="n", type="INT"))
    table = Table(schema="lab", name="t", columns=columns, partitions=hashed("LINEAR KEY", 4))
    assert create_table(table).endswith(" TABLESPACE=innodb_file_per_table PARTITION BY LINEAR KEY (`n`) PARTITIONS 4")
    sub = Partitions(method="HASH", column="id", count=2)
    divided = Partitions(method="RANGE", column="n", bounds=(-1, None), sub=sub)
    assert divided.clause(str) == (
        "PARTITION BY RANGE (n) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 "
        "(PARTITION p0 VALUES LESS THAN (-1), PARTITION p1 VALUES LESS THAN MAXVALUE)"
    )
    listed = Partitions(method="LIST", column="n", values=((1, None), (2,)))
    assert listed.clause(str) == "PARTITION BY LIST (n) (PARTITION p0 VALUES IN (1, NULL), PARTITION p1 VALUES IN (2))"
