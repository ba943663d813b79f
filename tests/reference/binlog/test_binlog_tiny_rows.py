"""Thousands of rows of a few bytes each: typed, they are what a tuple of them is, in the memory of their bytes."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import HEADER_SIZE, Checksum
from conformance.reference.binlog.rows import Row, RowsBody, TinyRows
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from tests.reference.text.made_logs import lazy, rows_bytes, table_of

if TYPE_CHECKING:
    from conformance.reference.binlog.rows import LazyRows

SHORT = table_of(ColumnType(types.SHORT))
NULL, NUMBERED = b"\1", 3  # bytes of a row of NULL, and how many one with a number has


def event(data: bytes) -> LazyRows:
    """Rows of a table of one SMALLINT."""
    return lazy(SHORT, rows_bytes(SHORT, EventType.WRITE_ROWS, data))


def numbers(count: int) -> LazyRows:
    return event(b"".join([b"\0" + number.to_bytes(2, "little") for number in range(count)]))


def kept(rows: LazyRows) -> TinyRows:
    typed = rows.typed().rows
    assert isinstance(typed, TinyRows)
    return typed


def test_they_are_like_the_tuple_of_these_rows() -> None:
    rows = numbers(5000)
    tiny, plain = kept(rows), tuple(rows.rows())
    assert len(tiny) == len(plain) == 5000
    assert tuple(tiny) == tuple(tiny) == plain
    assert tiny == plain
    assert plain == tiny
    assert hash(tiny) == hash(plain)
    for place in (0, 1, 1023, 1024, 4999, -1, -5000):
        assert tiny[place] == plain[place]
    for part in (slice(3), slice(4990, None), slice(10, 2, -3), slice(0, 0)):
        assert tiny[part] == plain[part]
    for place in (5000, -5001):
        with pytest.raises(IndexError):
            tiny[place]
    assert Row(None, (4999,)) in tiny
    assert repr(tiny) == "<5000 rows in 15000 bytes>"


def test_other_rows_are_others() -> None:
    tiny = kept(numbers(5000))
    assert tiny != kept(numbers(5001))
    assert tiny != kept(event(bytes(3) * 5000))
    assert tiny != list(tiny)
    assert tiny == kept(numbers(5000))


def test_the_event_is_encoded_from_them_and_equal_to_one_with_a_tuple() -> None:
    rows = numbers(6000)
    typed = rows.typed()
    assert encode_event(typed, algorithm=Checksum.NONE)[HEADER_SIZE:].endswith(rows.data)
    assert typed == RowsBody(
        type=typed.type,
        table_id=typed.table_id,
        column_count=1,
        after_columns=typed.after_columns,
        table=SHORT,
        rows=tuple(rows.rows()),
    )


def test_what_happens_to_the_lazy_event_later_does_not_change_them() -> None:
    rows = numbers(5000)
    tiny = kept(rows)
    rows.data = b""
    assert tiny[7] == Row(None, (7,))
    assert len(list(tiny)) == 5000


@pytest.mark.parametrize(
    ("data", "tiny"),
    [
        (NULL * 1023, False),
        (NULL * 1024, True),
        (bytes(NUMBERED) * 1024, True),
        (bytes(NUMBERED) * 1023 + NULL, True),
    ],
)
def test_from_how_many_rows_on(data: bytes, tiny: bool) -> None:
    assert isinstance(event(data).typed().rows, TinyRows) is tiny


@pytest.mark.parametrize(("width", "tiny"), [(3, True), (4, False)])
def test_up_to_how_many_bytes(width: int, tiny: bool) -> None:
    table = table_of(*[ColumnType(types.TINY)] * width)
    rows = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, bytes(1 + width) * 1024))
    assert isinstance(rows.typed().rows, TinyRows) is tiny


def test_the_last_row_does_not_count_as_nobody_knows_yet_where_it_ends() -> None:
    table = table_of(ColumnType(types.LONG))
    for first, tiny in ((NULL, True), (bytes(5), False)):  # 1,023 rows of five bytes, one byte too few or not
        rows = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, first + bytes(5) * 1023))
        assert isinstance(rows.typed().rows, TinyRows) is tiny


def test_thousands_of_rows_of_more_bytes_are_a_tuple() -> None:
    table = table_of(ColumnType(types.LONG))
    data = b"".join([b"\0" + number.to_bytes(4, "little") for number in range(3000)])
    typed = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, data)).typed()
    assert typed.rows == tuple([Row(None, (number,)) for number in range(3000)])
    assert isinstance(typed.rows, tuple)


def test_rows_that_get_tiny_later() -> None:
    table = table_of(ColumnType(types.LONG))
    rows = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, bytes(5) * 1024 + NULL * 2048))
    tiny = kept(rows)
    assert tiny[1023:1025] == (Row(None, (0,)), Row(None, (None,)))
    assert tiny == tuple(rows.rows())


def test_a_broken_row_among_them_is_an_error_when_they_are_typed() -> None:
    rows = event(bytes(NUMBERED) * 5000 + b"\0\5")
    with pytest.raises(DecodeError) as typed:
        rows.typed()
    with pytest.raises(DecodeError) as read:
        list(rows.rows())
    assert str(typed.value) == str(read.value)
    assert "rows[5000]" in str(typed.value)


def test_they_take_the_memory_of_their_bytes() -> None:
    rows = event(NULL * 200_000)
    tracemalloc.start()
    try:
        kept(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 200_000
