"""The loop of all shrinking, and the cuts that it tries: the biggest first, from the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")
_Items = TypeVar("_Items", bytes, list[Any], tuple[Any, ...])


def smallest(start: _T, smaller: Callable[[_T], Iterator[_T]], fails: Callable[[_T], bool], seconds: float) -> _T:
    """From ``start`` on, take the first smaller one that fails, until the time is over or none fails."""
    deadline = time.monotonic() + seconds
    while True:
        for candidate in smaller(start):
            if time.monotonic() > deadline:
                return start
            if fails(candidate):
                start = candidate
                break
        else:
            return start


def cuts(count: int) -> Iterator[range]:
    """Ranges of so many items to leave out."""
    size = (count + 1) // 2
    while size:
        for first in range(count - size, -1, -size):
            yield range(first, first + size)
        size //= 2


def without(items: _Items, gone: range) -> _Items:
    """The items but for those of a range."""
    return items[: gone.start] + items[gone.stop :]
