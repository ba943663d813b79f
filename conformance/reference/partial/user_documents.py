"""Documents that a user of the library makes: what cannot be one is refused with its place in the document.

The reference itself writes more: NaN and infinities, which 9.7.4 stores when a diff has them (jsonb 3).
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from conformance.reference.errors import CodecError, EncodeError
from conformance.reference.jsonb.encode import encode as encode_any
from conformance.reference.jsonb.encode import encode_typed, key_bytes
from conformance.reference.jsonb.values import MAX_DEPTH
from conformance.reference.partial.paths import Cell, Leg, Member, Path

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue


def encode(value: JsonValue) -> bytes:
    """The JSONB document of a value: type byte, then the value's data.

    Raises :class:`MysqlError` 3157 for more than 100 nested containers, and 3151 for a key over 65535 bytes. Raises
    :class:`EncodeError` for a Python value that is no JSON value, and for NaN and infinities, which JSON does not have.
    Both have the path of that value, such as ``$.items[3]``.
    """
    try:
        data = encode_any(value)
    except CodecError:
        _require(value, ())
        raise
    if not _is_finite(value):
        _require(value, ())
    return data


def _is_finite(value: JsonValue) -> bool:
    """Whether no number of a document is NaN or infinite."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list) or all(map(_is_finite, value))


def _require(value: JsonValue, legs: tuple[Leg, ...]) -> None:
    """Raise the error of the first part of a document that cannot be one, with its path."""
    if len(legs) > MAX_DEPTH:
        return
    try:
        if type(value) is float and not isfinite(value):
            raise EncodeError("not-a-json-value", "JSON has no such number", expected="a finite one", got=value)
        if type(value) is dict:
            for name in value:
                key_bytes(name)
        elif type(value) is not list:
            encode_typed(value, 0)
    except CodecError as error:
        raise error.at(str(Path(legs))) from None
    if type(value) is dict:
        for name, member in value.items():
            _require(member, (*legs, Member(name)))
    elif type(value) is list:
        for index, item in enumerate(value):
            _require(item, (*legs, Cell(index)))
