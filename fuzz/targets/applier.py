"""Diffs applied to a stored document, in place and on a tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.dialect import MYSQL
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_strict, storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.apply import apply_diffs, apply_field
from conformance.reference.partial.diffs import decode_diffs
from fuzz import documents
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited
from fuzz.mutators.trees import mutate_document
from fuzz.naive.applier import apply as naive_apply
from fuzz.naive.diffs import read as naive_diffs
from fuzz.naive.documents import depth, holds_decimal, identical
from fuzz.naive.documents import read as naive_document
from fuzz.naive.pieces import Refused
from fuzz.prefixed import join, mutate_one, split
from fuzz.targets import diffs as diffs_target
from fuzz.violation import attempt, require
from generators.damaged_events import STORED, diff, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "Applying diffs answers with MySQL's own numbers, or with the document that the naive applier makes, whether it was"
    " changed in place or made anew; the document before is never touched."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.partial.apply",
    "conformance.reference.partial.diffs",
    "conformance.reference.partial.document",
    "conformance.reference.partial.in_place",
    "conformance.reference.jsonb.view",
)
MAX_LEN: Final = 768
DICTIONARY: Final = diffs_target.DICTIONARY
_DEEPEST: Final = 100  # containers inside each other in a document that is written anew
_LIBERAL: Final = replace(MYSQL, behaviour=replace(MYSQL.behaviour, refuse_unchanging_replace=False))


def check(data: bytes) -> None:
    """Check a document with its length in front, then diffs."""
    stored, field = split(data, 2)
    kept = bytes(stored)
    after, refused = attempt(apply_field, stored, field)
    require(stored == kept, "the document before is not touched")
    _compare(stored, field)
    null, _ = attempt(apply_field, None, field)
    require(null is None or not field, "a diff has nowhere to go in NULL", null)
    if after is None:
        require(refused is None or _declared(refused, stored), "an applier answers with MySQL's numbers", str(refused))
        return
    read, damaged = attempt(decode, stored)
    if damaged is not None:
        return  # only visited values count
    typed = decode_diffs(field)
    value, unread = attempt(decode, after)
    require(unread is None or len(typed) > 0, "a document that can be read stays one", str(unread))
    if _sound(stored):
        deep = unread is not None and isinstance(unread, MysqlError) and unread.number == 3157
        require(unread is None or deep, "the result can be read", after, str(unread))
    if unread is not None or not _sound(stored):
        return
    require(len(after) == len(stored) or storage_free(after) == 0 or not typed, "a document made anew has no holes")
    attempt(format_text, value)
    anew, bad = attempt(apply_diffs, encode(read), typed, _LIBERAL)
    if bad is not None:
        # A DECIMAL with a digit too many is written on the tree only, and refused there (1032).
        known = isinstance(bad, MysqlError) and bad.number in (1032, 3157)
        require(known, "a copy without holes takes what the document takes", str(bad))
        return
    if anew is not None and depth(value) <= 100:
        same, incomparable = attempt(equal, decode(anew), value)
        require(same or incomparable or _has_nan(value), "holes do not change what diffs do", anew, after)


def _compare(stored: bytes, field: bytes) -> None:
    """Apply the diffs to plain values, and compare. The liberal applier refuses for no other reason than a naive one;
    a server that works in place also refuses to replace a value by itself.
    """
    if not _sound(stored):
        return  # what is written in place may lie over other values
    try:
        document, diffs = naive_document(stored, ordered=True), naive_diffs(field)
    except Refused:
        return  # the targets of documents and diffs compare these
    decimals = any(map(holds_decimal, (document, *(diff.value for diff in diffs))))
    free, refused = attempt(apply_field, stored, field, _LIBERAL)
    kept, unchanged = attempt(apply_field, stored, field)
    unwritten = isinstance(refused, MysqlError) and refused.number in (1032, 3142, 3157)
    try:
        wanted, unchanging = naive_apply(document, diffs)
    except Refused as reason:
        require(free is None, "the applier refuses what the naive one refuses", str(reason))
        return
    if free is None:
        known = unwritten and (decimals or depth(wanted) > _DEEPEST)
        require(known, "the applier takes what the naive one takes", str(refused))
        return
    number = unchanged.number if isinstance(unchanged, MysqlError) else 0
    require(kept == free or (unchanging and number == 3648), "only a value that is there already is refused", number)
    found = wanted if decimals or depth(wanted) > _DEEPEST else naive_document(free)
    require(identical(found, wanted), "both appliers make the same document", found, wanted)


def _declared(error: object, stored: bytes) -> bool:
    """Whether the error is a declared one, or the stored document itself is damaged."""
    if isinstance(error, MysqlError):
        return error.number in (1032, 1610, 3142, 3157, 3648, 3649)
    return attempt(decode_strict, stored)[1] is not None


def _sound(stored: bytes) -> bool:
    return attempt(decode_strict, stored)[1] is None


def _has_nan(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nan, value.values()))
    if isinstance(value, list):
        return any(map(_has_nan, value))
    return isinstance(value, float) and value != value  # noqa: PLR0124 - the test for NaN


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change the document as a tree, or the diffs by bytes."""
    draw = SeedDraw(seed)
    return mutate_one(draw, data, max_size, (mutate_document, _edited))


def _edited(data: bytes, max_size: int, seed: int) -> bytes:
    return edited(SeedDraw(seed), data, max_size)


def seeds() -> Iterator[tuple[str, bytes]]:
    """The damages of requirements FR5, and every operation on arrays and objects with and without room."""
    for injection in listed():
        if injection.image[:3] == b"\x01\x01\x00" and injection.stored is not None and len(injection.image) < 300:
            yield injection.name, join(injection.stored, injection.image[7:])
    small = encode({"a": 1, "b": "str", "c": [1, 2, 3]})
    for name, operation, path, value in (
        ("set", 0, b"$.a", encode(2)), ("shorter", 0, b"$.b", encode("x")), ("longer", 0, b"$.b", encode("longer")),
        ("member", 1, b"$.d", encode({})), ("cell", 1, b"$.c[1]", encode(9)), ("append", 1, b"$.c[9]", encode(9)),
        ("front", 1, b"$.c[last-9]", encode(9)), ("remove", 2, b"$.b", None), ("remove-cell", 2, b"$.c[last]", None),
        ("cell-of-an-object", 1, b"$[1]", encode(9)),
    ):  # fmt: skip
        yield f"small-{name}", join(small, diff(operation, path, value))
    two = diff(2, b"$.b", None) + diff(0, b"$.c", encode([9, 9, 9, 9]))
    yield "room-after-remove", join(small, two)
    yield "large-format", join(documents.large({"a": 1, "b": "str"}), diff(0, b"$.a", encode(70000)))
    yield "stored-no-diffs", join(STORED, b"")
    yield "no-bytes", join(b"", diff(0, b"$.a", encode(1)))
