"""Bytes of diffs that could lead from one document to another (partial-update 2, partial-update 4).

A log with full images has the documents before and after, not the statement. Many chains of JSON_SET, JSON_REPLACE and
JSON_REMOVE lead from the one to the other, and each logs other diffs:

* ``leaves``: one diff for each scalar that differs, one INSERT or REMOVE for each element that came or went;
* ``members``: one diff for each element of the root that differs, however small its change is;
* ``least``: a lower bound for every chain, proved and not searched for. A container counts as the cheaper of itself and
  of the sum of its elements. An index in an array whose elements may have moved counts as one digit. An array too large
  to try counts as the bytes that any chain must write. The bound may be a few bytes below the possible minimum, never
  above.

There is no upper bound below the whole document: a statement may set the document itself, or write a place twice.

JSON_SET puts elements at the end of an array or in front of it, never between two others (partial-update 2.1). So an
array has elements put in front, then elements of the old array in order, some changed, some gone, then appended ones.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.cursor import packed_size
from conformance.reference.errors import DecodeError
from conformance.reference.jsonb.encode import INLINED_LARGE, INLINED_SMALL, SMALL_LIMIT, encode, encoded_size
from conformance.reference.jsonb.values import LARGE_ARRAY, same
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.paths import Member, Path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.jsonb.values import JsonValue

LEAST_DIFF: Final = 11
"""Of two documents with the same values and other bytes: something was logged, at least a REPLACE of ``$.a`` by an
empty container without the holes that it had."""

_CELL: Final = 3  # [0], the shortest path leg of an array
_FRONT: Final = 8  # [last-1], the shortest leg that puts an element in front
_ALIGNED: Final = 4096  # the most pairs of elements that an alignment tries


class Difference(NamedTuple):
    """Bytes of all diffs, without the 4-byte length of the field. All 0: the same values."""

    least: int
    leaves: int
    members: int


NOTHING: Final = Difference(0, 0, 0)


class _Work:
    """A bound on visits: a document whose elements share bytes could otherwise have elements without end."""

    __slots__ = ("left",)

    def __init__(self, size: int) -> None:
        self.left = size

    def visit(self, b: View, a: View) -> None:
        """Count two containers. An entry has at least 3 bytes, so a sound document has fewer elements than bytes."""
        self.left -= b.count + a.count + 1
        if self.left < 0:
            raise DecodeError("overlap", "the elements of a JSON document share bytes")


def difference(before: bytes, after: bytes) -> Difference | None:
    """The difference between two stored documents with other bytes.

    ``None``: no diffs lead to the new document, because the root is another value, or of another kind.
    """
    b, a = open_document(before), open_document(after)
    work = _Work(len(before) + len(after))
    if b.is_object and a.is_object:
        found = _objects(b, a, 1, 1, work, top=True)
    elif b.is_array and a.is_array:
        found = _arrays(b, a, 1, 1, work, top=True)
    else:
        return None
    return found if found.least else Difference(LEAST_DIFF, LEAST_DIFF, LEAST_DIFF)


def diff_size(path: int, data: int | None) -> int:
    """Bytes of one diff: the lengths of its path's text and of its value's JSONB, ``None`` for REMOVE."""
    size = 1 + packed_size(path) + path
    return size if data is None else size + packed_size(data) + data


@lru_cache(maxsize=8192)
def leg_size(name: bytes) -> int:
    """Bytes of a member's leg in a path."""
    return len(str(Path((Member(name.decode("utf-8", "surrogateescape")),))).encode("utf-8", "surrogateescape")) - 1


def _element(b: View, i: int, a: View, j: int, path: int, short: int, work: _Work, *, top: bool) -> Difference:
    """The difference of two elements. ``path``: bytes of the path's text; ``short``: its least length."""
    if _same_bytes(b, i, a, j):
        return NOTHING
    old, new = b.element(i), a.element(j)
    if old.is_object and new.is_object:
        inside = _objects(old, new, path, short, work)
    elif old.is_array and new.is_array:
        inside = _arrays(old, new, path, short, work)
    else:
        value = new.value()
        if old.kind > LARGE_ARRAY and new.kind > LARGE_ARRAY and same(old.value(), value):
            return NOTHING
        size = encoded_size(value)
        leaves = diff_size(path, size)
        return Difference(diff_size(short, _least_size(value, size)), leaves, leaves)
    if not inside.least:
        return NOTHING
    least, members = inside.least, 0
    if top or least > diff_size(short, _smallest(new)):
        value = new.value()
        size = encoded_size(value)
        least = min(least, diff_size(short, _least_size(value, size)))
        members = diff_size(path, size)
    return Difference(least, inside.leaves, members)


def _same_bytes(b: View, i: int, a: View, j: int) -> bool:
    """Whether two elements have the same bytes, which makes them the same value."""
    _, kind, field = b.entry(i)
    _, other, other_field = a.entry(j)
    if kind != other:
        return False
    if kind in INLINED_SMALL or (kind in INLINED_LARGE and b.is_large and a.is_large):
        return b.is_large == a.is_large and field == other_field
    one, two = b.place(i), a.place(j)
    return one is not None and two is not None and b.data[one[0] : one[1]] == a.data[two[0] : two[1]]


def _smallest(container: View) -> int:
    """A lower bound for the JSONB of a container's elements."""
    return 5 + (7 if container.is_object else 3) * container.count


def _least_size(value: JsonValue, size: int) -> int:
    """The least bytes to write a value: it may be written in parts, which saves bytes only for large containers."""
    return size if size <= SMALL_LIMIT else min(size, _parts_size(value))


def _parts_size(value: JsonValue) -> int:
    """The JSONB of a value as if every container were small and 32-bit integers were inlined in entries."""
    if isinstance(value, dict):
        return 5 + sum(6 + len(key.encode("utf-8", "surrogateescape")) + _parts_size(v) for key, v in value.items())
    if isinstance(value, list):
        return 5 + sum(2 + _parts_size(item) for item in value)
    size = encoded_size(value)
    inlined = size <= 5 and (value is None or isinstance(value, int))  # UInt and bool are ints
    return 1 if inlined else size


# ------------------------------------------------------------------------------------------------------------- objects


def _objects(b: View, a: View, path: int, short: int, work: _Work, *, top: bool = False) -> Difference:
    """The difference of two objects: members never move, so each member is independent."""
    work.visit(b, a)
    old = {b.key(index): index for index in range(b.count)}
    least = leaves = members = 0
    for j in range(a.count):
        key = a.key(j)
        i = old.pop(key, -1)
        if i >= 0 and _same_bytes(b, i, a, j):
            continue
        leg = leg_size(key)
        if i >= 0:
            found = _element(b, i, a, j, path + leg, short + leg, work, top=top)
        else:
            found = _inserted(a, j, path + leg, short + leg)
        least += found.least
        leaves += found.leaves
        members += found.members
    for key in old:
        leg = leg_size(key)
        least += diff_size(short + leg, None)
        leaves += diff_size(path + leg, None)
        members += diff_size(path + leg, None)
    return Difference(least, leaves, members)


def _inserted(a: View, j: int, path: int, short: int) -> Difference:
    value = a.element(j).value()
    size = encoded_size(value)
    whole = diff_size(path, size)
    return Difference(diff_size(short, _least_size(value, size)), whole, whole)


# -------------------------------------------------------------------------------------------------------------- arrays


def _arrays(b: View, a: View, path: int, short: int, work: _Work, *, top: bool = False) -> Difference:
    """The difference of two arrays."""
    work.visit(b, a)
    n, m = b.count, a.count
    most = min(n, m)
    head = 0
    while head < most and _same_bytes(b, head, a, head):
        head += 1
    if head == n == m:
        return NOTHING
    tail = 0
    while tail < most - head and _same_bytes(b, n - 1 - tail, a, m - 1 - tail):
        tail += 1
    pairs: dict[int, Difference] = {}
    for index in range(head, n - tail if n == m else most):
        leg = _cell(index)
        pairs[index] = _element(b, index, a, index, path + leg, short + leg, work, top=top)
    by_position = _by_position(b, a, path, short, pairs)
    if not by_position.least:
        return NOTHING
    shifted = _shifted(b, a, head, tail, path, pairs, top=top) if len(pairs) > 1 or n != m else None
    chosen = by_position
    if shifted is not None and shifted[0] < by_position.leaves:
        chosen = Difference(0, *shifted)
    return Difference(_least_of_array(b, a, head, tail, short, by_position.least), chosen.leaves, chosen.members)


def _cell(index: int) -> int:
    """Bytes of an array cell's path leg."""
    return 2 + len(str(index))


def _by_position(b: View, a: View, path: int, short: int, pairs: Mapping[int, Difference]) -> Difference:
    """The difference if every element changes in place, and the end removes or appends elements."""
    n, m = b.count, a.count
    least = leaves = members = 0
    for found in pairs.values():
        least += found.least
        leaves += found.leaves
        members += found.members
    for j in range(n, m):
        found = _inserted(a, j, path + _cell(j), short + _cell(j))
        least += found.least
        leaves += found.leaves
        members += found.members
    for i in range(m, n):
        least += diff_size(short + _CELL, None)
        leaves += diff_size(path + _cell(i), None)
        members += diff_size(path + _cell(i), None)
    return Difference(least, leaves, members)


def _shifted(
    b: View, a: View, head: int, tail: int, path: int, pairs: Mapping[int, Difference], *, top: bool
) -> tuple[int, int] | None:
    """Bytes for ``leaves`` and ``members`` if elements went and others moved up; ``None``: too many pairs to try.

    The function finds the cheapest way through the elements between the same elements at both ends. New elements may
    come in front only if no element there was the same, and at the end likewise. An element that moved is the same; it
    is replaced whole only if as many elements went before it as the lengths differ by.
    """
    rows, columns = b.count - head - tail, a.count - head - tail
    if rows * columns > _ALIGNED:
        return None
    moved = rows - columns
    endless = 1 << 60
    old = [diff_size(path + _cell(head + i), None) for i in range(rows)]
    new = [_inserted(a, head + j, path + _cell(head + j), 0).leaves for j in range(columns)]
    front = [_inserted(a, head + j, path + _FRONT, 0).leaves for j in range(columns)]
    # Three layers: before the first element that stays, among those that stay, behind the last.
    state = [[[endless] * (columns + 1) for _ in range(rows + 1)] for _ in range(3)]
    state[0][0][0] = 0
    for i in range(rows + 1):
        for j in range(columns + 1):
            for layer in range(3):
                here = state[layer][i][j]
                if layer and state[layer - 1][i][j] < here:
                    here = state[layer][i][j] = state[layer - 1][i][j]
                if here >= endless:
                    continue
                if i < rows:
                    _lower(state[layer][i + 1], j, here + old[i])
                if j < columns and layer == 0 and not head:
                    _lower(state[0][i], j + 1, here + front[j])
                if j < columns and layer == 2 and not tail:
                    _lower(state[2][i], j + 1, here + new[j])
                if i < rows and j < columns and layer == 1:
                    if i == j and head + i in pairs:
                        _lower(state[1][i + 1], j + 1, here + pairs[head + i].leaves)
                    elif _same_bytes(b, head + i, a, head + j):
                        _lower(state[1][i + 1], j + 1, here)
                    elif i - j == moved:
                        _lower(state[1][i + 1], j + 1, here + new[j])
    leaves = state[2][rows][columns]
    if leaves >= endless:
        return None
    return leaves, leaves if top else 0


def _lower(row: list[int], place: int, cost: int) -> None:
    row[place] = min(row[place], cost)


def _least_of_array(b: View, a: View, head: int, tail: int, short: int, by_position: int) -> int:
    """A lower bound for an array: elements that the old array lacks, and as many removals or insertions as the lengths
    require.

    If no element moved, ``by_position`` is the least. Every other way removes at least one element and inserts at least
    one.
    """
    n, m = b.count, a.count
    removed = diff_size(short + _CELL, None)
    if n == m and by_position <= removed + diff_size(short + _CELL, 2):
        return by_position
    old = Counter(encode(b.element(i).value()) for i in range(head, n - tail))
    sizes: list[int] = []
    written = 0
    for j in range(head, m - tail):
        element = a.element(j)
        value = element.value()
        data = encode(value)
        size = _least_size(value, len(data))
        sizes.append(size)
        if old[data]:
            old[data] -= 1
            continue
        whole = diff_size(short + _CELL, size)
        # Or an old element, changed inside: the shortest such diff removes a member of one letter.
        written += whole if element.kind > LARGE_ARRAY else min(whole, diff_size(short + _CELL + 2, None))
    if m > n:
        every = sorted([*sizes, *_sizes(a, range(head)), *_sizes(a, range(m - tail, m))])
        put_in = sum(diff_size(short + _CELL, size) for size in every[: m - n])
        return min(by_position, max(written, put_in))
    least = written + (n - m) * removed
    if n == m:
        every = [*sizes, *_sizes(a, range(head)), *_sizes(a, range(m - tail, m))]
        least = max(least, removed + diff_size(short + _CELL, min(every)))
    return min(by_position, least)


def _sizes(a: View, which: range) -> list[int]:
    return [_smallest(child) if (child := a.element(j)).kind <= LARGE_ARRAY else 2 for j in which]
