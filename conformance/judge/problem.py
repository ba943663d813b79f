"""A judge's finding about one thing that is not as it must be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is not as it must be. ``deviation``: id of the listed deviation that explains it."""

    field: str
    expected: str
    got: str
    message: str
    statements: tuple[str, ...] = ()
    deviation: str | None = None
