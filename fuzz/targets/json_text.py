"""JSON text as MySQL reads it, against Python's own reader where both have a rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NoReturn

from conformance.reference.dialect import JsonForms
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.text_reader import place_of_fault
from conformance.reference.jsonb.values import depth, same
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "Text is read as JSON if and only if it is strict JSON of UTF-8 within MySQL's limits; what is read is printed as"
    " text that reads the same."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.jsonb.fast_double",
    "conformance.reference.jsonb.parse",
    "conformance.reference.jsonb.text",
    "conformance.reference.jsonb.text_reader",
)
MAX_LEN: Final = 512
DICTIONARY: Final = (
    b"null", b"true", b"false", b"NaN", b"-Infinity", b'"\\u', b"\\ud83d\\ude00", b"\\ud800", b"1e308", b"1e309",
    b"-0", b"0.0", b"18446744073709551616", b"9223372036854775808", b"4294967296", b'{"', b'":', b"e-400", b"\\/",
    b"\xef\xbb\xbf", b"\xed\xa0\x80",
)  # fmt: skip
_OLD: Final = JsonForms(text_double="fast")


def check(data: bytes) -> None:
    """Check the bytes of a text."""
    text = data.decode("utf-8", "surrogateescape")
    value, refused = attempt(parse_text, text)
    attempt(parse_text, text, _OLD)
    place = place_of_fault(text)
    require(place is None or 0 <= place <= len(data), "the place of a fault is inside its text", place)
    if refused is not None:
        require(isinstance(refused, MysqlError), "text is refused with MySQL's own numbers", str(refused))
        offset = refused.offset
        require(offset is None or 0 <= offset <= len(data), "an error is inside its text", offset)
        require(_number(refused) != 3140 or refused.offset is None or not _plain(text), "strict JSON is read", text)
        return
    require(_plain(text) or len(text) > 300, "what is read is strict JSON", text)
    require(depth(value) <= 100, "no more than 100 containers inside each other")
    printed, unprinted = attempt(format_text, value)
    require(printed is not None, "what was read can be printed", str(unprinted))
    again, unread = attempt(parse_text, printed or "")
    require(unread is None and same(again, value), "what was printed reads the same", printed, str(unread))
    encode(value)


def _number(error: object) -> int:
    return error.number if isinstance(error, MysqlError) else 0


def _plain(text: str) -> bool:
    """Whether Python's strict reader accepts the text; covers lone surrogates, large numbers and white space."""
    try:
        text.encode()
        text = text.partition("\0")[0]  # after a document it ends the text (observed on 9.7.4)
        value = json.loads(text, parse_constant=_refused, parse_float=_double)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _refused(word: str) -> NoReturn:
    raise ValueError(word)


def _double(word: str) -> float:
    value = float(word)
    mantissa, _, exponent = word.lower().partition("e")
    # The server limits the exponent before it looks at the digits: also that of a zero (observed on 9.7.4).
    if abs(value) > 1.7976931348623157e308 or int(exponent or 0) > 308 + len(mantissa.partition(".")[2]):
        raise ValueError(word)
    return value


_TEXTS: Final = (
    "null", " true ", "[false]", "0", "-0", "-0.0", "1.5e3", "1E+2", "4294967295", "4294967296", "18446744073709551615",
    "18446744073709551616", "-9223372036854775809", "1e400", "1e-400", '""', '"a\\u0041\\n"', '"\\ud83d\\ude00"',
    '"\\ud83d"', '{"a":1,"a":2}', '{"b":[{},[]],"":null}', "[1,2,]", "01", "+1", ".5", "1.", "NaN", "'a'", "", "[",
    '{"a"}', "nul", "[1] x", "0.000000000000000000000000000001234567890123456789", "1" * 60, "[" * 101 + "]" * 101,
    "[" * 100 + "]" * 100, '"\\/\\b\\f\\r\\t"', '"\x7f"', '"\x01"', "é", '"é文\U0001f600"',
)  # fmt: skip


def seeds() -> Iterator[tuple[str, bytes]]:
    """Words, numbers at their borders, escapes, and texts that are not JSON."""
    for number, text in enumerate(_TEXTS):
        yield f"text-{number}", text.encode()
    yield "not-utf8", b'"\xff"'
    yield "surrogate", b'"\xed\xa0\x80"'
    yield "mark", b'\xef\xbb\xbf"a"'
