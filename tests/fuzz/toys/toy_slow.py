"""A target that holds, and has a loop in a loop over the body of a toy of kind 83."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toy_reader import Refused, read  # type: ignore[import-not-found]  # found where toys are

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT = "Toys can be read, slowly."
INSTRUMENT = ("toy_reader", "toy_slow")
MAX_LEN = 64
DICTIONARY = (b"TOY",)


def check(data: bytes) -> None:
    """Holds."""
    try:
        kind, body = read(data)
    except Refused:
        return
    if kind == 83:
        compare(body)


def compare(body: bytes) -> int:
    """Each byte with those in front of it."""
    equal = 0
    for place in range(len(body)):
        for before in range(place):
            equal += body[before] == body[place]
    return equal


def seeds() -> Iterator[tuple[str, bytes]]:
    """Toys that are well."""
    yield "well", b"TOY\1abc"
    yield "slow", b"TOYSabcdef"
