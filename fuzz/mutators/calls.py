"""Calls of JSON functions on small documents, of which the naive evaluator has an opinion (fuzz.naive.expressions)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from generators.draw import Draw

_MERGES: Final = ("JSON_MERGE_PATCH", "JSON_MERGE_PRESERVE")
_PAIRS: Final = ("JSON_SET", "JSON_INSERT", "JSON_REPLACE", "JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT")
_KEYS: Final = ("a", "b", "1x", "")
_LEGS: Final = (".a", ".b", '."1x"', '.""', ".1x", "[0]", "[1]", "[last]", "[last-1]", "[7]", "[last-7]", "[*]")
_SCALARS: Final = (None, 1, "s", True, 2.5, 4294967296)
_DEEPEST: Final = 3


def call(draw: Draw, deep: int = 0) -> str:
    """A call, with calls inside it."""
    kind = draw.below(8)
    if kind < 3:
        return f"{draw.choice(_MERGES)}({', '.join(_document(draw, deep) for _ in range(2 + draw.below(2)))})"
    document = _document(draw, deep)
    if kind == 3:
        return f"JSON_REMOVE({', '.join([document, *(_path(draw) for _ in range(1 + draw.below(2)))])})"
    pairs = [f"{_path(draw)}, {_value(draw, deep)}" for _ in range(1 + draw.below(2))]
    return f"{draw.choice(_PAIRS)}({', '.join([document, *pairs])})"


def _document(draw: Draw, deep: int) -> str:
    match draw.below(12):
        case 0:
            return "NULL"
        case 1 | 2:
            return "j"
        case 3 | 4 if deep < _DEEPEST:
            return call(draw, deep + 1)
    return f"'{json.dumps(_json(draw, 0))}'"


def _value(draw: Draw, deep: int) -> str:
    kind = draw.below(7)
    return _document(draw, deep) if kind < 2 else draw.choice(("1", "'s'", "TRUE", "NULL", "'[1]'"))


def _path(draw: Draw) -> str:
    return "NULL" if draw.below(20) == 0 else f"'${''.join(draw.choice(_LEGS) for _ in range(draw.below(3)))}'"


def _json(draw: Draw, deep: int) -> object:
    kind = draw.below(6) if deep < _DEEPEST else 5
    if kind < 3:
        return {draw.choice(_KEYS): _json(draw, deep + 1) for _ in range(draw.below(4))}
    if kind < 5:
        return [_json(draw, deep + 1) for _ in range(draw.below(4))]
    return draw.choice(_SCALARS)
