"""Shrinks inputs that keep their signature: first cuts pieces out, then replaces the remaining bytes by plain ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS: Final = 10.0


def shrink(data: bytes, same: Callable[[bytes], bool], *, seconds: float = SECONDS) -> bytes:
    """The smallest input found in the time. ``same``: whether a candidate still shows the finding."""
    deadline = time.monotonic() + seconds
    tried = {data}

    def shows(candidate: bytes) -> bool:
        if candidate in tried or time.monotonic() > deadline:
            return False
        tried.add(candidate)
        return same(candidate)

    before = None
    while data != before:
        before = data
        data = _plain(_cut(data, shows), shows)
    return data


def _cut(data: bytes, shows: Callable[[bytes], bool]) -> bytes:
    """The data without unnecessary pieces, large pieces first."""
    size = len(data)
    while size:
        at = 0
        while at < len(data):
            candidate = data[:at] + data[at + size :]
            if shows(candidate):
                data = candidate
            else:
                at += size
        size //= 2
    return data


def _plain(data: bytes, shows: Callable[[bytes], bool]) -> bytes:
    """The data with zeros, or lower bytes, wherever the finding stays."""
    for at in range(len(data)):
        for value in (0, data[at] // 2, data[at] - 1):
            candidate = data[:at] + bytes((max(0, value),)) + data[at + 1 :]
            if value < data[at] and shows(candidate):
                data = candidate
                break
    return data
