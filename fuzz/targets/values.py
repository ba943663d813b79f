"""Numbers and typed values as text: decimals, doubles of older versions, and the tagged form of JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.fast_double import parse_fast
from conformance.reference.jsonb.tagged import from_tagged, to_tagged
from conformance.reference.jsonb.text import format_double
from conformance.reference.jsonb.values import same
from fuzz import documents
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "A DECIMAL literal is the number it says; a double's text is that double; data with type tags is a value that has"
    " the same tags again, or is refused."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.jsonb.fast_double",
    "conformance.reference.jsonb.opaque",
    "conformance.reference.jsonb.tagged",
)
MAX_LEN: Final = 256
DICTIONARY: Final = (
    b'{"$type": "', b'DECIMAL", "text": "', b'DATE", "text": "2024-02-29"}', b'"hex": "', b'"field_type": 15',
    b'"$object"',
    b"UNSIGNED INTEGER", b"0000-00-00", b"-838:59:59.999999", b"1e308", b"9007199254740993",
)  # fmt: skip
_WHOLE_PLACES: Final = 81
_PRINTED_PLACES: Final = 70


def check(data: bytes) -> None:
    """Check a text."""
    text = data.decode("utf-8", "surrogateescape")
    made, _ = attempt(opaque.decimal_from_text, text)
    if made is not None:
        number = opaque.decimal_number(made.payload)
        if len(text) <= _WHOLE_PLACES:  # excess digits are cut off, or the value becomes the largest number
            said = Decimal(text)
            require(abs(number) <= abs(said), "a literal is cut off, never rounded up", text, number)
            require(said - number < Decimal("1e-36") or len(text) > 36, "a literal is the number it says", text, number)
        again = opaque.decimal_from_text(opaque.decimal_to_text(made.payload))
        # The printed 0 before a point takes the room of a digit, which a literal without the 0 has.
        same_number = opaque.decimal_number(again.payload) == number
        require(same_number or len(text) > _PRINTED_PLACES, "a DECIMAL's text is its number", text)
        require(same(decode(encode(made)), made), "a DECIMAL is stored as it is", text)
    try:
        plain = json.loads(text, parse_int=int, parse_float=_double)
    except (ValueError, RecursionError):
        return
    _tagged(plain)


def _double(text: str) -> float:
    value = float(text)
    fast = parse_fast(text)
    require(
        abs(fast - value) <= abs(value) * 1e-12 or not 1e-290 < abs(value) < 1e300, "both ways are close", text, fast
    )
    if abs(value) <= 1.7976931348623157e308:
        require(float(format_double(value)) == value, "a double's text is that double", text)
    return value


def _tagged(plain: object) -> None:
    value, refused = attempt(from_tagged, plain)
    if refused is not None:
        return
    written, unwritten = attempt(to_tagged, value)
    require(unwritten is None, "every value has tags", str(unwritten))
    again, unread = attempt(from_tagged, written)
    require(unread is None and same(again, value), "the tags of a value are that value", value, written)
    try:
        encode(value)
    except CodecError:
        return  # plain data can hold integers that no document can


def seeds() -> Iterator[tuple[str, bytes]]:
    """Numbers at the borders of their types, and every tag."""
    for text in (
        "1.5",
        "-0.5",
        ".5",
        "0",
        "-0.00",
        "00012.3400",
        "9" * 65,
        "9" * 82,
        "0." + "1" * 81,
        "1.",
        "+1",
        "1e3",
        "",
    ):
        yield f"decimal-{text[:12]}-{len(text)}", text.encode()
    for text in ("0.1", "1e22", "123456789012345678", "1e308", "5e-324", "9007199254740993.0", "0.30000000000000004"):
        yield f"double-{text}", text.encode()
    for name, value in documents.SMALL.items():
        yield f"tagged-{name}", json.dumps(to_tagged(value)).encode()[:MAX_LEN]
    yield "members", b'{"$object": [["$a", 1], ["b", {"$type": "DOUBLE", "text": "1.5"}]]}'
    yield "unknown", b'{"$type": "POINT", "text": "1"}'
