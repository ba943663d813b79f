"""JSONB: from bytes to a value and back, compact and with holes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode, encoded_size
from conformance.reference.jsonb.layout import Placed, decode_stored, encode_stored, storage_free
from conformance.reference.jsonb.tagged import from_tagged, to_tagged
from conformance.reference.jsonb.values import depth, same
from fuzz import documents
from fuzz.mutators.trees import mutate_document
from fuzz.naive.documents import free_space
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.layout import Stored

INVARIANT: Final = (
    "What is read can be written, and reads the same; writing again gives the same bytes, without holes; a layout"
    " writes the very bytes it was read from; the tagged form gives the same value."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.jsonb.encode",
    "conformance.reference.jsonb.layout",
    "conformance.reference.jsonb.members",
    "conformance.reference.jsonb.tagged",
    "conformance.reference.jsonb.values",
)
MAX_LEN: Final = 1024
DICTIONARY: Final = documents.DICTIONARY
mutate = mutate_document


def check(data: bytes) -> None:
    """Check any bytes."""
    value, refused = attempt(decode, data)
    if refused is not None:
        return
    written, unwritten = attempt(encode, value)
    if written is None:
        require(False, "what was read can be written", str(unwritten), value)
        return
    require(encoded_size(value) == len(written), "the size is known before writing", encoded_size(value), len(written))
    again, unread = attempt(decode, written)
    require(unread is None and same(again, value), "what was written reads the same", value, again)
    require(encode(again) == written, "writing what was written changes nothing")
    require(len(written) == 1 or depth(value) <= 100, "no more than 100 containers inside each other")
    if data:
        require(len(written) <= max(len(data), 2) or _shared(data), "no reading makes a document longer", data, written)
    require(storage_free(written) == free_space(written) == 0, "a document made from scratch has no holes", written)
    stored, _ = attempt(decode_stored, data)
    if stored is not None and data:
        require(encode_stored(stored) == data, "a layout gives its bytes back", stored)
        require(storage_free(data) == _holes(stored), "the free space is what the holes add up to", stored)
        require(storage_free(data) == free_space(data), "the free space is what no reader reads", data)
        fresh = decode_stored(written)
        require(_holes(fresh) == 0, "a document made from scratch is dense", fresh)
    tagged, untagged = attempt(to_tagged, value)
    require(untagged is None, "every value has a tagged form", str(untagged))
    if _finite(value):
        plain = json.loads(json.dumps(tagged))
        require(same(from_tagged(plain), value), "the tagged form gives the same value", value, tagged)


def _shared(data: bytes) -> bool:
    """Whether entries share bytes: lenient reading follows them, and then a value can be longer than its bytes."""
    return attempt(decode_stored, data)[1] is not None


def _holes(stored: Stored) -> int:
    if not isinstance(stored, Placed):
        return 0
    own = sum(len(hole) for _, hole in stored.holes)
    return own + sum(_holes(value) for _, value in stored.values)


def _finite(value: object) -> bool:
    """Whether every double is finite: Python's JSON text cannot distinguish one NaN from another."""
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or abs(value) <= 1.7976931348623157e308


def seeds() -> Iterator[tuple[str, bytes]]:
    """Documents of every type, some with holes."""
    yield from documents.small_seeds()
    yield from documents.long_seeds()
