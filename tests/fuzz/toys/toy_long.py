"""A target that holds, for long inputs too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toy_reader import Refused, read  # type: ignore[import-not-found]  # found where toys are

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT = "Toys can be read."
INSTRUMENT = ("toy_reader",)
MAX_LEN = 4096
DICTIONARY = (b"TOY",)


def check(data: bytes) -> None:
    """Holds."""
    try:
        kind, body = read(data)
    except Refused:
        return
    assert len(body) == len(data) - 4
    assert kind < 256


def seeds() -> Iterator[tuple[str, bytes]]:
    """One toy that is well."""
    yield "well", b"TOY\1abc"
