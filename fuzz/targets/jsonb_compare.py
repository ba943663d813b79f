"""The order of JSON values in SQL."""

from __future__ import annotations

from itertools import permutations
from math import isnan
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.compare import compare, equal, equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_strict
from conformance.reference.jsonb.values import JsonValue, Opaque, UInt, same
from fuzz import documents
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.trees import mutate_document
from fuzz.prefixed import join, mutate_one, split
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "Three documents are in one order: each equals itself, the two directions agree, no chain contradicts itself, and"
    " stored documents are equal when their values are."
)
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.jsonb.compare", "conformance.reference.jsonb.opaque")
MAX_LEN: Final = 640
DICTIONARY: Final = documents.DICTIONARY


def check(data: bytes) -> None:
    """Check three documents, the first two with their lengths in front."""
    values: list[JsonValue] = []
    stored: list[bytes] = []
    for part in split(data, 3):
        value, refused = attempt(decode, part)
        # A DECIMAL may be broken, and NaN, which only bytes can hold, has no place in an order.
        if refused is None and not attempt(compare, value, value)[1] and not _has_nan(value):
            values.append(value)
            stored.append(part)
    for value, part in zip(values, stored, strict=True):
        require(compare(value, value) == 0, "a value equals itself", value)
        require(equal(decode(encode(value)), value), "a value equals its copy", value)
        require(equal_stored(part, encode(value)) or not _sorted(part), "a document equals its compact form", part)
    for (a, x), (b, y) in permutations(zip(values, stored, strict=True), 2):
        forth, back = compare(a, b), compare(b, a)
        require(forth in (-1, 0, 1) and forth == -back, "the two directions agree", a, b, forth, back)
        require(not same(a, b) or forth == 0, "the same values are equal", a, b)
        stored_equal, _ = attempt(equal_stored, x, y)
        if _sorted(x) and _sorted(y):
            require(stored_equal is (forth == 0), "stored documents are equal when their values are", x, y)
    for a, b, c in permutations(values, 3):
        if compare(a, b) <= 0 and compare(b, c) <= 0 and not (_rounds(a) or _rounds(b) or _rounds(c)):
            require(compare(a, c) <= 0, "no chain contradicts itself", a, b, c)


def _has_nan(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nan, value.values()))
    if isinstance(value, list):
        return any(map(_has_nan, value))
    return isinstance(value, float) and isnan(value)


def _sorted(data: bytes) -> bool:
    """Whether a writer could have made the document: no rule covers unsorted or shared members."""
    return attempt(decode_strict, data)[1] is None


def _rounds(value: JsonValue) -> bool:
    """Whether the value holds a double whose comparison is no order.

    The server compares it with some numbers by its shortest text, with others by its bits (jsonb 8: 2^63 - 1 < 2^63e0,
    but 2^63 as a double is larger than 2^63 as an integer).
    """
    if isinstance(value, dict):
        return any(map(_rounds, value.values()))
    if isinstance(value, list):
        return any(map(_rounds, value))
    return isinstance(value, float) and (abs(value) >= 1 << 53 or value != float(f"{value:.15g}"))


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change one of the three documents as a tree."""
    return mutate_one(SeedDraw(seed), data, max_size, (mutate_document,) * 3)


_TRIPLES: Final[tuple[tuple[JsonValue, JsonValue, JsonValue], ...]] = (
    (1, 1.0, UInt(1)),
    (1.5, opaque.decimal_from_text("1.50"), opaque.decimal_from_text("1.5")),
    (0.1, opaque.decimal_from_text("0.1"), 0.2),
    (0.0, -0.0, 0),
    (9007199254740993, 9007199254740992.0, 9007199254740992),
    ((1 << 63) - 1, 9223372036854775808.0, UInt(1 << 63)),
    (opaque.datetime(2024, 1, 1), opaque.timestamp(2024, 1, 1), opaque.date(2024, 1, 1)),
    ("a", "A", "a "),
    (Opaque(254, b"a"), Opaque(15, b"a"), "a"),
    ([1, 2], [1, 2, 3], [2]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}, {"a": 1}),
    ({"aa": 1}, {"b": 1}, {"b": 2}),
    (None, False, True),
    ([None, {"k": "x"}], [None, {"k": "y"}], {"k": []}),
    (1e308, UInt((1 << 64) - 1), opaque.decimal_from_text("9" * 65)),
)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Values that are equal in different forms, and their neighbours."""
    for number, values in enumerate(_TRIPLES):
        yield f"triple-{number}", join(*map(encode, values))
    for name, value in documents.SMALL.items():
        if isinstance(value, (list, dict)):
            yield f"forms-{name}", join(encode(value), documents.large(value), encode([value]))
    yield "shared-24", join(documents.shared(24, encode([1])), documents.shared(24, encode([UInt(1)])), b"")
    yield "nan", join(documents.ODD["nan"], encode(0.0), documents.ODD["infinite"])
