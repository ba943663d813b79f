"""A fault of a part: a row of the catalogue that is judged within another one has a fault of its own.

The fault breaks the part's sentence and no other, in what a perfect server or client leaves; it is handed to the judge
of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFault:
    """``sentence``: what no longer holds. ``judged``: what the judge says of the perfect server (``False``) and of the
    one that errs (``True``); nothing is a pass."""

    id: str
    requirement: str
    sentence: str
    judged: Callable[[bool], object]
