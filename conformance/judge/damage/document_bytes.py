"""The documents in the image of a row, piece by piece: the reader skips unreadable parts and refuses nothing.

Judges use it to ask what a reader met on its way; the reference reads the whole document or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import DecodeError
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.diffs import split_diffs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.values import JsonValue

# Bytes of an image (as ``Injection.image``) in front of its value: value_options, null bits, the length of the value.
_FULL_HEAD: Final = 6
PARTIAL_HEAD: Final = 7  # the same, and partial_columns
_VALUES: Final = 10_000  # looked at in one document: shared ones could be very many


def _has_diffs(image: bytes) -> bool:
    return image[:1] == b"\x01" and len(image) > 1 and bool(image[1] & 1)


def whole_values(image: bytes) -> list[bytes]:
    """The document, if the image has the whole document."""
    if image[:1] == b"\x00":
        return [image[_FULL_HEAD:]]
    return [image[PARTIAL_HEAD:]] if image[:1] == b"\x01" and not _has_diffs(image) else []


def values_of_diffs(image: bytes) -> list[bytes]:
    """The values of the diffs, as far as the diffs can be separated."""
    if not _has_diffs(image):
        return []
    try:
        diffs = split_diffs(image[PARTIAL_HEAD:])
    except DecodeError as error:
        diffs = list(error.decoded)
    return [diff.data for diff in diffs if diff.data]


def containers(document: bytes) -> Iterator[View]:
    """The arrays and objects of a document."""
    left = _VALUES
    found = [_opened(document)]
    while found:
        view = found.pop()
        if view is None:
            continue
        left -= view.count
        if left < 0:
            return
        yield view
        found += [container(view, index) for index in range(view.count)]


def container(view: View, index: int) -> View | None:
    """An element, if it is an array or an object."""
    child = _element(view, index)
    return child if child is not None and (child.is_object or child.is_array) else None


def key_at(view: View, index: int) -> bytes | None:
    """The key of an entry; ``None``: the entry points elsewhere."""
    try:
        return view.key(index)
    except DecodeError:
        return None


def has_bad_key_entry(document: bytes) -> bool:
    """Whether a key entry of some object points outside of the object or into its header."""
    objects = (view for view in containers(document) if view.is_object)
    return any(key_at(view, index) is None for view in objects for index in range(view.count))


def scalars(document: bytes) -> Iterator[JsonValue]:
    """The values that are no containers."""
    root = _opened(document)
    if root is not None and not (root.is_object or root.is_array):
        yield from _value(root)
    for view in containers(document):
        for index in range(view.count):
            element = _element(view, index)
            if element is not None and not (element.is_object or element.is_array):
                yield from _value(element)


def _value(view: View) -> Iterator[JsonValue]:
    try:
        yield view.value()
    except DecodeError:
        return


def _opened(document: bytes) -> View | None:
    try:
        return open_document(document)
    except DecodeError:
        return None


def _element(view: View, index: int) -> View | None:
    """An element; ``None``: its entry points elsewhere, or the element is unreadable."""
    try:
        return view.element(index)
    except DecodeError:
        return None
