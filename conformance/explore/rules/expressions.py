"""Values assigned to a JSON column, and conditions on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.rules.documents import PATHS, document_sql, value_sql
from conformance.explore.steps import CLOSE, OPEN
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from generators.draw import Draw

_PARTIAL: Final = mix(("JSON_SET", 5), ("JSON_REPLACE", 3), ("JSON_REMOVE", 3))
_WHOLE: Final = (
    "JSON_ARRAY_APPEND({j}, {path}, {value})", "JSON_INSERT({j}, {path}, {value})",
    "JSON_MERGE_PATCH({j}, {document})", "JSON_MERGE_PRESERVE({j}, {document})",
    "JSON_ARRAY_INSERT({j}, '$.arr[0]', {value})", "JSON_EXTRACT({j}, {path})", "{document}", "{j}", "NULL",
    "JSON_OBJECT('a', {value}, 'old', {j})", "JSON_ARRAY({j}, {value})",
    "COALESCE(JSON_EXTRACT({j}, {path}), {j})", "IF({j}->'$.a' IS NULL, JSON_SET({j}, {path}, 1), {j})",
    "(SELECT JSON_REMOVE({j}, '$.a'))",
)  # fmt: skip
_PATHS: Final = mix(("'{path}'", 30), ("CONCAT('$', SUBSTRING('{path}', 2))", 1), ("@p", 1))


def _path(draw: Draw) -> str:
    """A path: a literal most often, else a value that is a path only when the statement runs."""
    return draw.choice(_PATHS).format(path=draw.choice(PATHS))


def partial_call(draw: Draw, j: str, others: Sequence[str] = (), *, depth: int = 0) -> str:
    """A call of a function that can be logged as diffs, nested at times. ``others``: columns that values may read."""
    inner = partial_call(draw, j, others, depth=depth + 1) if depth < 3 and draw.chance(1, 4) else j
    if depth == 0 and draw.chance(1, 25):  # another function inside: no diffs
        inner = f"JSON_INSERT({inner}, '$.a', 1)"
    name = draw.choice(_PARTIAL)
    words = [inner]
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        path = _path(draw)
        if name == "JSON_REMOVE":
            words.append(path if path != "'$'" else "'$.a'")
        else:  # the value that is there already, at times
            words += [path, f"JSON_EXTRACT({j}, {path})" if draw.chance(1, 12) else value_sql(draw, j, others)]
    return f"{name}({', '.join(words)})"


def assigned(draw: Draw, j: str, others: Sequence[str] = (), *, source: str = "") -> str:
    """The value for JSON column ``j``; a partial call stands between marks. ``source``: the column that it reads."""
    source = source or j
    if draw.chance(4, 5):
        return f"{OPEN}{partial_call(draw, source, others)}{CLOSE}"
    return draw.choice(_WHOLE).format(
        j=source, path=_path(draw), value=value_sql(draw, source, others), document=document_sql(draw)
    )


_CONDITIONS: Final = mix(
    ("{id} = {n}", 30), ("{id} IN ({n}, {m}, {o})", 12), ("{id} BETWEEN {n} AND {n} + 4", 12), ("{id} > {n}", 5),
    ("{id} % 3 = {n} % 3", 6), ("1", 4), ("{j}->'$.a' = {n}", 4), ("{j}->>'$.b' > 'a'", 4), ("{j}->>'$.a' = 'x'", 3),
    ("{n} MEMBER OF ({j}->'$.arr')", 5), ("JSON_CONTAINS({j}->'$.arr', '[{n}, {m}]')", 4),
    ("JSON_OVERLAPS({j}->'$.arr', '[{n}, {m}]')", 4), ("{j} IS NOT NULL AND {id} < {n}", 3),
    ("JSON_LENGTH({j}) > 2", 3), ("{j}->'$.c' IS NULL", 3), ("JSON_TYPE({j}->'$.a') = 'INTEGER'", 2),
    ("{id} = {n} OR {j}->'$.b' = 'abc'", 2), ("LEFT({j}->>'$.a', 40) > 'b'", 2), ("JSON_TYPE({j}) = 'ARRAY'", 1),
    ("NOT {id} <=> {n}", 1), ("{j}->'$.arr[0]' BETWEEN {n} AND {n} + 3", 2), ("EXISTS (SELECT 1 FROM audit)", 1),
)  # fmt: skip


def condition(draw: Draw, id_column: str, j: str, rows: int, *, extra: tuple[str, ...] = ()) -> str:
    """A condition on the rows of a table with keys 1 to about ``rows``. ``extra``: conditions of this table's own."""
    if extra and draw.chance(1, 4):
        return draw.choice(extra)
    n, m, o = (draw.integer(1, max(2, rows)) for _ in range(3))
    return draw.choice(_CONDITIONS).format(id=id_column, j=j, n=n, m=m, o=o)
