"""Values from one column type to another, as 9.7.4 converts them (tests/cli/test_live_alters.py compares with it)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.replay.defined_columns import defined_info
from conformance.reference.replay.statements import ColumnDefinition, DefaultCharset
from conformance.reference.replay.values.conversions import converter
from conformance.reference.sql.statement_words import split_words
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from conformance.reference.tables.metadata import ColumnInfo


def column(text: str) -> ColumnInfo:
    info = defined_info(ColumnDefinition("c", tuple(split_words(text)), DefaultCharset("utf8mb4")))
    assert info is not None
    return info


def converted(old: str, new: str, value: Any, time_zone: str | None = None) -> Any:
    return converter(column(old), column(new), time_zone)(value)


MOMENT = Datetime(2024, 3, 31, 12, 34, 56)


@pytest.mark.parametrize(
    ("old", "new", "value", "expected"),
    [
        ("INT", "BIGINT UNSIGNED", 7, 7),
        ("INT", "DECIMAL(9,2)", -7, Decimal("-7.00")),
        ("INT", "DOUBLE", 3, 3.0),
        ("INT", "VARCHAR(9)", -42, b"-42"),
        ("INT", "YEAR", 70, 1970),
        ("INT", "BIT(3)", 5, 5),
        ("BIT(3)", "INT", 5, 5),
        ("YEAR", "INT", 1999, 1999),
        ("DECIMAL(9,3)", "DECIMAL(9,2)", Decimal("1.005"), Decimal("1.01")),
        ("DECIMAL(9,3)", "DECIMAL(9,2)", Decimal("-1.015"), Decimal("-1.02")),
        ("DECIMAL(9,3)", "DECIMAL(9,2)", Decimal("-0.001"), Decimal("0.00")),
        ("DECIMAL(9,1)", "INT", Decimal("2.5"), 3),
        ("DOUBLE", "INT", 2.5, 2),
        ("DOUBLE", "DECIMAL(9,2)", 0.125, Decimal("0.13")),
        ("DOUBLE", "FLOAT", 0.1, 0.10000000149011612),
        ("DOUBLE", "VARCHAR(9)", 1e20, b"1e20"),
        ("VARCHAR(20)", "INT", b"  12", 12),
        ("VARCHAR(20)", "DECIMAL(9,2)", b"1.5e1", Decimal("15.00")),
        ("VARCHAR(20)", "DATETIME(2)", b"2024-3-31 12:34:56.75", MOMENT._replace(microsecond=750000)),
        ("VARCHAR(20)", "TIME", b"-838:59:59", Time(True, 838, 59, 59)),
        ("VARCHAR(20)", "YEAR", b"2024", 2024),
        ("VARCHAR(20)", "JSON", b'{"a": 1}', encode({"a": 1})),
        ("JSON", "TEXT", encode([1, "a"]), b'[1, "a"]'),
        ("JSON", "INT", encode(7), 7),
        ("DATE", "DATETIME(6)", Date(2024, 3, 31), Datetime(2024, 3, 31)),
        ("DATETIME", "DATE", MOMENT, Date(2024, 3, 31)),
        ("DATETIME", "DATETIME(6)", MOMENT, MOMENT),
        ("DATETIME", "TIMESTAMP", Datetime(0, 0, 0), Timestamp(0)),
        ("TIMESTAMP", "DATETIME", Timestamp(0), Datetime(0, 0, 0)),
        ("ENUM('a','b')", "ENUM('b','a','c')", 1, 2),
        ("ENUM('a','b')", "VARCHAR(9)", 2, b"b"),
        ("SET('a','b')", "SET('b','x','a')", 3, 5),
        ("SET('a','b')", "CHAR(9)", 3, b"a,b"),
        ("VARCHAR(9)", "ENUM('a','b')", b"b", 2),
        ("VARCHAR(9) CHARACTER SET latin1", "VARCHAR(9)", b"\xe9", b"\xc3\xa9"),
        ("TEXT CHARACTER SET utf8mb3", "TEXT", "€".encode(), "€".encode()),
        ("CHAR(9)", "VARCHAR(3)", b"abc", b"abc"),
        ("VARCHAR(9)", "CHAR(9)", b"a  ", b"a"),
        ("VARCHAR(9) CHARACTER SET ucs2", "CHAR(9) CHARACTER SET ucs2", b"\0a\0 ", b"\0a"),
        ("BINARY(3)", "VARBINARY(9)", b"a", b"a\0\0"),
        ("VARBINARY(9)", "BINARY(5)", b"a\0", b"a"),
        ("VARCHAR(9)", "VARBINARY(9)", "é".encode(), "é".encode()),
    ],
)  # fmt: skip
def test_a_conversion_that_is_certain(old: str, new: str, value: Any, expected: Any) -> None:
    found = converted(old, new, value)
    assert (found, type(found)) == (expected, type(expected))
    assert converted(old, new, None) is None


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("INT", "TINYINT", 128),
        ("INT", "INT UNSIGNED", -1),
        ("INT", "YEAR", 1900),
        ("INT", "BIT(2)", 4),
        ("INT", "DATE", 20240331),
        ("INT", "ENUM('a')", 1),
        ("INT", "JSON", 1),
        ("DECIMAL(9,2)", "DECIMAL(4,2)", Decimal("123.45")),
        ("DOUBLE", "INT", 1e300),
        ("DOUBLE", "INT", float("nan")),
        ("DOUBLE", "FLOAT", 1e300),
        ("DOUBLE", "DECIMAL(9,2)", 1e300),
        ("VARCHAR(20)", "INT", b"12a"),
        ("VARCHAR(20)", "INT", b""),
        ("VARCHAR(20)", "DATE", b"20240331"),
        ("VARCHAR(20)", "TIME", b"12"),
        ("VARCHAR(20)", "YEAR", b"24"),
        ("VARCHAR(20)", "JSON", b"{"),
        ("VARCHAR(20)", "VARCHAR(2)", b"abc"),
        ("VARCHAR(20)", "TINYBLOB", b"x" * 256),
        ("VARCHAR(20)", "VARCHAR(20) CHARACTER SET latin1", "€Ж".encode()),
        ("VARCHAR(20)", "ENUM('a','b')", b"A"),
        ("VARCHAR(20)", "SET('a','b')", b"a,c"),
        ("VARCHAR(20) CHARACTER SET utf8mb3", "VARCHAR(20) CHARACTER SET latin1", b"\xff"),
        ("ENUM('a','b')", "ENUM('a','c')", 2),
        ("ENUM('a','b')", "ENUM('b')", 0),
        ("ENUM('a','b')", "INT", 1),
        ("DATETIME(6)", "DATETIME(3)", MOMENT._replace(microsecond=1)),
        ("DATETIME(6)", "DATE", MOMENT._replace(microsecond=1)),
        ("DATETIME", "TIME", MOMENT),
        ("DATETIME", "TIMESTAMP", MOMENT),
        ("TIMESTAMP", "DATETIME", Timestamp(86400)),
        ("TIMESTAMP", "VARCHAR(20)", Timestamp(86400)),
        ("TIME", "DATETIME", Time(False, 1, 2, 3)),
        ("POINT", "BLOB", b"x"),
        ("JSON", "INT", encode([1])),
        ("INT", "INT NOT NULL", None),
        ("INT", "VECTOR(3)", 1),
    ],
)  # fmt: skip
def test_a_conversion_that_is_not_certain_is_refused(old: str, new: str, value: Any) -> None:
    assert refused(converted, old, new, value).code in ("value", "time-zone")


@pytest.mark.parametrize(
    ("time_zone", "seconds"),
    [
        ("UTC", 1711888496),
        ("+00:00", 1711888496),
        ("+02:00", 1711881296),
        ("-03:30", 1711901096),
        ("-0:01", 1711888556),
    ],
)
def test_a_moment_needs_a_time_zone_with_an_offset(time_zone: str, seconds: int) -> None:
    assert converted("DATETIME", "TIMESTAMP", MOMENT, time_zone) == Timestamp(seconds)
    assert converted("TIMESTAMP", "DATETIME", Timestamp(seconds), time_zone) == MOMENT


@pytest.mark.parametrize("time_zone", [None, "SYSTEM", "Europe/Berlin", "+2", "+14:01", "+01:60"])
def test_other_time_zones_are_refused(time_zone: str | None) -> None:
    assert refused(converted, "DATETIME", "TIMESTAMP", MOMENT, time_zone).code == "time-zone"


def test_a_moment_outside_of_timestamp_is_refused() -> None:
    for value in (Datetime(1969, 12, 31), Datetime(2024, 2, 31), Datetime(9999, 12, 31, 23, 59, 59)):
        assert refused(converted, "DATETIME", "TIMESTAMP", value, "-01:00").code == "value"
