"""The rows of a replay in little memory: they keep their values, their numbers and their order."""

from __future__ import annotations

import sys

import pytest

from conformance.reference.replay.row_store import RowIndex, RowStore
from conformance.reference.replay.table_state import TableState
from conformance.reference.replay.undo_log import UndoLog


def test_rows_keep_their_numbers() -> None:
    rows = RowStore()
    assert [rows.add([number]) for number in range(4)] == [0, 1, 2, 3]
    assert rows.pop(1) == (1,)
    assert (len(rows), list(rows), list(rows.values())) == (3, [0, 2, 3], [(0,), (2,), (3,)])
    assert 1 not in rows
    assert 9 not in rows
    with pytest.raises(KeyError):
        rows[1]
    rows[1] = ["again"]
    rows[3] = ["new"]
    assert list(rows.items()) == [(0, (0,)), (1, ("again",)), (2, (2,)), (3, ("new",))]
    assert len(rows) == 4
    rows.clear()
    assert (len(rows), list(rows)) == (0, [])
    assert rows.add(["after"]) == 4  # a number never returns to another row


def test_equal_rows_are_one_object_and_zeros_of_two_signs_are_two() -> None:
    rows = RowStore()
    for values in ([1, b"x"], [1, b"x"], [0.0], [-0.0]):
        rows.add(values)
    assert rows[0] is rows[1]
    assert [str(rows[number][0]) for number in (2, 3)] == ["0.0", "-0.0"]


def test_many_equal_rows_take_little_memory_and_change_one_by_one() -> None:
    rows, expected = RowStore(), {}
    for number in range(20_000):
        expected[number] = ("other",) if number in (9_000, 19_999) else ("same",)
        assert rows.add(expected[number]) == number
    assert sum(map(sys.getsizeof, {id(block): block for block in rows._blocks}.values())) < 5 * 8 * 4096
    for number in (0, 4_095, 4_096, 8_193, 19_998):
        assert rows.pop(number) == expected.pop(number)
        assert number not in rows
    rows[4_095] = expected[4_095] = ("back",)
    rows[12_288] = expected[12_288] = ("new",)
    assert (len(rows), dict(rows.items())) == (len(expected), dict(sorted(expected.items())))
    rows.clear()
    assert (len(rows), list(rows), rows.add(("after",))) == (0, [], 20_000)
    rows[5_000] = ("back",)
    assert dict(rows.items()) == {5_000: ("back",), 20_000: ("after",)}


@pytest.mark.parametrize("count", [1, 2, 16, 17, 40])
def test_an_index_returns_rows_in_the_order_in_which_they_came(count: int) -> None:
    index = RowIndex()
    for number in range(count):
        index.add(("key",), number)
    assert list(index.numbers(("key",))) == list(range(count))
    assert list(index.numbers(("other",))) == []
    for number in (*range(1, count), 0):
        assert ("key",) in index
        index.discard(("key",), number)
    assert ("key",) not in index


def test_changes_are_taken_back_to_a_mark_and_to_the_beginning() -> None:
    table, other = TableState(("d", "t")), TableState(("d", "u"))
    undo = UndoLog()
    for number in range(5):
        undo.inserted(table, table.add([number]))
    undo.inserted(other, other.add(["other"]))
    undo.changed(table, 2, table.replace(2, ["new"]))
    mark = len(undo)
    undo.changed(table, 3, table.remove(3))
    undo.changed(table, 2, table.replace(2, ["newer"]))
    undo.inserted(table, table.add([5]))
    assert len(undo) == mark + 3 == 10
    undo.take_back(mark)
    assert [row[0] for row in table.rows.values()] == [0, 1, "new", 3, 4]
    undo.take_back()
    assert (len(undo), len(table.rows), len(other.rows)) == (0, 0, 0)
