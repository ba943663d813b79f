"""A statement whose rows fill one event exactly to its size limit, where a server still takes the last row.

The caller measures: the model belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.update_case import Step
from conformance.reference.jsonb.encode import encoded_size
from conformance.reference.partial.expression import Assignment, Literal
from generators import scalars

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.definitions import Table
    from generators.draw import Draw

_MOST: Final = 6  # rows of the event
_LEAST: Final = 20  # bytes of the string


def full_event(draw: Draw, shape: Table, rows: int, measure: Callable[[Step], int | None], limit: int) -> Step | None:
    """An UPDATE of some of ``rows`` rows whose event has ``limit`` bytes; ``None`` if none was found.

    Every row gets the same string as its document, so that each byte of it counts once a row. ``measure``: the bytes of
    a statement's rows as one event, without header and checksum; ``None`` if the event has not all of the rows.
    """
    name = shape.columns[draw.choice(shape.json_columns)].name
    for count in range(2, min(rows, _MOST) + 1):
        chosen = tuple(draw.sample(range(rows), count))
        size = measure(_step(draw, name, chosen, _LEAST))
        if size is None or size > limit or (limit - size) % count:
            continue
        length = _LEAST + (limit - size) // count
        # A longer string may need more bytes for its length.
        length -= encoded_size("x" * length) - encoded_size("x" * _LEAST) - (length - _LEAST)
        step = _step(draw, name, chosen, length)
        if measure(step) == limit:
            return step
    return None


def _step(draw: Draw, name: str, chosen: tuple[int, ...], length: int) -> Step:
    return Step((Assignment(name, Literal(scalars.text(draw, length))),), chosen)
