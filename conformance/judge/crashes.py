"""The signature of a crash that happened. The damage is read from the input's bytes, not taken from whoever made them,
so that a stored or a shrunk Case is known by the same words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.cases.printed_log import rows_in
from conformance.reference.diffs import split_diffs
from conformance.reference.errors import DecodeError
from conformance.reference.jsonb.opaque import decimal_size
from conformance.reference.jsonb.values import DECIMAL, OPAQUE, Opaque
from conformance.reference.jsonb.view import View, open_document
from conformance.requirements.crashes import (
    APPLYING,
    MEMBER_IN_DIFF,
    MEMBER_IN_DOCUMENT,
    PRINTING,
    READING,
    TWICE_IN_DIFF,
    VECTOR_LENGTH,
    Crash,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.injection import Injection, InjectionOutcome

_FULL_HEAD: Final = 6  # value_options, null bits, the length of the document
_PARTIAL_HEAD: Final = 7  # the same, and partial_columns
_VALUES: Final = 10_000  # looked at in one document: shared ones could be very many
_SIGNAL: Final = re.compile(r"signal (\d+)")


def crash_of(injection: Injection, outcome: InjectionOutcome) -> Crash | None:
    """That of a server; ``None`` if it lives, or if nothing tells by which signal it died."""
    signal = _SIGNAL.match(outcome.death)
    if signal is None:
        return None
    return Crash(READING if outcome.reading else APPLYING, damage_of(injection.image), int(signal[1]))


def crash_of_rows(rows: Sequence[Injection], death: str, *, reading: bool = False) -> Crash | None:
    """That of a server whose applier was given an event of these rows; the first damage in them counts."""
    signal = _SIGNAL.match(death)
    if signal is None:
        return None
    damage = next(filter(None, (damage_of(row.image) for row in rows)), "")
    return Crash(READING if reading else APPLYING, damage, int(signal[1]))


def crash_of_client(data: bytes, status: int) -> Crash | None:
    """That of a program that was given a binary log; ``status`` is negative where a signal ended it."""
    return Crash(PRINTING, damage_of_log(data), -status) if status < 0 else None


def damage_of(image: bytes) -> str:
    """The first of the known damages in the image of a row (as ``Injection.image``), or an empty text."""
    if image[:1] == b"\x00":
        return MEMBER_IN_DOCUMENT if has_bad_member(image[_FULL_HEAD:]) else ""
    if image[:1] != b"\x01":
        return ""
    if not _has_diffs(image):  # the document in full again
        return MEMBER_IN_DOCUMENT if has_bad_member(image[_PARTIAL_HEAD:]) else ""
    values = _values_of_diffs(image)
    if any(map(has_bad_member, values)):
        return MEMBER_IN_DIFF
    return TWICE_IN_DIFF if any(map(has_member_twice, values)) else ""


def _has_diffs(image: bytes) -> bool:
    """Whether the value options and the bit of the column say so."""
    return image[:1] == b"\x01" and len(image) > 1 and bool(image[1] & 1)


def _values_of_diffs(image: bytes) -> list[bytes]:
    """As far as they can be told apart."""
    try:
        diffs = split_diffs(image[_PARTIAL_HEAD:])
    except DecodeError as error:
        diffs = list(error.decoded)
    return [diff.data for diff in diffs if diff.data]


def reads_beyond_decimal(image: bytes) -> bool:
    """Whether a diff has a DECIMAL whose scale is above its precision by whole groups of nine digits, and as many bytes
    as the formula for its size makes of that. 9.7.4 takes it and reads digits from bytes behind it, so that what
    becomes of the event is another thing the next time: no crash, but no reader can say what it is either."""
    if not _has_diffs(image):
        return False
    return any(_is_beyond(view) for data in _values_of_diffs(image) for view in _opaques(data))


def _is_beyond(view: View) -> bool:
    try:
        value = view.value()
    except DecodeError:
        return False
    if not isinstance(value, Opaque) or value.field_type != DECIMAL or len(value.payload) < 2:
        return False
    precision, scale = value.payload[:2]
    excess = scale - precision
    return excess > 0 and excess % 9 == 0 and len(value.payload) - 2 == decimal_size(precision, scale)


def damage_of_log(data: bytes) -> str:
    """The first of the known damages in a binary log as ``cases.printed_log`` makes it."""
    for is_update, value in rows_in(data):
        if is_update:
            damage = damage_of(value)
        else:
            size = int.from_bytes(value[:4], "little")
            damage = VECTOR_LENGTH if size % 4 or not size else ""
        if damage:
            return damage
    return ""


def has_bad_member(document: bytes) -> bool:
    """Whether a key entry of some object points outside of the object or into its header."""
    objects = (view for view in _containers(document) if view.is_object)
    return any(_key(view, index) is None for view in objects for index in range(view.count))


def has_member_twice(document: bytes) -> bool:
    """Whether some object has a key again whose earlier value is a container. In a tree the later value takes its
    place: who has put off the elements of the container must not come back to them."""
    return any(view.is_object and _replaces(view) for view in _containers(document))


def _replaces(view: View) -> bool:
    containers: set[bytes | None] = set()
    for index in range(view.count):
        key = _key(view, index)
        if key in containers:
            return True
        if key is not None and _container(view, index) is not None:
            containers.add(key)
    return False


def _opaques(document: bytes) -> Iterator[View]:
    root = _opened(document)
    if root is not None and root.kind == OPAQUE:
        yield root
    for view in _containers(document):
        elements = [_element(view, index) for index in range(view.count)]
        yield from (element for element in elements if element is not None and element.kind == OPAQUE)


def _containers(document: bytes) -> Iterator[View]:
    """The arrays and objects of a document. What cannot be read is passed over, as a reader stops there."""
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
        found += [_container(view, index) for index in range(view.count)]


def _key(view: View, index: int) -> bytes | None:
    """``None``: its entry points elsewhere."""
    try:
        return view.key(index)
    except DecodeError:
        return None


def _opened(document: bytes) -> View | None:
    try:
        return open_document(document)
    except DecodeError:
        return None


def _element(view: View, index: int) -> View | None:
    """``None``: its entry points elsewhere, or it is none that can be read."""
    try:
        return view.element(index)
    except DecodeError:
        return None


def _container(view: View, index: int) -> View | None:
    child = _element(view, index)
    return child if child is not None and (child.is_object or child.is_array) else None
