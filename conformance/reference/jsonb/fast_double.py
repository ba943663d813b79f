"""Numbers of JSON text, as versions before the exact parser read them (versions 6.1).

Digits go into an integer while it is below 2^53, later digits into a double. One multiplication or division by a power
of ten gives the result. Up to 15 digits and powers of ten up to 22 come out exactly; beyond that the last places may
differ from the nearest double.
"""

from __future__ import annotations

import re
from math import inf
from typing import Final

NUMBER: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
_EXACT: Final = (1 << 53) - 1  # digits are added to an integer until it is above this one
_INT64: Final = ((1 << 64) - 1, 1 << 63)  # for numbers without a sign, and with one
_DIGITS: Final = 17  # digits that count, once they are added to a double
_LARGEST: Final = 308


def parse_fast(text: str) -> float:
    """The double of a JSON number. Infinity where the number is too large for one."""
    match = NUMBER.fullmatch(text)
    assert match is not None
    sign, whole, fraction, exponent_sign, exponent_digits = match.groups()
    limit = _INT64[bool(sign)]
    number = 0
    number_as_double: float | None = None
    digits = 0  # that count
    for position, digit in enumerate(whole):
        if number_as_double is None:
            larger = number * 10 + int(digit)
            if larger <= limit:
                number = larger
                digits += position > 0
                continue
            number_as_double = float(number)
        number_as_double *= 10.0  # the digit itself is less than half of the last place
    power = 0
    if fraction:
        rest = fraction
        if number_as_double is None:
            for digit in fraction:
                if number > _EXACT:
                    break
                number = number * 10 + int(digit)
                power -= 1
                digits += number != 0
            rest = fraction[-power:]
            number_as_double = float(number)
        for digit in rest:
            if digits < _DIGITS:
                number_as_double = number_as_double * 10.0 + int(digit)
                power -= 1
                digits += 1
    value = float(number) if number_as_double is None else number_as_double
    if exponent_digits is not None:
        power += exponent(exponent_sign, exponent_digits)
    value = _scaled(value, power)
    return -value if sign else value


def exponent(sign: str, digits: str) -> int:
    """The number behind the ``e``: its first twelve digits suffice for any double; zeros in front do not count."""
    number = int(digits.lstrip("0")[:12] or 0)
    return -number if sign == "-" else number


def _scaled(value: float, power: int) -> float:
    if power < -_LARGEST:
        return _times(_times(value, -_LARGEST), power + _LARGEST)
    return _times(value, power)


def _times(value: float, power: int) -> float:
    if power < -_LARGEST:
        return 0.0
    if power > _LARGEST:
        return value and inf
    return value * float(f"1e{power}") if power >= 0 else value / float(f"1e{-power}")
