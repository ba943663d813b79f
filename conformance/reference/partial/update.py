"""The effect of an UPDATE on one row: which columns are eligible, the new values, and whether the row changed.

This module models partial-update 1 (eligible columns) and partial-update 1.1 (unchanged rows); ``evaluation`` models
partial-update 2 and ``decision`` partial-update 5. ``rules`` names every row of those tables that applied, so that a
run can count them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.jsonb.compare import equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.partial.evaluation import OLD, Chain, evaluate_document, evaluate_plain
from conformance.reference.partial.expression import Assignment, Call, Column, Columns, Expression, Function

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.reference.partial.diffs import Diff
    from conformance.reference.partial.in_place import Range

OFF_PAGE: Final = 8126  # bytes: InnoDB stores the longest columns of a longer record off-page (16 KB pages)
_OTHER_BYTES: Final = 200  # of a record beside its documents: numbers, the system columns, lengths; an upper limit
_NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})
_NONE: Final[frozenset[str]] = frozenset()


class ColumnChange(NamedTuple):
    """A JSON column that the statement assigns. ``diffs`` is ``None`` when the server collected none."""

    before: bytes | None
    after: bytes | None
    diffs: tuple[Diff, ...] | None
    encoded: bytes
    in_place: bool
    ranges: tuple[Range, ...] | None
    rules: tuple[str, ...]


class RowChange(NamedTuple):
    """One row under one statement. ``logged`` is false when no column compares different: then the server writes
    nothing.

    ``after`` holds the values after the statement: those of ``before`` when the row is not logged.
    ``stored_wrongly``: columns whose stored bytes differ from those in ``after``.
    ``at_risk``: the JSON columns that a trigger assigns, where the engine may miss that change.
    """

    before: Mapping[str, object]
    after: Mapping[str, object]
    logged: bool
    columns: Mapping[str, ColumnChange]
    stored_wrongly: Mapping[str, bytes] = _NOTHING
    at_risk: frozenset[str] = _NONE

    @property
    def stored(self) -> Mapping[str, object]:
        """The values that the next statement finds."""
        return {**self.after, **self.stored_wrongly} if self.stored_wrongly else self.after


def eligible_columns(
    assignments: Iterable[Assignment],
    json_columns: Iterable[str],
    dialect: Dialect = MYSQL,
    *,
    through_view: bool = False,
) -> set[str]:
    """JSON columns whose every assignment is a chain of partial functions over the column (partial-update 1).

    ``through_view``: the statement updates an updatable view; older versions treat no column of a view as eligible.
    """
    if not dialect.log.has_event39 or (through_view and not dialect.log.partial_through_view):
        return set()
    candidates = set(json_columns)
    seen: set[str] = set()
    for assignment in assignments:
        seen.add(assignment.column)
        if not _eligible(assignment.expression, assignment.column, dialect):
            candidates.discard(assignment.column)
    return candidates & seen


def _eligible(expression: Expression, column: str, dialect: Dialect) -> bool:
    if not isinstance(expression, Call):
        return False
    while isinstance(expression, Call):
        if not expression.function.partial:
            return False
        if expression.function is Function.JSON_REMOVE and not dialect.behaviour.partial_remove:
            return False
        expression = expression.document
    return isinstance(expression, Column) and expression.name == column


def update_row(
    row: Mapping[str, object],
    assignments: Iterable[Assignment],
    columns: Columns,
    *,
    log_diffs: bool,
    comparable: bool = True,
    trigger: Iterable[Assignment] = (),
    dialect: Dialect = MYSQL,
) -> RowChange:
    """Evaluate the assignments of a single-table UPDATE on one row, left to right.

    JSON columns of ``row`` are JSONB ``bytes`` or ``None``. ``log_diffs``: binlog_row_value_options has PARTIAL_JSON
    and the server logs the statement as rows. ``comparable``: the statement's read set has the old value of every
    assigned column. Otherwise (MINIMAL image and ``n = constant``, say) InnoDB compares the bytes: 51 replaced by 51.0
    is then a change (observed on 9.7.4; partial-update 1.1 describes the first case only). ``trigger``: the assignments
    to NEW of a BEFORE UPDATE trigger. Raises :class:`MysqlError` where the server refuses the statement.
    """
    assignments = tuple(assignments)
    trigger = tuple(trigger)
    eligible = eligible_columns(assignments, columns.json, dialect)
    after = dict(row)
    chains: dict[str, Chain] = {}
    rules: dict[str, list[str]] = {}
    for assignment in assignments:
        name = assignment.column
        if name in eligible:
            chain = chains.get(name)
            if chain is None:
                chain = chains[name] = Chain(name, log_diffs)
            chain.run(assignment.expression, after, columns)
            stored = chain.stored()
            # 3157; writing a tree raises it earlier
            if stored is not None and chain.in_place and not dialect.behaviour.nests_without_limit:
                decode(stored)
            after[name] = stored
        elif name in columns.json:
            after[name] = evaluate_document(assignment.expression, after, columns)
            rules.setdefault(name, []).append("eligible/no")
        else:
            after[name] = evaluate_plain(assignment.expression, after)
    assigned = {item.column for item in assignments}
    logged = any(_differs(name, row[name], after[name], columns if comparable else None) for name in assigned)
    fired = {assignment.column for assignment in trigger}
    if trigger:
        _fire(trigger, row, after, columns)
        # The engine gets every row that the SET clause or the trigger changes, and compares bytes (observed on 9.7.4).
        fires = logged or any(_differs(name, row[name], after[name], columns) for name in fired)
        logged = fires and any(row[name] != after[name] for name in assigned | fired)
    changes: dict[str, ColumnChange] = {}
    for name in columns.json:
        if name not in chains and name not in rules:
            continue
        chain = chains.get(name)
        before = row[name]
        now = after[name]
        assert before is None or isinstance(before, bytes)
        assert now is None or isinstance(now, bytes)
        if chain is not None and name in fired and not dialect.behaviour.diffs_miss_triggers:
            chain.logical_off()
        collected = chain is not None and chain.diffs is not None and now is not None
        changes[name] = ColumnChange(
            before=before,
            after=now,
            diffs=tuple(chain.diffs) if chain is not None and chain.diffs is not None and now is not None else None,
            encoded=b"".join(chain.encoded) if collected and chain is not None else b"",
            in_place=chain is not None and chain.in_place,
            ranges=chain.document.ranges() if chain is not None and chain.document is not None else None,
            rules=tuple(chain.rules if chain is not None else rules[name]),
        )
    misses = bool(fired) and logged and dialect.behaviour.storage_misses_triggers
    at_risk = frozenset(fired & set(changes)) if misses else _NONE
    return RowChange(
        before=row,
        after=after if logged else row,
        logged=logged,
        columns=changes,
        stored_wrongly=_stored_wrongly(changes, at_risk) if at_risk else _NOTHING,
        at_risk=at_risk,
    )


def _fire(
    trigger: tuple[Assignment, ...], row: Mapping[str, object], after: dict[str, object], columns: Columns
) -> None:
    """Evaluate the assignments of a BEFORE UPDATE trigger; they change no document in place."""
    for assignment in trigger:
        both = {**after, **{OLD + name: value for name, value in row.items()}}
        after[assignment.column] = (
            evaluate_document(assignment.expression, both, columns)
            if assignment.column in columns.json
            else evaluate_plain(assignment.expression, both)
        )


def _stored_wrongly(changes: Mapping[str, ColumnChange], at_risk: frozenset[str]) -> dict[str, bytes]:
    """Documents outside the row that a trigger changed: the engine takes over the SET clause's ranges only
    (partial-update 8.2)."""
    out: dict[str, bytes] = {}
    for name in at_risk:
        change = changes[name]
        before, after = change.before, change.after
        if before is None or after is None or change.ranges is None or min(len(before), len(after)) < OFF_PAGE:
            continue
        stored = bytearray(before)
        for start, length in change.ranges:
            taken = after[start : start + length]
            stored[start : start + len(taken)] = taken
        out[name] = bytes(stored)
    return out


def is_unpredictable(change: RowChange) -> bool:
    """Whether what the engine stores depends on more than the documents.

    That is so for documents that a trigger changes. The engine stores bytes behind the end of one that got shorter.
    Those bytes cannot be predicted (observed on 9.7.4: old bytes, zeros, others), and may crash the server that reads
    the row. And a document that is shorter than ``OFF_PAGE`` is outside its row or not by the size of the whole record
    (observed on 9.7.4: one of 8,124 bytes).
    """
    return any(
        start + length > len(change.columns[name].after or b"")
        for name in change.stored_wrongly
        for start, length in change.columns[name].ranges or ()
    ) or any(_is_at_border(change, name) for name in change.at_risk if change.columns[name].ranges is not None)


def _is_at_border(change: RowChange, column: str) -> bool:
    """Whether the other values of a row decide that its document is outside, before the statement and after it."""
    alone = with_others = True
    for row in (change.before, change.after):
        document = row[column]
        size = len(document) if isinstance(document, bytes) else 0
        together = sum(len(value) for value in row.values() if isinstance(value, bytes))
        alone = alone and size >= OFF_PAGE
        with_others = with_others and size > 0 and together + _OTHER_BYTES >= OFF_PAGE
    return with_others and not alone


def _differs(name: str, before: object, after: object, columns: Columns | None) -> bool:
    """Whether JSON columns differ by the SQL ``=`` of JSON (partial-update 1.1); without ``columns`` by bytes."""
    if columns is not None and name in columns.json and isinstance(before, bytes) and isinstance(after, bytes):
        return not equal_stored(before, after)
    return before != after
