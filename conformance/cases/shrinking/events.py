"""Shrinking an injected event: the same judge gets ever smaller events.

Cuts remove parts of the row's document, diffs, and the members and bytes of a damaged value. After each cut the numbers
of an object's frame become right again, except the wrong ones: the damage stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.by_hand.injection import Demand, Injection, full_image, partial_image, predict
from conformance.cases.shrinking.cuts import cuts, smallest, without
from conformance.cases.shrinking.update_cases import smaller_values
from conformance.reference.cursor import encode_packed
from conformance.reference.dialect import WORKLOG
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import LARGE_ARRAY
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.diffs import RawDiff, split_diffs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEAD: Final = 7  # of an image with diffs
_FULL_HEAD: Final = 6
_NULL: Final = (0x04, 0)  # type and inlined value of JSON null
_SMALLEST: Final = encode({})


def shrink_injection(injection: Injection, fails: Callable[[Injection], bool], *, seconds: float = 20.0) -> Injection:
    """The smallest one found in the time; ``injection`` itself if nothing smaller fails."""

    def smaller(last: Injection) -> Iterator[Injection]:
        return (candidate for candidate in candidates(last) if size(candidate) < size(last))

    return smallest(injection, smaller, fails, seconds)


def mended(candidate: Injection) -> bool:
    """Whether nothing is wrong any more with an event that the server must refuse: such an event is no witness."""
    return candidate.demand is Demand.ERROR and not predict(candidate, WORKLOG).error


def size(injection: Injection) -> int:
    """The size in bytes of everything that can be cut."""
    return len(injection.stored or b"") + len(injection.image)


def candidates(injection: Injection) -> Iterator[Injection]:
    """Other injections, the biggest cuts first. Not all of them are smaller."""
    for image in _images(injection.image):
        yield replace(injection, image=image, number=None)
    for stored in _documents(injection.stored):
        yield replace(injection, stored=stored, number=None)


def _images(image: bytes) -> Iterator[bytes]:
    if image[:1] == b"\x00":
        for document in smaller_documents(image[_FULL_HEAD:]):
            yield full_image(document)
        return
    if image[:2] != b"\x01\x01":
        return
    data = image[_HEAD:]
    try:
        diffs, rest = split_diffs(data), b""
    except DecodeError as error:
        diffs = list(error.decoded)
        rest = data[len(b"".join(map(_frame, diffs))) :]
    for place in range(len(diffs) - (not rest), -1, -1):
        yield partial_image(b"".join(map(_frame, diffs[place:])) + rest)
    for place in range(len(diffs)):
        yield partial_image(b"".join(map(_frame, diffs[:place] + diffs[place + 1 :])) + rest)
    for place, diff in enumerate(diffs):
        for other in _smaller_diffs(diff):
            yield partial_image(b"".join(map(_frame, [*diffs[:place], other, *diffs[place + 1 :]])) + rest)


def _frame(diff: RawDiff) -> bytes:
    """With the shortest form of each length."""
    head = bytes((diff.operation,)) + encode_packed(len(diff.path)) + diff.path
    return head if diff.data is None else head + encode_packed(len(diff.data)) + diff.data


def _smaller_diffs(diff: RawDiff) -> Iterator[RawDiff]:
    if diff.data:
        for document in smaller_documents(diff.data):
            yield diff._replace(data=document)
    if len(diff.path) > len(b"$.a"):
        yield diff._replace(path=b"$.a")


def _documents(stored: bytes | None) -> Iterator[bytes]:
    if not stored:
        return
    yield _SMALLEST
    try:
        value = decode(stored)
    except CodecError:
        return
    for smaller in smaller_values(value):
        yield encode(smaller)


def smaller_documents(document: bytes) -> Iterator[bytes]:
    """Parts of a document, damaged or not: a container inside it, fewer members, cuts of the containers inside, fewer
    bytes."""
    try:
        view = open_document(document)
    except DecodeError:
        view = None
    if view is not None and view.count:
        for index in range(view.count):
            child = _child(view, index)
            if child is not None:
                yield bytes((child.kind,)) + bytes(document[child.start : child.end])
        members = [_member(view, index) for index in range(view.count)]
        for keep in range(view.count):
            yield _built(view, members[keep : keep + 1])
        for gone in range(view.count):
            yield _built(view, members[:gone] + members[gone + 1 :])
        for index, member in enumerate(members):
            plain = member._replace(kind=_NULL[0], inlined=_NULL[1], data=None)
            yield _built(view, [*members[:index], plain, *members[index + 1 :]])
        for index, member in enumerate(members):
            if member.data is not None and member.kind <= LARGE_ARRAY:
                for inner in smaller_documents(bytes((member.kind,)) + member.data):
                    other = member._replace(kind=inner[0], data=inner[1:])
                    yield _built(view, [*members[:index], other, *members[index + 1 :]])
    for cut in cuts(len(document) - 1):
        yield document[:1] + without(document[1:], cut)


class _Member(NamedTuple):
    """A member in the form that a container is built from. ``key`` of ``None``: the entry is wrong, and stays as it
    is."""

    key: bytes | None
    offset: int
    length: int
    kind: int
    inlined: int
    data: bytes | None


def _child(view: View, index: int) -> View | None:
    try:
        child = view.element(index)
    except DecodeError:
        return None
    return child if child.is_object or child.is_array else None


def _member(view: View, index: int) -> _Member:
    key: bytes | None = b""
    offset = length = 0
    if view.is_object:
        width = 4 if view.is_large else 2
        at = view.keys + (width + 2) * index
        offset = int.from_bytes(view.data[at : at + width], "little")
        length = int.from_bytes(view.data[at + width : at + width + 2], "little")
        try:
            key = view.key(index)
        except DecodeError:
            key = None
    _, kind, number = view.entry(index)
    data = None
    try:
        place = view.place(index)
    except DecodeError:
        place = None
    if place is not None:
        data = bytes(view.data[place[0] : place[1]])
    return _Member(key, offset, length, kind, number, data)


def _built(view: View, members: list[_Member]) -> bytes:
    """A container of these members, of the same kind."""
    width = 4 if view.is_large else 2
    first = 2 * width + len(members) * ((width + 2 if view.is_object else 0) + width + 1)
    heap = bytearray()
    keys, entries = [], []
    for member in members:
        keys.append((member.offset, member.length) if member.key is None else (first + len(heap), len(member.key)))
        heap += member.key or b""
    for member in members:
        entries.append((member.kind, member.inlined if member.data is None else first + len(heap)))
        heap += member.data or b""
    total = first + len(heap)
    out = bytearray((view.kind,))
    out += len(members).to_bytes(width, "little") + total.to_bytes(width, "little")
    if view.is_object:
        for offset, length in keys:
            out += offset.to_bytes(width, "little") + length.to_bytes(2, "little")
    for kind, number in entries:
        out += bytes((kind,)) + number.to_bytes(width, "little")
    return bytes(out + heap)
