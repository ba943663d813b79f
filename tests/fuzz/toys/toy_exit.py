"""A target that ends its process for kind 69, so that nobody is told of the input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toy_reader import Refused, read  # type: ignore[import-not-found]  # found where toys are

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT = "Toys live."
INSTRUMENT = ("toy_reader",)
MAX_LEN = 64
DICTIONARY = (b"TOY",)


def check(data: bytes) -> None:
    """Ends for some."""
    try:
        kind, body = read(data)
    except Refused:
        return
    if kind == 69 and body:
        os._exit(3)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Toys that are well; the second is of the dangerous kind, but has no body."""
    yield "well", b"TOY\1abc"
    yield "near", b"TOYE"
