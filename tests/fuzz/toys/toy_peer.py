"""A target against a peer with many defects, each of which names itself."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from toy_reader import Refused, read  # type: ignore[import-not-found]  # found where toys are

from fuzz.violation import PeerDefect

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT = "No toy of a peer has a defect."
INSTRUMENT = ("toy_reader",)
MAX_LEN = 4
DICTIONARY = (b"TOY",)


def check(data: bytes) -> None:
    """Fails for every input, in 30 ways."""
    with suppress(Refused):
        read(data)
    raise PeerDefect(f"altered value: kind {sum(data) % 30}", data)


def seeds() -> Iterator[tuple[str, bytes]]:
    """One input of each kind."""
    for number in range(30):
        yield f"kind-{number}", bytes((number,))
