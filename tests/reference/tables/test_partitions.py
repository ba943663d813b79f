"""Partitions of rows: as 9.7.4 put them (asked with SELECT ... PARTITION), and the clause that makes them."""

from __future__ import annotations

import pytest

from conformance.reference.errors import EncodeError
from conformance.reference.tables.definitions import Column, Table, create_table
from conformance.reference.tables.partitions import Partitions

RANGE = Partitions(method="RANGE", column="n", bounds=(0, 5, None))


#: SMALLINTs whose high byte is a space, a letter or a tab: only the space is cut as trailing.
BLANKS = (0x41, 0x0941, 0x0A41, 0x2041, 0x2058, 0x5841, 0x4120, 0x0961, 0x58, 0x2020, 0x20)


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
        ("KEY", "SMALLINT", 61, dict(zip(BLANKS, (37, 8, 11, 31, 26, 36, 3, 8, 33, 1, 29), strict=True))),
        ("LINEAR KEY", "SMALLINT", 61, dict(zip(BLANKS, (4, 39, 42, 4, 57, 12, 9, 39, 57, 1, 33), strict=True))),
        ("KEY", "INT", 7, {3: 0, 0: 1, 1: 4, 2: 4}),
        ("LINEAR KEY", "INT", 7, {5: 0, 0: 1, 8: 1, 7: 2, 2: 3, 6: 3, 1: 4, 9: 4, 4: 5, 3: 6}),
        ("LINEAR HASH", "INT", 1, {0: 0, 1: 0, -1: 0}),
        ("LINEAR HASH", "INT", 7, {8: 0, -8: 0, -7: 1, 6: 6, 7: 3, 14: 6, 15: 3, -1: 3}),
        ("LINEAR HASH", "INT", 8, {-8: 0, 7: 7, 8: 0, 15: 7, -1: 7}),
        ("LINEAR HASH", "INT", 9, {8: 8, 9: 1, -8: 8, 15: 7, 16: 0}),
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
    for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
        keys = [hashed(method, count, kind) for method in ("KEY", "LINEAR KEY") for count in (1, 2, 7, 61)]
        assert [key.place({"n": None}) for key in keys] == [0, 0, 2, 2] * 2


def test_subpartitions_count_through() -> None:
    sub = Partitions(method="HASH", column="id", count=3)
    divided = Partitions(method="RANGE", column="n", bounds=(5, None), sub=sub)
    assert [divided.place({"n": n, "id": i}) for n, i in ((1, 0), (1, 2), (9, 0), (9, 4))] == [0, 2, 3, 4]


def test_a_value_without_a_partition_is_refused() -> None:
    listed = Partitions(method="LIST", column="n", values=((1,),))
    short = Partitions(method="RANGE", column="n", bounds=(1,))
    for partitions, value, message in (
        (listed, 2, "no partition has this value"),
        (short, 2, "no partition has this value"),
        (RANGE, b"x", "partitions are foretold of integers only"),
    ):
        with pytest.raises(EncodeError) as caught:
            partitions.place({"n": value})
        assert (caught.value.code, caught.value.message, caught.value.got) == ("bad-value", message, repr(value))


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
