"""Generated documents are valid, come in the promised sizes, and reach every boundary of the format."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb.encode import encode, encoded_size
from conformance.reference.jsonb.layout import decode_strict
from conformance.reference.jsonb.values import (
    DATE,
    DATETIME,
    DECIMAL,
    LARGE_ARRAY,
    LARGE_OBJECT,
    SMALL_ARRAY,
    SMALL_OBJECT,
    TIME,
    VARCHAR,
    JsonValue,
    Opaque,
    UInt,
    depth,
    same,
)
from generators import documents, scalars
from generators.documents import Size
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from generators.draw import Draw


def drawn(count: int, *, sizes: tuple[Size, ...] = documents.USUAL) -> Iterator[JsonValue]:
    return (documents.document(Stream("documents", 1, n), sizes=sizes) for n in range(count))


def walk(value: JsonValue) -> Iterator[JsonValue]:
    layer = [value]
    while layer:
        item = layer.pop()
        yield item
        if isinstance(item, dict):
            layer += item.values()
        elif isinstance(item, list):
            layer += item


def test_documents_are_the_same_for_ever() -> None:
    digest = hashlib.sha256()
    for document in drawn(400):
        digest.update(encode(document))
    assert digest.hexdigest()[:16] == "e0182d6fd477e9dc"


def test_every_document_encodes_and_comes_back() -> None:
    for document in drawn(600):
        assert same(decode_strict(encode(document)), document)


def test_the_usual_sizes() -> None:
    sizes = [encoded_size(document) for document in drawn(4000)]

    def share(limit: int) -> float:
        return sum(size > limit for size in sizes) / len(sizes)

    assert 0.12 < share(4096) < 0.19
    assert 0.012 < share(65536) < 0.035
    assert 0.10 < 1 - share(20) < 0.30
    assert max(sizes) > 200_000
    assert sum(sizes) / len(sizes) < 8000  # the mean decides what everything after the generator costs


def test_every_scalar_type_comes() -> None:
    kinds: Counter[object] = Counter()
    for n in range(3000):
        value = scalars.scalar(Stream("scalars", n))
        kinds[value.field_type if isinstance(value, Opaque) else encode(value)[0]] += 1
    expected = {0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, DECIMAL, DATE, TIME, DATETIME, VARCHAR}
    assert set(kinds) == expected
    assert min(kinds.values()) > 15, kinds


def test_every_listed_edge_comes() -> None:
    seen = {repr(scalars.scalar(Stream("edges", n))) for n in range(40_000)}
    for edges in (scalars.INTEGERS, map(UInt, scalars.UNSIGNED), scalars.DOUBLES, scalars.TEXTS):
        assert {repr(edge) for edge in edges} <= seen


def test_keys_reach_the_awkward_and_the_long_ones() -> None:
    keys = {scalars.key(Stream("keys", n), long=True) for n in range(30_000)}
    assert set(scalars.AWKWARD_KEYS) <= keys
    assert {250, 251, 255, 256, 300, 4000} <= {len(key.encode()) for key in keys}
    assert max(len(scalars.key(Stream("keys", n)).encode()) for n in range(5000)) < 250


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 127, 128, 16383, 16384, 65525, 300_001])
def test_a_text_has_exactly_the_bytes_asked_for(size: int) -> None:
    texts = [scalars.text(Stream("text", n), size) for n in range(60)]
    assert {len(text.encode()) for text in texts} == {size}
    if size > 4:
        assert any(not text.isascii() for text in texts)


def test_documents_have_values_that_repeat() -> None:
    repeated = 0
    for document in drawn(400, sizes=(Size.SMALL,)):
        leaves = [repr(item) for item in walk(document) if not isinstance(item, (list, dict))]
        repeated += len(leaves) > len(set(leaves))
    assert repeated > 150


def test_no_container_stands_at_two_places() -> None:
    for document in drawn(400):
        places = [id(item) for item in walk(document) if isinstance(item, (list, dict))]
        assert len(places) == len(set(places))


def test_border_documents_are_on_both_sides_of_the_small_format() -> None:
    formats: dict[int, list[int]] = {SMALL_OBJECT: [], LARGE_OBJECT: [], SMALL_ARRAY: [], LARGE_ARRAY: []}
    depths = set()
    for document in drawn(700, sizes=(Size.BORDER,)):
        data = encode(document)
        formats[data[0]].append(len(data))
        depths.add(depth(document))
    assert max(formats[SMALL_OBJECT]) == max(formats[SMALL_ARRAY]) == 65536
    assert {99, 100} <= depths
    assert max(depths) == 100
    assert 65555 in formats[LARGE_OBJECT]  # a key of the greatest length
    assert 109_229 in formats[LARGE_ARRAY]  # 21844 integers
    assert 65534 in formats[SMALL_ARRAY]  # 21843 of them


def test_tuned_documents_put_a_diff_at_the_size_of_the_document() -> None:
    """E = 4 + diff against L, when the element is replaced by another of its length (partial-update 5)."""
    differences: Counter[int] = Counter()
    for document in drawn(500, sizes=(Size.TUNED,)):
        size = encoded_size(document)
        members = document.items() if isinstance(document, dict) else enumerate(document)  # type: ignore[arg-type]
        for name, item in members:
            if isinstance(item, str):
                path = 4 if isinstance(document, list) else 2 + len(str(name)) + 2 * (name == "")
                differences[size - (4 + 1 + 1 + path + 1 + encoded_size(item))] += 1
    for difference in (-1, 0, 1, 2):
        assert differences[difference] >= 15, differences


def test_nested_has_the_levels_asked_for() -> None:
    for levels in (0, 1, 99, 100, 101, 500):
        assert depth(documents.nested(Stream("nested", levels), levels)) == levels


CALLS: dict[str, Callable[[Draw], object]] = {
    "sizes": lambda draw: documents.document(draw, sizes=()),
    "nodes": lambda draw: documents.value(draw, nodes=0),
    "levels": lambda draw: documents.nested(draw, -1),
    "bytes": lambda draw: scalars.text(draw, -1),
}


@pytest.mark.parametrize("word", CALLS)
def test_arguments_are_checked_at_the_call(word: str) -> None:
    with pytest.raises(ValueError, match=word):
        CALLS[word](Stream("x"))
