"""A target that holds, for long inputs too."""

from __future__ import annotations

from toy_clean import DICTIONARY, INSTRUMENT, INVARIANT, check, seeds  # type: ignore[import-not-found]  # where toys are

__all__ = ["DICTIONARY", "INSTRUMENT", "INVARIANT", "MAX_LEN", "check", "seeds"]

MAX_LEN = 4096
