"""The changes that an UPDATE makes to a document of the matrices: the kinds of the axis ``update``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.partial.expression import Assignment, Call, Column, Function, Increment, Literal, SqlNull
from scenarios.engines.documents import MOST, pattern_of, text

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Expression
    from generators.draw import Draw
    from scenarios.engines.documents import Leaf, Made

UPDATES: Final = (
    "replace", "grow", "shrink", "insert", "remove", "subtree", "every", "ineligible", "literal", "beside", "null",
)  # fmt: skip
"""Another value as long; longer; shorter; new members or cells; removed; a container for a scalar; every value;
JSON_INSERT, which is never partial; a whole document; no JSON column but another; NULL."""

_GROWTH: Final = 1000  # a value grows by at most so many bytes: a new value must be small beside a large document
_NEW: Final = (4, 20, 100)


def assignments(draw: Draw, column: str, made: Made, kind: str, pairs: int) -> list[Assignment]:
    """The SET clause of one JSON column."""
    if kind == "beside":
        return [Assignment("n", Increment("n", 1))]
    if kind == "null":
        return [Assignment(column, SqlNull())]
    pattern = pattern_of(draw)
    if kind == "literal":
        assert isinstance(made.value, dict | list)
        value: JsonValue = {"new": text(pattern, 40), "old": made.value}
        return [Assignment(column, Literal(value))]
    document = Column(column)
    if kind in ("insert", "ineligible"):
        function = Function.JSON_SET if kind == "insert" else Function.JSON_INSERT
        new: list[tuple[str | None, Expression | None]] = [
            (_new_path(made, number), Literal(text(pattern, draw.choice(_NEW)))) for number in range(pairs)
        ]
        return [Assignment(column, Call(function, document, tuple(new)))]
    count = len(made.leaves)
    chosen = made.leaves if kind == "every" else draw.sample(made.leaves, min(pairs, count))
    if kind == "remove":
        # From the back, so that no removal moves the target of the next one.
        paths: list[tuple[str | None, Expression | None]] = [(leaf.path, None) for leaf in reversed(chosen)]
        return [Assignment(column, Call(Function.JSON_REMOVE, document, tuple(paths)))]
    function = draw.choice((Function.JSON_SET, Function.JSON_REPLACE))
    new = [(leaf.path, Literal(_value(draw, kind, leaf, pattern))) for leaf in chosen]
    return [Assignment(column, Call(function, document, tuple(new)))]


def _new_path(made: Made, number: int) -> str:
    # Behind the last cell of an array each new one is the next; a name is new whatever its number.
    return f"$[{MOST + number}]" if made.room == "$[" else f"{made.room}{number}"


def _value(draw: Draw, kind: str, leaf: Leaf, pattern: str) -> JsonValue:
    length = leaf.length
    if kind == "subtree":
        return {"a": 1, "b": [1, 2, 3], "c": text(pattern, max(3, min(length, _GROWTH)))}
    if length < 0:
        if kind in ("replace", "every"):
            return draw.below(1 << 16)
        return draw.below(1 << 40) if kind == "grow" else None
    if kind == "grow":
        return text(pattern, length + min(length, _GROWTH) + 1)
    return text(pattern, length // 2 if kind == "shrink" else length)
