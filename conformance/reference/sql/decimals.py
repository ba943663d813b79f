"""Arithmetic of DECIMALs: the digits before and behind the point that the server's results have.

Inside JSON a DECIMAL shows its precision, so a result is more than a number. The server keeps groups of nine digits: a
result has whole groups before the point, and its scale behind it (partial-update 2.4).
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb import opaque
from conformance.reference.sql.tokens import outside

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import Opaque

_GROUP: Final = 9
_GROUPS: Final = 9  # of a number, before and behind the point together
_EXACTLY: Final = 200  # digits that Python keeps
_DIVISION_SCALE: Final = 4  # div_precision_increment, by default


class Exact(NamedTuple):
    """A DECIMAL: its number, and how many digits it keeps before and behind the point."""

    number: Decimal
    whole: int
    scale: int

    @property
    def digits(self) -> int:
        """Digits before the point, without leading zeros: none of a fraction."""
        whole = abs(int(self.number))
        return len(str(whole)) if whole else 0

    @property
    def groups(self) -> int:
        """Groups of nine before the point that are not zero."""
        return _ceil(self.digits)


def _ceil(digits: int) -> int:
    return -(-digits // _GROUP)


def of_integer(number: int) -> Exact:
    """An integer as an operand."""
    return Exact(Decimal(number), max(1, _ceil(len(str(abs(number))))) * _GROUP, 0)


def of_opaque(value: Opaque) -> Exact:
    """A DECIMAL value as an operand."""
    _, whole, fraction = opaque.decimal_parts(value.payload)
    return Exact(opaque.decimal_number(value.payload), len(whole), len(fraction))


def as_opaque(value: Exact) -> Opaque:
    """The JSON value of a result."""
    if _ceil(value.whole) + _ceil(value.scale) > _GROUPS or value.whole + value.scale > opaque.MAX_PRECISION:
        raise outside("DECIMAL arithmetic with more than 65 digits", got=value.number)
    with localcontext() as context:
        context.prec = _EXACTLY
        digits = str(abs(int(value.number.scaleb(value.scale))))
    return opaque.decimal_value(value.number < 0, digits, max(1, value.whole + value.scale), value.scale)


def add(one: Exact, other: Exact) -> Exact:
    """``one + other``."""
    return _sum(one, other, apart=(one.number < 0) != (other.number < 0))


def subtract(one: Exact, other: Exact) -> Exact:
    """``one - other``."""
    negative = Exact(other.number.copy_negate(), other.whole, other.scale)
    return _sum(one, negative, apart=(one.number < 0) == (other.number < 0))


def _sum(one: Exact, other: Exact, *, apart: bool) -> Exact:
    """The sum. ``apart``: the server subtracts the digits of one from those of the other; 0 has the sign +."""
    with localcontext() as context:
        context.prec = _EXACTLY
        number = one.number + other.number
    scale = max(one.scale, other.scale)
    if not apart:
        groups = max(_ceil(one.whole), _ceil(other.whole))
        if _first_group_is_full(one, other, groups):
            groups += 1
        return Exact(number, groups * _GROUP, scale)
    if not number:
        return _ZERO
    return Exact(number, max(one.groups, other.groups) * _GROUP, scale)


def _first_group_is_full(one: Exact, other: Exact, groups: int) -> bool:
    """Whether the server expects a carry out of the first group: it looks at that group alone.

    Of two fractions without digits before the point the first group stands behind it.
    """
    with localcontext() as context:
        context.prec = _EXACTLY
        place = (groups - 1) * _GROUP
        firsts = [int(item.number.scaleb(-place)) for item in (one, other) if _ceil(item.whole) == groups]
    return abs(sum(firsts)) > 10**_GROUP - 2


def multiply(one: Exact, other: Exact) -> Exact:
    """``one * other``."""
    with localcontext() as context:
        context.prec = _EXACTLY
        number = one.number * other.number
    if not number:
        return _ZERO
    scale = one.scale + other.scale
    if scale > 30:
        raise outside("DECIMAL arithmetic with more than 30 digits behind the point", got=number)
    groups = _ceil(one.digits + other.digits)
    return Exact(number, min(groups, max(1, Exact(number, 0, 0).groups)) * _GROUP, scale)


def divide(one: Exact, other: Exact) -> Exact:
    """``one / other``, with four more digits behind the point than ``one`` has."""
    if not other.number:
        raise _by_zero()
    scale = min(30, one.scale + _DIVISION_SCALE)
    with localcontext() as context:
        context.prec = _EXACTLY
        exact = one.number / other.number
        number = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)
        nothing = not int(exact.scaleb(_computed(one.scale, other.scale)))
    if nothing:
        return _ZERO
    if not number:
        return Exact(Decimal(0), 1, scale)
    whole = Exact(exact, 0, 0).digits
    return Exact(number, max(whole + _grown(number, whole, scale), Exact(number, 0, 0).digits), scale)


def _computed(one: int, other: int) -> int:
    """The digits behind the point that the server computes before it rounds, for operands of these scales."""
    first, second = _ceil(one) * _GROUP, _ceil(other) * _GROUP
    more = max(0, _DIVISION_SCALE - (first - one + second - other))
    return _ceil(first + second + more) * _GROUP


def _grown(number: Decimal, whole: int, scale: int) -> bool:
    """Whether the server counts one digit more before the point after it rounded.

    It looks for a carry in the last group that is not zero, where it means the first one.
    """
    first = whole % _GROUP
    if not first:
        return False
    with localcontext() as context:
        context.prec = _EXACTLY
        groups = str(abs(int(number.scaleb(_ceil(scale) * _GROUP))))
    while groups.endswith("0" * _GROUP):
        groups = groups[:-_GROUP]
    return int(groups[-_GROUP:]) >= int(10**first)


def modulo(one: Exact, other: Exact) -> Exact:
    """``one % other``, with the sign of ``one``."""
    if not other.number:
        raise _by_zero()
    with localcontext() as context:
        context.prec = _EXACTLY
        number = one.number % other.number
    return Exact(number, Exact(number, 0, 0).digits, max(one.scale, other.scale)) if number else _ZERO


def _by_zero() -> MysqlError:
    return MysqlError(1365, "ER_DIVISION_BY_ZERO", "division by 0")


_ZERO: Final = Exact(Decimal(0), 1, 0)
