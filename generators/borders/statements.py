"""Statements that lead exactly to a border: of a container's size, of its format, of names, of comparisons.

Chance meets a border once in thousands of updates. A table therefore has a theme, one :class:`Border`, and some of its
statements aim at that border, from whatever document is there.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import SMALL_LIMIT, encode_varlen, encoded_size
from conformance.reference.jsonb.values import DATETIME, TIMESTAMP, Opaque, UInt
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.expression import Call, Column, Function, Literal
from conformance.reference.partial.paths import Cell, Member
from generators import path_targets, scalars
from generators.path_targets import spell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Expression
    from conformance.reference.partial.paths import Leg
    from generators.draw import Draw


class Border(Enum):
    """The border that the tables and statements of a Case aim at."""

    CONTAINER = "container"  # 65,535 and 65,536 bytes, on either side of the small format
    NAME = "name"  # the first and last characters of a kind in paths
    NUMBER = "number"  # doubles beside integers where doubles have gaps
    MOMENT = "moment"  # TIMESTAMP beside DATETIME, as columns and as values
    INLINED = "inlined"  # unsigned numbers of 32 bits in a large container
    COLUMNS = "columns"  # as many JSON columns as one byte of partial bits has, and one more


JSON_COLUMNS: Final = (8, 9)
NAMES: Final = ("a\u036f", "a\u0370", "\u0370", "a\u0300", "\u036f", "a\u02ff", "\u00ff", "a\u00fe", "b\u036fc")
"""U+0300 to U+036F may stand in a name without quotes, but not begin one; U+0370 is a letter (partial-update 4.1)."""
UINT32: Final = (UInt(65536), UInt(2**31), UInt(2**32 - 1), UInt(2**31 - 1), UInt(65537))
NEAR: Final = (2**53, 2**63)
"""From 2^53 on some integers have no double of their own; 2^63 is the first that only UNSIGNED has."""
_SMALL_ENOUGH: Final = 2000  # bytes of a document that is searched for a number or a moment


def expression(
    draw: Draw, border: Border, column: str, stored: bytes | None, *, moments: Sequence[str] = ()
) -> Expression | None:
    """An expression for a JSON column at the border, or ``None`` where the document has no place for it.

    ``moments``: columns of the type TIMESTAMP.
    """
    make = _MAKERS.get(border)
    if make is None or stored is None:
        return None
    try:
        return make(draw, column, stored, moments)
    except MysqlError:
        return None  # in place a document may come to nest deeper than it can be read


def _set(draw: Draw, column: str, legs: tuple[Leg, ...], value: Expression) -> Call:
    return Call(Function.JSON_SET, Column(column), ((spell(draw, legs), value),))


# ---------------------------------------------------------------------------------------------------------- containers


def _container(draw: Draw, column: str, stored: bytes, _: Sequence[str]) -> Expression | None:
    """One string that makes the whole document as large as a small container can be, or one byte larger."""
    value = decode(stored)
    legs: tuple[Leg, ...]
    if isinstance(value, dict):
        legs = (Member("edge"),)
        value["edge"] = ""
    elif isinstance(value, list):
        legs = (Cell(len(value)),)
        value.append("")
    else:
        return Literal({"edge": scalars.text(draw, draw.below(20))})
    # The type byte of the document takes the place of the empty string's length.
    left = SMALL_LIMIT + draw.below(2) - encoded_size(value) + 2
    size = next((left - digits for digits in (1, 2, 3) if len(encode_varlen(max(0, left - digits))) == digits), -1)
    if size < 0:
        # The document is over the limit: a smaller one can come back to it.
        return Literal([scalars.text(draw, SMALL_LIMIT - 10 + draw.below(2))])
    return _set(draw, column, legs, Literal(scalars.text(draw, size)))


def _inlined(draw: Draw, column: str, stored: bytes, _: Sequence[str]) -> Expression | None:
    """An unsigned number of 32 bits in a large container, which has room for it in the entry."""
    document = open_document(stored)
    number = Literal(draw.choice(UINT32))
    if not document.is_large:
        pad = scalars.text(draw, SMALL_LIMIT + 1)
        return Literal([pad, number.value] if draw.below(2) else {"pad": pad, "u": number.value, "v": 1})
    legs: tuple[Leg, ...] = (Member("u"),) if document.is_object else (Cell(document.count),)
    if document.count and draw.below(2) == 0:
        legs = path_targets.element_legs(path_targets.Place((), document), draw.below(document.count))
    return _set(draw, column, legs, number)


# --------------------------------------------------------------------------------------------------------------- names


def _name(draw: Draw, column: str, stored: bytes, _: Sequence[str]) -> Expression | None:
    """A member with a name at a border, new or not."""
    place = path_targets.new_member(draw, open_document(stored))
    return _set(draw, column, (*place.legs[:-1], Member(draw.choice(NAMES))), Literal(scalars.scalar(draw)))


# ------------------------------------------------------------------------------------------------------- comparisons


def _number(draw: Draw, column: str, stored: bytes, _: Sequence[str]) -> Expression | None:
    """A number where doubles have gaps; or, over such a number, one beside it, or its double."""
    found = [(legs, value) for legs, value in _leaves(stored) if is_near(value)]
    if not found:
        return _planted(draw, column, stored, Literal(_near(draw)))
    legs, value = draw.choice(found)
    assert isinstance(value, (int, float))
    return _set(draw, column, legs, Literal(_rival(draw, value)))


def _near(draw: Draw) -> JsonValue:
    number = draw.choice(NEAR) + draw.integer(-2, 2)
    return UInt(number) if number >= 1 << 63 or draw.below(4) == 3 else number


def _rival(draw: Draw, value: float) -> JsonValue:
    """The double of an integer, or an integer beside a double."""
    if isinstance(value, int):
        return scalars.exact(float(value))
    number = int(value) + draw.integer(-1, 1)
    return UInt(number) if number >= 1 << 63 else number


def is_near(value: object) -> bool:
    """Whether a value is a number at one of the borders of :data:`NEAR`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return any(abs(value - border) <= border >> 52 for border in NEAR)


def _moment(draw: Draw, column: str, stored: bytes, moments: Sequence[str]) -> Expression | None:
    """A TIMESTAMP; or, over one, the DATETIME of the same moment, or of another."""
    found = [(legs, value) for legs, value in _leaves(stored) if isinstance(value, Opaque)]
    found = [(legs, value) for legs, value in found if value.field_type == TIMESTAMP]
    if not found:
        return _planted(draw, column, stored, Column(draw.choice(moments))) if moments else None
    legs, value = draw.choice(found)
    assert isinstance(value, Opaque)
    other = scalars.datetime(draw) if draw.below(4) == 3 else Opaque(DATETIME, value.payload)
    return _set(draw, column, legs, Literal(other))


def _planted(draw: Draw, column: str, stored: bytes, value: Expression) -> Expression | None:
    """A value put where one is, so that a later statement finds it."""
    document = open_document(stored)
    if not document.count or len(stored) > _SMALL_ENOUGH:
        return Literal({"a": 1, "b": [2, 3]})
    return _set(draw, column, path_targets.existing(draw, document).legs, value)


def _leaves(stored: bytes) -> Iterator[tuple[tuple[Leg, ...], JsonValue]]:
    """The scalars of a small document with their paths, but for the document itself."""
    layer: list[tuple[tuple[Leg, ...], JsonValue]] = [((), decode(stored))] if len(stored) <= _SMALL_ENOUGH else []
    while layer:
        legs, value = layer.pop()
        if isinstance(value, dict):
            layer.extend(((*legs, Member(name)), item) for name, item in value.items())
        elif isinstance(value, list):
            layer.extend(((*legs, Cell(number)), item) for number, item in enumerate(value))
        elif legs:
            yield legs, value


_MAKERS: Final[dict[Border, Callable[[Draw, str, bytes, Sequence[str]], Expression | None]]] = {
    Border.CONTAINER: _container,
    Border.NAME: _name,
    Border.NUMBER: _number,
    Border.MOMENT: _moment,
    Border.INLINED: _inlined,
}
