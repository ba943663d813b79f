"""A judge's finding about one thing that is not as it must be."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it must be: where, what it should be, what it is, and the broken rule in words.

    ``deviation``: id of the listed deviation that explains it. ``requirements``: those that it breaks, where its block
    is about several.
    """

    field: str
    expected: str
    got: str
    message: str
    _: KW_ONLY
    statements: tuple[str, ...] = ()
    deviation: str | None = None
    requirements: tuple[str, ...] = ()
