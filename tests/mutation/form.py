"""The form of a change of a function: the smallest telling expression or statement around it, before and after.

``v1 < _LONG => v1 <= _LONG``: variables of the function are numbered as they come, so that neither their names nor the
lines around the change matter. An expression of nothing but variables and numbers tells too little. Of a statement with
a body the head is shown.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.faults.change import local_names

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALL: Final = ast.Constant | ast.Name | ast.Attribute | ast.JoinedStr | ast.UnaryOp | ast.Starred | ast.Slice


class _Pair(NamedTuple):
    """The same place before and after the change."""

    old: ast.AST
    new: ast.AST

    def says_enough(self, variables: frozenset[str]) -> bool:
        """Whether the two are statements, or expressions with another name in them than variables."""
        return isinstance(self.old, ast.stmt) or (
            isinstance(self.old, ast.expr)
            and not isinstance(self.old, _SMALL)
            and not isinstance(self.new, ast.Constant | ast.Name)
            and any(
                isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id not in variables)
                for node in ast.walk(self.old)
            )
        )


def form(old: str, new: str) -> str:
    """``OLD => NEW`` for the texts of a function and of its mutant."""
    function = _parsed(old)
    places = list(_places(_Pair(function, ast.parse(new).body[0])))
    variables = local_names(function)
    shown = next((pair for pair in reversed(places) if pair.says_enough(variables)), places[0])
    numbers = _Numbers(variables)
    return f"{numbers.text(shown.old)} => {numbers.text(shown.new)}"


@cache
def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _places(pair: _Pair) -> Iterator[_Pair]:
    """From the function down to the smallest part that holds the whole change."""
    yield pair
    if type(pair.old) is not type(pair.new):
        return
    changed = []
    for field, one in ast.iter_fields(pair.old):
        other = getattr(pair.new, field)
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            changed += [both for both in zip(one, other, strict=True) if not _equal(*both)]
        elif not _equal(one, other):
            changed.append((one, other))
    if len(changed) == 1 and isinstance(changed[0][0], ast.AST) and isinstance(changed[0][1], ast.AST):
        yield from _places(_Pair(*changed[0]))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return ast.dump(one) == ast.dump(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) is type(other) and one == other


class _Numbers(ast.NodeTransformer):
    """Variables as ``v1``, ``v2``."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names - {"self", "cls"}
        self._numbers: dict[str, str] = {}

    def text(self, node: ast.AST) -> str:
        """One line."""
        text = ast.unparse(self.visit(deepcopy(node)))
        return text.split("\n")[0].removesuffix(":") if hasattr(node, "body") else text

    def _number(self, name: str) -> str:
        return self._numbers.setdefault(name, f"v{len(self._numbers) + 1}") if name in self._names else name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._number(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self._number(node.arg), node.annotation)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = node.name and self._number(node.name)
        return self.generic_visit(node)
