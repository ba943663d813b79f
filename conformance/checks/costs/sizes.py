"""The size formula of FR11 to FR13 over two runs of the same updates, with the option on and off.

With row image FULL the before-images stay as they are, so that the rows shrink by less than one half (DS1). That is
judged over all statements of a Case: one after-image alone may have grown past the sizes of a large document.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.cases.row_images import RowImage
from conformance.judge.updates.events import readable_events, split_groups
from conformance.judge.updates.permitted_variation import SMALL
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included
from conformance.reference.cursor import bitmap_size
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script


@dataclass(frozen=True, slots=True)
class SizeProblem:
    """One statement (``step``) or other event whose size is not what the formula gives.

    ``free``: a few more bytes for each row, which FR12 and NR2 leave to the server; the formula is only observed.
    """

    requirement: str
    step: int | None
    expected: int
    got: int
    message: str
    free: bool = False


@dataclass(slots=True)
class SizeComparison:
    """Cases compared by requirement, and the statements and events with a wrong size."""

    cases: Counter[str] = field(default_factory=Counter)
    problems: list[SizeProblem] = field(default_factory=list)


def compare_on_and_off(on: Script, observed_on: Observation, off: Script, observed_off: Observation) -> SizeComparison:
    """Compare two observations of the same Case, statement by statement."""
    result = SizeComparison()
    with_option = list(_statements(observed_on))
    without = list(_statements(observed_off))
    steps = [number for number, prediction in enumerate(on.predictions) if prediction.events]
    if not len(with_option) == len(without) == len(steps):
        result.cases["FR13"] += 1
        result.problems.append(
            SizeProblem("FR13", None, len(without), len(with_option), "another number of statements was logged")
        )
        return result
    names = [column.name for column in on.case.table.columns]
    json_columns = len(on.case.table.json_columns)
    for step, rows_on, rows_off in zip(steps, with_option, without, strict=True):
        expected = sum(len(row) for body in rows_off for row in body.encoded_rows())
        got = sum(len(row) for body in rows_on for row in body.encoded_rows())
        partial = False
        documents = {row.index: row.change.after for row in off.predictions[step].rows if row.change.logged}
        visited = iter(documents.values())
        for body in rows_on:
            for row in body.rows:
                after = next(visited)
                expected += 1
                columns = included(body.after_columns or 0, body.column_count)
                diffs = [
                    (names[index], value.diffs)
                    for index, value in zip(columns, row.after or (), strict=True)
                    if isinstance(value, PartialJson)
                ]
                if diffs:
                    partial = True
                    expected += bitmap_size(json_columns)
                for name, data in diffs:
                    document = after[name]
                    assert isinstance(document, bytes)
                    expected += len(data) - len(document)
        requirement = "FR11" if partial else "FR12"
        result.cases[requirement] += 1
        if expected != got:
            few = SMALL * sum(len(body.rows) for body in rows_on)
            free = 0 < got - expected <= few
            result.problems.append(SizeProblem(requirement, step, expected, got, "the rows have another size", free))
    if on.case.session.row_image is RowImage.FULL:
        _compare_full(with_option, without, steps, result)
    _compare_others(observed_on, observed_off, result)
    return result


def _compare_full(
    on: Sequence[Sequence[RowsBody]], off: Sequence[Sequence[RowsBody]], steps: Sequence[int], result: SizeComparison
) -> None:
    """DS1: the same before-images, and rows of more than half the size."""
    result.cases["DS1"] += len(steps)
    for step, rows_on, rows_off in zip(steps, on, off, strict=True):
        images = [[row.before for body in bodies for row in body.rows] for bodies in (rows_on, rows_off)]
        if images[0] != images[1]:
            sizes = [sum(len(str(image)) for image in side) for side in images]
            result.problems.append(SizeProblem("DS1", step, sizes[1], sizes[0], "the before-images are not the same"))
    totals = [sum(len(row) for bodies in side for body in bodies for row in body.encoded_rows()) for side in (on, off)]
    if totals[1] and 2 * totals[0] <= totals[1]:
        message = "with row image FULL the rows shrink to a half or less"
        result.problems.append(SizeProblem("DS1", None, totals[1] // 2 + 1, totals[0], message))


def _statements(observation: Observation) -> Iterator[list[RowsBody]]:
    """The row events of each UPDATE statement that was logged."""
    bodies: list[RowsBody] = []
    for _, event in readable_events(observation.events):
        body = event.body
        if isinstance(body, RowsBody) and body.type in UPDATE_TYPES:
            bodies.append(body)
            if body.statement_end:
                yield bodies
                bodies = []


def _compare_others(on: Observation, off: Observation, result: SizeComparison) -> None:
    """FR13: compare all events that are not updates. A GTID event is left out: it holds the length of its
    transaction."""
    skipped = UPDATE_TYPES | {EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED}
    for group_on, group_off in zip(split_groups(on.events), split_groups(off.events), strict=True):
        sizes_on = [(event[4], len(event)) for event in group_on if event[4] not in skipped]
        sizes_off = [(event[4], len(event)) for event in group_off if event[4] not in skipped]
        result.cases["FR13"] += 1
        if sizes_on != sizes_off:
            result.problems.append(
                SizeProblem(
                    "FR13",
                    None,
                    sum(size for _, size in sizes_off),
                    sum(size for _, size in sizes_on),
                    f"other events: {sizes_off} with the option off, {sizes_on} with it on",
                )
            )
