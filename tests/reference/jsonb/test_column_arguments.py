"""Columns as arguments of JSON functions (jsonb 4.2): borders of each type, and what is refused.

And which columns an expression reads.
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import JsonValue, Opaque, same
from conformance.reference.partial.expression import (
    Call,
    Column,
    Expression,
    Function,
    Increment,
    Literal,
    Old,
    SqlNull,
    Wrapped,
    Wrapper,
    referenced_columns,
)
from conformance.reference.tables import temporal
from conformance.reference.tables.column_json import column_as_json
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.temporal import Time, Timestamp
from tests.reference.refusals import refused, where


def column(kind: str, **more: Any) -> TableColumn:
    return TableColumn(name="c", type=kind, **more)


@pytest.mark.parametrize(
    ("length", "scale", "value", "stored"),
    [
        # precision, scale, then groups of nine digits in four bytes, the first bit inverted (jsonb 5.1)
        (5, 2, "7", "0502" + "800700"),
        (5, 2, "-1.50", "0502" + "7ffecd"),
        (5, 2, "0.00", "0202" + "80"),
        (2, 2, "0.05", "0202" + "85"),
        (9, 0, "5", "0900" + "80000005"),
        (18, 0, "5", "0900" + "80000005"),
        (18, 0, "5000000000", "1200" + "80000005" + "00000000"),
        (20, 0, "5000000000", "1200" + "80000005" + "00000000"),
        (20, 0, "1000000000000000000", "1400" + "81" + "00000000" + "00000000"),
        (18, 0, "0", "0100" + "80"),
        (None, None, "7", "0900" + "80000007"),
        (None, None, "1234567890", "0a00" + "81" + "0dfb38d2"),
    ],
)
def test_a_decimal_has_the_groups_from_its_first_digit_on(
    length: int | None, scale: int | None, value: str, stored: str
) -> None:
    found = column_as_json(column("DECIMAL", length=length, scale=scale), Decimal(value))
    assert found == Opaque(246, bytes.fromhex(stored))


@pytest.mark.parametrize(
    ("seconds", "parts"),
    [
        (1, (1970, 1, 1, 0, 0, 1)),
        (86399, (1970, 1, 1, 23, 59, 59)),
        (86400, (1970, 1, 2, 0, 0, 0)),
        (1078012800, (2004, 2, 29, 0, 0, 0)),
        (1078099200, (2004, 3, 1, 0, 0, 0)),
        (1104537599, (2004, 12, 31, 23, 59, 59)),
        (2147483647, (2038, 1, 19, 3, 14, 7)),
        (4107542400, (2100, 3, 1, 0, 0, 0)),
        (4294967295, (2106, 2, 7, 6, 28, 15)),
    ],
)
def test_a_timestamp_is_told_in_utc(seconds: int, parts: tuple[int, int, int, int, int, int]) -> None:
    for fraction in (0, 999999):
        found = column_as_json(column("TIMESTAMP", scale=6), Timestamp(seconds, fraction))
        assert same(found, opaque.timestamp(*parts, fraction))
    zero = column_as_json(column("TIMESTAMP", scale=6), Timestamp(0, 500000))
    assert same(zero, opaque.timestamp(0, 0, 0, 0, 0, 0, 500000))


def test_the_time_zone_of_this_machine_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XYZ-9")
        time.tzset()
        found = column_as_json(column("TIMESTAMP"), Timestamp(86400))
        shown = temporal.text(Timestamp(86400))
    time.tzset()
    assert same(found, opaque.timestamp(1970, 1, 2, 0, 0, 0))
    assert shown == "1970-01-02 00:00:00"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (column("BIT", length=8), 0x81, Opaque(16, b"\x81")),
        (column("BIT", length=9), 0x181, Opaque(16, b"\x01\x81")),
        (column("BIT", length=64), 1, Opaque(16, bytes(7) + b"\x01")),
        (column("BINARY"), b"", Opaque(254, b"\0")),
        (column("SET", members=("a", "b", "c")), 6, "b,c"),
        (column("ENUM", members=("a", "b", "c")), 1, "a"),
        (column("TIME"), Time(False, 1, 2, 3), opaque.time(1, 2, 3)),
        (column("ENUM", charset="latin1", members=("\xe9",)), 1, "\xe9"),
        (column("ENUM", charset="klingon", members=("x",)), 1, "x"),
        (column("ENUM", collation="utf16_bin", members=("x",)), 1, "\0x"),
    ],
)
def test_values_at_the_borders_of_their_types(kind: TableColumn, value: Any, expected: JsonValue) -> None:
    assert same(column_as_json(kind, value), expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (column("GEOMETRY"), b""),
        (column("ENUM", members=("a", "b")), 3),
        (column("VARCHAR", charset="sjis"), b"\x81"),
        (column("VARCHAR", charset="klingon"), b"a"),
        (column("TEXT", collation="klingon_bin"), b"a"),
        (column("ENUM", charset="ucs2", members=("\U0001f600",)), 1),
        *((column(kind), b"2024") for kind in ("DATE", "TIME", "DATETIME", "TIMESTAMP")),
    ],
)
def test_what_has_no_json_value_is_said_to_have_none(kind: TableColumn, value: Any) -> None:
    assert where(refused(column_as_json, kind, value)) == ("column-as-json", None, "")


@pytest.mark.parametrize(
    ("expression", "new", "old"),
    [
        (Column("a"), {"a"}, set()),
        (Old("b"), set(), {"b"}),
        (Increment("n", 1), {"n"}, set()),
        (SqlNull(), set(), set()),
        (Wrapped(Wrapper.IF, Old("b")), set(), {"b"}),
        (Call(Function.JSON_SET, Old("b"), (("$.a", Column("a")), ("$.c", Column("c")))), {"a", "c"}, {"b"}),
        (Call(Function.JSON_SET, Column("j"), (("$.a", Wrapped(Wrapper.CAST, Old("b"))),)), {"j"}, {"b"}),
        (Call(Function.JSON_REMOVE, Column("j"), (("$.a", None), ("$.b", None))), {"j"}, set()),
        (Call(Function.JSON_SET, Literal(1), ((None, Column("a")),)), {"a"}, set()),
    ],
)
def test_columns_of_old_are_told_unless_they_are_not_wanted(
    expression: Expression, new: set[str], old: set[str]
) -> None:
    assert referenced_columns(expression) == new | old
    assert referenced_columns(expression, old=True) == new | old
    assert referenced_columns(expression, old=False) == new
