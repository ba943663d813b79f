"""JSON text to a JSON value, as MySQL reads it (jsonb 4.1).

The scanner of the standard library does the work; its hooks and the checks here take away each of its leniencies:

* ``NaN``, ``Infinity`` and ``-Infinity`` are refused;
* integers have MySQL's three types, numbers beyond a double are refused, and so is a zero whose exponent is larger
  than 308 plus the digits after its point (``0e309``, observed on 9.7.4: the exponent is checked before the digits);
  of very long numbers the first 768 significant digits count (observed on 9.7.4);
* half a surrogate pair in ``\\u`` escapes is refused, and so is text that is not valid UTF-8;
* a NUL after the document ends the text, whatever follows it (observed on 9.7.4);
* more than 100 containers inside each other are refused where the 101st opens, whatever follows it.

White space, control characters in strings and the rest of the grammar are strict already.
An over-long key is no matter for the parser: the encoder refuses it with 3151, as in the server.
"""

from __future__ import annotations

import re
from contextlib import suppress
from json import JSONDecodeError, JSONDecoder, loads
from typing import TYPE_CHECKING, Final, NoReturn

from conformance.reference.errors import MysqlError, too_deep
from conformance.reference.jsonb.fast_double import NUMBER, exponent, parse_fast
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.values import MAX_DEPTH, JsonValue, UInt

if TYPE_CHECKING:
    from conformance.reference.dialect import JsonForms

_WHITE: Final = " \t\n\r"
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN: Final = re.compile(r'"(?:[^"\\]+|\\.)*"?|[\[\]{}]', re.DOTALL)
_DIGITS: Final = 768
_ZERO: Final = re.compile(r"-?0(?:\.(0+))?[eE]\+?([0-9]+)")


def invalid_text(message: str, *, offset: int | None = None, got: object = None) -> MysqlError:
    """3140: text that is not JSON. As a function's argument the server calls the same fault 3141."""
    return MysqlError(3140, "ER_INVALID_JSON_TEXT", message, offset=offset, got=got)


def _constant(text: str) -> NoReturn:
    raise invalid_text("not a JSON value", got=text)


def _integer(text: str) -> int | float:
    number = _small_integer(text)
    return _double(text) if number is None else number


def _small_integer(text: str) -> int | None:
    if len(text) < 10:
        return int(text)
    if len(text) < 22:
        number = int(text)
        if -(1 << 63) <= number < 1 << 64:
            return number if number < 1 << 32 else UInt(number)
    return None


def _fast_integer(text: str) -> int | float:
    number = _small_integer(text)
    return _fast(text) if number is None else number


def _fast(text: str) -> float:
    number = parse_fast(text)
    if number - number != 0.0:
        raise _too_big(text)
    _double(text)  # both ways of reading refuse the same numbers as too big
    return number


def _double(text: str) -> float:
    number = float(text if len(text) <= _DIGITS else _cut(text))
    if number - number != 0.0:
        raise _too_big(text)
    if number == 0.0:
        zero = _ZERO.fullmatch(text)
        if zero is not None and exponent("", zero[2]) > 308 + len(zero[1] or ""):
            raise _too_big(text)
    return number


def _too_big(text: str) -> MysqlError:
    return invalid_text("a number is too big to be stored in a double", got=text[:40])


def _cut(text: str) -> str:
    """The same number with its first 768 significant digits only: the server ignores later digits."""
    match = NUMBER.fullmatch(text)
    assert match is not None
    sign, whole, fraction, exponent_sign, exponent_digits = match.groups("")
    digits = (whole + fraction).lstrip("0")
    power = exponent(exponent_sign, exponent_digits) - len(fraction) + len(digits[_DIGITS:])
    return f"{sign}{digits[:_DIGITS] or 0}e{power}"


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    try:
        return stored_order(dict(pairs))
    except UnicodeEncodeError:
        raise invalid_text("a surrogate pair is incomplete") from None


_decoder: Final = JSONDecoder(
    object_pairs_hook=_object, parse_float=_double, parse_int=_integer, parse_constant=_constant
)

_fast_decoder: Final = JSONDecoder(
    object_pairs_hook=_object, parse_float=_fast, parse_int=_fast_integer, parse_constant=_constant
)


def parse_text(text: str, forms: JsonForms | None = None) -> JsonValue:
    """The value of a JSON text. Members come in stored order; of equal keys the last one counts.

    ``forms``: the JSON forms of a version other than the newest. Raises :class:`MysqlError` 3140 for text that is not
    JSON (``offset`` counts bytes) and 3157 for more than 100 nested containers.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise invalid_text("the text is not valid UTF-8", offset=_bytes_before(text, error.start)) from None
    start = 0
    end = len(text)
    while start < end and text[start] in _WHITE:
        start += 1
    value: JsonValue
    decoder = _fast_decoder if forms is not None and forms.text_double == "fast" else _decoder
    try:
        value, stop = decoder.raw_decode(text, start)
    except JSONDecodeError as error:
        _refuse(text, error.pos, error.msg)
    except RecursionError:
        if _too_deep_at(text) is not None:
            raise too_deep() from None
        raise
    except MysqlError:
        deep = _too_deep_at(text)
        if deep is not None and _numbers_fit(text[start:deep], decoder):
            raise too_deep() from None
        raise
    deep = _too_deep_at(text)
    if _SURROGATE_ESCAPE.search(text):
        half = _half_pair_at(text[:stop])
        if half is not None and (deep is None or half < deep):
            raise invalid_text("a surrogate pair is incomplete", offset=_bytes_before(text, half))
    if deep is not None and deep < stop:
        raise too_deep()
    if stop != end:
        rest = text[stop:].lstrip(_WHITE)
        if rest and rest[0] != "\0":
            position = _bytes_before(text, end - len(rest))
            raise invalid_text("something follows the document", offset=position, got=rest[:20])
    return value


def _bytes_before(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogateescape"))


def _too_deep_at(text: str) -> int | None:
    """Where the 101st container opens inside the others, provided that the text is well formed until there."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    level = 0
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece in ("[", "{"):
            level += 1
            if level > MAX_DEPTH:
                return match.start()
        elif piece in ("]", "}"):
            level -= 1
    return None


def _numbers_fit(text: str, decoder: JSONDecoder) -> bool:
    """Whether the hooks accept every number of a text that is cut short."""
    try:
        with suppress(JSONDecodeError):
            decoder.raw_decode(text)
    except MysqlError:
        return False
    return True


def _half_pair_at(text: str) -> int | None:
    """Where the first string with half a surrogate pair starts; the text is well formed until there."""
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if _SURROGATE_ESCAPE.search(piece):
            try:
                loads(piece).encode()
            except UnicodeEncodeError:
                return match.start()
    return None


def _refuse(text: str, position: int, message: str) -> NoReturn:
    deep = _too_deep_at(text)
    if deep is not None and deep < position and _half_pair_at(text[:deep]) is None:
        raise too_deep() from None
    raise invalid_text(message, offset=_bytes_before(text, position), got=text[position : position + 20]) from None
