"""Right-hand sides as applications write them, in SQL, with a document and a row for them to read.

The text alone is made here: what it does is for a server and for ``predict`` to say.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw

_NAMES: Final = ("n", "s", "tags", "o", "log", "price", "on", "z", "deep")
_WORDS: Final = ("x", "abc", "12", "1.5e3", "", "a longer text", "é", "it's", '"q"')


class ApplicationUpdate(NamedTuple):
    """A document as JSON text, and the right-hand sides of UPDATEs that follow each other."""

    document: str
    updates: tuple[str, ...]


def application_update(draw: Draw) -> ApplicationUpdate:
    """One document with up to two updates that shape its holes, and the update that matters."""
    updates = [_hole(draw) for _ in range(draw.below(3))]
    document = document_of(draw)
    last = _deep(draw) if draw.chance(1, 10) else _whole(draw)
    if isinstance(document, dict) and len(document) == 1 and draw.chance(2, 3):
        updates, last = [], f"JSON_SET(j, '$.{next(iter(document))}', {_literal(draw)})"
    return ApplicationUpdate(json.dumps(document, ensure_ascii=False), (*updates, last))


def _hole(draw: Draw) -> str:
    name = draw.choice(_NAMES)
    return draw.choice((f"JSON_REMOVE(j, '$.{name}')", f"JSON_SET(j, '$.{name}', 1)", f"JSON_SET(j, '$.{name}', 'y')"))


def _deep(draw: Draw) -> str:
    """A value about as deep as a document may be, at most places taken away again: only what is stored has a limit."""
    levels = draw.integer(90, 100)
    value = f"CAST('{'[' * levels}1{']' * levels}' AS JSON)"
    if draw.chance(1, 6):
        value = draw.choice(("j", "k", "j->'$.o'", "k->'$.q'"))
    for _ in range(draw.below(6)):
        value = draw.choice(
            (f"JSON_ARRAY({value})", f"JSON_OBJECT('v', {value})", f"JSON_SET('{{}}', '$.v', {value})",
             f"JSON_MERGE_PRESERVE(JSON_ARRAY({value}), '[]')", f"JSON_MERGE_PATCH('{{}}', JSON_OBJECT('v', {value}))",
             f"JSON_ARRAY_APPEND('[]', '$', {value})", f"JSON_EXTRACT(JSON_ARRAY({value}), '$')",
             f"JSON_EXTRACT(JSON_ARRAY({value}), '$[0]')")
        )  # fmt: skip
    path = path_of(draw)
    made = f"{draw.choice(('JSON_SET', 'JSON_SET', 'JSON_REPLACE'))}(j, '{path}', {value})"
    whole = path.split(".")[0] if path.count(".") < 2 and "." not in path else "$." + path.split(".")[1].split("[")[0]
    return draw.choice(
        (made, f"JSON_REMOVE({made}, '{whole if whole != '$' else '$.z'}')", f"JSON_SET({made}, '{whole}', 1)",
         f"JSON_REPLACE({made}, '{whole}', 1)")
    )  # fmt: skip


def _scalar(draw: Draw) -> Any:
    return draw.choice(
        (1, 0, -7, 70000, 2**31, 2**40, 2**63 - 1, 2**63, 1.5, -0.25, 1e20, True, False, None, "x", "12", "")
    )


def document_of(draw: Draw) -> Any:
    if draw.chance(1, 6):
        return {draw.choice(_NAMES): _scalar(draw)}  # so small that diffs may not pay
    members: dict[str, Any] = {
        "n": _scalar(draw),
        "s": draw.choice(_WORDS),
        "tags": [_scalar(draw) for _ in range(draw.below(4))],
        "o": {"x": _scalar(draw), "y": {"z": [_scalar(draw)]}},
        "log": [],
        "price": draw.choice((9.99, 10, 0, "9.99")),
        "on": draw.choice((True, False)),
    }
    if draw.chance(1, 2):
        members["deep"] = {"a": [{"b": draw.choice(_WORDS)}, [1, 2]]}
    for name in tuple(members):
        if draw.chance(1, 12):
            del members[name]
    members["pad"] = "p" * draw.choice((0, 1, 3, 40, 200, 200))
    if draw.chance(1, 30):
        return [members, 1]
    if draw.chance(1, 40):
        return _scalar(draw)
    return members


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def path_of(draw: Draw) -> str:
    name = draw.choice(_NAMES)
    tail = draw.choice(("", "", "", "", "[0]", "[1]", "[last]", "[7]", ".x", ".y", ".y.z", "[last-1]", ".a[0].b"))
    return draw.choice((f"$.{name}{tail}",) * 12 + ("$", "$[0]", f'$."{name}"{tail}'))


def read_of(draw: Draw) -> str:
    """A part of the document."""
    path = path_of(draw)
    return draw.choice(
        (
            *(f"j->'{path}'",) * 6,
            *(f"j->>'{path}'",) * 4,
            *(f"JSON_EXTRACT(j, '{path}')",) * 4,
            *(f"JSON_UNQUOTE(JSON_EXTRACT(j, '{path}'))",) * 2,
            "j->'$.tags[*]'",
            "j->'$.*'",
            f"JSON_EXTRACT(j, '{path}', '$.n')",
            "k->'$.q'",
            "k->'$.r'",
        )
    )


def _number(draw: Draw) -> str:
    return draw.choice(
        ("1", "2", "10", "-3", "0", "1.5", "0.10", "2e0", "1000000", "n", "d", "TRUE", "'3'", "9223372036854775807")
    )


def _arithmetic(draw: Draw, room: int) -> str:
    sign = draw.choice((" + ", " + ", " - ", " * ", " / ", " % ", " DIV ", "+", "-", "*"))
    left = draw.choice((read_of(draw), read_of(draw), _number(draw), _number(draw)))
    right = _number(draw) if draw.chance(3, 4) else read_of(draw)
    if room and draw.chance(1, 4):
        left = f"({_arithmetic(draw, room - 1)})"
    return left + sign + right


def moment_of(draw: Draw) -> str:
    return draw.choice(
        ("NOW()", "NOW(6)", "NOW(3)", "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP(2)", "CURDATE()", "CURTIME(4)",
         "UTC_TIMESTAMP()", "UNIX_TIMESTAMP()", "LOCALTIME", "CURRENT_DATE", "CURRENT_TIME()")
    )  # fmt: skip


def _literal(draw: Draw) -> str:
    return draw.choice(
        ("1", "2.50", "1e3", "'text'", "TRUE", "NULL", "CAST('[1, {\"a\": 2}]' AS JSON)", "JSON_OBJECT('k', 1)",
         "JSON_ARRAY(1, 'a')", "x'00ff'", "CAST(5 AS UNSIGNED)", "DATE'2024-02-29'", "'a much longer text than before'")
    )  # fmt: skip


def _value(draw: Draw, room: int = 2) -> str:
    kind = draw.below(16)
    if kind < 5:
        return _literal(draw)
    if kind < 8:
        return read_of(draw)
    if kind < 11:
        return _arithmetic(draw, 1)
    if kind == 11:
        return moment_of(draw)
    if kind == 12:
        return draw.choice(("n", "s", "d", "k", "j"))
    if kind == 13:
        read = read_of(draw)
        return draw.choice(
            (f"CONCAT(s, {read_of(draw)})", f"CAST({read} AS UNSIGNED)", f"CAST({read} AS SIGNED) + 1",
             f"CAST({read} AS CHAR)", f"JSON_LENGTH(j, '{path_of(draw)}')", f"-({read})", f"JSON_ARRAY({read}, n)",
             f"JSON_OBJECT('v', {read})", f"CAST({read} AS JSON)", f"CAST({read} AS DECIMAL(10,2))")
        )  # fmt: skip
    if kind == 14:
        return f"IFNULL({read_of(draw)}, {draw.choice(('0', _literal(draw)))})"
    if not room:
        return "1"
    return _document_call(draw, draw.choice(("j->'$.tags'", "j->'$.o'", "'[]'", "JSON_OBJECT()", "k")), room - 1)


def _pairs(draw: Draw, room: int) -> str:
    path = path_of(draw)
    pairs = f"'{path}', {_value(draw, room)}"
    if draw.chance(1, 4):
        pairs += f", '{path_of(draw)}', {_value(draw, room)}"
    if draw.chance(1, 30):
        pairs = f"CONCAT('$.tags[', JSON_LENGTH(j, '$.tags'), ']'), {_value(draw, room)}"
    return pairs


def _document_call(draw: Draw, document: str, room: int) -> str:
    """A function that makes a document, over another document."""
    inner = document
    if room and draw.chance(1, 4):
        inner = _document_call(draw, document, room - 1)
    kind = draw.below(11)
    if kind < 3:
        return f"JSON_SET({inner}, {_pairs(draw, room)})"
    if kind == 3:
        return f"JSON_REPLACE({inner}, {_pairs(draw, room)})"
    if kind == 4:
        return f"JSON_REMOVE({inner}, '{path_of(draw)}')"
    if kind == 5:
        return f"JSON_INSERT({inner}, {_pairs(draw, room)})"
    if kind == 6:
        where = draw.choice(("$.tags", "$.log", "$.o.y.z", path_of(draw)))
        return f"JSON_ARRAY_APPEND({inner}, '{where}', {_value(draw, room)})"
    if kind == 7:
        where = draw.choice(("$.tags[0]", "$.tags[1]", "$.log[0]", "$.tags[9]", path_of(draw)))
        return f"JSON_ARRAY_INSERT({inner}, '{where}', {_value(draw, room)})"
    if kind < 10:
        return f"JSON_MERGE_PATCH({inner}, {_patch(draw)})"
    return f"JSON_MERGE_PRESERVE({inner}, {_patch(draw)})"


def _patch(draw: Draw) -> str:
    patch: Any = {
        name: draw.choice((_scalar(draw), None, {"x": None, "new": 1})) for name in (draw.choice(_NAMES), "new")
    }
    if draw.chance(1, 8):
        patch = draw.choice(([1], {}, 5, None))
    text = _text(json.dumps(patch, ensure_ascii=False))
    return draw.choice((text, text, text, f"CAST({text} AS JSON)", "JSON_OBJECT('n', 2)", "k", "NULL", "j->'$.o'"))


def _whole(draw: Draw) -> str:
    kind = draw.below(20)
    if kind < 13:
        return _document_call(draw, "j", 2)
    others: tuple[Callable[[], str], ...] = (
        lambda: _text(json.dumps(document_of(draw), ensure_ascii=False)),
        lambda: _document_call(
            draw, draw.choice(("k", "IFNULL(j, '{}')", "COALESCE(j, JSON_OBJECT())", "CAST(j AS JSON)")), 1
        ),
        lambda: f"CAST({_document_call(draw, 'j', 1)} AS JSON)",
        lambda: f"JSON_MERGE_PATCH({_text(json.dumps(document_of(draw), ensure_ascii=False))}, j)",
        lambda: draw.choice(("k", "j", "NULL", "j->'$.o'", "n", "JSON_OBJECT('n', j->'$.n' + 1)")),
        lambda: f"IFNULL({_document_call(draw, 'j', 1)}, JSON_OBJECT())",
    )
    return draw.choice(others)()
