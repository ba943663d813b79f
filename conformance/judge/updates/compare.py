"""The differences between a Case's prediction and its observation. Pure.

After a mismatch the judge takes the rows concerned from the log and predicts the later steps from there: one difference
must not hide or breed others. Where the log does not have the rows, the later updates of the row count as ``marked``:
neither as compared nor as wrong.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.cases.script import ReadBack, Script
from conformance.judge.updates.attribution import LOG
from conformance.judge.updates.borrowed import borrowed_bytes
from conformance.judge.updates.events import first_difference, judge_events
from conformance.judge.updates.log_notes import group_notes
from conformance.judge.updates.log_rules import judge_log
from conformance.judge.updates.mismatch import Judgement, Mismatch
from conformance.judge.updates.resync import resynchronised
from conformance.judge.updates.server_clock import step_between
from conformance.judge.updates.stored_readings import reading_of
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import decode_strict, storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.observation import Observation
    from conformance.cases.predict import RowPrediction

Cells: TypeAlias = tuple[bytes | None, ...]  # what SQL gives of a document: size, free space, text

TOO_DEEP: Final = "mysql-3157"
TOO_DEEP_NUMBER: Final = 3157
REFUSED: Final = "refused: "  # begins the field of a mismatch about a statement around the updates
MISSTORED: Final = "storage_misses_triggers"  # the dialect switch
_LEAST_DEEP: Final = 7 * MAX_DEPTH  # bytes: each level takes four for its header and three for an entry
_CELLS: Final = 3  # of a JSON column that is read back: size, free, text
_READ: Final = 128  # documents whose reading is kept: most rows are read again behind statements that left them alone
_RESYNCS: Final = 20  # a server that differs more often in one Case is beyond following


def judge(script: Script, observation: Observation) -> Judgement:
    """Compare counts, event bytes, and the rows read back."""
    judgement = compare(script, observation)
    first = judgement.mismatches  # in the order of the log, where causes precede their effects
    found: list[Mismatch] = []
    since = -1
    for _ in range(_RESYNCS):
        step = min((m.step for m in judgement.mismatches if m.step is not None and m.step > since), default=None)
        if step is None:
            break
        found += [mismatch for mismatch in judgement.mismatches if mismatch.step == step]
        since = step
        later = _later(judgement, step)
        resumed = resynchronised(script, observation, step) if later else None
        if resumed is not None:
            # The log may be wrong, not the rows: the new predictions must explain more than the old ones.
            other = compare(resumed, observation)
            if len(_later(other, step)) < len(later):
                script, judgement = resumed, other
                note = f"(rows re-synchronised after statement {step})"
                judgement.mismatches = [_noted(mismatch, step, note) for mismatch in judgement.mismatches]
    rest = [mismatch for mismatch in judgement.mismatches if mismatch.step is None or mismatch.step > since]
    order = {id(mismatch): place for place, mismatch in enumerate(first)}
    judgement.mismatches = sorted(found + rest, key=lambda mismatch: order.get(id(mismatch), len(order)))
    judgement.mismatches += judge_rules(script, observation)
    if observation.log is not None:
        judgement.clock_step = step_between(observation.log.clock, observation.log.elapsed)
    judgement.by_rule, judgement.on_trust = borrowed_bytes(judgement.kinds, judgement.frames, observation.log)
    judgement.settle(script)
    return judgement


def judge_rules(script: Script, observation: Observation) -> list[Mismatch]:
    """Judge the fields that no model can know, by their rules."""
    return judge_log(
        observation.events,
        observation.log,
        thread_id=observation.thread_id,
        notes=group_notes(script),
        statements=len(script.items),
    )


def _later(judgement: Judgement, step: int) -> list[Mismatch]:
    return [mismatch for mismatch in judgement.mismatches if mismatch.step is None or mismatch.step > step]


def _noted(mismatch: Mismatch, step: int, note: str) -> Mismatch:
    """Note that a mismatch was found with predictions that start from observed rows."""
    if mismatch.step is None or mismatch.step <= step:
        return mismatch
    return replace(mismatch, message=f"{mismatch.message} {note}".strip(), renewed=True)


def compare(script: Script, observation: Observation) -> Judgement:
    """One comparison with the predictions of ``script``."""
    judgement = Judgement(updates=script.updates)
    _judge_refusals(observation, judgement)
    _judge_outcomes(script, observation, judgement)
    judge_events(script, observation, judgement)
    _judge_read_backs(script, observation, judgement)
    return judgement


def _judge_refusals(observation: Observation, judgement: Judgement) -> None:
    """Judge statements around the updates: nothing is wrong with them, so the server may not refuse them."""
    for sql, outcome in observation.refused:
        judgement.add(
            Mismatch(
                kind="outcome",
                step=None,
                field=f"{REFUSED}{sql.split(maxsplit=1)[0]}",
                expected="no error",
                got=f"{outcome.error}: {outcome.message}",
                broken=(LOG,),
            )
        )


def _judge_outcomes(script: Script, observation: Observation, judgement: Judgement) -> None:
    for number, (prediction, outcome) in enumerate(zip(script.predictions, observation.outcomes, strict=True)):
        expected_error = None if prediction.error is None else prediction.error.number
        if expected_error != outcome.error:
            judgement.add(
                Mismatch(
                    kind="outcome",
                    step=number,
                    rows=prediction.step.rows,
                    field="error",
                    expected=str(prediction.error or "no error"),
                    got=f"{outcome.error}: {outcome.message}" if outcome.error else "no error",
                    broken=(LOG,),
                )
            )
        elif prediction.changed != outcome.changed:
            judgement.add(
                Mismatch(
                    kind="outcome",
                    step=number,
                    rows=prediction.step.rows,
                    field="rows changed",
                    expected=str(prediction.changed),
                    got=str(outcome.changed),
                    broken=(LOG,),
                )
            )


def _judge_read_backs(script: Script, observation: Observation, judgement: Judgement) -> None:
    expected = [item for item in script.items if isinstance(item, ReadBack)]
    names = script.model.columns.json
    read = lru_cache(maxsize=_READ)(_read)
    errors = observation.read_back_errors or (0,) * len(observation.read_backs)
    for read_back, rows, error in zip(expected, observation.read_backs, errors, strict=True):
        lost = _stored_wrongly(script, read_back)
        known_error, switch = _refusing(script, read_back, lost) if error else (0, None)
        if error or len(rows) != len(read_back.rows) or any(len(row) != _CELLS * len(names) for row in rows):
            judgement.add(
                Mismatch(
                    kind="text",
                    step=read_back.rows[0][1],
                    rows=tuple(index for index, _, _ in read_back.rows),
                    field="rows read back",
                    expected=f"{len(read_back.rows)} rows",
                    got=f"error {error}"
                    if error
                    else f"{len(rows)} rows of {sorted({len(row) for row in rows})} cells",
                    deviation=switch if error and error == known_error else None,
                )
            )
            continue
        for (index, step, values), row in zip(read_back.rows, rows, strict=True):
            for place, name in enumerate(names):
                got = row[_CELLS * place : _CELLS * (place + 1)]
                stored = lost.get((index, name))
                if stored is None:
                    _judge_document(judgement, index, step, name, read(values[name]), got)
                else:
                    wanted = _row_of(script, step, index).change.after[name]
                    known = MISSTORED if got == reading_of(stored).cells else None
                    _judge_document(judgement, index, step, name, read(wanted), got, deviation=known)


def _refusing(script: Script, read_back: ReadBack, lost: Mapping[tuple[int, str], bytes]) -> tuple[int, str | None]:
    """The error with which a known server ends the SELECT, by the first document that leads to one, and the switch that
    explains the error."""
    for index, _, values in read_back.rows:
        for name in script.model.columns.json:
            stored = lost.get((index, name))
            if stored is not None:
                error = reading_of(stored).error
                if error:
                    return error, MISSTORED
            elif too_deep(values[name]):
                return TOO_DEEP_NUMBER, "nests_without_limit"
    return 0, None


def _judge_document(
    judgement: Judgement,
    row: int,
    step: int,
    name: str,
    predicted: Cells,
    answered: Cells,
    deviation: str | None = None,
) -> None:
    judgement.sizes += 2
    judgement.texts += 1
    for kind, expected, got in zip(("size", "free", "text"), predicted, answered, strict=True):
        if expected != got:
            judgement.add(
                Mismatch(
                    kind=kind,
                    step=step,
                    rows=(row,),
                    field=name,
                    offset=first_difference(expected or b"", got or b""),
                    expected="NULL" if expected is None else expected.decode("utf-8", "replace"),
                    got="NULL" if got is None else got.decode("utf-8", "replace"),
                    deviation=deviation,
                )
            )


def _read(stored: object) -> Cells:
    """Size, free space and text, as SQL gives them."""
    if stored is None:
        return None, None, None
    assert isinstance(stored, bytes)
    try:
        value = decode(stored)
    except CodecError as error:
        if error.code != TOO_DEEP:
            raise
        return b"%d" % len(stored), None, b"error 3157"
    text = format_text(value).encode("utf-8", "surrogateescape")
    return b"%d" % len(stored), b"%d" % storage_free(stored), text


def too_deep(stored: object) -> bool:
    """Whether a document nests deeper than any that the server reads."""
    return isinstance(stored, bytes) and len(stored) > _LEAST_DEEP and unreadable(stored) == TOO_DEEP


def unreadable(stored: bytes) -> str:
    """The reason why stored bytes are no document: the code of the error; empty if they are one."""
    try:
        decode_strict(stored)
    except CodecError as error:
        return error.code
    return ""


def _stored_wrongly(script: Script, read_back: ReadBack) -> dict[tuple[int, str], bytes]:
    """The documents among those read that the server is known to store wrongly, with the bytes that it stores.

    A statement that the server refuses stores nothing, and its prediction has no rows.
    """
    if not script.case.trigger:
        return {}
    return {
        (index, name): stored
        for index, step, _ in read_back.rows
        for row in script.predictions[step].rows
        if row.index == index
        for name, stored in row.change.stored_wrongly.items()
    }


def _row_of(script: Script, step: int, index: int) -> RowPrediction:
    return next(row for row in script.predictions[step].rows if row.index == index)
