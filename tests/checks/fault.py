"""Planted faults of experiments: changes that make an output the one that a faulty program would have given.

An output is printed text, rows after a replay, captured events, or answers to statements. Faults are written down from
docs/spec before the checks that must catch them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault: what is promised, and the change that breaks the promise."""

    id: str
    requirement: str
    sentence: str  # of docs/spec, in our words
    change: Callable[[Any], Any]


def swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Replace the first occurrence."""

    def change(text: bytes) -> bytes:
        assert old in text, old
        return text.replace(old, new, 1)

    return change
