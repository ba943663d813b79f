"""The text of a JSON value as MySQL prints it (jsonb 6).

Strings that are not valid UTF-8 keep their surrogate escapes in the text: ``text.encode("utf-8", "surrogateescape")``
gives the stored bytes again. The server itself cannot show such a text to a client.
"""

from __future__ import annotations

from decimal import Context, Decimal
from json.encoder import encode_basestring as _quote
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError, EncodeError, too_deep
from conformance.reference.jsonb.leaves import shortest
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.opaque import opaque_text
from conformance.reference.jsonb.values import DECIMAL, MAX_DEPTH, JsonValue, Opaque, UInt

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.dialect import JsonForms

_FIXED_FROM: Final = 1e-15
_FIXED_LIMIT: Final = 1e15  # below it, whatever repr() prints without an exponent MySQL prints too
_SHORTEST: Final = Context(prec=17)  # digits that repr() may need


def quote(text: str) -> str:
    r"""A JSON string: ``"``, ``\`` and the bytes below 0x20 are escaped, everything else stays as it is."""
    return _quote(text)


def format_double(value: float) -> str:
    """A DOUBLE: the shortest digits that round-trip, in MySQL's choice of notation (jsonb 6.2).

    The server allows fixed notation 34 characters. The 17 digits of a DOUBLE never need as many, so this limit is not
    here.
    """
    text = shortest(value)
    if "e" not in text and -_FIXED_LIMIT < value < _FIXED_LIMIT:
        return text
    if not isfinite(value):
        return "0.0"  # an infinity or NaN can come from a diff only; observed on 9.7.4
    if "e" not in text and not text.endswith(".0"):
        return text
    number = Decimal(text).normalize(_SHORTEST)
    if _FIXED_FROM <= abs(value) < _FIXED_LIMIT:
        return f"{number:f}"
    return f"{number:e}".replace("e+", "e")


def format_whole_double(value: float) -> str:
    """A DOUBLE as 5.7 prints it: a whole number has no fraction (versions 6.2)."""
    return format_double(value).removesuffix(".0")


def _opaque(value: Opaque) -> str:
    text = opaque_text(value)
    return text if value.field_type == DECIMAL else _quote(text)


_SCALARS: Final[dict[type, Callable[[Any], str]]] = {
    str: _quote,
    int: int.__repr__,
    UInt: int.__repr__,
    float: format_double,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _value: "null",
    Opaque: _opaque,
}
_SCALARS_OF_5_7: Final = {**_SCALARS, float: format_whole_double}


def _scalar(value: JsonValue) -> str:
    """The text of a scalar whose exact type is not in the table."""
    formatter = _SCALARS.get(type(value))
    if formatter is None:
        raise EncodeError("not-a-json-value", f"{type(value).__name__} is not a JSON value", got=type(value).__name__)
    return formatter(value)


def format_text(value: JsonValue, forms: JsonForms | None = None) -> str:
    """The text on one line, as SELECT shows a JSON column (jsonb 6.1). Raises 3157 for more than 100 nested containers.

    ``forms``: the JSON forms of a version other than the newest.
    """
    old = forms is not None and forms.double_text == "1"
    return _format(value, MAX_DEPTH, (_SCALARS_OF_5_7 if old else _SCALARS).get)


def _format(value: JsonValue, room: int, find: Callable[[type], Callable[[Any], str] | None]) -> str:
    formatter = find(type(value))
    if formatter is not None:
        return formatter(value)
    if not room:
        if isinstance(value, (list, dict)):
            raise too_deep()
        return _scalar(value)
    room -= 1
    parts: list[str] = []
    if isinstance(value, dict):
        for key, item in stored_order(value).items():
            formatter = find(type(item))
            try:
                parts.append(f"{_quote(key)}: {formatter(item) if formatter else _format(item, room, find)}")
            except CodecError as error:
                raise error.at(key) from None
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        for position, item in enumerate(value):
            formatter = find(type(item))
            try:
                parts.append(formatter(item) if formatter else _format(item, room, find))
            except CodecError as error:
                raise error.at(f"[{position}]") from None
        return "[" + ", ".join(parts) + "]"
    return _scalar(value)


def format_pretty(value: JsonValue) -> str:
    """JSON_PRETTY: two spaces per level, one member or element a line (jsonb 6.1)."""
    out: list[str] = []
    _pretty(value, out, "\n", MAX_DEPTH)
    return "".join(out)


def _pretty(value: JsonValue, out: list[str], newline: str, room: int) -> None:
    if not isinstance(value, (list, dict)):
        out.append(_scalar(value))
        return
    if not room:
        raise too_deep()
    is_object = isinstance(value, dict)
    if not value:
        out.append("{}" if is_object else "[]")
        return
    inner = newline + "  "
    out.append("{" if is_object else "[")
    if isinstance(value, dict):
        separator = inner
        for key, item in stored_order(value).items():
            out.append(f"{separator}{_quote(key)}: ")
            _pretty(item, out, inner, room - 1)
            separator = "," + inner
    else:
        separator = inner
        for item in value:
            out.append(separator)
            _pretty(item, out, inner, room - 1)
            separator = "," + inner
    out.append(newline + ("}" if is_object else "]"))
