"""JSON text to a JSON value, as MySQL reads it (jsonb 4.1).

The scanner of the standard library does the work; its hooks and the checks here take away each of its leniencies:

* ``NaN``, ``Infinity`` and ``-Infinity`` are refused;
* integers have MySQL's three types, and numbers beyond a double are refused;
* a zero is refused, too, if its exponent is larger than 308 plus the digits after its point (``0e309``, observed on
  9.7.4: the exponent is checked before the digits);
* of very long numbers the first 768 significant digits count (observed on 9.7.4);
* half a surrogate pair in ``\\u`` escapes is refused, and so is text that is not valid UTF-8;
* a NUL after the document ends the text, whatever follows it (observed on 9.7.4);
* more than 100 containers inside each other are refused where the 101st opens, whatever follows it.

White space, control characters in strings and the rest of the grammar are strict already. Whatever is refused,
:mod:`.text_reader` reads again: it says the place and the reason, the same under every Python. An over-long key is no
matter for the parser: the encoder refuses it with 3151, as in the server.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import TYPE_CHECKING, Final, NoReturn

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.fast_double import NUMBER, exponent, parse_fast
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.text_reader import WHITE, Hooks, bytes_before, half_pair, invalid_text, read, refusal
from conformance.reference.jsonb.values import MAX_DEPTH, JsonValue, UInt

if TYPE_CHECKING:
    from conformance.reference.dialect import JsonForms

_TOKEN: Final = re.compile(r'"(?:[^"\\]+|\\.)*"|[\[\]{}]', re.DOTALL)
_DIGITS: Final = 768
_ZERO: Final = re.compile(r"-?0(?:\.(0+))?[eE]\+?([0-9]+)")


def _constant(text: str) -> NoReturn:
    raise ValueError(text)


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
    return stored_order(dict(pairs))


_EXACT: Final = Hooks(_object, _integer, _double)
_FAST: Final = Hooks(_object, _fast_integer, _fast)


def _decoder(hooks: Hooks) -> JSONDecoder:
    members, integer, fraction = hooks
    return JSONDecoder(object_pairs_hook=members, parse_float=fraction, parse_int=integer, parse_constant=_constant)


_DECODERS: Final = {False: (_decoder(_EXACT), _EXACT), True: (_decoder(_FAST), _FAST)}


def parse_text(text: str, forms: JsonForms | None = None) -> JsonValue:
    """The value of a JSON text. Members come in stored order; of equal keys the last one counts.

    ``forms``: the JSON forms of a version other than the newest. Raises :class:`MysqlError` 3140 for text that is not
    JSON (``offset`` counts bytes) and 3157 for more than 100 nested containers.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise invalid_text("the text is not valid UTF-8", offset=bytes_before(text, error.start)) from None
    start = 0
    end = len(text)
    while start < end and text[start] in WHITE:
        start += 1
    value: JsonValue
    decoder, hooks = _DECODERS[forms is not None and forms.text_double == "fast"]
    try:
        value, stop = decoder.raw_decode(text, start)
    except (ValueError, RecursionError, MysqlError):
        value, stop = read(text, start, hooks)
    if half_pair(text, stop) or _too_deep(text, stop):
        read(text, start, hooks)
    if stop != end:
        rest = text[stop:].lstrip(WHITE)
        if rest and rest[0] != "\0":
            read(text, start, hooks)  # a number that breaks off, as 1. and 1e, is told as such
            raise refusal(text, end - len(rest), "something follows the document")
    return value


def _too_deep(text: str, stop: int) -> bool:
    """Whether more than 100 containers are inside each other in the sound JSON before ``stop``."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    level = 0
    for match in _TOKEN.finditer(text, 0, stop):
        piece = match[0]
        if piece in ("[", "{"):
            level += 1
            if level > MAX_DEPTH:
                return True
        elif piece in ("]", "}"):
            level -= 1
    return False
