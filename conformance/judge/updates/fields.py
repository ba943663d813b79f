"""Two event bodies side by side, field by field: the evidence under a mismatch."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from conformance.judge.updates.mismatch import FieldDifference, printable
from conformance.reference.binlog.rows import LazyRows, RowsBody, included
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.diffs import decode_diffs
from conformance.reference.portable import shown
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Sequence

_SKIPPED = frozenset(("table_id", "rows"))  # borrowed; compared row by row
_SHOWN = 300  # characters of a value


def compare_fields(expected: object, got: object, names: Sequence[str]) -> tuple[FieldDifference, ...]:
    """The fields in which two bodies differ; empty if they cannot be compared field by field.

    ``names``: those of the columns, which the log itself may lack.
    """
    if isinstance(got, LazyRows):
        try:
            got = got.typed()
        except CodecError as error:
            return (FieldDifference("rows", "readable rows", printable(str(error))),)
    if not is_dataclass(expected) or type(expected) is not type(got):
        return ()
    out: list[FieldDifference] = []
    for item in fields(expected):
        if not item.compare or item.name in _SKIPPED:
            continue
        a, b = getattr(expected, item.name), getattr(got, item.name)
        if a != b:
            out.append(FieldDifference(item.name, show(a), show(b)))
    if isinstance(expected, RowsBody) and isinstance(got, RowsBody):
        out += _compare_rows(expected, got, names)
    return tuple(out)


def _compare_rows(expected: RowsBody, got: RowsBody, names: Sequence[str]) -> list[FieldDifference]:
    out: list[FieldDifference] = []
    if len(expected.rows) != len(got.rows):
        out.append(FieldDifference("rows", f"{len(expected.rows)} rows", f"{len(got.rows)} rows"))
    for number, (a, b) in enumerate(zip(expected.rows, got.rows, strict=False)):
        where = f"rows[{number}]"
        for part in ("value_options", "partial_columns"):
            x, y = getattr(a, part), getattr(b, part)
            if x != y:
                out.append(FieldDifference(f"{where}.{part}", show(x), show(y)))
        for side in ("before", "after"):
            bitmap = getattr(expected, f"{side}_columns")
            columns = () if bitmap is None else included(bitmap, len(names))
            for index, x, y in zip(columns, getattr(a, side) or (), getattr(b, side) or (), strict=False):
                if x != y:
                    out.append(FieldDifference(f"{where}.{side}.{names[index]}", show(x), show(y)))
    return out


def show(value: object) -> str:
    """A value for people: documents and diffs decoded where that is possible, then their bytes."""
    if isinstance(value, PartialJson):
        try:
            text = "; ".join(
                f"{diff.operation.name} {diff.path} {format_text(diff.value)}" for diff in decode_diffs(value.diffs)
            )
        except CodecError as error:
            text = f"unreadable: {error}"
        return _cut(f"diffs [{text}] = {value.diffs.hex()}")
    if isinstance(value, bytes):
        try:
            return _cut(f"{format_text(decode(value))} = {value.hex()}")
        except CodecError:
            return _cut(value.hex())
    return _cut(shown(value))


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"
