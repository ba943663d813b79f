"""How often a run exercised each rule: what thousands of generated updates looked like.

Rules are named as ``reference.update`` names the rows of the evaluation and decision tables it takes; the others are
features of Cases that decide how bytes come out. A rule with count 0 is reported as not exercised.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from conformance.judge import census_borders as borders
from conformance.reference.jsonb import values
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.values import LARGE_ARRAY, Opaque, UInt
from conformance.reference.partial.expression import Call, Column, Expression, Literal, SqlNull, Wrapped
from conformance.reference.tables.column_json import column_as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.cases.predict import RowPrediction, StepPrediction
    from conformance.cases.script import Script
    from conformance.reference.tables.definitions import Table

RULES: Final[dict[str, str]] = {
    # partial-update 1 and the preparation of paths
    "eligible/no": "a column whose assignment cannot be partial (partial-update 1)",
    "strip/dropped": "[0] or [last] dropped from a path because the value is no array",
    "null/path": "a NULL path: the result is NULL",
    "null/document": "a NULL document: the result is NULL",
    # partial-update 2.1 while the document is changed in place
    "in-place/root": "the path is $: to the tree",
    "in-place/parent-missing": "the parent is not found: nothing",
    "in-place/object-cell-replace": "JSON_REPLACE of a cell of an object: nothing",
    "in-place/object-cell-set": "JSON_SET of a cell of an object: to the tree",
    "in-place/array-member": "a member of an array: nothing",
    "in-place/scalar-parent": "JSON_REPLACE under a scalar, or a member of a scalar: nothing",
    "in-place/scalar-parent-set-cell": "JSON_SET of a cell of a scalar: to the tree",
    "in-place/absent-replace": "JSON_REPLACE of what is not there: nothing",
    "in-place/absent-set": "JSON_SET of what is not there: to the tree",
    "in-place/fits-changed": "the new value fits and changes bytes: REPLACE",
    "in-place/fits-same": "the new value fits and changes no byte: no diff",
    "in-place/no-room": "the new value does not fit: to the tree",
    # partial-update 2.1 on the tree
    "tree/replace": "a value is found: REPLACE, even by the same value",
    "tree/replace-root": "the root is replaced: diffs discarded",
    "tree/absent-replace": "JSON_REPLACE of what is not there: nothing",
    "tree/parent-missing": "the parent is not found: nothing",
    "tree/array-insert": "a cell at or past the end of an array: INSERT",
    "tree/array-insert-front": "a cell before the front of an array: INSERT",
    "tree/object-insert": "a new member: INSERT",
    "tree/auto-wrap": "a value wrapped as first element of an array: REPLACE of the parent",
    "tree/auto-wrap-front": "a value wrapped as second element of an array: REPLACE of the parent",
    "tree/auto-wrap-root": "the root wrapped in an array: diffs discarded",
    "tree/nothing": "no place for the value: nothing",
    # partial-update 2.2
    "remove/root": "JSON_REMOVE of a path that strips to $: nothing",
    "remove/missing": "JSON_REMOVE of what is not there: nothing",
    "remove/in-place": "JSON_REMOVE in place",
    "remove/tree": "JSON_REMOVE on the tree",
    # partial-update 5, partial-update 1.1
    "decision/null": "the after-image is NULL",
    "decision/option-off": "PARTIAL_JSON is off: full",
    "decision/no-diffs-same-bytes": "no diffs collected, same bytes: empty partial",
    "decision/no-diffs": "no diffs collected, other bytes: full",
    "decision/empty-diffs": "nothing was changed by the functions: empty partial",
    "decision/same-bytes": "diffs that lead back to the same bytes: empty partial",
    "decision/smaller": "4 + D < L: partial",
    "decision/not-smaller": "4 + D >= L: full",
    "decision/border-partial": "4 + D = L - 1: partial by one byte",
    "decision/border-full": "4 + D = L: full by one byte",
    "row/unchanged": "no column compares different: no event",
    "row/refused": "the statement is refused with an error",
    # results and diffs
    "result/partial": "a column logged as diffs",
    "result/empty": "a column logged as an empty list of diffs",
    "result/full": "a column logged as a whole document",
    "result/null": "a column logged as NULL",
    "diff/REPLACE": "diff REPLACE",
    "diff/INSERT": "diff INSERT",
    "diff/REMOVE": "diff REMOVE",
    "diff/several": "two or more diffs in one column",
    # documents before the update
    "document/holes": "a document with holes",
    "document/small-object": "a small object",
    "document/large-object": "a large object",
    "document/small-array": "a small array",
    "document/large-array": "a large array",
    "document/scalar": "a scalar document",
    "document/null": "SQL NULL",
    "document/over-4k": "a document over 4 KB",
    "document/over-64k": "a document over 64 KB",
    "document/over-256k": "a document over 256 KB",
    "document/65535-bytes": "a small container of exactly 65,535 bytes",
    "document/65536-bytes": "a large container that would have 65,536 bytes as a small one",
    "document/uint32-in-large": "an unsigned number of 32 bits inlined in a large container",
    # what an update puts in the place of an old value
    "compare/timestamp-datetime": "a DATETIME in the place of the TIMESTAMP of the same moment",
    "compare/double-2^53": "a double and an integer near 2^53, one in the place of the other",
    "compare/double-2^63": "a double and an integer near 2^63, one in the place of the other",
    # names in diffs
    "path/U+036F": "a diff whose path has U+036F in a name",
    "path/U+0370": "a diff whose path has U+0370 in a name",
    # value types, as they stand in arguments
    **{
        f"value/{name}": f"a value of type {name}"
        for name in (
            "null", "boolean", "int16", "int32", "int64", "uint16", "uint32", "uint64", "double", "string", "array",
            "object", "DECIMAL", "DATE", "TIME", "DATETIME", "TIMESTAMP", "BIT", "TINYBLOB", "BLOB", "MEDIUMBLOB",
            "LONGBLOB", "BINARY", "VARBINARY",
        )
    },
    "value/from-column": "a value taken from another column",
    "value/json-column": "a value taken from a JSON column",
    # tables and sessions
    "table/one-json-column": "an update of a table with one JSON column",
    "table/two-json-columns": "an update of a table with two or more JSON columns",
    "table/8-json-columns": "an update of a table with exactly eight JSON columns",
    "table/9-json-columns": "an update of a table with exactly nine JSON columns",
    "table/over-8-json-columns": "an update of a table whose partial bits need two bytes",
    "table/timestamp-and-datetime": "an update of a table with a TIMESTAMP beside a DATETIME",
    "table/no-key": "an update of a table without a usable key",
    "table/primary-key": "an update of a table with a primary key",
    "statement/one-row": "a statement that visits one row",
    "statement/several-rows": "a statement that visits several rows",
    "statement/several-events": "a statement whose rows are split over several events",
    "statement/full-event": "an event of several rows that has exactly the greatest size",
    "statement/two-columns": "a statement that assigns two or more JSON columns",
    "statement/twice": "a statement that assigns a JSON column twice",
    "statement/key-change": "a statement that changes a key column",
    "session/FULL": "binlog_row_image FULL",
    "session/MINIMAL": "binlog_row_image MINIMAL",
    "session/NOBLOB": "binlog_row_image NOBLOB",
    "session/compression": "transaction compression",
    "session/rows-query": "binlog_rows_query_log_events",
}  # fmt: skip

# Rules of a group that together are everything: reports print shares of them.
WHOLES: Final[dict[str, tuple[str, ...]]] = {
    "result": ("result/partial", "result/empty", "result/full", "result/null"),
    "document": (
        "document/small-object",
        "document/large-object",
        "document/small-array",
        "document/large-array",
        "document/scalar",
        "document/null",
    ),
    "table": ("table/one-json-column", "table/two-json-columns"),
    "statement": ("statement/one-row", "statement/several-rows"),
    "session": ("session/FULL", "session/MINIMAL", "session/NOBLOB"),
}

# What a run must have at least, as a share of its group's whole, to be called representative.
MIX: Final[dict[str, float]] = {
    "result/full": 0.25,
    "document/holes": 0.10,
    "document/over-4k": 0.10,
    "document/over-64k": 0.01,
    "table/two-json-columns": 0.20,
}

_OPAQUE_NAMES: Final = {
    values.DECIMAL: "DECIMAL",
    values.DATE: "DATE",
    values.TIME: "TIME",
    values.DATETIME: "DATETIME",
    values.TIMESTAMP: "TIMESTAMP",
    values.BIT: "BIT",
    values.TINY_BLOB: "TINYBLOB",
    values.BLOB: "BLOB",
    values.MEDIUM_BLOB: "MEDIUMBLOB",
    values.LONG_BLOB: "LONGBLOB",
    values.BINARY: "BINARY",
    values.VARCHAR: "VARBINARY",
}
_SAMPLE: Final = 64  # elements of a container that are looked at: big ones are monotonous


def count(script: Script) -> Counter[str]:
    """The rules that the updates of a script exercise, each counted once per row and column it concerns."""
    census: Counter[str] = Counter()
    table = script.case.table
    session = script.case.session
    key = {index for index, _ in table.primary_key} | {index for unique in table.unique_keys for index, _ in unique}
    for prediction in script.predictions:
        updates = len(prediction.step.rows)
        census[f"session/{session.row_image}"] += updates
        census["session/compression"] += updates * session.compression
        census["session/rows-query"] += updates * session.rows_query
        columns = len(table.json_columns)
        census["table/two-json-columns" if columns > 1 else "table/one-json-column"] += updates
        census["table/over-8-json-columns"] += updates * (columns > 8)
        if columns in (8, 9):
            census[f"table/{columns}-json-columns"] += updates
        types = {column.type for column in table.columns}
        census["table/timestamp-and-datetime"] += updates * (types >= {"TIMESTAMP", "DATETIME"})
        census["table/primary-key" if table.primary_key else "table/no-key"] += updates * (
            bool(table.primary_key) or not script.model.key
        )
        _count_statement(census, prediction, table, key)
        limit = script.model.row_event_max_size
        census["statement/full-event"] += sum(borders.is_full(event, limit) for event in prediction.events)
        for row in prediction.rows:
            _count_row(census, row)
            for assignment in prediction.step.assignments:
                _count_values(census, assignment.expression, row.change.before, table)
    return +census


def _count_statement(census: Counter[str], prediction: StepPrediction, table: Table, key: set[int]) -> None:
    step = prediction.step
    census["statement/several-rows" if len(step.rows) > 1 else "statement/one-row"] += 1
    census["statement/several-events"] += len(prediction.events) > 1
    census["row/refused"] += prediction.error is not None
    assigned = [item.column for item in step.assignments if table.columns[table.index_of[item.column]].is_json]
    census["statement/two-columns"] += len(set(assigned)) > 1
    census["statement/twice"] += len(set(assigned)) < len(assigned)
    census["statement/key-change"] += any(table.index_of[item.column] in key for item in step.assignments)


def _count_row(census: Counter[str], row: RowPrediction) -> None:
    change = row.change
    if not change.logged:
        census["row/unchanged"] += 1
    for name, column in change.columns.items():
        census.update(column.rules)
        _count_document(census, column.before)
        census.update(borders.of_documents(column.before, column.after))
        if not change.logged:
            continue
        decision = row.decisions[name]
        census[f"decision/{decision.reason}"] += 1
        if decision.data is None:
            census["result/null"] += 1
        elif not decision.partial:
            census["result/full"] += 1
        else:
            census["result/partial" if decision.data else "result/empty"] += 1
            if decision.data:
                assert column.diffs is not None
                census["diff/several"] += len(column.diffs) > 1
                census.update(f"diff/{diff.operation.name}" for diff in column.diffs)
                census.update(borders.of_paths(column.encoded))
        if decision.reason in ("smaller", "not-smaller") and column.after is not None:
            distance = len(column.after) - 4 - len(column.encoded)
            census["decision/border-partial"] += distance == 1
            census["decision/border-full"] += distance == 0


def _count_document(census: Counter[str], stored: bytes | None) -> None:
    if stored is None:
        census["document/null"] += 1
        return
    kind = stored[0] if stored else LARGE_ARRAY + 1
    names = ("small-object", "large-object", "small-array", "large-array")
    census[f"document/{names[kind] if kind <= LARGE_ARRAY else 'scalar'}"] += 1
    size = len(stored)
    if size > 4096:
        census["document/over-4k"] += 1
        census["document/over-64k"] += size > 65536
        census["document/over-256k"] += size > 262144
    if storage_free(stored):
        census["document/holes"] += 1


def _count_values(census: Counter[str], expression: Expression, row: Mapping[str, object], table: Table) -> None:
    while isinstance(expression, Wrapped):
        expression = expression.inner
    if isinstance(expression, Literal):
        census.update(_types([expression.value]))
    elif isinstance(expression, Call):
        for _, value in expression.arguments:
            if isinstance(value, Literal):
                census.update(_types([value.value]))
            elif isinstance(value, SqlNull):
                census["value/null"] += 1
            elif isinstance(value, Column):
                column = table.columns[table.index_of[value.name]]
                census["value/json-column" if column.is_json else "value/from-column"] += 1
                content = row[value.name]
                if not column.is_json and content is not None:
                    census.update(_types([column_as_json(table.settled(column), content)]))
        _count_values(census, expression.document, row, table)


def _types(layer: list[Any]) -> Iterable[str]:
    """Type names of the values and, for containers, of a sample of what is in them."""
    seen: list[str] = []
    while layer:
        inner: list[Any] = []
        for value in layer[:_SAMPLE]:
            seen.append(f"value/{type_name(value)}")
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value[:_SAMPLE])
        layer = inner
    return seen


def type_name(value: Any) -> str:
    """The type of a JSON value as the census names it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, UInt):
        return "uint16" if value <= 0xFFFF else "uint32" if value <= 0xFFFFFFFF else "uint64"
    if isinstance(value, int):
        return "int16" if -0x8000 <= value < 0x8000 else "int32" if -(1 << 31) <= value < 1 << 31 else "int64"
    if isinstance(value, Opaque):
        return _OPAQUE_NAMES.get(value.field_type, "opaque")
    return {float: "double", str: "string", list: "array", dict: "object"}[type(value)]
