"""Shrinking a failing Case: the same judge gets ever smaller Cases.

Shrinking knows Cases only, so it serves servers, findings and users' files alike. ``fails`` decides whether a smaller
Case still shows the failure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.cases.script import build_script
from conformance.cases.shrinking.cuts import cuts, smallest, without
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment, Call, Expression, Literal, Wrapped, referenced_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.cases.topology import RebuiltRows, Topology
    from conformance.cases.update_case import Step, UpdateCase


def shrink(case: UpdateCase, fails: Callable[[UpdateCase], bool], *, seconds: float = 20.0) -> UpdateCase:
    """The smallest Case found in the time; ``case`` itself if nothing smaller fails."""
    return smallest(case, candidates, fails, seconds)


def candidates(case: UpdateCase) -> Iterator[UpdateCase]:
    """Smaller Cases, the biggest cuts first."""
    yield from _fewer_steps(case)
    yield from _simpler_topologies(case)
    yield from _fewer_rows(case)
    yield from _simpler_trigger(case)
    yield from _fewer_columns(case)
    yield from _simpler_steps(case)
    yield from _smaller_documents(case)


def _fewer_steps(case: UpdateCase) -> Iterator[UpdateCase]:
    for gone in cuts(len(case.steps)):
        kept = [number for number in range(len(case.steps)) if number not in gone]
        if kept:
            yield _with_steps(case, kept, [case.steps[number] for number in kept])


def _with_steps(case: UpdateCase, kept: list[int], steps: list[Step]) -> UpdateCase:
    """The Case with some of its steps, maybe changed; the rebuilding of the replica's rows keeps its place."""
    topology = case.topology
    if topology is not None and topology.rebuild is not None:
        after = sum(number < topology.rebuild.after for number in kept)
        topology = replace(topology, rebuild=replace(topology.rebuild, after=after))
    return replace(case, steps=tuple(steps), topology=topology)


def _simpler_topologies(case: UpdateCase) -> Iterator[UpdateCase]:
    topology = case.topology
    if topology is None:
        return
    if topology.rebuild is not None:
        yield replace(case, topology=replace(topology, rebuild=None))
        if 0 < topology.rebuild.after < len(case.steps):
            yield from _begun_later(case, topology, topology.rebuild)
    if any(item.workers > 1 for item in topology.replicas):
        replicas = tuple(replace(item, workers=1) for item in topology.replicas)
        yield replace(case, topology=replace(topology, replicas=replicas))
    if case.session.compression:
        yield replace(case, session=replace(case.session, compression=False))


def _begun_later(case: UpdateCase, topology: Topology, rebuild: RebuiltRows) -> Iterator[UpdateCase]:
    """The Case with the rows at the rebuilding as start rows, without the steps that led there."""
    script = build_script(case)
    names = [column.name for column in case.table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in case.rows]
    for prediction in script.predictions[: rebuild.after]:
        for row in prediction.rows:
            rows[row.index] = dict(row.change.after)
    for index in case.table.json_columns:
        for values in rows:
            stored = values[names[index]]
            if isinstance(stored, bytes):  # start rows are inserted, so they have no free space
                values[names[index]] = encode(decode(stored))
    yield replace(
        case,
        rows=tuple(tuple(values[name] for name in names) for values in rows),
        steps=case.steps[rebuild.after :],
        topology=replace(topology, rebuild=replace(rebuild, after=0)),
    )


def _fewer_rows(case: UpdateCase) -> Iterator[UpdateCase]:
    if len(case.rows) < 2:
        return
    for gone in range(len(case.rows)):
        kept, steps = [], []
        for number, step in enumerate(case.steps):
            rows = tuple(row - (row > gone) for row in step.rows if row != gone)
            if rows:
                kept.append(number)
                steps.append(replace(step, rows=rows))
        if steps:
            yield replace(_with_steps(case, kept, steps), rows=case.rows[:gone] + case.rows[gone + 1 :])


def _fewer_columns(case: UpdateCase) -> Iterator[UpdateCase]:
    """The Case without a column that no statement and no key names."""
    table = case.table
    used = {case.selector}
    for assignment in (*case.trigger, *(item for step in case.steps for item in step.assignments)):
        used |= {assignment.column, *referenced_columns(assignment.expression)}
    keys = {index for key in (table.primary_key, *table.unique_keys) for index, _ in key}
    if len(table.json_columns) == 1:
        keys.update(table.json_columns)  # one document there must be
    if any(column.generated_sql for column in table.columns):
        return
    for gone in range(len(table.columns) - 1, -1, -1):
        if gone in keys or table.columns[gone].name in used:
            continue
        smaller = replace(
            table,
            columns=table.columns[:gone] + table.columns[gone + 1 :],
            primary_key=_without(table.primary_key, gone),
            unique_keys=tuple(_without(key, gone) for key in table.unique_keys),
        )
        yield replace(case, table=smaller, rows=tuple(row[:gone] + row[gone + 1 :] for row in case.rows))


def _without(key: tuple[tuple[int, int], ...], gone: int) -> tuple[tuple[int, int], ...]:
    return tuple((index - (index > gone), prefix) for index, prefix in key)


def _simpler_trigger(case: UpdateCase) -> Iterator[UpdateCase]:
    if case.trigger:
        for simpler in _simpler_assignments(case.trigger):
            yield replace(case, trigger=simpler)


def _simpler_steps(case: UpdateCase) -> Iterator[UpdateCase]:
    for number, step in enumerate(case.steps):
        for simpler in _simpler(step):
            yield replace(case, steps=(*case.steps[:number], simpler, *case.steps[number + 1 :]))


def _simpler(step: Step) -> Iterator[Step]:
    if not step.commit:
        yield replace(step, commit=True)
    if len(step.rows) > 1:
        for row in step.rows:
            yield replace(step, rows=(row,))
    for assignments in _simpler_assignments(step.assignments):
        yield replace(step, assignments=assignments)


def _simpler_assignments(assignments: tuple[Assignment, ...]) -> Iterator[tuple[Assignment, ...]]:
    if len(assignments) > 1:
        for gone in range(len(assignments)):
            yield assignments[:gone] + assignments[gone + 1 :]
    for place, assignment in enumerate(assignments):
        for expression in _simpler_expressions(assignment.expression):
            changed = Assignment(assignment.column, expression)
            yield (*assignments[:place], changed, *assignments[place + 1 :])


def _simpler_expressions(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Wrapped):
        yield expression.inner
        for inner in _simpler_expressions(expression.inner):
            yield replace(expression, inner=inner)
    if not isinstance(expression, Call):
        return
    if isinstance(expression.document, Call):
        yield expression.document
    if len(expression.arguments) > 1:
        for gone in range(len(expression.arguments)):
            yield replace(expression, arguments=expression.arguments[:gone] + expression.arguments[gone + 1 :])
    for place, (path, value) in enumerate(expression.arguments):
        if isinstance(value, Literal):
            for smaller in smaller_values(value.value):
                pair = (path, Literal(smaller))
                arguments = (*expression.arguments[:place], pair, *expression.arguments[place + 1 :])
                yield replace(expression, arguments=arguments)
    for document in _simpler_expressions(expression.document):
        yield replace(expression, document=document)


def _smaller_documents(case: UpdateCase) -> Iterator[UpdateCase]:
    for number, row in enumerate(case.rows):
        for index in case.table.json_columns:
            stored = row[index]
            if not isinstance(stored, bytes):
                continue
            try:
                value = decode(stored)
            except CodecError:
                continue
            for smaller in smaller_values(value):
                changed = (*row[:index], encode(smaller), *row[index + 1 :])
                yield replace(case, rows=(*case.rows[:number], changed, *case.rows[number + 1 :]))


def smaller_values(value: Any) -> Iterator[Any]:
    """Values with a part left out, or a part made smaller."""
    if isinstance(value, dict):
        items = list(value.items())
        for gone in cuts(len(items)):
            yield dict(without(items, gone))
        for key, item in items:
            for smaller in smaller_values(item):
                yield {**value, key: smaller}
    elif isinstance(value, list):
        for gone in cuts(len(value)):
            yield without(value, gone)
        for place, item in enumerate(value[:20]):
            for smaller in smaller_values(item):
                yield [*value[:place], smaller, *value[place + 1 :]]
    elif isinstance(value, str) and len(value) > 1:
        yield value[: len(value) // 2]
        yield value[:-1]
