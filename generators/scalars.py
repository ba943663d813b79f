"""Scalars: every value without children that SQL can put into a JSON document.

Boundaries are offered on purpose: each kind mixes listed edge values with random ones. The lists begin with the
simplest value.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.fast_double import parse_fast
from conformance.reference.jsonb.text import format_double
from conformance.reference.jsonb.values import VARCHAR, Opaque, UInt
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

INTEGERS: Final = (
    0, 1, -1, 2, 10, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536, 2**31 - 1, 2**31,
    -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, -(2**63),
)  # fmt: skip
UNSIGNED: Final = (
    0, 1, 255, 32767, 32768, 65535, 65536, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1,
)  # fmt: skip
DOUBLES: Final = (
    0.0, 1.0, -0.0, 0.5, -1.0, 1.5, 0.1, 1.1, 100000.0, 1e14, 1e15, 1e16, 1e17, 1e22, 1e23, -1e15, 0.001, 1e-7, 1e-14,
    1e-15, 123456789012345.6, 1234567890123456.8, 12345678901234567.0, 9007199254740992.0, 9007199254740994.0,
    -9.223372036854776e18, 1.8446744073709552e19, 1.2345678901234568e20, 1.100000023841858, 5e-324,
    2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 2.5e-10, 4.35, 0.3, 1e33, 1e34, 1e-300,
)  # fmt: skip
DECIMALS: Final = (
    "0.0", "0.5", "1.5", "-0.5", "1.50", "1.00", "100.0", "0.10", "-1.25", "12345678.9", "123456789.1",
    "1234567890.12", "0.000000001", "0.0000000001", "999999999.999999999", "-999999999.999999999",
    "1000000000.0000000001", "123456789012345678.123456789012345678", "9" * 65, "0." + "0" * 29 + "1",
    "9" * 35 + "." + "9" * 30, "-" + "1" * 36 + ".5", "18446744073709551616", "0.1", "0.30",
)  # fmt: skip
DATES: Final = ((2000, 1, 1), (2024, 2, 29), (1, 1, 1), (9999, 12, 31), (1970, 1, 1), (1999, 12, 31))
# Sign, hours, minutes, seconds, microseconds.
TIMES: Final = (
    (False, 0, 0, 0, 0), (False, 12, 34, 56, 0), (False, 12, 34, 56, 123456), (True, 0, 0, 1, 0),
    (False, 23, 59, 59, 999999), (False, 838, 59, 59, 0), (True, 838, 59, 59, 0), (False, 100, 0, 0, 0),
    (True, 0, 0, 0, 1), (False, 0, 0, 0, 500000),
)  # fmt: skip
CLOCKS: Final = ((0, 0, 0, 0), (12, 34, 56, 0), (23, 59, 59, 999999), (0, 0, 0, 1), (12, 34, 56, 500000))

LENGTHS: Final = (0, 1, 2, 126, 127, 128, 129, 255, 256, 16383, 16384)
"""Lengths in bytes at which the encoding of a string changes its shape (jsonb 1)."""

LOWER: Final = "abcdefghijklmnopqrstuvwxyz"
PRINTABLE: Final = "".join(map(chr, range(0x20, 0x7F)))
WIDE: Final = (
    "aé中文āÿŁñ\u0301\u200d\u200c\u2028\u2029\u00a0\u0660\u0130\ufeff\ufffd\uffff\ue000\u07ff\u0800\U00010000"
    "\U0001f600\U0001f468\U0010ffff\U00020000ß\u017fẞ₠‿\uff41\uff19"
)
CONTROL: Final = "\"\\'`/\b\f\n\r\t\x00\x01\x1f\x7f%_\x1a;"
TEXTS: Final = (
    "", "a", "x", "ab", "null", "true", "1", "-0", "1.5", "[1]", "{}", '{"a": 1}', '"', "\\", "'", '"a"', "\\u0041",
    "\x00", "\n", " ", "a ", "A", "é", "文", "😀", "e\u0301", "\u2028", "2024-02-29", "12:34:56", "base64:type15:AP8=",
    "$.a", "%", "\x7f", "\uffff",
)  # fmt: skip


def integer(draw: Draw) -> int:
    """A signed integer."""
    style = draw.below(4)
    if style == 0:
        return draw.integer(-9, 99)
    if style == 1:
        return draw.choice(INTEGERS)
    width = draw.choice((7, 15, 16, 17, 24, 31, 32, 33, 48, 63))
    number = draw.bits(width)
    return -number - 1 if draw.below(2) else number


def unsigned(draw: Draw) -> UInt:
    """An unsigned integer, as UNSIGNED columns and casts give it."""
    style = draw.below(3)
    if style == 0:
        return UInt(draw.below(100))
    if style == 1:
        return UInt(draw.choice(UNSIGNED))
    return UInt(draw.bits(draw.choice((8, 15, 16, 17, 31, 32, 33, 63, 64))))


_only_portable: Final = ContextVar("only_portable", default=False)


@contextmanager
def portable_doubles(on: bool) -> Iterator[None]:
    """A context in which doubles read alike as text on old and new servers (versions 6.1)."""
    token = _only_portable.set(on)
    try:
        yield
    finally:
        _only_portable.reset(token)


def portable(number: float) -> float:
    """The same double; or, where servers with the fast parser read its text differently, a near double that they read
    right."""
    if parse_fast(format_double(number)) == number:
        return number
    digits, _, exponent = f"{number:.14e}".partition("e")  # 15 digits come out exactly, with a power of ten up to 22
    return float(f"{digits}e{max(-8, min(22, int(exponent)))}")


def double(draw: Draw) -> float:
    """A finite double; short decimals, listed edges and random bits."""
    return exact(_any_double(draw))


def exact(number: float) -> float:
    """The same double, or inside of :func:`portable_doubles` a near one that all servers read alike."""
    return portable(number) if _only_portable.get() else number


def _any_double(draw: Draw) -> float:
    style = draw.below(4)
    if style == 0:
        return draw.integer(-99, 999) / draw.choice((1, 2, 10, 100))
    if style == 1:
        return draw.choice(DOUBLES)
    if style == 2:
        exponent: int = draw.integer(-30, 30)
        return float(f"{draw.integer(-(10**6), 10**17)}e{exponent}")
    (number,) = struct.unpack("<d", draw.bits(64).to_bytes(8, "little"))
    # One bit pattern in 2000 is an infinity or a NaN, which no SQL expression gives.
    return number if isfinite(number) else 0.0


def decimal(draw: Draw) -> Opaque:
    """A DECIMAL with the precision and scale that its literal has."""
    if draw.below(2) == 0:
        return opaque.decimal_from_text(draw.choice(DECIMALS))
    whole = draw.integer(1, draw.choice((1, 3, 9, 10, 18, 35)))
    scale = draw.integer(1, draw.choice((1, 2, 9, 10, 30)))
    sign = "-" if draw.below(4) == 3 else ""
    return opaque.decimal_from_text(f"{sign}{draw.below(10**whole)}.{draw.below(10**scale):0{scale}}")


def date(draw: Draw) -> Opaque:
    """A DATE."""
    return opaque.date(*_day(draw))


def time(draw: Draw) -> Opaque:
    """A TIME, of either sign, up to 838 hours."""
    if draw.below(2) == 0:
        negative, hours, minutes, seconds, micros = draw.choice(TIMES)
    else:
        negative = draw.chance(1, 4)
        hours = draw.below(draw.choice((24, 24, 839)))
        minutes, seconds, micros = draw.below(60), draw.below(60), _micros(draw)
        if hours == 838 and minutes == seconds == 59:
            micros = 0  # beyond the largest TIME
    return opaque.time(hours, minutes, seconds, micros, negative=negative)


def datetime(draw: Draw) -> Opaque:
    """A DATETIME, which is what the literal ``TIMESTAMP'...'`` gives too."""
    day = _day(draw)
    if draw.below(2) == 0:
        return opaque.datetime(*day, *draw.choice(CLOCKS))
    return opaque.datetime(*day, draw.below(24), draw.below(60), draw.below(60), _micros(draw))


def binary(draw: Draw) -> Opaque:
    """A binary string with the field type of a literal such as ``x'00ff'``."""
    length = draw.choice((0, 1, 2, 3, 57, 58)) if draw.below(3) else draw.below(12)
    return Opaque(VARCHAR, octets(draw, length))


def octets(draw: Draw, length: int) -> bytes:
    """``length`` bytes; long ones repeat their beginning."""
    head = draw.bits(8 * min(length, 16)).to_bytes(min(length, 16), "big") if length else b""
    return head if length <= 16 else (head * (length // 16 + 1))[:length]


def text(draw: Draw, size: int) -> str:
    """A string of exactly ``size`` bytes in UTF-8. Its cost does not grow with ``size``."""
    if size < 0:
        raise ValueError(f"a string of {size} bytes")
    if size == 0:
        return ""
    style = draw.below(8)
    if style < 6:
        unit = draw.letters(min(size, 4 if style < 3 else 8), LOWER if style < 5 else PRINTABLE)
        return unit if len(unit) == size else _cut(unit * (size // len(unit) + 1), size)
    unit = draw.letters(min(size, 5), WIDE if style == 6 else CONTROL)
    return _cut(unit * (size // len(unit.encode()) + 1), size)


def _cut(repeated: str, size: int) -> str:
    if repeated.isascii():
        return repeated[:size]
    raw = repeated.encode()[:size]
    kept = raw.decode("utf-8", "ignore")
    # The cut loses the beginning of one character: at most three bytes, which letters replace.
    return kept + "x" * (size - len(kept.encode()))


def string(draw: Draw) -> str:
    """A string: short words mostly, then listed texts, then a length at which the encoding changes."""
    style = draw.below(12)
    if style < 6:
        return draw.letters(draw.below(9), LOWER)
    if style < 8:
        return draw.choice(TEXTS)
    if style < 11:
        return text(draw, draw.below(40))
    return text(draw, draw.choice(_COMMON_LENGTHS))


# The 16 KB lengths would make every twelfth document a big one.
_COMMON_LENGTHS: Final = mix(*((length, 12) for length in LENGTHS[:9]), (16383, 1), (16384, 1))

KEYS: Final = ("a", "b", "c", "d", "e", "k", "x", "y", "id", "name", "pad", "list", "tags", "value")
AWKWARD_KEYS: Final = (
    "", " ", "$", "_", "$_", "1x", "1", "a1", "a b", " a", "a ", "a.b", "a-b", "a[0]", "[0]", "last", "to", "*", "**",
    "$.a", '"', 'a"b', "\\", "a\\b", "'", "a'b", "`", "\n", "\t", "\x00", "\x01", "\x7f", "é", "文", "中", "ā", "ÿ",
    "Ł", "Ā", "a\u0301", "\u0301", "a\u200d", "\u200c", "a‿b", "‿", "aİ", "İ", "\u0660", "a\u0660", "\u2028", "😀",
    "\U0001d54f", "\U00010061", "\U00010030", "A", "aa", "null", "\uffff", "a\ufe33", "\uff3f", "%", "\u00a0",
)  # fmt: skip
"""Names around the identifier rule (partial-update 4.1), that need quotes or escapes, path look-alikes."""


def key(draw: Draw, *, long: bool = False) -> str:
    """A member name. ``long`` allows, rarely, those of 255, 256 and more bytes."""
    style = draw.below(40)
    if style < 26:
        return draw.choice(KEYS)
    if style < 32:
        return draw.choice(AWKWARD_KEYS)
    if style < 37:
        return draw.letters(draw.integer(1, 3), LOWER)
    if style < 39 or not long or draw.below(4) < 3:
        return text(draw, draw.integer(1, 12))
    return text(draw, draw.choice(_LONG_KEYS))


_LONG_KEYS: Final = mix((250, 30), (251, 30), (255, 30), (256, 30), (300, 30), (4000, 2))

_SCALARS: Final[tuple[Callable[[Draw], JsonValue], ...]] = mix(
    (lambda _: None, 8),
    (lambda draw: bool(draw.below(2)), 9),
    (integer, 26),
    (string, 30),
    (double, 9),
    (unsigned, 7),
    (decimal, 7),
    (date, 3),
    (time, 3),
    (datetime, 4),
    (binary, 4),
)


def scalar(draw: Draw) -> JsonValue:
    """Any scalar that a literal or a cast in SQL can give."""
    return draw.choice(_SCALARS)(draw)


def _day(draw: Draw) -> tuple[int, int, int]:
    if draw.below(2) == 0:
        return draw.choice(DATES)
    return draw.integer(1, 9999), draw.integer(1, 12), draw.integer(1, 28)


def _micros(draw: Draw) -> int:
    return draw.below(10**6) if draw.below(2) else 0
