"""The empty target: how many executions a second the fuzzer itself allows on this machine.

The rates of other targets are stated as a part of this one's, because only ratios say something about a target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = "Doing nothing never fails."
INSTRUMENT: Final[tuple[str, ...]] = ("fuzz.targets.empty",)
MAX_LEN: Final = 256
DICTIONARY: Final[tuple[bytes, ...]] = ()


def check(data: bytes) -> None:
    """Check nothing."""


def seeds() -> Iterator[tuple[str, bytes]]:
    """One byte."""
    yield "byte", b"\0"
