"""A change of one function or constant, as a pattern of its syntax tree and what stands there instead.

``A < B -> A <= B`` changes a comparison, ``copy(A) -> A`` drops a call, ``A.reset() -> pass`` a statement.

- A name of one capital letter stands for any expression, the same one on both sides; ``*A`` for any number of them.
- ``ARG1`` is the first parameter of the function, ``self`` included. No pattern names a variable otherwise.
- ``'…ab…' -> '…c…'`` changes a part of a longer text.
- ``#2`` behind the change takes the second match in the function.
"""

from __future__ import annotations

import ast
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHANGE: Final = re.compile(r"(?P<old>.+?) -> (?P<new>.+?)( #(?P<nth>[1-9]))?")
_PARAMETER: Final = re.compile(r"ARG([1-9])")
_NOT_CODE: Final = frozenset(("annotation", "returns", "type_comment", "ctx", "kind"))
_PART: Final = "…"

Found = dict[str, Any]
Tree = ast.expr | list[ast.stmt]


class Change(NamedTuple):
    """The pattern that is looked for, and its replacement: an expression each, or statements each."""

    old: Tree
    new: Tree
    nth: int


class _Match(NamedTuple):
    """``parent.field``, or its items from ``start`` to ``stop``, and what the letters stand for."""

    parent: ast.AST
    field: str
    start: int | None
    stop: int
    found: Found


def parse_change(text: str) -> Change:
    """Read ``OLD -> NEW #NTH``."""
    parts = _CHANGE.fullmatch(text)
    if parts is None:
        raise ValueError(f"not a change: {text!r}")
    old, new, nth = parts["old"], parts["new"], int(parts["nth"] or 1)
    try:
        return Change(ast.parse(old, mode="eval").body, ast.parse(new, mode="eval").body, nth)
    except SyntaxError:
        return Change(ast.parse(old).body, ast.parse(new).body, nth)


def scope(module: ast.Module, name: str) -> ast.stmt:
    """A function, a method (``Class.method``), or the statement that assigns a constant."""
    body = module.body
    *owners, last = name.split(".")
    for owner in owners:
        body = next(item.body for item in body if isinstance(item, ast.ClassDef) and item.name == owner)
    found = [item for item in body if last in _defined(item)]
    if len(found) != 1:
        raise ValueError(f"{name} is defined {len(found)} times, not once")
    return found[0]


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [item.id for target in targets if target for item in ast.walk(target) if isinstance(item, ast.Name)]


def apply(change: Change, place: ast.stmt) -> None:
    """Change a function, or the statement of a constant, in its tree."""
    parameters = _parameters(place)
    old, new = (_filled(tree, parameters) for tree in (change.old, change.new))
    for number, match in enumerate(_matches(old, place), 1):
        if number == change.nth:
            made = _filled(new, match.found)
            if match.start is None:
                setattr(match.parent, match.field, made)
            else:
                items = made if isinstance(made, list) else [made]
                getattr(match.parent, match.field)[match.start : match.stop] = items
            ast.fix_missing_locations(place)
            return
    raise ValueError(f"nothing matches ({change.nth}): {ast.unparse(old[0] if isinstance(old, list) else old)}")


def local_names(place: ast.stmt) -> frozenset[str]:
    """The variables of a function, its parameters included; of a constant those of its comprehensions."""
    names: set[str] = set()
    for node in ast.walk(place):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return frozenset(names - set(() if isinstance(place, ast.FunctionDef) else _defined(place)))


def _parameters(place: ast.stmt) -> Found:
    if not isinstance(place, ast.FunctionDef):
        return {}
    every = [*place.args.posonlyargs, *place.args.args, *place.args.kwonlyargs]
    return {f"ARG{number}": ast.Name(item.arg, ast.Load()) for number, item in enumerate(every, 1)}


def _matches(old: Tree, parent: ast.AST) -> Iterator[_Match]:
    """Everything below ``parent`` that matches, from its beginning to its end."""
    for field, value in ast.iter_fields(parent):
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for start, node in items if field not in _NOT_CODE else ():
            if not isinstance(node, ast.AST):
                continue
            stop = 0 if start is None else start + (len(old) if isinstance(old, list) else 1)
            found: Found = {}
            if _same(old, value[start:stop] if isinstance(old, list) and start is not None else node, found):
                yield _Match(parent, field, start, stop, found)
            yield from _matches(old, node)


def _same(pattern: Any, node: Any, found: Found) -> bool:
    """Whether a part of the pattern matches; ``found`` gets what its letters stand for."""
    letter = _letter(pattern)
    if letter is not None:
        return isinstance(node, ast.expr) and _known(found, letter, [node])
    if isinstance(pattern, list):
        return isinstance(node, list) and _same_items(pattern, node, found)
    if not isinstance(pattern, ast.AST):
        part = _part(pattern)
        if part is None:
            return type(pattern) is type(node) and bool(pattern == node)
        found[_PART] = node, part
        return isinstance(node, str) and part in node
    return type(pattern) is type(node) and all(
        _same(value, getattr(node, field), found) for field, value in ast.iter_fields(pattern) if field not in _NOT_CODE
    )


def _same_items(pattern: list[Any], nodes: list[Any], found: Found) -> bool:
    """Lists of one length; what a starred letter stands for has the length that is left."""
    for index, item in enumerate(pattern):
        letter = _letters(item)
        if letter is None:
            continue
        rest = pattern[index + 1 :]
        for stop in range(index, len(nodes) + 1):
            attempt = dict(found)
            if _same_items(pattern[:index], nodes[:index], attempt) and _same_items(rest, nodes[stop:], attempt):
                found.update(attempt)
                return _known(found, letter, nodes[index:stop])
        return False
    return len(pattern) == len(nodes) and all(
        _same(one, other, found) for one, other in zip(pattern, nodes, strict=True)
    )


def _known(found: Found, letter: str, nodes: list[ast.expr]) -> bool:
    """Whether a letter stands for this, once and again."""
    return list(map(ast.unparse, found.setdefault(letter, nodes))) == list(map(ast.unparse, nodes))


def _letter(node: Any) -> str | None:
    return node.id if isinstance(node, ast.Name) and len(node.id) == 1 and node.id.isupper() else None


def _letters(node: Any) -> str | None:
    return _letter(node.value) if isinstance(node, ast.Starred) else None


def _part(text: Any) -> str | None:
    return text[1:-1] if isinstance(text, str) and text[:1] == text[-1:] == _PART else None


def _filled(tree: Any, found: Found) -> Any:
    """A copy with what letters, parameters and parts stand for, as far as that is known."""
    if isinstance(tree, list):
        lists = [found.get(_letters(item) or "", [_filled(item, found)]) for item in tree]
        return [deepcopy(item) for items in lists for item in items]
    if isinstance(tree, ast.Name) and tree.id in found:
        return deepcopy(found[tree.id] if _PARAMETER.fullmatch(tree.id) else found[tree.id][0])
    if not isinstance(tree, ast.AST):
        part = _part(tree)
        return tree if part is None or _PART not in found else found[_PART][0].replace(found[_PART][1], part, 1)
    return type(tree)(**{field: _filled(value, found) for field, value in ast.iter_fields(tree)})
