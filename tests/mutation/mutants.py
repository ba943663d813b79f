"""The mutants of one module of the reference: mutmut's, by mutmut's own operators, one changed function each.

mutmut changes the functions and methods of a module, not its constants, and leaves decorated ones alone
(``staticmethod`` and ``classmethod`` excepted). Mutants inside the texts of errors are told apart: no test asks for
words, it asks for the code, the number, the offset.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from libcst import FunctionDef
from mutmut.mutation.file_mutation import create_mutations

from tests.mutation.form import form

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FunctionType, ModuleType

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = "conformance.reference"
REFERENCE: Final = ROOT / "conformance" / "reference"

# What makes an error, and how many of its arguments come before those that are for people.
_CODED: Final = {
    "DecodeError": 1, "EncodeError": 1, "MysqlError": 2, "ReplayError": 1, "Unsupported": 1, "bad_offset": 1,
    "error": 1,
}  # fmt: skip
_WORDS: Final = frozenset((
    "AssertionError", "Damaged", "IndexError", "TypeError", "ValueError", "_invalid", "_refuse", "_short", "_too_long",
    "bad_path", "cannot_be_written", "corrupted_diff", "could_not_apply_diff", "expect_end", "invalid_text", "refused",
    "replica_corrupt_event",
))  # fmt: skip
_FIELDS: Final = frozenset(("_flagged", "_unsigned"))  # they are told the name of a field
_FOR_PEOPLE: Final = frozenset(("expected", "got", "path"))


class Mutant(NamedTuple):
    """``function``: as ``Class.method``. ``text``: the changed function's. ``lines``: first and last line of the
    statement that was changed. ``change``: its form (:mod:`tests.mutation.form`). ``words``: it changes nothing but
    the text of an error, or a type for the type checker."""

    module: str
    function: str
    text: str
    lines: tuple[int, int]
    change: str
    words: bool

    @property
    def key(self) -> str:
        """The name of the mutant where survivors are explained."""
        return f"{self.function}: {self.change}"


def module_names() -> list[str]:
    """All modules of the reference, as ``jsonb.encode``."""
    paths = sorted(path.relative_to(REFERENCE) for path in REFERENCE.rglob("*.py") if path.stem != "__init__")
    return [".".join(path.with_suffix("").parts) for path in paths]


def path_of(module: str) -> Path:
    """Where a module stands."""
    return REFERENCE.joinpath(*module.split(".")).with_suffix(".py")


def mutants_of(module: str) -> list[Mutant]:
    """All of them, in the order of the module."""
    os.chdir(ROOT)  # mutmut reads its settings from there
    source = path_of(module).read_text(encoding="utf-8")
    tree, mutations, _, _ = create_mutations(str(path_of(module)), source)
    places = _Places(source)
    found = []
    counts: Counter[str] = Counter()
    for mutation in mutations:
        function = mutation.contained_by_top_level_function
        if not isinstance(function, FunctionDef):
            continue
        bare = function.with_changes(leading_lines=())
        old = tree.code_for_node(bare)
        new = tree.code_for_node(bare.deep_replace(mutation.original_node, mutation.mutated_node))
        place = places.of(function.name.value, old)
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
        words = any(first <= start < last for first, last in _words(old))
        line = place.line + old.count("\n", 0, start)
        mutant = Mutant(module, place.name, new, places.statement(line), form(dedent(old), dedent(new)), words)
        counts[mutant.key] += 1
        again = counts[mutant.key]  # the same form stands in the function twice
        found.append(mutant if again == 1 else mutant._replace(change=f"{mutant.change} ({again})"))
    return found


def plant(mutant: Mutant, module: ModuleType) -> None:
    """Give the function in this process the mutant's code: whoever holds the function has the mutant."""
    owner, _, name = mutant.function.rpartition(".")
    target = _function(vars(vars(module)[owner])[name] if owner else vars(module)[name])
    tree = ast.parse(mutant.text)
    if owner:  # inside of a class, for super() and names of the class
        (function,) = tree.body
        assert isinstance(function, ast.FunctionDef)
        if "__class__" in target.__code__.co_freevars:  # which a mutant without super() must have as well
            function.body.insert(0, ast.Expr(ast.Name("__class__", ast.Load())))
        tree = ast.Module([ast.ClassDef(owner, bases=[], keywords=[], body=tree.body, decorator_list=[])], [])
        ast.fix_missing_locations(tree)
    space = dict(vars(module))
    code = compile(tree, f"<{mutant.module} {mutant.function}>", "exec", flags=_ANNOTATIONS, dont_inherit=True)
    exec(code, space)
    changed = _function(vars(space[owner])[name] if owner else space[name])
    target.__code__ = changed.__code__
    target.__defaults__ = changed.__defaults__
    target.__kwdefaults__ = changed.__kwdefaults__


_ANNOTATIONS: Final = 0x1000000  # from __future__ import annotations


def _function(found: Any) -> FunctionType:
    inner: FunctionType = getattr(found, "__func__", found)
    return inner


class _Place(NamedTuple):
    name: str
    line: int


class _Places:
    """Where the functions and statements of a source text stand."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._functions: dict[str, list[_Place]] = {}
        self._source = source.splitlines()
        self._statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        for node in tree.body:
            for owner, child in (
                ((node.name, child) for child in node.body) if isinstance(node, ast.ClassDef) else (("", node),)
            ):
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                    first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
                    name = f"{owner}.{child.name}".lstrip(".")
                    self._functions.setdefault(child.name, []).append(_Place(name, first))

    def of(self, name: str, text: str) -> _Place:
        """The function with this text: methods of several classes may have one name."""
        lines = [line.strip() for line in text.splitlines()]
        for place in self._functions[name]:
            here = self._source[place.line - 1 : place.line - 1 + len(lines)]
            if [line.strip() for line in here] == lines:
                return place
        raise AssertionError(f"no function {name} with the text that mutmut has")

    def statement(self, line: int) -> tuple[int, int]:
        """First and last line of the simple statement that a line is in; of a compound one only its head."""
        inside = [node for node in self._statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        node = max(inside, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):  # a default: whoever runs the function
            return node.lineno, node.end_lineno or node.lineno
        if hasattr(node, "body"):  # its head may have several lines, and none of them need be the first
            return node.lineno, max(line, node.body[0].lineno - 1)
        return node.lineno, node.end_lineno or line


def _words(text: str) -> list[tuple[int, int]]:
    """Spans of a function's text that hold words for people, or for the type checker."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return [
        (place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call)
        for node in _of_people(call)
    ]


def _of_people(call: ast.Call) -> Iterator[ast.expr | ast.keyword]:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name in _CODED or name in _WORDS:
        yield from call.args[_CODED.get(name, 0) :]
        yield from (keyword for keyword in call.keywords if keyword.arg in _FOR_PEOPLE)
    elif name == "cast":
        yield call.args[0]
    elif name in _FIELDS or (
        isinstance(receiver, ast.Name)
        and (receiver.id in ("cursor", "inner") or (receiver.id, name) == ("error", "at"))
    ):
        # The name of the field in which something was wrong.
        yield from (item for item in call.args if isinstance(item, ast.JoinedStr) or _is_text(item))


def _is_text(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and isinstance(item.value, str)
