"""JSON text of a document: printed, and parsed again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from conformance.reference.dialect import JsonForms
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_pretty, format_text
from conformance.reference.jsonb.values import DECIMAL, Opaque, UInt, same
from fuzz import documents
from fuzz.mutators.trees import mutate_document
from fuzz.naive.pieces import Refused
from fuzz.naive.text import text as naive_text
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.values import JsonValue

INVARIANT: Final = (
    "A document's text is JSON, reads as the same document wherever JSON has a word for its values, and pretty printing"
    " differs in white space alone."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.jsonb.opaque",
    "conformance.reference.jsonb.parse",
    "conformance.reference.jsonb.text",
)
MAX_LEN: Final = 1024
DICTIONARY: Final = documents.DICTIONARY
mutate = mutate_document


def check(data: bytes) -> None:
    """Check any bytes."""
    value, refused = attempt(decode, data)
    if refused is not None:
        return
    text, unprinted = attempt(format_text, value)
    pretty, unpretty = attempt(format_pretty, value)
    require((unprinted is None) == (unpretty is None), "what is printed is also printed prettily", str(unpretty))
    attempt(format_text, value, JsonForms(double_text="1"))
    if text is None or pretty is None:
        return
    try:
        require(text == naive_text(value), "both print the same text", text)
    except Refused as reason:
        require(_has_opaque(value), "both print the same values", str(reason))
    require(json.loads(text) == json.loads(pretty), "pretty printing changes white space alone", text, pretty)
    try:
        text.encode()
    except UnicodeEncodeError:
        require(attempt(parse_text, text)[1], "no text that is not UTF-8 is read", text)
        return
    again, unread = attempt(parse_text, text)
    require(unread is None, "what was printed can be read", text, str(unread))
    twice = format_text(again)
    require(twice == text or _has_decimal(value), "printing what was printed changes nothing", text, again)
    require(format_text(parse_text(twice)) == twice, "from the second time on nothing changes", twice)
    if _has_words(value):
        require(same(again, value), "text reads as the same document", text, again)
        require(equal(again, value), "text reads as an equal document", text, again)


def _has_words(value: JsonValue) -> bool:
    """Whether text gives exactly this value back: no opaque value, and integers of the sign that text gives them."""
    if isinstance(value, dict):
        return all(map(_has_words, value.values()))
    if isinstance(value, list):
        return all(map(_has_words, value))
    if isinstance(value, UInt):
        return value >= 1 << 32
    if isinstance(value, int):
        return value < 1 << 32
    if isinstance(value, float):
        return abs(value) <= 1.7976931348623157e308
    return not isinstance(value, Opaque)


def _has_opaque(value: JsonValue) -> bool:
    if isinstance(value, (dict, list)):
        return any(map(_has_opaque, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Opaque)


def _has_decimal(value: JsonValue) -> bool:
    """Whether the value holds a DECIMAL, which is printed with its scale, and parsed as a double."""
    if isinstance(value, dict):
        return any(map(_has_decimal, value.values()))
    if isinstance(value, list):
        return any(map(_has_decimal, value))
    return isinstance(value, Opaque) and value.field_type == DECIMAL


def seeds() -> Iterator[tuple[str, bytes]]:
    """Documents of every type."""
    yield from documents.small_seeds()
    yield "depth-100", documents.nested(100)
