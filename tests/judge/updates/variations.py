"""Twins of what a server logged, as another server might log it: within what the worklog leaves free, and beyond.

Every twin is made from a captured row event and the prediction of its statement. ``free`` twins must be found to be
covered by a non-requirement (``judge.updates.permitted_variation``), the others must not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.judge.updates.events import iter_events
from conformance.judge.updates.permitted_variation import SMALL, variation_of
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import SMALL_LIMIT, encode
from conformance.reference.jsonb.layout import Placed, decode_stored, encode_stored
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.observation import Observation
    from conformance.cases.predict import StepPrediction
    from conformance.cases.script import Script
    from conformance.reference.partial.update import RowChange

_FAR: Final = 64  # bytes that are no small number for anybody


class Twin(NamedTuple):
    """``requirement``: the non-requirement it is made for; ``what``: in a few words how it differs."""

    requirement: str
    free: bool
    what: str
    step: int
    prediction: StepPrediction
    expected: RowsBody
    observed: RowsBody
    growth: int

    def taken_as(self, names: list[str]) -> str | None:
        """The non-requirement by which the judge permits the twin; ``None``: by none."""
        return variation_of(self.prediction, self.expected, self.observed, self.growth, names)


def as_predicted(script: Script, observation: Observation) -> Iterator[tuple[int, StepPrediction, RowsBody, RowsBody]]:
    """Step, prediction, predicted and captured row event, of the statements that were logged as predicted."""
    steps = [(number, prediction) for number, prediction in enumerate(script.predictions) if prediction.events]
    statements = list(_statements(observation))
    if len(steps) != len(statements):
        return
    for (number, prediction), bodies in zip(steps, statements, strict=True):
        if len(bodies) != len(prediction.events):
            continue
        for expected, observed in zip(prediction.events, bodies, strict=True):
            if [(row.before, row.after) for row in expected.rows] == [(row.before, row.after) for row in observed.rows]:
                yield number, prediction, expected, observed


def _statements(observation: Observation) -> Iterator[list[RowsBody]]:
    bodies: list[RowsBody] = []
    for _, event, _ in iter_events(observation.events):
        if event is not None and isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES:
            bodies.append(event.body)
            if event.body.statement_end:
                yield bodies
                bodies = []


def variations(script: Script, observation: Observation) -> Iterator[Twin]:
    """All variations of a block."""
    names = [column.name for column in script.case.table.columns]
    for step, prediction, expected, observed in as_predicted(script, observation):
        logged = [row.change for row in prediction.rows if row.change.logged]
        start = 0
        for body in prediction.events:
            if body is expected:
                break
            start += len(body.rows)
        changes = logged[start : start + len(expected.rows)]
        yield from _longer(step, prediction, expected, observed)
        columns = included(observed.after_columns or 0, observed.column_count)
        for index, change in enumerate(changes):
            for place, column in enumerate(columns):
                for requirement, free, what, value in _values(change, names[column], observed, index, place):
                    row = observed.rows[index]
                    after = (*(row.after or ())[:place], value, *(row.after or ())[place + 1 :])
                    new = row._replace(after=after, value_options=None, partial_columns=None)
                    other = replace(observed, rows=(*observed.rows[:index], new, *observed.rows[index + 1 :]))
                    yield Twin(requirement, free, what, step, prediction, expected, other, _growth(observed, other))


def _longer(step: int, prediction: StepPrediction, expected: RowsBody, observed: RowsBody) -> Iterator[Twin]:
    """NR2: an empty bitmap where no column is partial, and bytes that are not a few."""
    if any(row.value_options != 0 for row in observed.rows) or not observed.map().json_columns:
        return
    other = replace(observed, rows=tuple(row._replace(value_options=1, partial_columns=0) for row in observed.rows))
    growth = _growth(observed, other)
    yield Twin("NR2", True, "value_options 1 and an empty bitmap", step, prediction, expected, other, growth)
    many = growth + (SMALL + 1) * len(observed.rows)
    yield Twin("NR2", False, "more than a few bytes for each row", step, prediction, expected, other, many)


def _values(
    change: RowChange, name: str, observed: RowsBody, index: int, place: int
) -> Iterator[tuple[str, bool, str, bytes | PartialJson]]:
    """NR3 and NR5: other forms of one JSON column of one row."""
    value = (observed.rows[index].after or ())[place]
    collected = change.columns.get(name)
    document = change.after.get(name)
    if collected is None or not isinstance(document, bytes):
        return
    if isinstance(value, PartialJson):
        cost = 4 + len(value.diffs)
        if len(document) <= cost + 1:
            yield "NR5", True, "the document beside diffs of its size", document
        elif len(document) > 2 * cost + _FAR:
            yield "NR5", False, "the document beside diffs far smaller", document
    elif isinstance(value, bytes):
        if collected.diffs and len(collected.encoded) <= len(value):
            yield "NR5", True, "diffs beside a document of their size", PartialJson(collected.encoded)
        elif collected.diffs and len(collected.encoded) > len(value) + _FAR:
            yield "NR5", False, "diffs beside a document far smaller", PartialJson(collected.encoded)
        holed = with_hole(value, 1)
        if holed is not None:
            yield "NR3", True, "the document, one byte free at its end", holed
        yield "NR3", False, "the document, and a byte behind its end", value + b"\0"
        yield "NR3", False, "another document", encode([decode(value)])


def with_hole(document: bytes, size: int) -> bytes | None:
    """The document with free bytes at the end of its root, as a smaller value in place leaves them; ``None`` for a
    scalar, which has no room, and where the format would have to change."""
    stored = decode_stored(document)
    if not isinstance(stored, Placed) or (not stored.large and stored.size + size > SMALL_LIMIT):
        return None
    holes = (*stored.holes, (stored.size, bytes(size)))
    return encode_stored(replace(stored, size=stored.size + size, holes=holes))


def _growth(observed: RowsBody, other: RowsBody) -> int:
    return sum(map(len, other.encoded_rows())) - sum(map(len, observed.encoded_rows()))
