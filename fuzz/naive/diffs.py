"""The diffs of a partial column value (partial-update 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fuzz.naive import documents, paths
from fuzz.naive.pieces import Pieces, Refused

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

REPLACE, INSERT, REMOVE = 0, 1, 2


class Frame(NamedTuple):
    """One diff as it stands in the field; a REMOVE has no data."""

    operation: int
    path: bytes
    data: bytes | None


class Diff(NamedTuple):
    """One diff; the value of a REMOVE is ``None``."""

    operation: int
    legs: list[paths.Leg]
    value: JsonValue


def frames(field: bytes) -> list[Frame]:
    """The frames that tile a field. Raises :class:`Refused`."""
    pieces = Pieces(field)
    found = []
    while pieces:
        operation = pieces.number(1)
        if operation > REMOVE:
            raise Refused("no operation")
        path = pieces.take(pieces.packed())
        data = None if operation == REMOVE else pieces.take(pieces.packed())
        found.append(Frame(operation, path, data))
    return found


def read(field: bytes) -> list[Diff]:
    """The diffs of a field. Raises :class:`Refused`."""
    return [
        Diff(frame.operation, paths.read(frame.path), None if frame.data is None else documents.read(frame.data))
        for frame in frames(field)
    ]
