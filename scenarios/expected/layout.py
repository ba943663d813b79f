"""Sizes of documents, and the places of their values: enough to tell whether a new value fits in place.

The rules are those of jsonb 1, 2 and 2.1 and of partial-update 3.1, for all values that the matrices use.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.values import Opaque, UInt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.jsonb.values import JsonValue

Span = tuple[int, int]

_SMALL: Final = 0xFFFF
_INLINED: Final = (int, UInt)


def lenenc(length: int) -> int:
    """Bytes of a length in a diff (partial-update 4)."""
    return 1 if length < 251 else 3 if length < 1 << 16 else 4 if length < 1 << 24 else 9


def _varlen(length: int) -> int:
    return 1 if length < 1 << 7 else 2 if length < 1 << 14 else 3 if length < 1 << 21 else 4


def _text_size(text: str) -> int:
    length = len(text) if text.isascii() else len(text.encode())
    return _varlen(length) + length


def _integer_size(number: int) -> int:
    return 2 if -1 << 15 <= number < 1 << 15 else 4 if -1 << 31 <= number < 1 << 31 else 8


def value_size(value: JsonValue) -> int:
    """Bytes of a value that is a document of its own, its type byte included."""
    if isinstance(value, str):
        return 1 + _text_size(value)
    if value is None or isinstance(value, bool):
        return 2
    if isinstance(value, dict | list):
        return 1 + lay_out(value).size
    return 1 + _number_size(value)


def _number_size(value: JsonValue) -> int:
    """Bytes of a number, or of a value of another SQL type."""
    if isinstance(value, UInt):
        return 2 if value < 1 << 16 else 4 if value < 1 << 32 else 8
    if isinstance(value, int):
        return _integer_size(value)
    if isinstance(value, Opaque):
        return 1 + _varlen(len(value.payload)) + len(value.payload)
    return 8


class Layout:
    """A container: for each element its bytes, ``None`` where the value stands in its entry.

    ``first`` is where values may start, ``size`` the end. A change in place moves spans and never the size.
    """

    __slots__ = ("children", "first", "keys", "large", "size", "spans")
    size: int

    def __init__(self, value: JsonValue, *, large: bool) -> None:
        offset = 4 if large else 2
        self.large = large
        self.keys: tuple[str, ...] | None = None
        items: Iterable[JsonValue]
        if isinstance(value, dict):
            self.keys, keys = _sorted(tuple(value))
            items = [value[key] for key in self.keys]
            keys += len(self.keys) * (offset + 2)
        else:
            assert isinstance(value, list)
            items, keys = value, 0
        self.first = at = 2 * offset + keys + len(value) * (1 + offset)
        self.spans: list[Span | None] = []
        self.children: dict[int, Layout] = {}
        for item in items:
            if type(item) is dict or type(item) is list:
                child = self.children[len(self.spans)] = _best(item, may_be_large=large)
                need = child.size
            else:
                need = needed(item, large=large)
            self.spans.append((at, at + need) if need else None)
            at += need
        self.size = at

    def index(self, step: str | int) -> int:
        """The place of a member or cell among the entries."""
        if self.keys is None:
            assert isinstance(step, int)
            return step
        assert isinstance(step, str)
        return self.keys.index(step)

    def put(self, index: int, need: int) -> bool:
        """Put a value of so many bytes at an element's place; whether there is room (partial-update 3.1)."""
        start = self._room(index, need)
        if start is None:
            return False
        self.children.pop(index, None)
        self.spans[index] = (start, start + need) if need else None
        return True

    def _room(self, index: int, need: int) -> int | None:
        old = self.spans[index]
        if not need:
            return 0
        if need > self.size - self.first:
            return None
        if old is not None and old[1] - old[0] >= need:
            return old[0]
        limit = next((span[0] for span in self.spans[index + 1 :] if span is not None), self.size)
        if old is not None and limit - old[0] >= need:
            return old[0]
        start = next((span[1] for span in reversed(self.spans[:index]) if span is not None), self.first)
        return start if limit - start >= need else None


@lru_cache(maxsize=256)
def _sorted(keys: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Keys in their stored order, and their bytes together. Few sets of keys recur in all documents."""
    raw = sorted((len(key.encode()), key.encode(), key) for key in keys)
    return tuple(key for _, _, key in raw), sum(length for length, _, _ in raw)


def needed(value: JsonValue, *, large: bool) -> int:
    """Bytes of a value behind the entries of its container; 0 if it stands in its entry."""
    kind = type(value)
    if kind is str:
        return _text_size(value)  # type: ignore[arg-type]
    if value is None or kind is bool:
        return 0
    if kind is dict or kind is list:
        return _best(value, may_be_large=large).size
    size = _number_size(value)
    return 0 if kind in _INLINED and (size == 2 or (size == 4 and large)) else size


def _best(value: JsonValue, *, may_be_large: bool) -> Layout:
    """The small form if it fits. Inside a small container that is too large itself, a child's form does not count."""
    small = Layout(value, large=False)
    return small if small.size <= _SMALL or not may_be_large else Layout(value, large=True)


def lay_out(value: JsonValue) -> Layout:
    """A document's root as it is written from scratch."""
    return _best(value, may_be_large=True)
