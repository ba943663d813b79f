"""The order of JSON values in SQL: ``=``, ``<`` and the rest (jsonb 8).

The server skips an UPDATE whose new documents compare equal to the old ones, so this order decides which rows are
logged at all. :func:`equal_stored` answers that question, and compares bytes first.
"""

from __future__ import annotations

from decimal import Decimal
from math import isnan
from struct import Struct
from typing import Any, Final

from conformance.reference.errors import DecodeError, too_deep
from conformance.reference.jsonb.encode import INLINED_LARGE, INLINED_SMALL
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.opaque import decimal_number, temporal_number
from conformance.reference.jsonb.values import (
    DATE,
    DATETIME,
    DECIMAL,
    LARGE_ARRAY,
    LITERAL,
    MAX_DEPTH,
    STRING,
    TIME,
    TIMESTAMP,
    JsonValue,
    Opaque,
    UInt,
)
from conformance.reference.jsonb.view import View, open_document

_NUMBER: Final = 1
_STRING: Final = 2
_OBJECT: Final = 3
_ARRAY: Final = 4
_BOOLEAN: Final = 5
_OPAQUE: Final = 9
_CLASSES: Final[dict[type, int]] = {
    type(None): 0,
    int: _NUMBER,
    UInt: _NUMBER,
    float: _NUMBER,
    str: _STRING,
    dict: _OBJECT,
    list: _ARRAY,
    bool: _BOOLEAN,
}
_OPAQUE_CLASSES: Final = {DECIMAL: _NUMBER, DATE: 6, TIME: 7, DATETIME: 8, TIMESTAMP: 8}


def equal(a: JsonValue, b: JsonValue) -> bool:
    """SQL ``a = b``."""
    return compare(a, b) == 0


def compare(a: JsonValue, b: JsonValue) -> int:
    """-1, 0 or 1 as SQL orders the two values."""
    a_class = _class(a)
    b_class = _class(b)
    if a_class != b_class:
        return _sign(a_class, b_class)
    x: Any = a
    y: Any = b
    if a_class == _NUMBER:
        return _compare_numbers(x, y)
    if a_class == _STRING:
        return 0 if x == y else _sign(_bytes(x), _bytes(y))
    if a_class == _OBJECT:
        return _compare_objects(x, y)
    if a_class == _ARRAY:
        for x_item, y_item in zip(x, y, strict=False):
            result = compare(x_item, y_item)
            if result:
                return result
        return _sign(len(x), len(y))
    if a_class == _BOOLEAN:
        return _sign(x, y)
    if a_class == _OPAQUE:
        return _sign(x, y)  # field type, then payload
    if not a_class:
        return 0
    return _sign(temporal_number(x), temporal_number(y))


def _class(value: JsonValue) -> int:
    if type(value) is Opaque:
        return _OPAQUE_CLASSES.get(value.field_type, _OPAQUE)
    return _CLASSES[type(value)]


def _sign(x: Any, y: Any) -> int:
    return -1 if x < y else int(x != y)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _compare_objects(a: dict[str, JsonValue], b: dict[str, JsonValue]) -> int:
    if len(a) != len(b):
        return _sign(len(a), len(b))
    for (a_key, a_value), (b_key, b_value) in zip(stored_order(a).items(), stored_order(b).items(), strict=True):
        if a_key != b_key:
            return _sign(_bytes(a_key), _bytes(b_key))
        result = compare(a_value, b_value)
        if result:
            return result
    return 0


def _compare_numbers(a: float | Opaque, b: float | Opaque) -> int:
    x = decimal_number(a.payload) if isinstance(a, Opaque) else a
    y = decimal_number(b.payload) if isinstance(b, Opaque) else b
    if isinstance(x, float):
        return _sign(x, y) if isinstance(y, float) else _double_against(x, y)
    if isinstance(y, float):
        return -_double_against(y, x)
    return _sign(x, y)


def _double_against(x: float, y: int | Decimal) -> int:
    """A double against an exact number.

    A double counts as its shortest decimal text against a DECIMAL, and against an integer that rounds to the same
    double. So 9223372036854775808e0 is 9223372036854776000, and larger than the integer 9223372036854775808.
    """
    if isinstance(y, int):
        rounded = float(y)
        if x != rounded:
            return _sign(x, rounded)
    return _sign(Decimal(0) if isnan(x) else Decimal(repr(x)), y)


# --- stored documents ------------------------------------------------------------------------------------------------

_MAX_STORED_DEPTH: Final = 2 * MAX_DEPTH  # in-place updates do not check the depth (partial-update 8.3)

_small_entries = Struct("<BH").iter_unpack
_large_entries = Struct("<BI").iter_unpack


def equal_stored(a: bytes | bytearray, b: bytes | bytearray) -> bool:
    """SQL ``=`` of two stored documents.

    The function decides from the bytes where it can: equal bytes are equal documents; other classes, member counts or
    keys are not. In two containers of the same count it starts at the first differing byte, where an update wrote. It
    stops at the first difference. It decodes whole documents only if they are equal in spite of their bytes.
    """
    if a == b:
        return True
    # A writer spends at least three bytes on an element: more of them are shared children, which could be 2^n.
    return _equal_views(open_document(a), open_document(b), _MAX_STORED_DEPTH, [len(a) // 3 + 1])


def _equal_views(a: View, b: View, room: int, budget: list[int]) -> bool:
    if a.kind > LARGE_ARRAY or b.kind > LARGE_ARRAY:
        if a.kind <= LARGE_ARRAY or b.kind <= LARGE_ARRAY:
            return False
        if STRING in (a.kind, b.kind) or LITERAL in (a.kind, b.kind):
            # Strings and literals are equal only to the same bytes, and the cheap test is worth it for long ones.
            return a.kind == b.kind and a.value() == b.value()
        return compare(a.value(), b.value()) == 0
    if a.is_object != b.is_object or a.count != b.count:
        return False
    if a.kind == b.kind and a.data[a.start : a.end] == b.data[b.start : b.end]:
        return True
    if not a.count:
        return True
    if not room:
        raise too_deep()
    budget[0] -= a.count
    if budget[0] < 0:
        raise DecodeError("shared-children", "JSON containers share elements beyond the size of the input")
    if a.is_object and not _same_keys(a, b):
        return False
    # An update wrote at one or two places: most documents are decided by the first element that looks different.
    suspects = _suspects(a, b)
    for index in suspects:
        if not _equal_views(a.element(index), b.element(index), room - 1, budget):
            return False
    return all(
        _equal_views(a.element(index), b.element(index), room - 1, budget)
        for index in range(a.count)
        if index not in suspects
    )


def _same_keys(a: View, b: View) -> bool:
    if a.is_large == b.is_large and a.data[a.keys : a.values] == b.data[b.keys : b.values]:
        position, length = a.key_place(a.count - 1)
        end = position + length - a.start
        if a.data[a.values_end : a.start + end] == b.data[b.values_end : b.start + end]:
            return True
    keys = sorted(map(a.key, range(a.count)))
    return keys == sorted(map(b.key, range(b.count)))


def _entries(view: View) -> list[tuple[int, int]]:
    unpack = _large_entries if view.is_large else _small_entries
    return list(unpack(bytes(view.data[view.values : view.values_end])))


def _suspects(a: View, b: View) -> tuple[int, ...]:
    """Elements that probably differ: of another type, with other inlined bytes, or where the layout starts to shift."""
    inlined = INLINED_LARGE if a.is_large and b.is_large else INLINED_SMALL
    places: list[tuple[int, int]] = []  # (offset in a, index) of the elements in the value area
    shift = 0
    for index, ((a_kind, a_field), (b_kind, b_field)) in enumerate(zip(_entries(a), _entries(b), strict=True)):
        if a_kind != b_kind:
            return (index,)
        if a_kind not in inlined:
            if places and b_field - a_field != shift:
                return (places[-1][1], index)
            shift = b_field - a_field
            places.append((a_field, index))
        elif a_field != b_field:
            return (index,)
    if not places:
        return ()
    first = min(places)[0]
    x = a.data[a.start + first : a.end]
    y = b.data[b.start + first + shift : b.end]
    position = first + _first_difference(x, y)
    return (max(place for place in places if place[0] <= position)[1],)


def _first_difference(x: bytes | bytearray, y: bytes | bytearray) -> int:
    """Length of the common prefix, by halving."""
    low, high = 0, min(len(x), len(y))
    while low < high:
        middle = (low + high + 1) >> 1
        if x[low:middle] == y[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
