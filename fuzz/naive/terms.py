"""SQL values, and the JSON text among them (jsonb 4.1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.jsonb.values import UInt
from fuzz.naive.documents import depth
from fuzz.naive.pieces import Refused

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_DEEPEST: Final = 100


class NoOpinion(Exception):
    """Nothing here says what would come of it."""


class Term(NamedTuple):
    """A SQL value. ``kind``: null, text, json, or plain for a number or boolean."""

    kind: str
    value: JsonValue = None


NULL: Final = Term("null")


def document(term: Term) -> Term:
    """An argument that is a document: text is parsed. Raises :class:`Refused` and :class:`NoOpinion`."""
    if term.kind == "plain":
        raise NoOpinion
    return Term("json", parsed(str(term.value))) if term.kind == "text" else term


def parsed(text: str) -> JsonValue:
    """JSON text. Raises :class:`Refused`, and :class:`NoOpinion` of what is deep."""
    if text.count("[") + text.count("{") > 2 * _DEEPEST:
        raise NoOpinion
    try:
        value: JsonValue = json.loads(text, parse_int=_integer, parse_float=_double, parse_constant=_none)
        json.dumps(value, ensure_ascii=False).encode()  # half a pair has no bytes
    except ValueError:
        raise Refused("no JSON text") from None
    if depth(value) > _DEEPEST:
        raise NoOpinion
    return value


def _integer(digits: str) -> JsonValue:
    number = int(digits)
    if -1 << 63 <= number < 1 << 32:
        return number
    return UInt(number) if 0 < number < 1 << 64 else _double(digits)


def _double(digits: str) -> float:
    number = float(digits)
    if abs(number) == float("inf"):
        raise Refused("too big a number")
    if not number and "e" in digits.lower():
        raise NoOpinion  # how far the exponent of a zero may go is no matter of a function
    return number


def _none(word: str) -> JsonValue:
    raise Refused(word)
