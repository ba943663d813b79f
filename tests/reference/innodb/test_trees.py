"""Trees of three levels: each contradiction is refused, and a walk that may go on loses only what is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.btree import leaf_records
from tests.reference.innodb.made_trees import FORMAT, INDEX_ID, ROOT, SIZE, page, space_of, tree

if TYPE_CHECKING:
    from collections.abc import Callable

Pages = dict[int, bytearray]


def keys(pages: Pages, damage: list[CodecError] | None = None) -> list[int]:
    report = None if damage is None else damage.append
    walk = leaf_records(space_of(pages), ROOT, FORMAT, owner=INDEX_ID, damage=report)
    return [int.from_bytes(value, "big") for _, record in walk if isinstance(value := record.values[0], bytes)]


def test_a_sound_tree_is_read_in_order() -> None:
    damage: list[CodecError] = []
    assert keys(tree()) == keys(tree(), damage) == list(range(30))
    assert damage == []


def put(number: int, offset: int, new: bytes) -> Callable[[Pages], None]:
    def change(pages: Pages) -> None:
        pages[number][offset : offset + len(new)] = new

    return change


def swapped(pages: Pages) -> None:
    """The nodes name the leaves in another order than the leaves themselves."""
    pages[5] = page(5, [0, 10], level=1, children=[7, 9], next_=6)
    pages[6] = page(6, [20], level=1, children=[8], prev=5)


def without_the_last(pages: Pages) -> None:
    """The chain of leaves ends before the last one."""
    pages[8] = page(8, range(10, 20), prev=7)


def childless(pages: Pages) -> None:
    pages[ROOT] = page(ROOT, [], level=2, children=[])


CHANGES: dict[str, tuple[Callable[[Pages], None], str, int]] = {
    "index of the root": (put(ROOT, 73, b"\1"), "wrong-page", ROOT),
    "root has a neighbour": (put(ROOT, 12, b"\0\0\0\x09"), "wrong-page", ROOT),
    "index of a leaf": (put(8, 73, b"\1"), "wrong-page", 8),
    "level of a node": (put(5, 65, b"\2"), "wrong-page", 5),
    "level of a leaf": (put(8, 65, b"\1"), "wrong-page", 8),
    "prev of a leaf": (put(8, 8, b"\0\0\0\x09"), "wrong-page", 8),
    "a leaf leads back": (put(8, 12, b"\0\0\0\x07"), "page-circle", 8),
    "root is its own child": (put(ROOT, 125 + 4, b"\0\0\0\x04"), "page-circle", ROOT),
    "page number": (put(8, 4, b"\0\0\0\x09"), "wrong-page-number", 8),
    "type": (put(8, 24, b"\0\x17"), "wrong-page-type", 8),
    "other order of children": (swapped, "wrong-node-pointer", 8),
    "chain ends early": (without_the_last, "wrong-node-pointer", 8),
    "no child": (childless, "empty-node", ROOT),
    "level beyond all trees": (put(ROOT, 64, b"\0\x41"), "bad-level", ROOT),
    "owned records": (put(8, 107, b"\1"), "bad-directory", 8),
    "slot": (put(8, SIZE - 12, b"\0\x7d"), "bad-directory", 8),
    "number of slots": (put(8, 38, b"\0\x09"), "bad-directory", 8),
    "heap number": (put(8, 121, b"\0\x18"), "bad-directory", 8),
    "free list that does not end": (put(8, 44, b"\0\x7d"), "bad-directory", 8),
    "heap top": (put(8, 40, b"\0\x80"), "bad-heap-top", 8),
    "infimum": (put(8, 99, b"I"), "bad-record-chain", 8),
    "skipped record": (put(8, 123, (22).to_bytes(2, "big")), "bad-record-count", 8),
    "record outside": (put(8, 123, b"\x7f\xff"), "bad-record-chain", 8),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_contradiction_is_refused_for_its_page(name: str) -> None:
    change, code, number = CHANGES[name]
    pages = tree()
    change(pages)
    with pytest.raises(CodecError) as caught:
        keys(pages)
    assert (caught.value.code, caught.value.path[0]) == (code, f"page[{number}]"), caught.value
    assert len(caught.value.path) > 1


@pytest.mark.parametrize("name", CHANGES)
def test_a_walk_that_goes_on_reports_it_and_gives_the_other_pages(name: str) -> None:
    change, _, number = CHANGES[name]
    pages, damage = tree(), list[CodecError]()
    change(pages)
    found = keys(pages, damage)
    assert damage
    if number == 8:
        assert {*range(10), *range(20, 30)} <= set(found)


def test_a_lost_leaf_loses_its_rows_only() -> None:
    pages, damage = tree(6), list[CodecError]()
    pages[9] = bytearray(SIZE)
    pages[11][24:26] = b"\0\0"
    assert keys(pages, damage) == [*range(20), *range(30, 40), *range(50, 60)]
    assert [error.path[0] for error in damage] == ["page[9]", "page[9]", "page[11]"]


def test_a_record_of_another_kind_is_left_out() -> None:
    pages, damage = tree(), list[CodecError]()
    pages[8][122] |= 1  # the first record says that it is a node pointer
    assert keys(pages, damage) == [*range(10), *range(11, 30)]
    assert [error.code for error in damage] == ["bad-record-status"]
