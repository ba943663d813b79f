"""JSONB: the reference against the naive reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from fuzz import documents
from fuzz.naive.documents import identical, read
from fuzz.naive.pieces import Refused
from fuzz.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = "The reference and the naive reader give the same value, or both refuse."
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.jsonb.decode",)
COMPARISONS: Final = False  # its constants are single bytes, and the tokens of the dictionary
MAX_LEN: Final = 200  # depth and length have their seeds in jsonb-decode; here the rate counts
DICTIONARY: Final = documents.DICTIONARY


def check(data: bytes) -> None:
    """Check any bytes."""
    try:
        value = decode(data)
    except CodecError:
        try:
            other = read(data)
        except Refused:
            return
        raise Violation("the reference reads what the naive reader reads", other) from None
    try:
        other = read(data)
    except Refused:
        raise Violation("the naive reader reads what the reference reads", value) from None
    if not identical(value, other) or (type(value) is dict and [*value] != [*other]):  # type: ignore[misc]
        raise Violation("both readers give the same value", value, other)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Small documents only."""
    for name, data in documents.small_seeds():
        if len(data) <= 120:
            yield name, data
