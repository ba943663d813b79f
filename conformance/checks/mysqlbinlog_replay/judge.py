"""The judge of a replay of ``mysqlbinlog``'s output.

A replay must leave the source's rows, with the documents of the reference applier. It may stop only where a listed
deviation makes the applier refuse that very statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.mysqlbinlog_replay.run import TableContent
from conformance.judge.problem import Problem
from conformance.judge.replica import LogDiffersError, Refusal, ReplicaModel, transactions
from conformance.requirements.versions import applies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.cases.script import Script
    from conformance.checks.mysqlbinlog_replay.run import Replay
    from conformance.harness.mysqlbinlog_replay import PrintFailed, Replayed
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version

_SHOWN: Final = 300  # characters of a value


class Expected(NamedTuple):
    """The reference applier's result for a log: all rows' documents in start order, or the diff that it refuses."""

    model: ReplicaModel
    refusal: Refusal | None


def judge(
    script: Script, replay: Replay, deviations: Iterable[Deviation], version: Version
) -> tuple[list[Problem], int]:
    """Problems of one block, and the number of updates that they are about."""
    replayed = replay.replayed
    try:
        # A server may have mended what a switch stands for; whether it has is judged by the deviation's witness.
        expected = expected_of(script, replay.events, refuses=replayed.error is not None)
    except LogDiffersError as error:
        return [Problem("log", "the predicted updates", str(error), "another log")], 1
    updates = [len(prediction.step.rows) for prediction in script.predictions if prediction.events]
    if replay.target is None:
        problem = _stopped(script, expected.refusal, replayed, deviations, version)
        return [problem], 1 + sum(updates[: replayed.statements])
    names = [column.name for column in script.case.table.columns]
    problems = compare_states(_expected_state(script, replay.source, expected.model), replay.target, names)
    if expected.refusal is not None:
        problems.append(
            Problem(
                field=expected.refusal.column,
                expected=f"{expected.refusal.number}: {expected.refusal.reason}",
                got="a replay without an error",
                message="a diff was taken that the applier refuses",
            )
        )
    if replayed.statements != len(updates):
        problems.append(
            Problem(
                "statements", str(len(updates)), str(replayed.statements), "another number of statements is in the text"
            )
        )
    return problems, max(1, sum(updates))


def print_problem(error: PrintFailed) -> Problem:
    """The problem of a block for which mysqlbinlog printed no text."""
    return Problem("mysqlbinlog", "a text", str(error), "mysqlbinlog failed")


def expected_of(script: Script, events: Sequence[bytes], *, refuses: bool = True) -> Expected:
    """Apply the captured events to the start rows. ``refuses`` off: without refusals that a switch of the dialect
    explains."""
    case = script.case
    json = [case.table.columns[index].name for index in case.table.json_columns]
    model = ReplicaModel(script.start_rows, json, script.model.dialect)
    for transaction in transactions(script, events):
        refusal = model.apply(transaction)
        if refusal is not None and not refuses and refusal.switch is not None:
            refusal = model.apply(transaction, unless=refusal.switch)
        if refusal is not None:
            return Expected(model, refusal)
    return Expected(model, None)


def compare_states(expected: TableContent, got: TableContent, names: Sequence[str]) -> list[Problem]:
    """Rows that differ between the two servers."""
    problems: list[Problem] = []
    for what, wanted, found in (
        ("text", expected.texts, got.texts),
        ("stored bytes", expected.stored, got.stored),
    ):
        if len(wanted) != len(found):
            problems.append(
                Problem(f"rows ({what})", str(len(wanted)), str(len(found)), "another number of rows after the replay")
            )
        for number, (row, other) in enumerate(zip(wanted, found, strict=False)):
            problems += [
                Problem(
                    field=f"{what} of row {number}, column {name}",
                    expected=repr(value)[:_SHOWN],
                    got=repr(replayed)[:_SHOWN],
                    message=f"another {what} after the replay",
                )
                for name, value, replayed in zip(names, row, other, strict=True)
                if value != replayed
            ]
    return problems


def _expected_state(script: Script, source: TableContent, model: ReplicaModel) -> TableContent:
    """The source's rows, with the documents as the applier stores them: their free space may differ (requirements
    NR5)."""
    case = script.case
    places = {case.table.columns[index].name: index for index in case.table.json_columns}
    final = script.model.rows
    order = sorted(range(len(case.rows)), key=lambda index: int(str(final[index][case.selector])))
    stored = []
    for row, index in zip(source.stored, order, strict=True):
        values = list(row)
        for name, document in model.rows[index].items():
            values[places[name]] = document
        stored.append(tuple(values))
    return TableContent(source.texts, stored)


def _stopped(
    script: Script, refusal: Refusal | None, replayed: Replayed, deviations: Iterable[Deviation], version: Version
) -> Problem:
    """The statement at which the replay stopped, and whether a listed deviation of the applier explains the stop
    there."""
    steps = [number for number, prediction in enumerate(script.predictions) if prediction.events]
    step = steps[replayed.statements] if replayed.statements < len(steps) else None
    deviation = None
    if refusal is not None and (refusal.step, refusal.number) == (step, replayed.error):
        deviation = next(
            (entry.id for entry in deviations if entry.switch == refusal.switch and applies(entry.versions, version)),
            None,
        )
    return Problem(
        field="replay" if step is None else f"statement {step}",
        expected="a replay without an error",
        got=replayed.message[:_SHOWN],
        message="the output of mysqlbinlog is refused",
        deviation=deviation,
    )
