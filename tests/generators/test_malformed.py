"""Edits do what their name says, and nothing outside the encoding."""

from __future__ import annotations

from collections import Counter

import pytest

from generators.draw import Stream
from generators.malformed import Edit, EditKind, apply_edits, edit, edits

DATA = bytes(range(1, 9))


@pytest.mark.parametrize(
    ("kind", "position", "amount", "expected"),
    [
        (EditKind.SET, 2, 0xFF, "0102ff0405060708"),
        (EditKind.SET, 8, 0xFF, "0102030405060708"),
        (EditKind.ADD, 0, -2, "ff02030405060708"),
        (EditKind.FLIP, 7, 3, "0102030405060700"),
        (EditKind.SET16, 1, 0x8000, "0100800405060708"),
        (EditKind.SET16, 7, 0x8001, "0102030405060701"),
        (EditKind.SET32, 4, 0xFFFFFFFF, "01020304ffffffff"),
        (EditKind.TRUNCATE, 3, 0, "010203"),
        (EditKind.TRUNCATE, 0, 0, ""),
        (EditKind.DELETE, 6, 5, "010203040506"),
        (EditKind.INSERT, 8, 9, "010203040506070809"),
        (EditKind.INSERT, 0, 9, "090102030405060708"),
        (EditKind.REPEAT, 1, 2, "01020302030405060708"),
        (EditKind.ZERO, 6, 4, "0102030405060000"),
        (EditKind.FILL, 0, 2, "ffff030405060708"),
    ],
)
def test_an_edit(kind: EditKind, position: int, amount: int, expected: str) -> None:
    assert apply_edits(DATA, [Edit(kind, position, amount)]).hex() == expected


def test_edits_follow_each_other() -> None:
    steps = [Edit(EditKind.TRUNCATE, 2), Edit(EditKind.SET, 5, 1), Edit(EditKind.INSERT, 5, 7)]
    assert apply_edits(DATA, steps).hex() == "010207"
    assert str(steps[0]) == "truncate@2(0)"


@pytest.mark.parametrize("size", [0, 1, 2, 100])
def test_drawn_edits_are_inside_and_of_every_kind(size: int) -> None:
    seen = Counter[EditKind]()
    for n in range(1500):
        made = edit(Stream("edit", size, n), size)
        assert 0 <= made.position <= size
        apply_edits(bytes(size), [made])
        seen[made.kind] += 1
    assert set(seen) == set(EditKind)


def test_one_edit_is_usual() -> None:
    counts = Counter(len(edits(Stream("edits", n), 50)) for n in range(1000))
    assert counts[1] > 600
    assert min(counts[2], counts[3]) > 60
    assert len(edits(Stream("x"), 50, most=1)) == 1


@pytest.mark.parametrize("bad", ["size", "most"])
def test_arguments_are_checked(bad: str) -> None:
    with pytest.raises(ValueError, match=r"bytes|most"):
        _ = edit(Stream("x"), -1) if bad == "size" else edits(Stream("x"), 5, most=0)
