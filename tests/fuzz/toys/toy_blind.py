"""A target whose coverage nobody sees."""

from __future__ import annotations

from toy_clean import DICTIONARY, INVARIANT, MAX_LEN, check, seeds  # type: ignore[import-not-found]  # where toys are

__all__ = ["DICTIONARY", "INSTRUMENT", "INVARIANT", "MAX_LEN", "check", "seeds"]

INSTRUMENT = ("toy_nothing",)
