"""Documents, paths and values: few keys, so that paths meet what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.explore.steps import json_literal, quoted
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from generators.draw import Draw

KEYS: Final = ("a", "b", "c", "arr", "key 1")
# The offsets of a document grow from 2 to 4 bytes at 64 KiB; a LOB page holds about 16,000 bytes of it.
_SIZES: Final = mix((0, 60), (30, 20), (300, 8), (4_000, 5), (20_000, 3), (65_000, 2), (120_000, 2))
_LEAVES: Final = mix(("small", 20), ("int", 20), ("text", 40), ("double", 8), ("true", 4), ("null", 6), ("empty", 4))
PATHS: Final = mix(
    ("$.a", 20), ("$.b", 15), ("$.c", 10), ("$.arr", 6), ("$.arr[0]", 12), ("$.arr[1]", 8), ("$.arr[last]", 6),
    ("$.arr[7]", 3), ("$.a.b", 8), ("$.c.a", 5), ("$.b.arr[0]", 3), ('$."key 1"', 5), ("$[0]", 5), ("$[1].a", 2),
    ("$", 2), ("$.arr[last-1]", 2), ("$.pad", 6), ('$.""', 1), ("$.c.c", 3), ("$.arr[last][0]", 1),
    ("$.a[0]", 2), ("$.a[1]", 3), ("$.b[last]", 2), ("$.c[2]", 1),  # a value that is no array counts as one
)  # fmt: skip


def text_of(draw: Draw, size: int) -> str:
    """A text of about ``size`` characters."""
    words = draw.letters(min(size, 8), "abcxyz éß'\\\"") if size else ""
    return words + "xy" * ((size - len(words)) // 2)


def leaf(draw: Draw) -> Any:
    """A scalar."""
    kind = draw.choice(_LEAVES)
    if kind == "small":
        return draw.below(10)
    if kind == "int":
        return draw.integer(-(1 << draw.choice((7, 15, 31, 40, 62))), 1 << draw.choice((7, 15, 31, 40, 62)))
    if kind == "text":
        return text_of(draw, draw.choice((1, 3, 8, 20, 60, 130)))
    if kind == "double":
        return draw.integer(-1000, 1000) / 8
    return {"true": True, "null": None, "empty": draw.choice(({}, []))}[kind]


def document(draw: Draw, depth: int = 2) -> Any:
    """A document: most often an object with the usual keys, an array of scalars under ``arr``."""
    kind = draw.choice(mix(("object", 14), ("array", 3), ("scalar", 1))) if depth == 2 else "object"
    if kind == "scalar":
        return leaf(draw)
    if kind == "array":
        return [document(draw, depth - 1) if depth and draw.chance(1, 5) else leaf(draw) for _ in range(draw.below(5))]
    value: dict[str, Any] = {}
    for key in KEYS:
        if not draw.chance(2, 3):
            continue
        if key == "arr":
            value[key] = members(draw)
        elif depth and draw.chance(1, 4):
            value[key] = document(draw, depth - 1)
        else:
            value[key] = leaf(draw)
    size = draw.choice(_SIZES) if depth == 2 else 0
    if size:
        value["pad"] = text_of(draw, size)
    return value


def members(draw: Draw) -> list[Any]:
    """An array for a multi-valued index: numbers or short texts."""
    texts = draw.chance(1, 3)
    return [text_of(draw, draw.integer(0, 6)) if texts else draw.below(12) for _ in range(draw.below(6))]


def document_sql(draw: Draw) -> str:
    """A document as an SQL expression."""
    return json_literal(document(draw))


_VALUES: Final = mix(
    ("int", 16), ("text", 22), ("document", 12), ("null", 4), ("boolean", 4), ("double", 4), ("decimal", 4),
    ("datetime", 3), ("binary", 3), ("repeat", 6), ("own", 8), ("variable", 3), ("array", 5), ("object", 4),
    ("other", 8), ("case", 2), ("nested", 2),
)  # fmt: skip


def value_sql(draw: Draw, own: str, others: Sequence[str] = ()) -> str:
    """A value for a JSON function; ``own`` is the JSON column that it may read, ``others`` are columns of any type."""
    kind = draw.choice(_VALUES)
    if kind == "int":
        return str(draw.integer(-(1 << draw.choice((3, 15, 31, 62))), 1 << draw.choice((3, 15, 31, 62))))
    if kind == "text":
        return quoted(text_of(draw, draw.choice((0, 1, 3, 8, 20, 60, 130, 300))))
    if kind == "document":
        return f"CAST({json_literal(document(draw, 1))} AS JSON)"
    if kind == "double":
        return f"{draw.integer(-1000, 1000) / 8}e0"
    if kind == "decimal":
        return f"CAST({draw.integer(-99999, 99999) / 100} AS DECIMAL(10,2))"
    if kind == "datetime":
        return draw.choice(("TIMESTAMP'2024-02-29 12:30:00.5'", "DATE'2020-01-01'", "TIME'-12:00:01.25'"))
    if kind == "binary":
        return draw.choice(("x'00ff41'", "b'101'", "_binary'abc'"))
    if kind == "repeat":
        return f"REPEAT('{draw.choice(('r', 'xyz', 'é'))}', {draw.choice((10, 100, 1000, 8000, 9000, 16300, 70000))})"
    if kind == "own":
        return f"JSON_EXTRACT({own}, {quoted(draw.choice(PATHS))})"
    if kind == "other":
        return draw.choice(others) if others else own
    if kind == "case":
        return f"IF({own}->'$.a' IS NULL, {draw.below(9)}, JSON_TYPE({own}->'$.b'))"
    if kind == "nested":
        return f"JSON_SET({own}, '$.a', {draw.below(9)})"
    if kind == "variable":
        return "@v"
    if kind == "array":
        return f"JSON_ARRAY({', '.join(map(_literal, members(draw)))})"
    if kind == "object":
        return f"JSON_OBJECT('a', {_literal(draw.below(9))}, 'b', {own}->'$.a')"
    return {"null": "NULL", "boolean": draw.choice(("TRUE", "FALSE"))}[kind]


def _literal(value: object) -> str:
    return quoted(value) if isinstance(value, str) else str(value)
