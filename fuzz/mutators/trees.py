"""Edits of a JSON tree: the document stays a document and changes at one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from fuzz import documents
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

_VALUES: Final = tuple(documents.SMALL.values())
_KEYS: Final = ("", "a", "b", "aa", "Z", "é", "k" * 255, "k" * 256, "a.b", '"')


def edited_tree(draw: Draw, value: JsonValue) -> JsonValue:
    """A new tree that differs from ``value`` at one place and shares no part with it."""
    if isinstance(value, list):
        items = [*value]
        choice = draw.below(6)
        place = draw.below(len(items) + 1)
        if choice == 0 or not items:
            items.insert(place, draw.choice(_VALUES))
        elif place == len(items):
            items.append(items[0])
        elif choice == 1:
            del items[place]
        elif choice == 2:
            items[place] = [items[place]]
        else:
            items[place] = edited_tree(draw, items[place])
        return items
    if isinstance(value, dict):
        members = dict(value)
        choice = draw.below(6)
        if choice == 0 or not members:
            members[draw.choice(_KEYS)] = draw.choice(_VALUES)
            return members
        key = draw.choice(tuple(members))
        if choice == 1:
            del members[key]
        elif choice == 2:
            members[key + draw.choice(_KEYS)] = members.pop(key)
        else:
            members[key] = edited_tree(draw, members[key])
        return members
    if isinstance(value, str) and draw.below(2):
        place = draw.below(len(value) + 1)
        return value[:place] + draw.choice(_KEYS) + value[place:]
    return draw.choice(_VALUES)


def mutate_document(data: bytes, max_size: int, seed: int) -> bytes:
    """A document with an edited tree, sometimes with edited bytes; other bytes get only edits of bytes."""
    draw = SeedDraw(seed)
    try:
        out = encode(edited_tree(draw, decode(data)))
    except CodecError:
        return edited(draw, data, max_size)
    if draw.below(3) == 0 or len(out) > max_size:
        out = edited(draw, out if len(out) <= max_size else data, max_size)
    return out
