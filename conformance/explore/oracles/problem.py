"""A difference that an oracle saw."""

from __future__ import annotations

from dataclasses import dataclass

INCONCLUSIVE = "inconclusive"
"""The oracle that says that an episode shows nothing from here on."""


@dataclass(frozen=True, slots=True)
class Problem:
    """``oracle`` saw a difference of a ``kind``; ``detail`` tells it. ``key`` stays the same while a script shrinks."""

    oracle: str
    kind: str
    detail: str
    show: tuple[str, ...] = ()
    """Two queries of the schema whose answers ought to be equal, or one whose answer says that all is well."""

    @property
    def key(self) -> tuple[str, str]:
        """The part that a shorter script must show as well."""
        return self.oracle, self.kind
