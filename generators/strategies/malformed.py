"""Strategies for damaged encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from generators.malformed import Edit, apply_edits, edits
from generators.strategies.draw import HypothesisDraw

if TYPE_CHECKING:
    from collections.abc import Callable


class Damaged(NamedTuple):
    """An encoding, what was done to it, and the result."""

    original: bytes
    edits: tuple[Edit, ...]
    data: bytes


def damaged(encodings: SearchStrategy[bytes], *, most: int = 3) -> SearchStrategy[Damaged]:
    """``encodings`` with one to ``most`` named edits; shrinks toward one edit of a small encoding.

    Raises ValueError for ``most`` below 1, and TypeError for what is no strategy of bytes.
    """
    if most < 1:
        raise ValueError("most is at least 1")
    if not isinstance(encodings, SearchStrategy):
        raise TypeError(f"damaged takes a strategy of bytes, such as stored(), not {type(encodings).__name__}")

    @st.composite
    def strategy(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Damaged:
        original: bytes = draw(encodings)
        if not isinstance(original, bytes):
            raise TypeError(f"damaged takes a strategy of bytes, such as stored(), not of {type(original).__name__}")
        made = edits(HypothesisDraw(draw), len(original), most=most)
        return Damaged(original, made, apply_edits(original, made))

    return strategy()
