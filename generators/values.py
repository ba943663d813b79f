"""Values to write over an existing value: aimed at the space that it has (partial-update 3).

The new value is equal, as long, a little shorter or longer, inlined, or exactly as large as the room between its
neighbours. This decides between the rows of the evaluation table; random values alone would hit few of them.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import DATE, DATETIME, DECIMAL, TIME, VARCHAR, Opaque, UInt
from conformance.reference.partial.expression import Column, Literal
from conformance.reference.partial.in_place import find_room
from generators import documents, scalars
from generators.documents import Size
from generators.draw import mix
from generators.path_targets import DEEPEST

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Expression
    from generators.draw import Draw
    from generators.path_targets import Place

COPIED: Final = 3000
"""Values of more bytes than this are hardly ever written out again in a statement."""


class Fit(Enum):
    """How a new value relates to the old one."""

    ANY = "any"
    SHORTER = "shorter"
    EXACT = "exact"
    LONGER = "longer"
    INLINED = "inlined"
    SAME = "same"
    EQUAL = "equal"
    CONTAINER = "container"
    ROOM = "room"
    COLUMN = "column"
    HUGE = "huge"


_FITS: Final = mix(
    (Fit.ANY, 50), (Fit.SHORTER, 60), (Fit.EXACT, 60), (Fit.LONGER, 30), (Fit.INLINED, 24), (Fit.SAME, 30),
    (Fit.EQUAL, 14), (Fit.CONTAINER, 20), (Fit.ROOM, 14), (Fit.COLUMN, 40), (Fit.HUGE, 3),
)  # fmt: skip
_NEW: Final = mix((Fit.ANY, 20), (Fit.INLINED, 8), (Fit.CONTAINER, 8), (Fit.COLUMN, 8))
_HUGE: Final = mix((Size.MEDIUM, 6), (Size.LARGE, 1))


def value_for(draw: Draw, place: Place, *, sources: tuple[str, ...] = ()) -> Expression:
    """A value argument for a path: something for the space at ``place``, or anything if nothing is there.

    ``sources`` are columns of the row that may be used as value. Their size is the caller's care.
    """
    if len(place.legs) >= DEEPEST:
        return Literal(scalars.scalar(draw))
    if place.value is not None and place.parent is None and draw.below(8):
        # The whole document: a scalar here would leave little for the updates that follow. Where the path is not $
        # itself, it may find an element of another row's document.
        return Literal(documents.document(draw, sizes=documents.SHALLOW))
    fit = draw.choice(_NEW if place.value is None else _FITS)
    if fit is Fit.COLUMN:
        if sources:
            return Column(draw.choice(sources))
        fit = Fit.ANY
    return Literal(_literal(draw, place, fit))


def _literal(draw: Draw, place: Place, fit: Fit) -> JsonValue:
    if fit is Fit.INLINED:
        return draw.choice(_INLINED)
    if fit is Fit.HUGE:
        return documents.document(draw, sizes=_HUGE)
    if fit is Fit.CONTAINER:
        return _container(draw, place)
    if place.value is None or fit is Fit.ANY:
        return scalars.scalar(draw)
    if fit is Fit.SAME or fit is Fit.EQUAL:
        old = current(place)
        if old is None or fit is Fit.SAME:
            return old
        return equal_number(draw, old)
    size = data_size(place)
    if size > COPIED and draw.below(8) < 7:
        return scalars.scalar(draw)
    if fit is Fit.SHORTER:
        size -= 1 + draw.below(min(size, 8) + 1) if draw.below(4) < 3 else size // 2
    elif fit is Fit.LONGER:
        size += 1 + draw.below(draw.choice((2, 8, 40)))
    elif fit is Fit.ROOM:
        size = room(place) + draw.below(2)
    return of_size(draw, size)


def current(place: Place) -> JsonValue:
    """The value at ``place`` if a statement can write it (else ``None``, which is as good as any other)."""
    if place.value is None or data_size(place) > COPIED:
        return None
    value = place.value.value()
    return value if expressible(value) else None


def data_size(place: Place) -> int:
    """Bytes of the value's data in its parent's value area: 0 if it is inlined."""
    if place.value is None:
        return 0
    if place.parent is None:
        return place.value.end - place.value.start
    span = place.parent.place(place.position)
    return span[1] - span[0] if span else 0


def room(place: Place) -> int:
    """The most data bytes that the value at ``place`` can have in place."""
    parent = place.parent
    size = data_size(place)
    if parent is None or parent.count > 64 or parent.end - parent.values_end > COPIED:
        return size
    # What fits does not get less with less need, so the border can be searched for by halves.
    low, high = size, parent.end - parent.values_end
    while low < high:
        middle = (low + high + 1) // 2
        if find_room(parent, place.position, middle) is None:
            high = middle - 1
        else:
            low = middle
    return low


def of_size(draw: Draw, size: int) -> JsonValue:
    """A value with ``size`` bytes of data, or one less where the length itself would need another byte."""
    if size <= 0:
        return draw.choice(_INLINED)
    style = draw.below(6)
    if size == 8 and style >= 2:
        return scalars.double(draw) if style < 4 else draw.integer(2**32, 2**63 - 1)
    if size == 10 and style >= 2:
        return draw.choice((scalars.date, scalars.time, scalars.datetime))(draw)
    if style == 5 and size >= 2:
        return Opaque(VARCHAR, scalars.octets(draw, _payload(size - 1)))
    return scalars.text(draw, _payload(size))


def _payload(size: int) -> int:
    """The longest content that takes ``size`` bytes together with its length (jsonb 1)."""
    for digits, limit in ((1, 1 << 7), (2, 1 << 14), (3, 1 << 21)):
        if size - digits < limit:
            return max(size - digits, 0)
    return size - 4


def equal_number(draw: Draw, value: JsonValue) -> JsonValue:
    """The same number as another type: equal by SQL ``=``, with other bytes. Anything else comes back as it is."""
    number: int | float
    if isinstance(value, bool) or not isinstance(value, (int, float, Opaque)):
        return value
    others: list[JsonValue] = []
    if isinstance(value, Opaque):
        if value.field_type != DECIMAL:
            return value
        text = opaque.decimal_to_text(value.payload)
        if "." in text and len(text) < 30:
            others.append(opaque.decimal_from_text(f"{text}0"))
            # A double is compared by its shortest decimal text (jsonb 8).
            if Decimal(repr(float(text))) == Decimal(text):
                others.append(float(text))
        return draw.choice(others) if others else value
    number = value
    if number == int(number) and abs(number) < 2**53:
        others = [float(number), int(number), opaque.decimal_from_text(f"{int(number)}.0")]
        if number >= 0:
            others.append(UInt(number))
    return draw.choice(others) if others else value


def expressible(value: JsonValue) -> bool:
    """Whether some literal, cast or constructor in SQL gives exactly this value, so that no column is needed."""
    if isinstance(value, list):
        return all(map(expressible, value))
    if isinstance(value, dict):
        return all(map(expressible, value.values()))
    if not isinstance(value, Opaque):
        return True
    if value.field_type == DECIMAL:
        # The precision of a literal is that of its digits; columns have more.
        return opaque.decimal_from_text(opaque.decimal_to_text(value.payload)) == value
    return value.field_type in (VARCHAR, DATE, TIME, DATETIME)


def _container(draw: Draw, place: Place) -> JsonValue:
    """A new container, or the one that is there with a change."""
    if place.value is not None and place.value.count and data_size(place) < 400 and draw.below(2):
        value = current(place)
        if isinstance(value, list):
            if draw.below(2) == 0:
                del value[draw.below(len(value))]
            else:
                value[draw.below(len(value))] = scalars.scalar(draw)
            return value
        if isinstance(value, dict):
            name = draw.choice(list(value))
            if draw.below(2) == 0:
                del value[name]
            else:
                value[name] = scalars.scalar(draw)
            return value
    return documents.value(draw, nodes=draw.choice((2, 4, 6)))


_INLINED: Final[tuple[JsonValue, ...]] = (0, 1, None, True, False, -1, 32767, -32768, 456, UInt(1), UInt(65535))
