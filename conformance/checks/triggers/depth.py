"""Documents near the greatest depth, and updates that put a nested value at their innermost place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.session import Session
from conformance.cases.update_case import Hazard, Step, UpdateCase
from conformance.checks.triggers.generate import IMAGES, TABLE
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import MAX_DEPTH
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Expression,
    Function,
    Increment,
    Literal,
    Wrapped,
    Wrapper,
)
from conformance.reference.partial.paths import Cell, Leg, Member, Path
from generators import documents, scalars
from generators.draw import mix

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

_BEYOND: Final = mix((0, 4), (1, 6), (2, 2), (7, 2), (30, 2), (-1, 2), (-5, 2))
_ROOM: Final = 1500  # bytes at the innermost place: more than a value of 95 levels takes
_MOST: Final = 95  # levels of a value, which a literal must make


def case(draw: Draw) -> UpdateCase:
    """One row and one statement, whose function makes from 95 to 130 levels.

    One in four hands them to another function, which takes most of them away: only what is stored has a limit.
    """
    total = MAX_DEPTH + draw.choice(_BEYOND)
    levels = draw.integer(max(30, total - _MOST), MAX_DEPTH - 6)
    room = draw.below(4) < 3
    document = documents.nested(draw.fork("document"), levels, leaf="p" * _ROOM if room else "p")
    value = documents.nested(draw.fork("value"), total - levels, leaf=scalars.scalar(draw.fork("leaf")))
    function = draw.choice((Function.JSON_SET, Function.JSON_REPLACE))
    innermost = _innermost(document)
    expression: Expression = Call(function, Column("j"), ((str(Path(innermost)), Literal(value)),))
    if draw.chance(1, 4):
        handed = Wrapped(draw.choice(tuple(Wrapper)), expression) if draw.chance(1, 2) else expression
        expression = Call(Function.JSON_REPLACE, handed, ((str(Path(innermost[:1])), Literal("shallow")),))
    made = [Assignment("j", expression)]
    if draw.below(3) == 2:
        made.append(Assignment("n", Increment("n", 1)))
    return UpdateCase(
        id="",
        requirements=("IP3",),
        hazard=Hazard.CORRUPTS_ROW,
        table=TABLE,
        selector="id",
        session=Session(row_image=draw.choice(IMAGES), partial_json=draw.below(4) < 3),
        rows=((1, 0, encode(document), None),),
        steps=(Step(tuple(made), (0,)),),
    )


def without_room(draw: Draw) -> UpdateCase:
    """The same Case with a replica whose row is made anew, without the room that the source's row has."""
    total = MAX_DEPTH + draw.choice((1, 0, 5, 20))
    levels = draw.integer(max(30, total - _MOST), MAX_DEPTH - 6)
    document = documents.nested(draw.fork("document"), levels, leaf="p" * _ROOM)
    value = documents.nested(draw.fork("value"), total - levels, leaf=scalars.scalar(draw.fork("leaf")))
    path = str(Path(_innermost(document)))
    steps = (
        Step((Assignment("j", Call(Function.JSON_SET, Column("j"), ((path, Literal(item)),))),), (0,))
        for item in ("short", value)
    )
    return UpdateCase(
        id="",
        requirements=("FR4",),
        hazard=Hazard.STOPS_REPLICA,
        table=TABLE,
        selector="id",
        session=Session(row_image=draw.choice(IMAGES), partial_json=True),
        rows=((1, 0, encode(document), None),),
        steps=tuple(steps),
    )


def _innermost(document: JsonValue) -> tuple[Leg, ...]:
    legs: list[Leg] = []
    while isinstance(document, (list, dict)):
        legs.append(Cell(0) if isinstance(document, list) else Member("a"))
        document = document[0] if isinstance(document, list) else document["a"]
    return tuple(legs)
