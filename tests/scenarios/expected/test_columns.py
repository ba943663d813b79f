"""Outcomes of a statement for a column, held against the vectors of partial-update 9 and jsonb 2.1 (9.7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scenarios.expected.columns import ColumnOutcome, Document, before, inserted, removed, replaced_or_set, steps
from scenarios.expected.layout import lay_out, value_size

if TYPE_CHECKING:
    from collections.abc import Callable

D: dict[str, Any] = {"a": 1, "b": "str", "c": [1, 2, 3], "d": {"x": 1}, "pad": "p" * 60}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"b": 1, "a": 2, "aa": 3, "": 4, "Z": 5}, 45), ([1, "a", {"k": [True]}], 35),
        (["abc", "def"], 19), ({"a": "x", "b": "y", "c": "z"}, 35), (["kkkk", 1], 16), (D, 137),
        ([1] * 21843, 65534), ([1] * 21844, 109229), (["a" * 65525], 65536), ({"a": "a" * 65520}, 65536),
        ({"k" * 65535: 1}, 65555), (None, 2), (True, 2), (1, 3), (40000, 5), (1 << 31, 9), ("é", 4), ([], 5),
    ],
)  # fmt: skip
def test_a_document_has_the_size_of_the_sheet(value: Any, size: int) -> None:
    assert value_size(value) == size


def test_a_large_container_holds_small_ones_and_inlines_32_bits() -> None:
    found = lay_out(["a" * 70000, [1], 40000])
    assert found.large
    assert not found.children[1].large
    assert found.spans[2] is None
    assert lay_out([40000]).spans[0] == (7, 11)


def test_a_path_is_its_steps() -> None:
    assert steps('$.g0.k1[12]."a\\"b"') == ("g0", "k1", 12, 'a"b')


def _set(*pairs: tuple[str, Any]) -> Callable[[Document], ColumnOutcome]:
    return lambda document: replaced_or_set(document, pairs)


def _remove(*paths: str) -> Callable[[Document], ColumnOutcome]:
    return lambda document: removed(document, paths)


@pytest.mark.parametrize(
    ("value", "statement", "field", "size"),
    [
        (["abc", "def", "p" * 64], _set(("$[0]", "XY")), "0b0000000004245b305d040c025859", 87),
        (["abc", "def"], _set(("$[1]", 456)), "0a0000000004245b315d0305c801", 19),
        (D, _remove("$.b"), "050000000203242e62", 137),
        (D, _set(("$.b", "longer string")), "150000000003242e620f0c0d6c6f6e67657220737472696e67", 147),
        (D, _set(("$.a", "x")), "090000000003242e61030c0178", 139),
        (D, _set(("$.new", 1)), "0b0000000105242e6e657703050100", 147),
        (D, _set(("$.a", 1)), "00000000", 137),
        (D, _set(("$.new", 1), ("$.a", 1)), "140000000105242e6e6577030501000003242e6103050100", 147),
        (D, _set(("$.a", 1), ("$.new", 1)), "0b0000000105242e6e657703050100", 147),
        (D, _set(("$.c[3]", 1), ("$.c[4]", 2)), "180000000106242e635b335d030501000106242e635b345d03050200", 143),
        (D, _set(("$.b", True)), "080000000003242e62020401", 137),
        (D, _set(("$.b", 9999999999)), "0f0000000003242e620909ffe30b5402000000", 141),
        (D, _set(("$.b", {"k": 1})), "130000000003242e620d0001000c000b0001000501006b", 145),
    ],
)  # fmt: skip
def test_diffs_and_documents_are_as_long_as_those_of_the_sheet(
    value: Any, statement: Callable[[Document], ColumnOutcome], field: str, size: int
) -> None:
    found = statement(before(value, None))
    assert found.encoded == len(field) // 2 - 4
    assert found.size == size
    assert found.changed == bool(found.encoded)


@pytest.mark.parametrize(("pad", "partial"), [(1, False), ("", False), ("z", True), ("zz", True)])
def test_the_border_is_that_of_the_sheet(pad: Any, partial: bool) -> None:
    found = replaced_or_set(before(["kkkk", pad], None), (("$[0]", "xxxx"),))
    assert found.partial is partial


def test_holes_count_and_are_used() -> None:
    document = before(["kkkk", "zz"], "$[1]")
    assert document.size == 19
    assert replaced_or_set(document, (("$[0]", "yyyy"),)).partial
    # A gap before a value is used (partial-update 3.1), one further away is not.
    assert replaced_or_set(before(["abc", "def", "p" * 64], "$[0]"), (("$[1]", "XYZW"),)).size == 87
    assert replaced_or_set(before(["abc", "d", "ghi"], "$[0]"), (("$[2]", "XYZWX"),)).size > 22


def test_what_is_not_eligible_has_no_list() -> None:
    found = inserted(before(D, None), (("$.q", 1),))
    assert found.diffs is None
    assert found.size == 145
