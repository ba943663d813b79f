"""The census counts exactly what is at a border, and nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.census_borders import is_full, of_documents, of_paths
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import DATETIME, Opaque, UInt
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import Member, Path
from conformance.reference.tables.columns import LONG, ColumnType
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

STAMP = opaque.timestamp(2024, 2, 29)
MOMENT = Opaque(DATETIME, STAMP.payload)
OTHER = opaque.datetime(2024, 3, 1)


@pytest.mark.parametrize(
    ("document", "rules"),
    [
        (["x" * 65_524], []),
        (["x" * 65_525], ["document/65535-bytes"]),
        (["x" * 65_526], ["document/65536-bytes"]),
        (["x" * 65_527], []),
        ({"a": "x" * 65_520}, ["document/65535-bytes"]),
        ({"a": "x" * 65_521}, ["document/65536-bytes"]),
        # A small container has numbers of 32 bits behind its entries: 3 + 4 bytes more.
        (["x" * 65_519, 70_000], ["document/65536-bytes"]),
        (["x" * 65_519, UInt(70_000)], ["document/65536-bytes", "document/uint32-in-large"]),
        (["x" * 66_000, UInt(70_000)], ["document/uint32-in-large"]),
        (["x" * 66_000, UInt(7), 70_000], []),
        (["x" * 100, UInt(70_000)], []),
    ],
    ids=[
        "array-65534",
        "array-65535",
        "array-65536",
        "array-65537",
        "object-65535",
        "object-65536",
        "int32-behind",
        "uint32-behind",
        "uint32-in-large",
        "uint16-in-large",
        "uint32-in-small",
    ],
)
def test_documents_at_the_border_of_the_small_format(document: JsonValue, rules: list[str]) -> None:
    assert list(of_documents(encode(document), None)) == rules


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        (STAMP, MOMENT, ["compare/timestamp-datetime"]),
        (MOMENT, STAMP, ["compare/timestamp-datetime"]),
        (STAMP, OTHER, []),
        (2**53 + 1, float(2**53), ["compare/double-2^53"]),
        (float(2**53), UInt(2**53 + 1), ["compare/double-2^53"]),
        (2**53 + 1, 2**53, []),
        (2**53 + 9, float(2**53), []),
        (2**52, float(2**52), []),
        (2**63 - 1, float(2**63), ["compare/double-2^63"]),
        (float(2**63), UInt(2**63 + 1), ["compare/double-2^63"]),
        (2**62, float(2**62), []),
        (True, 1.0, []),
    ],
)
def test_values_in_the_place_of_others(old: JsonValue, new: JsonValue, rules: list[str]) -> None:
    pairs: list[tuple[JsonValue, JsonValue]] = [([1, old], [1, new]), ({"a": {"b": old}}, {"a": {"b": new}, "c": 1})]
    for before, after in pairs:
        assert list(of_documents(encode(before), encode(after))) == rules
    assert list(of_documents(encode([old]), encode({"a": new}))) == []


def test_what_cannot_be_read_is_not_compared() -> None:
    deep = b"\x02\x00\x00\x04\x00"
    for _ in range(120):
        deep = b"\x02\x01\x00" + (len(deep) + 6).to_bytes(2, "little") + b"\x02\x07\x00" + deep[1:]
    assert list(of_documents(deep, encode([1]))) == []


@pytest.mark.parametrize(
    ("name", "rules"), [("a\u036f", ["path/U+036F"]), ("\u0370", ["path/U+0370"]), ("a\u0300", []), ("\u0371", [])]
)
def test_names_in_paths(name: str, rules: list[str]) -> None:
    assert list(of_paths(encode_diff(Operation.REMOVE, Path((Member(name),)), None))) == rules


def test_an_event_is_full_at_its_limit_alone() -> None:
    table = TableMap(table_id=1, schema="s", table="t", columns=(ColumnType(LONG),), nullable=(False,))
    event = rows_body(table, EventType.UPDATE_ROWS, [Row((1,), (2,)), Row((3,), (4,))])
    size = len(event.encode())
    assert [is_full(event, limit) for limit in (size - 1, size, size + 1)] == [False, True, False]
    one = rows_body(table, EventType.UPDATE_ROWS, [Row((1,), (2,))])
    assert not is_full(one, len(one.encode()))
