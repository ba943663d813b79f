"""Lists of diffs: order, number, operation, path and value count."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judge.decoding.diff_lists import differences_of_diffs
from conformance.judge.decoding.difference import DifferenceKind


def diff(path: str, value: Any = 1, operation: str = "REPLACE") -> dict[str, Any]:
    return {"operation": operation, "path": path, "value": value}


REMOVE = {"operation": "REMOVE", "path": "$.c"}
LIST = [diff("$.a"), diff("$.b[1]", "x", "INSERT"), REMOVE, diff("$.d", {"k": [1]})]


@pytest.mark.parametrize(
    ("got", "kinds"),
    [
        (LIST, []),
        ([*LIST[:2], {**REMOVE, "value": None}, LIST[3]], []),
        ([*LIST[:2], {**REMOVE, "value": 0}, LIST[3]], [DifferenceKind.DIFF]),
        (LIST[:1], [DifferenceKind.MISSING_DIFF] * 3),
        (LIST[1:], [DifferenceKind.MISSING_DIFF]),
        ([*LIST[:1], *LIST[2:]], [DifferenceKind.MISSING_DIFF]),
        ([], [DifferenceKind.MISSING_DIFF] * 4),
        ([LIST[1], LIST[0], *LIST[2:]], [DifferenceKind.MOVED_DIFF]),
        ([LIST[0], *LIST], [DifferenceKind.EXTRA_DIFF]),
        ([*LIST, diff("$.z")], [DifferenceKind.EXTRA_DIFF]),
        ([diff("$.a", 2), *LIST[1:]], [DifferenceKind.ALTERED]),
        ([diff("$.a", 1, "INSERT"), *LIST[1:]], [DifferenceKind.DIFF]),
        ([diff("$.a.b"), *LIST[1:]], [DifferenceKind.DIFF]),
        ([{"operation": "REPLACE", "path": "$.a"}, *LIST[1:]], [DifferenceKind.DIFF]),
        ([*LIST[:3], diff("$.d", {"k": [2]})], [DifferenceKind.ALTERED]),
        (["$.a", *LIST[1:]], [DifferenceKind.FORM]),
    ],
)
def test_every_departure_is_found_once(got: list[Any], kinds: list[DifferenceKind]) -> None:
    assert [item.kind for item in differences_of_diffs(LIST, got, "j")] == kinds


@pytest.mark.parametrize(
    ("path", "other", "same"),
    [
        ('$."a"', "$.a", True),
        ('$."a.b"', "$.a.b", False),
        ('$."\\u0061"', "$.a", True),
        ("$[1]", "$.1", False),
        ("$[1]", '$."1"', False),
        ("$", "$", True),
        ("$.a[0]", "$.a", False),
        ('$."a b"', "$.a b", False),
        ("$.a", "a", False),
        ("$.ä", '$."ä"', True),
        ("$.A", "$.a", False),
    ],
)
def test_a_path_is_its_legs(path: str, other: str, *, same: bool) -> None:
    assert (differences_of_diffs([diff(path)], [diff(other)], "j") == []) is same
    assert (differences_of_diffs([diff(other)], [diff(path)], "j") == []) is same


def test_a_path_may_be_bytes() -> None:
    assert differences_of_diffs([diff("$.ä")], [{**diff(""), "path": "$.ä".encode()}], "j") == []
