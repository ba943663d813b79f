"""Tables with a BEFORE UPDATE trigger that changes a JSON column, and updates of the same column.

The rows hold one document and its variations. So a trigger, which is the same for all rows, hits the same places as the
SET clauses.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.time_zone import needs_time_zone
from conformance.cases.update_case import Hazard, Step, UpdateCase
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment, Call, Column, Expression, Increment, Literal, Old
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table
from generators import documents, updates
from generators.documents import Size
from generators.draw import mix

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

TABLE: Final = Table(
    schema="lab",
    name="t",
    columns=(
        TableColumn(name="id", type="INT", nullable=False),
        TableColumn(name="n", type="INT"),
        TableColumn(name="j", type="JSON"),
        TableColumn(name="k", type="JSON"),
    ),
    primary_key=((0, 0),),
)
_SIZES: Final = mix((Size.SMALL, 80), (Size.TINY, 10), (Size.TUNED, 10))
_BODIES: Final = mix(
    ("partial", 34), ("whole", 22), ("undo", 8), ("from old", 8), ("other column", 12), ("copy", 6), ("plain", 6),
    ("literal", 4),
)  # fmt: skip
IMAGES: Final = mix((RowImage.MINIMAL, 50), (RowImage.FULL, 35), (RowImage.NOBLOB, 15))


def case(draw: Draw, *, rows: int = 8, steps: int = 8) -> UpdateCase:
    """Documents inside the row; one statement for each row and step."""
    base = encode(documents.document(draw.fork("document"), sizes=_SIZES))
    made: list[tuple[object, ...]] = []
    for number in range(rows):
        part = draw.fork("row", number)
        other = encode(documents.document(part, sizes=_SIZES)) if part.below(4) == 3 else base
        made.append((number + 1, part.below(3), other, base if part.below(4) else None))
    trigger = _trigger(draw, base)
    return UpdateCase(
        id="",
        requirements=("D13", "FR2"),
        table=TABLE,
        selector="id",
        session=Session(row_image=draw.choice(IMAGES), partial_json=draw.below(10) < 9),
        rows=tuple(made),
        trigger=trigger,
        steps=tuple(step(draw.fork("step", number), base, number % rows) for number in range(steps)),
    )


def _trigger(draw: Draw, base: bytes) -> tuple[Assignment, ...]:
    # Only the statement that happens to parse the trigger names the time zone of its literals (observed on 9.7.4).
    bodies = (body(draw.fork("trigger", number), base) for number in count())
    return next(made for made in bodies if not any(needs_time_zone(item.expression) for item in made))


def body(draw: Draw, base: bytes) -> tuple[Assignment, ...]:
    """The assignments of the trigger."""
    style = draw.choice(_BODIES)
    made = [Assignment("j", _expression(draw, style, base))]
    if style == "other column":
        made = [Assignment("k", updates.partial(draw, "k", base))]
    elif style == "plain":
        made = [Assignment("n", Increment("n", 1))]
    elif style == "copy":
        made = [Assignment("k", Column("j"))] if draw.below(2) else [Assignment("j", Column("k"))]
    if draw.below(6) == 5:
        made.append(Assignment("j", updates.partial(draw, "j", base)))
    return tuple(made)


def _expression(draw: Draw, style: str, base: bytes) -> Expression:
    match style:
        case "whole":
            return updates.whole(draw, "j", base, documents_from=("k",))
        case "undo":
            return Old("j")
        case "from old":
            chain = updates.partial(draw, "j", base)
            return Call(chain.function, Old("j"), chain.arguments)
        case "literal":
            return Literal(documents.document(draw, sizes=_SIZES))
        case _:
            return updates.partial(draw, "j", base)


def step(draw: Draw, base: bytes, row: int) -> Step:
    """An update of the column: mostly one that is eligible for partial update."""
    expression = updates.whole(draw, "j", base) if draw.below(6) == 5 else updates.partial(draw, "j", base)
    made = [Assignment("j", expression)]
    if draw.below(3) == 2:
        made.append(Assignment("n", Increment("n", 1)))
    return Step(tuple(made), (row,))


def off_page(draw: Draw) -> UpdateCase:
    """One document outside its row, and one statement."""
    small: JsonValue = documents.document(draw.fork("document"), sizes=_SIZES)
    pad = "p" * draw.choice((9000, 20_000, 60_000, 70_000))
    if isinstance(small, dict):
        whole: JsonValue = {**small, draw.choice(("zzzzzzzz", "_")): pad}
    else:
        whole = [small, pad] if draw.below(2) else [pad, small]
    base = encode(whole)
    trigger = _trigger(draw, base)
    return UpdateCase(
        id="",
        requirements=("D15",),
        hazard=Hazard.CORRUPTS_ROW,
        table=TABLE,
        selector="id",
        session=Session(row_image=RowImage.FULL, partial_json=draw.below(2) == 0),
        rows=((1, 0, base, None),),
        trigger=trigger,
        steps=(step(draw.fork("step"), base, 0),),
    )
