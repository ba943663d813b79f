"""Permitted variations of an event's bytes (WL#2955, NR2, NR3, NR5): differences that are no failures (requirements
NR1).

The comparison of bytes knows one right form, that of the reference. The worklog permits more: a few bytes for each row
and column (NR2), and whole documents beside diffs (NR3). The choice between the two may follow the server's own stored
sizes, which nobody can predict from the text (NR5). A row event that says the same as the predicted one within these
bounds is a difference from what was observed, not from the worklog.

The places of a document's holes may vary, but not its encoding: the judge reads whole documents strictly. No writer
makes keys out of order or twice, or lengths longer than they need be. Nor does one make overlapping pieces or bytes
behind the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.rows import RowsBody, included
from conformance.reference.dialect import SOURCE
from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import SMALL_LIMIT, encode
from conformance.reference.jsonb.layout import Placed, decode_stored
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.predict import StepPrediction
    from conformance.reference.binlog.rows import Row
    from conformance.reference.jsonb.layout import Stored
    from conformance.reference.partial.update import RowChange

SMALL: Final = 16
"""Bytes that are "a small number" for a row, and for a JSON column in it (Def1, Def2, FR12): the kit's figure."""

FORM: Final = "NR2"
WHOLE: Final = "NR3"
CHOICE: Final = "NR5"


def variation_of(
    prediction: StepPrediction, expected: RowsBody, observed: RowsBody, growth: int, names: Sequence[str]
) -> str | None:
    """The non-requirement that permits the difference of two row events of one statement; ``None``: none does.

    ``growth``: bytes that the observed event has more; ``names``: the table's column names.
    """
    frame = ("type", "flags", "extra", "column_count", "before_columns", "after_columns")
    if any(getattr(expected, name) != getattr(observed, name) for name in frame):
        return None
    changes = _changes(prediction, expected)
    if not len(expected.rows) == len(observed.rows) == len(changes):
        return None
    columns = [names[index] for index in included(expected.after_columns or 0, expected.column_count)]
    taken: set[str] = set()
    for wanted, got, change in zip(expected.rows, observed.rows, changes, strict=True):
        found = _row(wanted, got, change, columns)
        if found is None or not _has_own_options(got, observed):
            return None
        taken |= found
    if taken:
        return CHOICE if CHOICE in taken else WHOLE
    return FORM if 0 < growth <= SMALL * len(changes) else None


def _changes(prediction: StepPrediction, expected: RowsBody) -> list[RowChange]:
    """The model's changes of the rows of one event of the statement."""
    logged = [row.change for row in prediction.rows if row.change.logged]
    start = 0
    for body in prediction.events:
        if body.rows == expected.rows:
            return logged[start : start + len(body.rows)]
        start += len(body.rows)
    return []


def _has_own_options(row: Row, body: RowsBody) -> bool:
    """Whether the bitmap of partial columns says what the after-image has, and no more."""
    if row.value_options in (None, 0):
        return not row.partial_columns
    columns = included(body.after_columns or 0, body.column_count)
    partial = {index for index, value in zip(columns, row.after or (), strict=True) if isinstance(value, PartialJson)}
    bits = sum(1 << bit for bit, index in enumerate(body.map().json_columns) if index in partial)
    return row.value_options == 1 and row.partial_columns == bits


def _row(wanted: Row, got: Row, change: RowChange, columns: Sequence[str]) -> set[str] | None:
    """The permitted variations that a row uses; ``None``: the row has other content."""
    if wanted.before != got.before or len(wanted.after or ()) != len(got.after or ()):
        return None
    taken: set[str] = set()
    for name, expected, observed in zip(columns, wanted.after or (), got.after or (), strict=True):
        if expected == observed:
            continue
        if name not in change.columns or not _same_document(change, name, observed):
            return None
        collected = change.columns[name]
        match expected, observed:
            case PartialJson(diffs), bytes() if len(observed) <= 4 + len(diffs) + SMALL:
                taken.add(CHOICE)
            case bytes(), PartialJson(diffs) if collected.diffs and diffs == collected.encoded:
                if len(diffs) > len(expected) + SMALL:
                    return None
                taken.add(CHOICE)
            case bytes(), bytes() if len(observed) <= len(expected) + SMALL:
                taken.add(WHOLE)
            case _:
                return None
    return taken


def _same_document(change: RowChange, name: str, observed: object) -> bool:
    """Whether a field gives the document that the model has after the statement, whatever its stored bytes."""
    before, after = change.before[name], change.after[name]
    try:
        if isinstance(observed, PartialJson):
            observed = apply_field(before if isinstance(before, bytes) else None, observed.diffs, SOURCE)
        elif isinstance(observed, bytes) and _is_wide(decode_stored(observed)):
            return False
        return isinstance(observed, bytes) and isinstance(after, bytes) and _packed(observed) == _packed(after)
    except (CodecError, MysqlError):
        return False


def _is_wide(stored: Stored) -> bool:
    """Whether a large container is among those that fit the small format.

    An update in place changes neither format nor size, so no writer leaves one.
    """
    if not isinstance(stored, Placed):
        return False
    return (stored.large and stored.size <= SMALL_LIMIT) or any(_is_wide(value) for _, value in stored.values)


def _packed(document: bytes) -> bytes:
    return encode(decode(document))
