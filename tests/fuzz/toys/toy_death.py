"""A target that dies by a signal for kind 83."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from toy_reader import Refused, read  # type: ignore[import-not-found]  # found where toys are

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT = "Toys live."
INSTRUMENT = ("toy_reader",)
MAX_LEN = 64
DICTIONARY = (b"TOY",)


def check(data: bytes) -> None:
    """Dies for some."""
    try:
        kind, body = read(data)
    except Refused:
        return
    if kind == 83 and body:
        os.kill(os.getpid(), signal.SIGSEGV)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Toys that are well; the second is of the dangerous kind, but has no body."""
    yield "well", b"TOY\1abc"
    yield "near", b"TOYS"
