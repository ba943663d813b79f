"""JSONB: the lenient reading, the strict one, and the lazy view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import DecodeError, too_deep
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import decode_strict, storage_free
from conformance.reference.jsonb.stored_text import document_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import MAX_DEPTH, JsonValue, same
from conformance.reference.jsonb.view import View, open_document
from fuzz import documents
from fuzz.violation import Violation, attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "Lenient reading, strict reading and the lazy view give the same value wherever they give one; the view refuses"
    " what the lenient reading refuses, and the strict reading covers its input exactly. The text straight from the"
    " bytes is the text of the value."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.jsonb.decode",
    "conformance.reference.jsonb.layout",
    "conformance.reference.jsonb.stored_text",
    "conformance.reference.jsonb.view",
)
COMPARISONS: Final = False  # measured: as many edges without them
MAX_LEN: Final = 2048
DICTIONARY: Final = documents.DICTIONARY


def check(data: bytes) -> None:
    """Check any bytes."""
    value, refused = attempt(decode, data)
    seen, unseen = attempt(_looked_at, data)
    long = refused is not None and refused.code == "shared-children"  # the view counts elements, not their bytes
    if (refused is None) != (unseen is None) and not long:
        raise Violation("the view sees what the lenient reading sees", str(refused), str(unseen))
    text, unwritten = attempt(document_text, data)
    plain, unprintable = (None, refused) if refused is not None else attempt(format_text, value)
    require(text == plain, "the text straight from the bytes is that of the value", text, plain)
    require(str(unwritten) == str(unprintable), "and it is refused in the same words", str(unwritten), str(unprintable))
    strict, refused_strictly = attempt(decode_strict, data)
    if refused is not None:
        require(refused_strictly, "the strict reading takes nothing that the lenient one refuses", str(refused))
        attempt(storage_free, data)
        return
    require(same(value, seen), "the view gives the value of the lenient reading", value, seen)
    require(_long_bytes(value) <= len(data), "long strings have no more bytes than the input", data)
    free, overlap = attempt(storage_free, data)
    require(free is None or free <= len(data), "free space is a part of the document", free)
    if refused_strictly is None:
        require(same(value, strict), "the strict reading gives the value of the lenient one", value, strict)
        require(overlap is None, "a document without overlap has a free space", str(overlap))
        require(free is not None and free >= 0, "and it is less than none only where keys share bytes", free)
        if data:
            require(attempt(decode_strict, data + b"\0")[1], "the strict reading refuses a byte too many")
            require(
                len(data) == 1 or attempt(decode_strict, data[:-1])[1],
                "the strict reading refuses a byte too few",
            )


def _long_bytes(value: JsonValue) -> int:
    """Bytes of strings and keys longer than 160: entries that share them must not allocate memory of any size."""
    if isinstance(value, dict):
        return sum(_long_bytes(key) + _long_bytes(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(map(_long_bytes, value))
    return len(value) if isinstance(value, str) and len(value) > 160 else 0


def _looked_at(data: bytes) -> JsonValue:
    return _walk(open_document(data), 0, [len(data) // 3 + 1])


def _walk(view: View, level: int, budget: list[int]) -> JsonValue:
    """The value, read element by element and key by key through the view alone."""
    if not (view.is_array or view.is_object):
        return view.value()
    if level >= MAX_DEPTH:
        raise too_deep()
    budget[0] -= view.count
    if budget[0] < 0:
        raise DecodeError("shared-children", "more elements than the bytes have room for")
    items = [_walk(view.element(index), level + 1, budget) for index in range(view.count)]
    if view.is_array:
        return items
    members: dict[str, JsonValue] = {}
    for index, item in enumerate(items):
        key = view.key(index).decode("utf-8", "surrogateescape")
        members.pop(key, None)
        members[key] = item
    return members


def seeds() -> Iterator[tuple[str, bytes]]:
    """Small documents, damaged ones, and the few that must be longer."""
    yield from documents.small_seeds()
    yield from documents.long_seeds()
