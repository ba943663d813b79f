"""Replica rows made anew: the same documents with other free space, types or numbers (requirements FR4).

Each kind has steps that make documents on the source differ from new ones. A function turns the source's rows into the
replica's rows. Everything is pure: ``pairs`` runs the statements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import insert_statement, where_clause
from conformance.cases.topology import RebuiltRows
from conformance.cases.update_case import Step
from conformance.reference.dialect import MYSQL
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import DECIMAL, JsonValue, Opaque, UInt, same
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.document import Document, element_index
from conformance.reference.partial.expression import Assignment, Call, Column, Function, Literal
from conformance.reference.partial.paths import Cell, Member
from conformance.reference.sql.as_read import as_written
from conformance.reference.sql.quoting import quote_identifier
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.cases.update_case import UpdateCase
    from conformance.reference.dialect import JsonForms
    from generators.draw import Draw

    Rows = Sequence[Mapping[str, object]]

# Members of the same length stand behind each other in a document: a removed member leaves its room to the one before.
_ONE, _GROWS, _NAME = "zz one", "zz pad", "zz qad"
_PAD: Final = "p" * 90
_MEMBER: Final = f'$."{_NAME}"'
_FIRST: Final = 30
_CELL: Final = "$[99999]"  # behind the last one


class Rebuilt(NamedTuple):
    """Statements that change the replica's rows, and the resulting documents in start order."""

    statements: Sequence[str]
    documents: Sequence[Mapping[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Rebuild:
    """When the replica's rows are made anew (after how many steps), and how: from the source's rows of that moment."""

    after: int
    make: Callable[[UpdateCase, Sequence[Mapping[str, object]]], Rebuilt]


@dataclass(frozen=True, slots=True)
class RebuildKind:
    """One way to build a replica's rows. ``steps`` come first on both sides. ``trap`` comes after the rebuilding:
    updates that the source logs because they change its documents, and its documents alone. ``make``: the value in
    :class:`RebuiltRows`."""

    name: str
    steps: Callable[[UpdateCase], tuple[Step, ...]]
    trap: Callable[[UpdateCase], tuple[Step, ...]]
    make: str
    share: int  # of the blocks
    keyless_in: int = 2  # one of so many blocks has no key: few, as the applier may find no row there

    def prepare(self, case: UpdateCase, *, trap: bool) -> UpdateCase:
        """The Case with its first steps."""
        return replace(case, steps=(*self.steps(case), *(self.trap(case) if trap else ())))

    def rule(self, case: UpdateCase, seed: str) -> RebuiltRows:
        """The rule of a Case, prepared or not."""
        return RebuiltRows(after=len(self.steps(case)), make=self.make, seed=seed)


def rebuild_by(rule: RebuiltRows, forms: JsonForms = MYSQL.json) -> Rebuild:
    """Rebuild by any rule except a dump, which needs both servers. ``forms``: those of the replica's version."""
    return Rebuild(rule.after, lambda case, rows: _made(rule, case, rows, forms))


def _made(rule: RebuiltRows, case: UpdateCase, rows: Rows, forms: JsonForms) -> Rebuilt:
    table = case.table
    json = [table.columns[index].name for index in table.json_columns]
    name = quote_identifier(table.name)
    inserted: list[list[object]] = []
    documents: list[dict[str, bytes | None]] = []
    padded: dict[tuple[str, str], list[object]] = {}
    for row in rows:
        values = dict(row)
        made: dict[str, bytes | None] = {}
        for column in json:
            stored = row[column]
            assert stored is None or isinstance(stored, bytes)
            if stored is None:
                made[column] = values[column] = None
                continue
            value = decode(stored)
            path = _place(value) if rule.make == "padded" else None
            if path is None:
                draw = Stream(rule.seed, "rebuild", str(row[case.selector]), column)
                other = _DOCUMENTS[rule.make](draw, value, forms)
                made[column], values[column] = encode(other), encode(as_written(other, forms))
            else:
                whole, made[column] = _padded(value)
                values[column] = encode(as_written(decode(whole), forms))
                remove = _MEMBER if path == _MEMBER else "$[last]"
                padded.setdefault((column, remove), []).append(row[case.selector])
        inserted.append([values[column.name] for column in table.columns])
        documents.append(made)
    statements = [f"DELETE FROM {name}", insert_statement(table, inserted)]
    for (column, path), keys in padded.items():
        at = quote_identifier(column)
        where = where_clause(table, case.selector, keys)
        statements.append(f"UPDATE {name} SET {at} = JSON_REMOVE({at}, '{path}') WHERE {where}")
    return Rebuilt(statements, documents)


def _place(value: JsonValue) -> str | None:
    """A path for one more value in a document, if there is any."""
    if isinstance(value, dict):
        return None if _NAME in value else _MEMBER
    return _CELL if isinstance(value, list) else None


def _padded(value: JsonValue) -> tuple[bytes, bytes]:
    """A document with one more value, and its bytes after that value was removed in place."""
    if isinstance(value, dict):
        whole = encode({**value, _NAME: _PAD})
    else:
        assert isinstance(value, list)
        whole = encode([*value, _PAD])
    document = Document(whole)
    root = document.root()
    assert isinstance(root, View)
    leg = Member(_NAME) if isinstance(value, dict) else Cell(root.count - 1)
    document.remove_bytes(root, element_index(root, leg))
    return whole, document.stored()


def _same(_: Draw, value: JsonValue, _forms: JsonForms) -> JsonValue:
    return value


def from_text(_: Draw, value: JsonValue, forms: JsonForms = MYSQL.json) -> JsonValue:
    """The document that a dump and its loading make; DECIMALs stay, as their text does not (1.50 becomes 1.5)."""
    if isinstance(value, dict):
        return {key: from_text(_, item, forms) for key, item in value.items()}
    if isinstance(value, list):
        return [from_text(_, item, forms) for item in value]
    if isinstance(value, Opaque) and value.field_type == DECIMAL:
        return value
    return parse_text(format_text(value), forms)


def other_numbers(draw: Draw, value: JsonValue, forms: JsonForms = MYSQL.json) -> JsonValue:
    """The same document with numbers of other types: 1, 1.0 and 1.00 are equal by =.

    Of long arrays only the first elements change: each would be an expression of its own in SQL. The type drawn for a
    number depends on its place alone, so that it stays when a part of the document is left out.
    """
    if isinstance(value, dict):
        return {key: other_numbers(draw.fork(key), item, forms) for key, item in value.items()}
    if isinstance(value, list):
        changed = (other_numbers(draw.fork(place), item, forms) for place, item in enumerate(value[:_FIRST]))
        return [*changed, *value[_FIRST:]]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if abs(value) >= 1 << 62 or value != int(value):
        return value
    candidates: list[JsonValue] = [float(value), opaque.decimal_from_text(f"{int(value)}.00"), int(value)]
    if value >= 0:
        candidates.append(UInt(int(value)))
    others = [item for item in candidates if equal(item, value) and not same(item, value)]
    return draw.choice(others) if others else value


def _roots(case: UpdateCase, kind: Callable[[View], bool]) -> list[tuple[str, tuple[int, ...]]]:
    found = []
    for index in case.table.json_columns:
        rows = tuple(
            number
            for number, row in enumerate(case.rows)
            if isinstance(stored := row[index], bytes) and kind(open_document(stored))
        )
        if rows:
            found.append((case.table.columns[index].name, rows))
    return found


def _objects(case: UpdateCase) -> list[tuple[str, tuple[int, ...]]]:
    """JSON columns, and the start rows in which their document is an object."""
    return _roots(case, lambda root: root.is_object)


def _set(case: UpdateCase, *pairs: tuple[str, JsonValue]) -> tuple[Step, ...]:
    """One JSON_SET with new members, for every column that holds objects."""
    arguments = tuple((f'$."{name}"', Literal(value)) for name, value in pairs)
    return tuple(
        Step((Assignment(name, Call(Function.JSON_SET, Column(name), arguments)),), rows)
        for name, rows in _objects(case)
    )


def _arrays(case: UpdateCase) -> list[tuple[str, tuple[int, ...]]]:
    """JSON columns, and the start rows in which their document is an array."""
    return _roots(case, lambda root: root.is_array)


def _append(case: UpdateCase, value: JsonValue) -> tuple[Step, ...]:
    """One more cell for every column that holds arrays."""
    arguments = ((_CELL, Literal(value)),)
    return tuple(
        Step((Assignment(name, Call(Function.JSON_SET, Column(name), arguments)),), rows)
        for name, rows in _arrays(case)
    )


def _pad_source(case: UpdateCase) -> tuple[Step, ...]:
    """Put a value into every document that takes one, and remove it in place."""
    steps = [*_set(case, (_NAME, _PAD)), *_append(case, _PAD)]
    for path, found in ((_MEMBER, _objects(case)), ("$[last]", _arrays(case))):
        for name, rows in found:
            take = Call(Function.JSON_REMOVE, Column(name), ((path, None),))
            steps.append(Step((Assignment(name, take),), rows))
    return tuple(steps)


def _nothing(_: UpdateCase) -> tuple[Step, ...]:
    return ()


_DOCUMENTS: Final[dict[str, Callable[[Draw, JsonValue, JsonForms], JsonValue]]] = {
    "copied": _same,
    "padded": _same,
    "retyped": from_text,
    "numbers": other_numbers,
}

# Traps: partial-update 8.1, and the clone of requirements FR4. Where values differ the source has free space as
# well, as where a replica is cloned from a dump.
KINDS: Final = (
    RebuildKind("padded-source", _pad_source, _nothing, "copied", 2),
    RebuildKind(
        "padded-replica",
        lambda case: _set(case, (_ONE, 1), (_GROWS, "p")),
        lambda case: _set(case, (_GROWS, _PAD[:40]), (_ONE, 1)),
        "padded",
        2,
    ),
    RebuildKind(
        "retyped",
        lambda case: (
            *_set(case, (_ONE, opaque.date(2020, 1, 1))),
            *_append(case, opaque.date(2020, 1, 1)),
            *_pad_source(case),
        ),
        lambda case: _set(case, (_ONE, "2020-01-01")),
        "retyped",
        9,
        keyless_in=32,
    ),
    RebuildKind(
        "numbers",
        lambda case: (*_set(case, (_ONE, 1.0), (_GROWS, "p")), *_append(case, 1.0), *_pad_source(case)),
        lambda case: _set(case, (_ONE, 1), (_GROWS, "q")),
        "numbers",
        7,
        keyless_in=32,
    ),
)
