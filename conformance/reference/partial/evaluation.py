"""The new value of one column under its assigned expression (partial-update 2).

:class:`Chain` evaluates an eligible column; :func:`evaluate_document` and :func:`evaluate_plain` the others.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import View
from conformance.reference.partial.diffs import Diff, Operation, encode_diff
from conformance.reference.partial.document import (
    MISSING,
    Document,
    child,
    copy,
    element_index,
    is_array,
    remove_from_tree,
)
from conformance.reference.partial.expression import (
    Call,
    Column,
    Columns,
    Computed,
    Constant,
    Expression,
    Function,
    Increment,
    Known,
    Literal,
    Old,
    SqlNull,
    Wrapped,
)
from conformance.reference.partial.paths import Cell, Leg, Member, Path, parse_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.reference.jsonb.values import JsonValue

OLD: Final = "\0"  # no column name contains a NUL: this prefix marks the value before the statement, for a trigger


def _key(expression: Column | Old) -> str:
    return OLD + expression.name if isinstance(expression, Old) else expression.name


def evaluate_plain(expression: Expression, row: Mapping[str, object]) -> object:
    """The value for a column that is not JSON."""
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Increment):
        value = row[expression.column]
        return None if value is None else value + expression.by  # type: ignore[operator]
    if isinstance(expression, Column | Old):
        return row[_key(expression)]
    raise TypeError(f"not a value for a plain column: {expression!r}")


class _Argument:
    """A value argument: the value, its JSONB for the document, and its JSONB for the diff.

    Bytes are made where the server makes them, which refuses a value too deep there: at an element that it would
    replace in place, and for a diff. On the tree it takes any value (observed on 9.7.4).
    """

    def __init__(self, value: JsonValue, stored: bytes | None = None) -> None:
        self.value = value
        self._stored = stored

    @property
    def data(self) -> bytes:
        return self.in_diff if self._stored is None else self._stored

    @cached_property
    def in_diff(self) -> bytes:
        return encode(self.value)


def _argument(expression: Expression | None, row: Mapping[str, object], columns: Columns) -> _Argument:
    value: Any
    if isinstance(expression, Literal):
        value = columns.argument(expression.value)
    elif isinstance(expression, Column | Old):
        value = row[_key(expression)]
        if value is not None and expression.name in columns.json:
            # In a document the value keeps its holes (partial-update 3.1).
            return _Argument(decode(value), value or encode(None))
        value = None if value is None else columns.as_json(expression.name, value)
    elif isinstance(expression, SqlNull):
        value = None
    elif isinstance(expression, Computed):
        data = expression.value() or encode(None)
        return _Argument(data.value) if isinstance(data, Known) else _Argument(decode(data), data)
    else:
        raise TypeError(f"not a value argument: {expression!r}")
    return _Argument(value)


def _path(text: str) -> Path:
    path = parse_path(text)
    if not path.is_exact:
        raise MysqlError(3149, "ER_INVALID_JSON_PATH_WILDCARD", "a path here cannot have wildcards or ranges", got=text)
    return path


def _paths_to_remove(call: Call) -> list[Path] | None:
    """The paths of JSON_REMOVE; ``None`` for a NULL path. All paths are parsed before the path ``$`` is refused."""
    paths: list[Path] = []
    for text, _ in call.arguments:
        if text is None:
            return None
        paths.append(_path(text))
    if not all(path.legs for path in paths):
        raise MysqlError(3153, "ER_JSON_VACUOUS_PATH", "the path $ is not allowed in JSON_REMOVE")
    return paths


def _calls(expression: Expression) -> list[Call]:
    """The calls of a chain, innermost first."""
    calls: list[Call] = []
    while isinstance(expression, Call):
        calls.append(expression)
        expression = expression.document
    calls.reverse()
    return calls


class Chain:
    """The evaluation of one eligible column: document, diffs so far (``None``: logical logging is off), rules."""

    __slots__ = ("column", "diffs", "document", "encoded", "rules")

    def __init__(self, column: str, log_diffs: bool) -> None:
        self.column = column
        self.document: Document | None = None
        self.diffs: list[Diff] | None = [] if log_diffs else None
        self.encoded: list[bytes] = []
        self.rules: list[str] = []

    def stored(self) -> bytes | None:
        return None if self.document is None else self.document.stored()

    @property
    def in_place(self) -> bool:
        return self.document is not None and self.document.in_place

    def run(self, expression: Expression, row: Mapping[str, object], columns: Columns) -> None:
        """Evaluate one assignment. A second assignment to the same column continues with the state of the first."""
        stored = row[self.column]
        if stored is None:
            self.null("null/document")  # the server does not even parse the paths (observed on 9.7.4)
            return
        assert isinstance(stored, bytes)
        document = self.document
        if document is None:
            document = self.document = Document(stored)
        for call in _calls(expression):
            run = self.run_remove if call.function is Function.JSON_REMOVE else self.run_set
            if not run(document, call, row, columns):
                self.null("null/path")
                return

    def run_set(self, document: Document, call: Call, row: Mapping[str, object], columns: Columns) -> bool:
        """Evaluate JSON_SET or JSON_REPLACE; returns whether the result is not NULL."""
        for text, argument in call.arguments:
            if text is None:
                return False
            legs = self.strip(document, _path(text))
            value = _argument(argument, row, columns)
            self.put(document, legs, value, replace_only=call.function is Function.JSON_REPLACE)
        return True

    def run_remove(self, document: Document, call: Call, _row: Mapping[str, object], _columns: Columns) -> bool:
        """Evaluate JSON_REMOVE; returns whether the result is not NULL."""
        paths = _paths_to_remove(call)
        if paths is None:
            return False
        for path in paths:
            self.remove(document, self.strip(document, path))
        return True

    def strip(self, document: Document, path: Path) -> tuple[Leg, ...]:
        """The legs of a path that remain after stripping (partial-update 2)."""
        legs = document.strip(path.legs)
        if len(legs) != len(path.legs):
            self.rules.append("strip/dropped")
        return legs

    def null(self, rule: str) -> None:
        """Set the result to SQL NULL, which ends both mechanisms."""
        self.rules.append(rule)
        self.document = None
        self.logical_off()

    def logical_off(self) -> None:
        self.diffs = None
        self.encoded.clear()

    def log(self, operation: Operation, legs: tuple[Leg, ...], argument: _Argument | None = None) -> None:
        if self.diffs is not None:
            path = Path(legs)
            if argument is None:
                self.diffs.append(Diff(operation, path))
                self.encoded.append(encode_diff(operation, path, None))
            else:
                self.diffs.append(Diff(operation, path, argument.value))
                self.encoded.append(encode_diff(operation, path, argument.in_diff))

    def put(self, document: Document, legs: tuple[Leg, ...], argument: _Argument, *, replace_only: bool) -> None:
        """Apply one (path, value) pair of JSON_SET or JSON_REPLACE (partial-update 2.1)."""
        if document.in_place:
            if self.put_in_place(document, legs, argument, replace_only=replace_only):
                return
            document.to_tree()
        self.put_on_tree(document, legs, argument, replace_only=replace_only)

    def put_in_place(
        self, document: Document, legs: tuple[Leg, ...], argument: _Argument, *, replace_only: bool
    ) -> bool:
        """Apply the pair in the bytes; returns whether that was possible."""
        rule = self.rules.append
        if not legs:
            rule("in-place/root")
            return False
        leg = legs[-1]
        parent = document.seek(legs[:-1])
        if parent is MISSING:
            rule("in-place/parent-missing")
            return True
        assert isinstance(parent, View)
        if parent.is_object and not isinstance(leg, Member):
            rule("in-place/object-cell-replace" if replace_only else "in-place/object-cell-set")
            return replace_only
        if parent.is_array and isinstance(leg, Member):
            rule("in-place/array-member")
            return True
        if not parent.is_object and not parent.is_array:
            handled = replace_only or isinstance(leg, Member)
            rule("in-place/scalar-parent" if handled else "in-place/scalar-parent-set-cell")
            return handled
        index = element_index(parent, leg)
        if index < 0:
            rule("in-place/absent-replace" if replace_only else "in-place/absent-set")
            return replace_only
        changed = document.replace_bytes(parent, index, argument.data)
        if changed is None:
            rule("in-place/no-room")
            return False
        rule("in-place/fits-changed" if changed else "in-place/fits-same")
        if changed:
            self.log(Operation.REPLACE, legs, argument)
        return True

    def put_on_tree(
        self, document: Document, legs: tuple[Leg, ...], argument: _Argument, *, replace_only: bool
    ) -> None:
        rule = self.rules.append
        value = argument.value
        if document.seek(legs) is not MISSING:
            document.replace_tree(legs, value)
            if legs:
                rule("tree/replace")
                self.log(Operation.REPLACE, legs, argument)
            else:
                rule("tree/replace-root")
                self.logical_off()
            return
        if replace_only:
            rule("tree/absent-replace")
            return
        parent = document.seek(legs[:-1])
        leg = legs[-1]
        if parent is MISSING:
            rule("tree/parent-missing")
        elif isinstance(parent, list) and isinstance(leg, Cell):
            position, _ = leg.position(len(parent))
            rule("tree/array-insert-front" if position == 0 and leg.from_end else "tree/array-insert")
            parent.insert(position, copy(value))
            self.log(Operation.INSERT, legs, argument)
        elif isinstance(parent, dict) and isinstance(leg, Member):
            rule("tree/object-insert")
            parent[leg.name] = copy(value)
            self.log(Operation.INSERT, legs, argument)
        elif not isinstance(parent, list) and isinstance(leg, Cell):
            front = leg.position(1)[0] == 0
            wrapped: JsonValue = [value, parent] if front else [parent, value]  # type: ignore[list-item]
            where = absolute(document, legs[:-1])
            document.replace_tree(where, wrapped)
            if where:
                rule("tree/auto-wrap-front" if front else "tree/auto-wrap")
                if self.diffs is not None:
                    self.log(Operation.REPLACE, where, _Argument(copy(wrapped)))
            else:
                rule("tree/auto-wrap-root")
                self.logical_off()
        else:
            rule("tree/nothing")

    def remove(self, document: Document, legs: tuple[Leg, ...]) -> None:
        """Apply one path of JSON_REMOVE (partial-update 2.2)."""
        rule = self.rules.append
        if not legs:
            rule("remove/root")
            return
        parent = document.seek(legs[:-1])
        leg = legs[-1]
        if parent is MISSING or child(parent, leg) is MISSING:
            rule("remove/missing")
            return
        if isinstance(parent, View):
            document.remove_bytes(parent, element_index(parent, leg))
            rule("remove/in-place")
        else:
            remove_from_tree(parent, leg)
            rule("remove/tree")
        self.log(Operation.REMOVE, legs)


def absolute(document: Document, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """The same place with plain array indexes, as the server names the parent that it wraps in an array."""
    out: list[Leg] = []
    node = document.root()
    for leg in legs:
        if isinstance(leg, Cell) and is_array(node):
            count = node.count if isinstance(node, View) else len(node)  # type: ignore[arg-type]
            leg = Cell(leg.position(count)[0])
        out.append(leg)
        node = child(node, leg)  # type: ignore[assignment]
    return tuple(out)


def evaluate_document(expression: Expression, row: Mapping[str, object], columns: Columns) -> bytes | None:
    """The value of any right-hand side for a JSON column that is not partially updated: JSONB or SQL NULL.

    Functions hand on trees. The server looks at the depth only where a value is stored (observed on 9.7.4).
    """
    expression = _inside(expression)
    if isinstance(expression, Call):
        document = _called(expression, row, columns)
        return None if document is None else document.stored()
    if isinstance(expression, SqlNull):
        return None
    if isinstance(expression, Literal):
        return encode(columns.document(expression.value))
    if isinstance(expression, Column | Old):
        value = row[_key(expression)]
        if value is None or expression.name in columns.json:
            return value  # type: ignore[return-value]
        return encode(columns.as_json(expression.name, value))
    if isinstance(expression, Computed):
        return expression.stored()
    raise TypeError(f"not a value for a JSON column: {expression!r}")


def evaluate_tree(expression: Expression, row: Mapping[str, object], columns: Columns) -> Document | None:
    """As :func:`evaluate_document`, where the value is handed on and not stored: no depth is too deep."""
    expression = _inside(expression)
    if isinstance(expression, Call):
        return _called(expression, row, columns)
    known = expression.value() if isinstance(expression, Computed) else expression
    if isinstance(known, Literal):
        return Document.of_tree(copy(columns.document(known.value)))
    if isinstance(known, Known):
        return Document.of_tree(copy(known.value))
    stored = evaluate_document(expression, row, columns)
    return None if stored is None else Document(stored)


def _inside(expression: Expression) -> Expression:
    while isinstance(expression, Wrapped):
        expression = expression.inner
    return expression


def _called(call: Call, row: Mapping[str, object], columns: Columns) -> Document | None:
    """The tree that a function makes, or ``None`` for SQL NULL."""
    document = evaluate_tree(call.document, row, columns)
    if document is None:
        return None
    document.to_tree()
    chain = Chain("", log_diffs=False)
    function = call.function
    if function is Function.JSON_REMOVE:
        paths = _paths_to_remove(call)
        if paths is None:
            return None
        for path in paths:
            chain.remove(document, document.strip(path.legs))
        return document
    for text, argument in call.arguments:
        if text is None:
            return None
        path = _path(text)

        def value(argument: Expression | None = argument) -> _Argument:
            return _argument(argument, row, columns)

        if function is Function.JSON_INSERT:
            _insert(chain, document, path, value)
        elif function is Function.JSON_ARRAY_APPEND:
            _array_append(document, path, value)
        elif function is Function.JSON_ARRAY_INSERT:
            _array_insert(document, path, value)
        else:
            chain.put_on_tree(
                document, document.strip(path.legs), value(), replace_only=function is Function.JSON_REPLACE
            )
    return document


# The server evaluates the values of these functions only where the path leads to a place for them.


def _insert(chain: Chain, document: Document, path: Path, value: Callable[[], _Argument]) -> None:
    """JSON_INSERT: like JSON_SET where the path selects no value, otherwise no change."""
    legs = document.strip(path.legs)
    if legs and document.seek(legs) is MISSING and document.seek(legs[:-1]) is not MISSING:
        chain.put_on_tree(document, legs, value(), replace_only=False)


def _array_append(document: Document, path: Path, value: Callable[[], _Argument]) -> None:
    legs = document.strip(path.legs)
    node = document.seek(legs)
    if node is MISSING:
        return
    if isinstance(node, list):
        node.append(copy(value().value))
    else:
        document.replace_tree(legs, [node, value().value])  # type: ignore[list-item]


def _array_insert(document: Document, path: Path, value: Callable[[], _Argument]) -> None:
    leg = path.legs[-1] if path.legs else None
    if not isinstance(leg, Cell):
        raise MysqlError(
            3165, "ER_INVALID_JSON_PATH_ARRAY_CELL", "the path does not end in an array cell", got=str(path)
        )
    parent = document.seek(path.legs[:-1])  # the path is exact: no [0] of an object (observed on 9.7.4)
    if isinstance(parent, list):
        parent.insert(leg.position(len(parent))[0], copy(value().value))
