"""Text that waits for the end of its statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class Spool(Protocol):
    """The rows of a statement that wait for its last event; they may be many."""

    def add(self, text: bytes) -> None: ...

    def take(self) -> Iterable[bytes]:
        """Return all pieces, and drop them."""
        ...


class MemorySpool:
    """A spool in memory."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, text: bytes) -> None:
        self._parts.append(text)

    def take(self) -> Iterable[bytes]:
        parts, self._parts = self._parts, []
        return parts
