"""The answer of a subject, as the judge takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

CRASHED: Final = "crashed"
TIMED_OUT: Final = "timed out"
FLOODED: Final = "flooded"
GARBLED: Final = "garbled"


class Mark(Protocol):
    """A subject's own remark that it left something out."""

    @property
    def message(self) -> str: ...
    @property
    def event(self) -> str: ...
    @property
    def position(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The answer to one request. ``failure``: one of the words above, or empty; the rest may be there all the same."""

    changes: Sequence[Any] = ()
    marks: Sequence[Mark] = ()
    error: str = ""
    failure: str = ""
    detail: str = ""
