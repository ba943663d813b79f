"""A change of one function or constant, as a pattern of its syntax tree and what stands there instead.

``A < B -> A <= B`` changes a comparison, ``copy(A) -> A`` drops a call, ``A.reset() -> pass`` a statement. A name of one
capital letter stands for any expression, the same one on both sides; ``...`` as a body stands for any statements. No
pattern names a variable of the function, so that it survives renaming. Of several matches in the function ``nth`` says
which one changes. ``'…ab…' -> '…c…'`` changes a part of a longer text.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARROW: Final = " -> "
_NOT_CODE: Final = frozenset(("annotation", "returns", "type_comment", "ctx", "kind"))
_BODY: Final = "..."
_PART: Final = "…"

Found = dict[str, Any]


class Change(NamedTuple):
    """What is looked for and what takes its place: an expression each, or a list of statements each."""

    old: ast.expr | list[ast.stmt]
    new: ast.expr | list[ast.stmt]
    nth: int


def parse_change(text: str, nth: int = 1) -> Change:
    """Read ``OLD -> NEW``."""
    old, arrow, new = text.partition(_ARROW)
    if not arrow:
        raise ValueError(f"no change: {text!r}")
    try:
        return Change(ast.parse(old, mode="eval").body, ast.parse(new, mode="eval").body, nth)
    except SyntaxError:
        return Change(ast.parse(old).body, ast.parse(new).body, nth)


def scope(module: ast.Module, name: str) -> ast.stmt:
    """A function, a method (``Class.method``), or the statement that assigns a constant."""
    body: list[ast.stmt] = module.body
    *owners, last = name.split(".")
    for owner in owners:
        (node,) = [item for item in body if isinstance(item, ast.ClassDef) and item.name == owner]
        body = node.body
    found = [item for item in body if last in _bound(item)]
    if len(found) != 1:
        raise ValueError(f"{name} is defined {len(found)} times, not once")
    return found[0]


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [item.id for target in targets if target for item in ast.walk(target) if isinstance(item, ast.Name)]


def applied(change: Change, place: ast.stmt) -> None:
    """Change the statement or function ``place`` in its tree."""
    for number, match in enumerate(_matches(change, place), 1):
        if number == change.nth:
            match.put(change.new)
            return
    raise ValueError(f"match {change.nth} of {_shown(change.old)} is not there")


def _shown(pattern: ast.expr | list[ast.stmt]) -> str:
    return "; ".join(map(ast.unparse, pattern)) if isinstance(pattern, list) else ast.unparse(pattern)


class _Match(NamedTuple):
    """``parent.field``, or items ``start`` to ``stop`` of it, matches with what ``found`` says."""

    parent: ast.AST
    field: str
    start: int | None
    stop: int
    found: Found

    def put(self, new: ast.expr | list[ast.stmt]) -> None:
        made = _filled(new, self.found)
        if self.start is None:
            setattr(self.parent, self.field, made)
        else:
            getattr(self.parent, self.field)[self.start : self.stop] = made if isinstance(made, list) else [made]


def _matches(change: Change, parent: ast.AST) -> Iterator[_Match]:
    """Everything below ``parent`` that matches, from its beginning to its end."""
    old = change.old
    for field, value in ast.iter_fields(parent):
        if field in _NOT_CODE:
            continue
        for start, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST):
                continue
            stop = 0 if start is None else start + (len(old) if isinstance(old, list) else 1)
            found: Found = {}
            here = value[start:stop] if isinstance(old, list) and isinstance(value, list) else node
            if _same(old, here, found):
                yield _Match(parent, field, start, stop, found)
            yield from _matches(change, node)


def _same(pattern: Any, node: Any, found: Found) -> bool:
    """Whether a part of the pattern matches; ``found`` gets what its letters stand for."""
    letter = _letter(pattern)
    if letter is not None:
        if not isinstance(node, list if letter == _BODY else ast.expr):
            return False
        known = found.setdefault(letter, node)
        return known is node or _dumped(known) == _dumped(node)
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(pattern) == len(node)
            and all(_same(one, other, found) for one, other in zip(pattern, node, strict=True))
        )
    if not isinstance(pattern, ast.AST):
        if isinstance(node, str) and _part(pattern) is not None:
            return _part(pattern) in node and found.setdefault(_PART, (node, _part(pattern))) is not None
        return type(pattern) is type(node) and bool(pattern == node)
    return type(pattern) is type(node) and all(
        _same(value, getattr(node, field, None), found)
        for field, value in ast.iter_fields(pattern)
        if field not in _NOT_CODE
    )


def _letter(pattern: Any) -> str | None:
    """The letter that stands for any expression, or dots for any statements."""
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1 and pattern.id.isupper():
        return pattern.id
    match pattern:
        case [ast.Expr(value=ast.Constant(value=value))] if value is ...:
            return _BODY
    return None


def _part(pattern: Any) -> str | None:
    """The part of a text that is looked for."""
    is_part = isinstance(pattern, str) and len(pattern) > 2 and pattern[0] == pattern[-1] == _PART
    return pattern[1:-1] if is_part else None


def _dumped(node: Any) -> list[str]:
    return [ast.unparse(item) for item in (node if isinstance(node, list) else [node])]


def _filled(new: Any, found: Found) -> Any:
    """A copy of the new text's tree with what the letters stand for."""
    letter = _letter(new)
    if letter is not None:
        return deepcopy(found[letter])
    if isinstance(new, list):
        return [_filled(item, found) for item in new]
    if not isinstance(new, ast.AST):
        part = _part(new)
        return new if part is None else found[_PART][0].replace(found[_PART][1], part, 1)
    fields = {field: _filled(value, found) for field, value in ast.iter_fields(new)}
    return ast.copy_location(type(new)(**fields), new)


def local_names(place: ast.stmt) -> frozenset[str]:
    """The variables of a function, its parameters included; of a constant those of its comprehensions."""
    names: set[str] = set()
    for node in ast.walk(place):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
    outside = {name for node in ast.walk(place) if isinstance(node, ast.Global) for name in node.names}
    if not isinstance(place, ast.FunctionDef | ast.AsyncFunctionDef):
        outside.update(_bound(place))
    return frozenset(names - outside)
