"""A target that believes what it is told about sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toy_reader import Refused, read  # type: ignore[import-not-found]  # found where toys are

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT = "Toys are small."
INSTRUMENT = ("toy_reader",)
MAX_LEN = 64
DICTIONARY = (b"TOY",)


def check(data: bytes) -> None:
    """Takes too much for some."""
    try:
        kind, body = read(data)
    except Refused:
        return
    if kind == 77:
        bytearray(len(body) << 31)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Toys that are well; the second is of the dangerous kind, but has no body."""
    yield "well", b"TOY\1abc"
    yield "near", b"TOYM"
