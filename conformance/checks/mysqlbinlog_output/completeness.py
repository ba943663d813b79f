"""Whether printed rows have everything of the events: every row, column, diff, path and value (FR7).

The text shows some values as a string only: a date in a document prints as one. For these the reference's text decides,
which every update compares with the server's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.mysqlbinlog_output.pseudo_sql_reader import (
    Bare,
    Calls,
    CastJson,
    PseudoSqlError,
    Quoted,
    parse_rows,
)
from conformance.judge.problem import Problem
from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, RowsBody, included
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.opaque import opaque_text
from conformance.reference.jsonb.values import DECIMAL, JsonValue, Opaque
from conformance.reference.partial.diffs import Operation, split_diffs
from conformance.reference.tables.columns import JSON, PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.checks.mysqlbinlog_output.pseudo_sql_reader import PseudoSqlDiff, PseudoSqlRow, PseudoValue
    from conformance.reference.binlog.images import Image, Row
    from conformance.reference.partial.diffs import RawDiff

_FUNCTIONS: Final = {Operation.REPLACE: b"JSON_REPLACE", Operation.REMOVE: b"JSON_REMOVE"}


@dataclass(slots=True)
class Completeness:
    """Counts of compared parts, and the differences."""

    rows: int = 0
    diffs: int = 0
    documents: int = 0
    problems: list[Problem] = field(default_factory=list)


def compare_text(text: bytes, bodies: Iterable[RowsBody]) -> Completeness:
    """Parse ``###`` lines and compare them with the row events they were printed from."""
    result = Completeness()
    events = [(body, row) for body in bodies for row in body.rows]
    try:
        printed = parse_rows(text)
    except PseudoSqlError as error:
        result.problems.append(
            Problem("grammar", "text as the grammar has it", error.line.decode("latin-1"), str(error))
        )
        return result
    if len(printed) != len(events):
        result.problems.append(
            Problem("rows", str(len(events)), str(len(printed)), "another number of rows is printed")
        )
    for number, (shown, (body, row)) in enumerate(zip(printed, events, strict=False)):
        result.rows += 1
        _Comparison(result, number).row(shown, body, row)
    return result


class _Comparison:
    __slots__ = ("number", "result")

    def __init__(self, result: Completeness, number: int) -> None:
        self.result = result
        self.number = number

    def differs(self, field: str, expected: object, got: object, message: str) -> None:
        self.result.problems.append(Problem(f"row {self.number} {field}", _show(expected), _show(got), message))

    def row(self, shown: PseudoSqlRow, body: RowsBody, row: Row) -> None:
        table = body.map()
        verb = "INSERT" if body.type in WRITE_TYPES else "DELETE" if body.type in DELETE_TYPES else "UPDATE"
        if (shown.verb, shown.schema, shown.table) != (verb, table.schema, table.table):
            wanted = f"{verb} {table.schema}.{table.table}"
            self.differs("head", wanted, f"{shown.verb} {shown.schema}.{shown.table}", "another kind of row or table")
        self.image("WHERE", shown.where, body, row.before, body.before_columns)
        self.image("SET", shown.changes, body, row.after, body.after_columns)

    def image(
        self,
        part: str,
        shown: dict[int, PseudoValue] | None,
        body: RowsBody,
        image: Image | None,
        bitmap: int | None,
    ) -> None:
        if image is None or bitmap is None:
            if shown is not None:
                self.differs(part, "nothing", sorted(shown), "an image that the event has not")
            return
        columns = included(bitmap, body.column_count)
        wanted = [index + 1 for index in columns]
        if shown is None or sorted(shown) != wanted:
            self.differs(part, wanted, sorted(shown or ()), "other columns are printed than the event has")
            return
        table = body.map()
        for index, value in zip(columns, image, strict=True):
            got = shown[index + 1]
            where = f"{part} @{index + 1}"
            if (value is None) != (got is None):
                self.differs(where, value, got, "NULL on one side only")
            elif isinstance(value, PartialJson):
                self.calls(where, value, got)
            elif isinstance(got, Calls):
                self.differs(where, "a whole value", got, "calls are printed where the event has no diffs")
            elif table.columns[index].type == JSON and isinstance(value, bytes):
                self.result.documents += 1
                document = decode(value)
                if not isinstance(got, Quoted) or not _same_document(document, got.text, scalars=True):
                    self.differs(where, document, got, "another document is printed")

    def calls(self, where: str, value: PartialJson, got: PseudoValue) -> None:
        if not isinstance(got, Calls):
            self.differs(where, value.diffs.hex(), got, "no calls are printed where the event has diffs")
            return
        diffs = split_diffs(value.diffs)
        if len(diffs) != len(got.diffs):
            self.differs(
                where, [diff.path for diff in diffs], [shown.path for shown in got.diffs], "another number of diffs"
            )
            return
        for place, (diff, shown) in enumerate(zip(diffs, got.diffs, strict=True)):
            self.result.diffs += 1
            self.diff(f"{where} diff {place}", diff, shown)

    def diff(self, where: str, diff: RawDiff, shown: PseudoSqlDiff) -> None:
        inserted = b"JSON_ARRAY_INSERT" if diff.path.endswith(b"]") else b"JSON_INSERT"
        function = _FUNCTIONS.get(diff.operation, inserted)
        if shown.function != function:
            self.differs(where, function, shown.function, "another function")
        if shown.path != diff.path:
            self.differs(where, diff.path, shown.path, "another path")
        if (diff.data is None) != (shown.value is None):
            self.differs(where, diff.data, shown.value, "a value on one side only")
        elif diff.data is not None:
            value = decode(diff.data)
            if not _same_argument(value, shown.value):
                self.differs(where, value, shown.value, "another value")


def _same_argument(value: JsonValue, shown: Bare | Quoted | CastJson | None) -> bool:
    if isinstance(value, dict | list):
        return isinstance(shown, CastJson) and _same_document(value, shown.text)
    if isinstance(value, str) or (isinstance(value, Opaque) and value.field_type != DECIMAL):
        return isinstance(shown, Quoted) and shown.text == _bytes(_scalar_text(value))
    return isinstance(shown, Bare) and _same_document(value, shown.text)


def _same_document(value: JsonValue, text: bytes, *, scalars: bool = False) -> bool:
    """Whether the text is that of the document. ``scalars``: a scalar string or opaque value has no JSON quotes."""
    if scalars and isinstance(value, str | Opaque):
        return text == _bytes(_scalar_text(value))
    try:
        shown = json.loads(text.decode("utf-8", "surrogateescape"), parse_float=_Number, parse_int=_Number)
    except (ValueError, RecursionError):
        return False
    return _same(value, shown)


class _Number(str):
    """The text of a number, unchanged."""

    __slots__ = ()


def _same(value: JsonValue, shown: Any) -> bool:
    if isinstance(value, dict):
        return (
            isinstance(shown, dict)
            and value.keys() == shown.keys()
            and all(_same(value[key], shown[key]) for key in value)
        )
    if isinstance(value, list):
        return isinstance(shown, list) and len(value) == len(shown) and all(map(_same, value, shown))
    if value is None or isinstance(value, bool):
        return shown is value
    if isinstance(value, Opaque):
        return isinstance(shown, _Number) == (value.field_type == DECIMAL) and shown == opaque_text(value)
    if isinstance(value, str):
        return not isinstance(shown, _Number) and shown == value
    if not isinstance(shown, _Number):
        return False
    if isinstance(value, float):  # with its sign, and never in the text of an integer
        return repr(float(shown)) == repr(value) and not shown.lstrip("-").isdigit()
    return shown == str(int(value))


def _scalar_text(value: str | Opaque) -> str:
    return value if isinstance(value, str) else opaque_text(value)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _show(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
