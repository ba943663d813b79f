"""SET expressions for a JSON column, made for the document that the column has now.

:func:`partial` gives chains of JSON_SET, JSON_REPLACE and JSON_REMOVE over the column itself, which the server may log
as diffs; :func:`whole` gives the other forms of assignment; :func:`refused` statements that the server refuses. Chance
decides which situations of partial-update 2.1, partial-update 2.2 and partial-update 5 they reach. Only the idioms are
fixed: short sequences that work as a whole, such as setting a value and setting it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.jsonb.values import MAX_DEPTH
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.expression import Call, Column, Function, Literal, SqlNull, Wrapped, Wrapper
from conformance.reference.partial.paths import Cell, Path
from generators import documents, path_targets, scalars, values
from generators.draw import mix
from generators.path_targets import Place, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.jsonb.view import View
    from conformance.reference.partial.expression import Expression
    from generators.draw import Draw

_Pair = tuple[str | None, "Expression | None"]

_FUNCTIONS: Final = mix((Function.JSON_SET, 50), (Function.JSON_REPLACE, 25), (Function.JSON_REMOVE, 25))
_CALLS: Final = mix((1, 70), (2, 18), (3, 8), (4, 4))
_PAIRS: Final = mix((1, 66), (2, 22), (3, 8), (5, 4))


class Scene(NamedTuple):
    """The context of an expression: a column, its document, and the columns that may be used as values."""

    draw: Draw
    column: str
    document: View
    sources: tuple[str, ...]


def partial(
    draw: Draw, column: str, stored: bytes | None, *, sources: Sequence[str] = (), nullable: bool = True
) -> Call:
    """A chain that is eligible for partial update.

    ``stored`` is the column's document (``None``: SQL NULL, which stays NULL whatever the chain says). ``sources`` are
    columns that may be used as values; see :func:`~generators.values.value_for`. ``nullable``: may become NULL.
    """
    scene = Scene(draw, column, open_document(stored or b""), tuple(sources))
    if stored is None or draw.below(100) < 78:
        return _chain(scene)
    return draw.choice(_IDIOMS if nullable else _NOT_NULL_IDIOMS)(scene)


def _chain(scene: Scene) -> Call:
    """Calls inside each other, each with a few paths. A path may come twice."""
    draw, column, document, sources = scene
    used: list[Place] = []
    expression: Expression = Column(column)
    for _ in range(draw.choice(_CALLS)):
        function = draw.choice(_FUNCTIONS)
        expression = Call(function, expression, tuple(_pairs(draw, function, document, sources, used)))
    assert isinstance(expression, Call)
    return expression


def _pairs(draw: Draw, function: Function, document: View, sources: tuple[str, ...], used: list[Place]) -> list[_Pair]:
    pairs: list[_Pair] = []
    for _ in range(draw.choice(_PAIRS)):
        place = draw.choice(used) if used and draw.below(8) == 7 else path_targets.aim(draw, document)
        if function is Function.JSON_REMOVE:
            if not place.legs:
                # The literal path $ is refused here; a cell that means the root is not.
                place = Place((Cell(0),), document)
            pairs.append((spell(draw, place.legs), None))
        else:
            pairs.append((spell(draw, place.legs), values.value_for(draw, place, sources=sources)))
        used.append(place)
    return pairs


# ------------------------------------------------------------------------------------------------------------- idioms


def _set_back(scene: Scene) -> Call:
    """Set a value, then the old one again. If both fit, the bytes end as they began, yet two diffs were collected."""
    draw, column, document, _ = scene
    place = path_targets.existing(draw, document)
    path = spell(draw, place.legs)
    other = Literal(values.of_size(draw, values.data_size(place))) if values.data_size(place) < 1000 else Literal(1)
    return Call(Function.JSON_SET, Column(column), ((path, other), (path, Literal(values.current(place)))))


def _remove_and_set(scene: Scene) -> Call:
    """Remove a member or cell, then set it again, to the same value or to another."""
    draw, column, document, sources = scene
    place = path_targets.existing(draw, document)
    if not place.legs:
        return _chain(scene)
    path = spell(draw, place.legs)
    new = Literal(values.current(place)) if draw.below(2) == 0 else values.value_for(draw, place, sources=sources)
    removed = Call(Function.JSON_REMOVE, Column(column), ((path, None),))
    return Call(draw.choice((Function.JSON_SET, Function.JSON_REPLACE)), removed, ((path, new),))


def _same_after_tree(scene: Scene) -> Call:
    """A change that ends the in-place update, then an existing value: logged on the tree, not before."""
    draw, column, document, _ = scene
    place = path_targets.existing(draw, document)
    added = path_targets.missing(draw, document)
    pairs = [
        (spell(draw, added.legs), Literal(scalars.scalar(draw))),
        (spell(draw, place.legs), Literal(values.current(place))),
    ]
    if draw.below(3) == 2:
        pairs.reverse()
    return Call(Function.JSON_SET, Column(column), tuple(pairs))


def _on_tree(scene: Scene) -> Call:
    """A change that ends the in-place update, then any other: the rows of the table for the tree."""
    draw, column, document, sources = scene
    added = path_targets.missing(draw, document)
    first = Call(Function.JSON_SET, Column(column), ((spell(draw, added.legs), Literal(scalars.scalar(draw))),))
    function = draw.choice(_FUNCTIONS)
    return Call(function, first, tuple(_pairs(draw, function, document, sources, [added])))


def _root_after_tree(scene: Scene) -> Call:
    """Replace or wrap the root after another change: the server drops the diffs so far."""
    draw, column, document, _ = scene
    place = path_targets.aim(draw, document)
    target = path_targets.root(draw, document) if draw.below(2) == 0 else Place((Cell(1),))
    new = documents.document(draw, sizes=documents.SHALLOW)
    pairs = ((spell(draw, place.legs), Literal(1)), (spell(draw, target.legs), Literal(new)))
    return Call(Function.JSON_SET, Column(column), pairs if draw.below(4) else pairs[::-1])


def _remove_many(scene: Scene) -> Call:
    """Several removals in place: holes for the updates that follow."""
    draw, column, document, _ = scene
    found = [path_targets.existing(draw, document) for _ in range(draw.integer(2, 4))]
    pairs = tuple((spell(draw, place.legs or (Cell(0),)), None) for place in found)
    return Call(Function.JSON_REMOVE, Column(column), pairs)


def _shrink_many(scene: Scene) -> Call:
    """Several values replaced by smaller ones in one call."""
    draw, column, document, _ = scene
    pairs = []
    for _ in range(draw.integer(2, 4)):
        place = path_targets.existing(draw, document)
        size = values.data_size(place)
        smaller = min(size // 2, 300) if draw.below(2) else 0
        pairs.append((spell(draw, place.legs), Literal(values.of_size(draw, smaller))))
    return Call(Function.JSON_REPLACE, Column(column), tuple(pairs))


def _gap_then_use(scene: Scene) -> Call:
    """Make room beside a value, then let the value grow into it within the same statement."""
    draw, column, document, _ = scene
    trail = path_targets.trail(draw, document)
    place = trail[-1]
    parent = place.parent
    if parent is None or parent.count < 2:
        return _chain(scene)
    beside = place.position + 1 if place.position + 1 < parent.count else place.position - 1
    neighbour = Place(path_targets.element_legs(trail[-2], beside), parent.element(beside), parent, beside)
    freed = min(values.data_size(neighbour), 2000)
    grown = values.of_size(draw, min(values.data_size(place), 2000) + freed - draw.choice((0, 1, 2)) + draw.below(2))
    # A removal would change the positions of cells, so the neighbour is made small instead.
    pairs = ((spell(draw, neighbour.legs), Literal(None)), (spell(draw, place.legs), Literal(grown)))
    return Call(Function.JSON_SET, Column(column), pairs)


def _null_path(scene: Scene) -> Call:
    """A path that is NULL makes the document NULL."""
    draw, column, document, _ = scene
    place = path_targets.aim(draw, document)
    function = draw.choice(_FUNCTIONS)
    value = None if function is Function.JSON_REMOVE else Literal(1)
    pairs: list[_Pair] = [(None, value)]
    if draw.below(2):
        pairs.insert(0, (spell(draw, place.legs or (Cell(0),)), value))
    return Call(function, Column(column), tuple(pairs))


_NOT_NULL_IDIOMS: Final[tuple[Callable[[Scene], Call], ...]] = mix(
    (_set_back, 12), (_remove_and_set, 12), (_same_after_tree, 10), (_on_tree, 14), (_root_after_tree, 3),
    (_remove_many, 16), (_shrink_many, 16), (_gap_then_use, 16),
)  # fmt: skip
_IDIOMS: Final[tuple[Callable[[Scene], Call], ...]] = (*_NOT_NULL_IDIOMS, _null_path)


# ------------------------------------------------------------------------------------------------ other assignments


def whole(
    draw: Draw,
    column: str,
    stored: bytes | None,
    *,
    sources: Sequence[str] = (),
    documents_from: Sequence[str] = (),
    nullable: bool = True,
) -> Expression:
    """An assignment that is not eligible for partial update: the column gets a whole document, or NULL.

    ``documents_from`` are the other JSON columns of the table.
    """
    if stored is None:
        # A document comes back from NULL only this way.
        return Literal(documents.document(draw))
    style = draw.choice(_WHOLE)
    chain = partial(draw, column, stored, sources=sources, nullable=nullable)
    if style == "null":
        return SqlNull() if nullable else Literal(None)
    if style == "literal":
        return Literal(documents.document(draw))
    if style == "itself":
        return Column(column)
    if style == "wrapped":
        return Wrapped(draw.choice(_WRAPPERS), chain)
    if style == "wrapped inside":
        return Call(chain.function, Wrapped(draw.choice(_WRAPPERS), Column(column)), chain.arguments)
    if style == "other" and documents_from:
        other = Column(draw.choice(documents_from))
        return other if draw.below(2) else Call(chain.function, other, chain.arguments)
    return _other_function(draw, column, stored, chain)


def _other_function(draw: Draw, column: str, stored: bytes, chain: Call) -> Call:
    """JSON_INSERT, JSON_ARRAY_APPEND or JSON_ARRAY_INSERT, as the outer call or inside an otherwise eligible chain."""
    document = open_document(stored)
    function = draw.choice((Function.JSON_INSERT, Function.JSON_ARRAY_APPEND, Function.JSON_ARRAY_INSERT))
    pairs: list[_Pair] = []
    for _ in range(draw.choice((1, 1, 2))):
        place = path_targets.aim(draw, document)
        if len(place.legs) >= path_targets.DEEPEST:
            # Appending to a scalar makes a new level.
            place = Place((), document)
        if function is Function.JSON_ARRAY_INSERT and not (place.legs and isinstance(place.legs[-1], Cell)):
            # Its path ends with a cell, otherwise it is refused.
            place = Place((*place.legs, Cell(draw.below(3), from_end=draw.below(4) == 3)))
        value = scalars.scalar(draw) if draw.below(4) else documents.value(draw)
        pairs.append((spell(draw, place.legs), Literal(value)))
    if draw.below(2) == 0:
        return Call(function, Column(column), tuple(pairs))
    if draw.below(2) == 0:
        return Call(function, chain, tuple(pairs))
    return Call(chain.function, Call(function, Column(column), tuple(pairs)), chain.arguments)


_WRAPPERS: Final = (Wrapper.COALESCE, Wrapper.IF, Wrapper.CAST)
_WHOLE: Final = mix(
    ("literal", 20), ("function", 30), ("wrapped", 14), ("wrapped inside", 6), ("other", 12), ("itself", 8), ("null", 8)
)  # fmt: skip


# -------------------------------------------------------------------------------------------- what the server refuses


def refused(draw: Draw, column: str, stored: bytes | None) -> Expression:
    """An expression that ends with an error of its own number (3143, 3149, 3153, 3157, 3165)."""
    # The functions do not look at their paths when the document is NULL (observed on 9.7.4).
    inner: Expression = Literal({}) if stored is None else Column(column)
    style = draw.below(5)
    if style == 0:
        return Call(Function.JSON_REMOVE, inner, (("$", None),))
    if style == 1:
        function = draw.choice(_FUNCTIONS)
        path = str(Path(path_targets.existing(draw, open_document(stored or b"")).legs)) + draw.choice(_WILD)
        return Call(function, inner, ((path, None if function is Function.JSON_REMOVE else Literal(1)),))
    if style == 2:
        return Call(Function.JSON_SET, inner, ((draw.choice(_BAD_PATHS), Literal(1)),))
    if style == 3:
        return Call(Function.JSON_ARRAY_INSERT, inner, ((draw.choice(("$", "$.a", "$[0].b")), Literal(1)),))
    # Wrapping the root of a document of the greatest depth: on the tree, where the depth is checked.
    deep: JsonValue = {"a": documents.nested(draw, MAX_DEPTH - 1)}
    return Call(Function.JSON_SET, inner, (("$", Literal(deep)), ("$[1]", Literal(1))))


_WILD: Final = ("[*]", ".*", "[0 to 1]", "**.a", "[last-1 to last]")
_BAD_PATHS: Final = (
    "", "a", "$x", "$.", "$[", "$[-1]", "$[a]", "$.a b", '$."a', "$.1x", "$[4294967296]", "$.\u0101", "$**",
)  # fmt: skip
