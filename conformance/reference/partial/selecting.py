"""The values that a path selects from a stored document: JSON_EXTRACT, and the length that JSON_LENGTH counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from conformance.reference.errors import Unsupported
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import LARGE_ARRAY
from conformance.reference.jsonb.view import View
from conformance.reference.partial.document import MISSING
from conformance.reference.partial.expression import Known
from conformance.reference.partial.paths import Cell, CellRange, Leg, Member, Path, Wildcard, parse_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.document import Document


def extract(document: Document, paths: Sequence[str]) -> bytes | Known | None:
    """JSON_EXTRACT: the value, an array of all values, or ``None`` where nothing is selected.

    One exact path gives the value as it lies in a stored document: its JSONB, with its holes.
    """
    parsed = [parse_path(text) for text in paths]
    if len(parsed) == 1 and parsed[0].is_exact:
        node = document.seek(document.strip(parsed[0].legs))
        if node is MISSING:
            return None
        if not isinstance(node, View):
            return Known(cast("JsonValue", node))
        if node.kind > LARGE_ARRAY:
            return encode(node.value())
        return bytes((node.kind,)) + bytes(node.data[node.start : node.end])
    value = document.value()
    found = [item for path in parsed for item in select(value, path)]
    return Known(found) if found else None


def select(value: JsonValue, path: Path) -> list[JsonValue]:
    """All values at a path. ``[0]`` and ``[last]`` of what is no array are the value itself."""
    found = [value]
    for leg in path.legs:
        found = [item for parent in found for item in _children(parent, leg)]
    return found


def _children(parent: JsonValue, leg: Leg) -> list[JsonValue]:
    if isinstance(leg, Member):
        return [parent[leg.name]] if isinstance(parent, dict) and leg.name in parent else []
    if isinstance(leg, Wildcard):
        if leg.text == "**":
            raise Unsupported("outside-grammar", "a path with ** that selects values", got=leg.text)
        if leg.text == ".*":
            return list(parent.values()) if isinstance(parent, dict) else []
        return list(parent) if isinstance(parent, list) else []
    if not isinstance(parent, list):
        first, last = (leg, leg) if isinstance(leg, Cell) else (leg.first, leg.last)
        return [parent] if first.position(1)[0] == 0 and _reaches(last) else []
    if isinstance(leg, Cell):
        position, inside = leg.position(len(parent))
        return [parent[position]] if inside else []
    return _range(parent, leg)


def _reaches(cell: Cell) -> bool:
    """Whether the last cell of a range over one value is that value, or behind it."""
    return not cell.from_end or cell.index == 0


def _range(parent: list[JsonValue], leg: CellRange) -> list[JsonValue]:
    count = len(parent)
    first, last = (count - 1 - cell.index if cell.from_end else cell.index for cell in (leg.first, leg.last))
    return parent[max(0, first) : max(0, last + 1)]


def length(value: JsonValue) -> int:
    """JSON_LENGTH: members or elements; 1 for a scalar."""
    return len(value) if isinstance(value, list | dict) else 1
