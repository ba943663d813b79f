"""Right-hand sides that nobody writes: any function over any argument, so that types and errors meet.

Of many the server's error is the answer, and which of several errors it meets first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tests.prediction.statements import ApplicationUpdate, document_of, moment_of, path_of, read_of

if TYPE_CHECKING:
    from generators.draw import Draw

_TERMS: Final = (
    "'abc'", "''", "'12'", "'7x'", "'1.5e3'", "' 7 '", "'-0'", "'1e400'", "'null'", "'true'", "'2024-02-29'",
    "'[1, {\"a\": \"b\"}]'", "'\"q\\\\u00e9\"'", "'{\"n\": 1'", "'\"\"'", "'{}'", "'[]'", "'9223372036854775808'",
    "x'00ff'", "DATE'2024-02-29'", "TIMESTAMP'2024-02-29 10:11:12.125'", "TRUE", "FALSE", "NULL", "0", "1", "-1", "2",
    "1.50", "0.0", "1e0", "1e308", "1e-7", "18446744073709551615", "123456789012345678901234567890", "n", "s", "d", "k",
    "j", "CAST('\"s\"' AS JSON)", "CAST('null' AS JSON)", "CAST(1.50 AS JSON)", "CAST('[]' AS JSON)",
    "CAST('{\"b\": 1, \"a\": [1, \"2\"]}' AS JSON)", "CAST(NULL AS JSON)", "JSON_OBJECT('k', 1)", "JSON_ARRAY(1, 'a')",
)  # fmt: skip
_PATHS: Final = (
    "$", "$[0]", "$[*]", "$.*", "$**.x", "$.o.*", "$[last]", "$[0 to 1]", "$.tags[1 to last]", "$x", "$.", '$."a b"',
    "$.o", "$.r", "$.q", "$[last-1]", "$.a.b.c", "$[-1]", "$ . n",
)  # fmt: skip
_TYPES: Final = ("UNSIGNED", "SIGNED", "CHAR", "JSON", "DECIMAL(10,2)", "DECIMAL", "DATETIME", "DATETIME(3)")
_SIGNS: Final = ("+", "-", "*", "/", "%", "DIV", "MOD")
_WRITERS: Final = ("JSON_SET", "JSON_REPLACE", "JSON_INSERT", "JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT")


def odd_update(draw: Draw) -> ApplicationUpdate:
    """One document, and one update of it."""
    return ApplicationUpdate(json.dumps(document_of(draw), ensure_ascii=False), (odd_expression(draw),))


def odd_expression(draw: Draw) -> str:
    """Mostly a JSON_SET of the column, with an odd value."""
    room = 1 + draw.below(3)
    value = term(draw, room)
    match draw.below(12):
        case 0:
            return f"JSON_SET(j, {term(draw, 1)}, {value})"
        case 1:
            return value
        case 2:
            return f"JSON_REMOVE(j, {term(draw, 1)})"
        case 3:
            return f"JSON_SET(j, '{_path(draw)}', {value}, '{_path(draw)}', {term(draw, 1)})"
        case _:
            return f"{draw.choice(('JSON_SET', 'JSON_SET', 'JSON_REPLACE'))}(j, '{path_of(draw)}', {value})"


def term(draw: Draw, room: int) -> str:
    """A value; ``room``: how many functions may stand inside each other."""
    if not room or draw.chance(1, 6):
        reads = (read_of(draw), f"{draw.choice('jk')}->'{_path(draw)}'", f"k->>'{_path(draw)}'", moment_of(draw))
        return draw.choice((*(draw.choice(_TERMS) for _ in range(4)), *reads))
    one, other = term(draw, room - 1), term(draw, room - 1)
    match draw.below(20):
        case 0:
            return f"JSON_EXTRACT({one}, '{_path(draw)}')"
        case 1:
            return f"JSON_EXTRACT({one}, '{_path(draw)}', '{_path(draw)}')"
        case 2:
            return f"JSON_UNQUOTE({one})"
        case 3:
            return f"JSON_LENGTH({one})"
        case 4:
            return f"JSON_LENGTH({one}, '{_path(draw)}')"
        case 5:
            return f"IFNULL({one}, {other})"
        case 6:
            return f"COALESCE({one}, {other})"
        case 7 | 8:
            return f"CAST({one} AS {draw.choice(_TYPES)})"
        case 9:
            return f"CONCAT({one}, {other})"
        case 10 | 11 | 12:
            return f"({one} {draw.choice(_SIGNS)} {other})"
        case 13:
            # Errors of a constant under a minus sign come early, which predict does not follow.
            return f"-({one})" if any(f"{name}->" in one for name in "jk") else f"(0 - {one})"
        case 14:
            return f"JSON_ARRAY({one}, {other})"
        case 15:
            return f"JSON_OBJECT('a', {one}, {draw.choice(('s', other))}, {term(draw, room - 1)})"
        case 16:
            return f"{draw.choice(_WRITERS)}({one}, '{_path(draw)}', {other})"
        case 17:
            return f"JSON_REMOVE({one}, '{_path(draw)}')"
        case 18:
            return f"JSON_SET({one}, {other}, {term(draw, room - 1)})"
        case _:
            return f"{draw.choice(('JSON_MERGE_PATCH', 'JSON_MERGE_PRESERVE'))}({one}, {other})"


def _path(draw: Draw) -> str:
    return draw.choice((path_of(draw), path_of(draw), *_PATHS))
