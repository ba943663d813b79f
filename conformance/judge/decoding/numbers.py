"""Numbers in all their forms, compared without rounding."""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from math import copysign
from typing import Any, Final

_TEXT: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,6})?", re.ASCII)
_MODULI: Final = frozenset(1 << width for width in (8, 16, 24, 32, 64))
_ORDINARY: Final = 400  # digits before the point
_SINGLE: Final = struct.Struct("<f")
_FLOAT_DIGITS: Final = 6  # that MySQL prints of a FLOAT


def number_of(value: Any) -> Decimal | None:
    """The number, if the value is one. TRUE is none; a Python float counts with the digits that it prints."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return number if number.is_finite() else None


def number_in(text: Any) -> Decimal | None:
    """The number that a text spells."""
    return Decimal(text) if isinstance(text, str) and len(text) < 500 and _TEXT.fullmatch(text) else None


def same_number(expected: Decimal, got: Decimal) -> bool:
    """Whether two exact numbers are equal, the sign of zero included."""
    return expected == got and (bool(expected) or expected.is_signed() == got.is_signed())


def same_double(expected: Decimal, got: Decimal) -> bool:
    """Whether two numbers are the same DOUBLE."""
    one, other = float(expected), float(got)
    return one == other and copysign(1, one) == copysign(1, other)


def same_float(expected: Decimal, got: Decimal) -> bool:
    """Whether ``got`` is a FLOAT that MySQL prints as ``expected``: six digits."""
    one, other = _single(float(expected)), _single(float(got))
    if one is None or other is None or copysign(1, one) != copysign(1, other):
        return False
    return one == other or float(f"{other:.{_FLOAT_DIGITS - 1}e}") == float(expected)


def _single(value: float) -> float | None:
    try:
        single: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        return None
    return single


def numeric_cause(expected: Decimal, got: Decimal) -> str:
    """The class of a difference between two numbers."""
    if max(expected.adjusted(), got.adjusted()) > _ORDINARY:
        return ""
    if expected in (got, got.copy_negate()):
        return "sign"
    if abs(int(expected) - int(got)) in _MODULI:
        return "signedness"
    if float(expected) == float(got):
        return "rounded to a double"
    if _single(float(expected)) == _single(float(got)) == float(got):
        return "rounded to a float"
    return "fraction" if int(expected) == int(got) else ""
