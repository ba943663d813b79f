"""Blocks of generated updates: made from a seed, predicted, run on a server, judged. One block is one table's life.

``make_script`` is a pure function of (seed, block number), so it makes any block of any run again alone. The first K
updates of a seed are the same for every larger K.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.files import SCHEMA_NAME, case_id, dump_case
from conformance.cases.script import TRIGGER_SWITCHES, ScriptBuilder, Statement, build_script
from conformance.cases.update_case import Step, UpdateCase
from conformance.harness.updates.events import EventFaults, check_events
from conformance.judge import census
from conformance.judge.updates.compare import judge, too_deep
from conformance.judge.updates.log_rules import TIMES
from conformance.judge.updates.mismatch import Judgement, unreadable
from conformance.reference.binlog.rows import fixed_size
from conformance.reference.dialect import MYSQL, Dialect, flipped
from conformance.reference.errors import CodecError
from conformance.servers.errors import UnreadableLog
from conformance.servers.roles.update_cases import run_case
from conformance.servers.unforeseen import ends_all, said
from generators.borders.event_limit import full_event
from generators.borders.statements import Border
from generators.cases import next_step, start
from generators.draw import Stream
from generators.tables import SELECTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.cases.observation import Observation
    from conformance.cases.predict import Model
    from conformance.cases.script import Script
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

UPDATES_PER_BLOCK: Final = 100
_REFUSED_ONE_IN: Final = 100  # statements that the server must refuse
_FULL_ONE_IN: Final = 30  # statements that fill an event to its limit, where the rows permit it
_TRIES: Final = 3  # of a block in which nothing but times is wrong
BORDERS: Final = (None, *Border)  # of the blocks in turn: what some of their statements aim at


def block_sizes(updates: int) -> list[int]:
    """The plan of a campaign: the updates of each of its blocks."""
    whole, rest = divmod(updates, UPDATES_PER_BLOCK)
    return [UPDATES_PER_BLOCK] * whole + ([rest] if rest else [])


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Facts of the server that shape its events."""

    row_metadata: str = "MINIMAL"
    row_event_max_size: int = 8192
    dialect: Dialect = MYSQL

    def script(self, case: UpdateCase) -> Script:
        """The script of a Case whose steps are known, predicted for this server."""
        return build_script(
            case,
            row_metadata=self.row_metadata,
            row_event_max_size=self.row_event_max_size,
            dialect=self.dialect,
        )


@dataclass(slots=True, kw_only=True)
class BlockResult:
    """The judgement of one block, in a form that travels between processes. ``case`` is kept when something differs.

    ``failure``: why the block could not be judged, if so.
    """

    number: int
    judgement: Judgement
    faults: EventFaults
    census: Counter[str] = field(default_factory=Counter)
    statements: int = 0
    digest: str = ""
    seconds: float = 0.0
    unsettled: int = 0  # tries before this one in which nothing but times broke its rules
    case_id: str = ""
    case: dict[str, Any] | None = None
    statements_sql: dict[int, str] = field(default_factory=dict)  # of the steps with a mismatch
    failure: str = ""


def make_script(
    seed: int | str,
    number: int,
    limits: Limits,
    *,
    updates: int = UPDATES_PER_BLOCK,
    change: Callable[[UpdateCase], UpdateCase] | None = None,
) -> Script:
    """Block ``number`` of a seed: a table, its rows, and statements until ``updates`` rows were visited.

    ``change`` makes another Case of the one without steps: another key or session, say, or steps to begin with.
    """
    draw = Stream("updates", seed, number)
    border = BORDERS[number % len(BORDERS)]
    begun = start(draw.fork("start"), schema=SCHEMA_NAME, border=border)
    case = UpdateCase(
        id="",
        seed=f"{seed}/{number}",
        requirements=("FR1", "FR2"),
        table=begun.table,
        selector=SELECTOR,
        session=begun.session,
        rows=begun.rows,
        steps=(),
    )
    if change is not None:
        case = change(case)
    builder = ScriptBuilder(
        case,
        row_metadata=limits.row_metadata,
        row_event_max_size=limits.row_event_max_size,
        dialect=limits.dialect,
    )
    steps: list[Step] = list(case.steps)
    for step in steps:
        builder.add(step)
    visited = 0
    while visited < updates:
        part = draw.fork("step", len(steps))
        refused = part.below(_REFUSED_ONE_IN) == _REFUSED_ONE_IN - 1
        step = next_step(part, case.table, builder.model.rows, refused=refused, border=border)
        if not refused and part.below(_FULL_ONE_IN) == _FULL_ONE_IN - 1:
            measure = partial(one_event, builder.model)
            size = limits.row_event_max_size
            step = full_event(part, case.table, len(builder.model.rows), measure, size) or step
        if visited + len(step.rows) > updates:
            step = replace(step, rows=step.rows[: updates - visited])
        builder.add(step)
        steps.append(step)
        visited += len(step.rows)
    script = builder.finish()
    script.case = replace(case, steps=tuple(steps))
    return script


def one_event(model: Model, step: Step) -> int | None:
    """The bytes that the rows of a statement take as one event, without header and checksum.

    ``None`` if the statement is refused, or does not change every row.
    """
    prediction = model.predict(step)
    if prediction.error is not None or prediction.changed < len(step.rows):
        return None
    rows = sum(len(row) for event in prediction.events for row in event.encoded_rows())
    return fixed_size(prediction.events[0]) + rows


def run_block(
    connection: Connection, capture: Capture, schema: str, seed: int | str, number: int, limits: Limits, updates: int
) -> BlockResult:
    """Make, run and judge one block; once more where nothing but its times is wrong, which a clock may have done that
    was set and set back meanwhile.

    A block with a log that cannot be read is wrong. One that cannot be judged for another reason says so, and the next
    one runs.
    """
    begun = time.perf_counter()
    script = make_script(seed, number, limits, updates=updates)
    tries = 0
    try:
        while True:
            result = judge_block(script, run_case(connection, capture, script, schema), number, begun)
            result.unsettled = tries
            tries += 1
            if tries == _TRIES or not _only_times(result):
                return result
    except (CodecError, UnreadableLog) as error:
        judgement = Judgement(updates=script.updates, mismatches=[unreadable(str(error))])
        return BlockResult(
            number=number, judgement=judgement, faults=EventFaults(), seconds=time.perf_counter() - begun
        )
    except Exception as error:
        if ends_all(error):
            raise
        failure = f"block {number} of seed {seed}: {said(error)}"
        return BlockResult(number=number, judgement=Judgement(), faults=EventFaults(), failure=failure)


def _only_times(result: BlockResult) -> bool:
    mismatches = [item for item in (*result.judgement.mismatches, *result.faults.found) if not item.deviation]
    return bool(mismatches) and all(item.field in TIMES for item in mismatches)


def judge_block(
    script: Script, observation: Observation, number: int, begun: float, *, keep_case: bool = False
) -> BlockResult:
    """The verdicts over one block's observation, with its census and digest."""
    script, judgement, faults = _judged(script, observation)
    mismatches = (*judgement.mismatches, *faults.found)
    wrong_steps = {mismatch.step for mismatch in mismatches}
    identity = case_id(script.case) if mismatches or keep_case else ""
    result = BlockResult(
        number=number,
        judgement=judgement,
        faults=faults,
        census=census.count(script),
        statements=len(script.predictions),
        digest=digest(script),
        case_id=identity,
        case=dump_case(replace(script.case, id=identity)) if identity else None,
        statements_sql={
            item.step: item.sql for item in script.items if isinstance(item, Statement) and item.step in wrong_steps
        },
    )
    result.seconds = time.perf_counter() - begun
    return result


def _judged(script: Script, observation: Observation) -> tuple[Script, Judgement, EventFaults]:
    """The judgement under the server's dialect.

    Where a server does what a listed deviation leaves out, the judgement is under the dialect with which nothing
    differs.
    """
    judgement, faults = judge(script, observation), check_events(script, observation)
    if not all(item.deviation for item in (*judgement.mismatches, *faults.found)):
        model = script.model
        for switches in _mended(script):
            other = build_script(
                script.case,
                row_metadata=model.row_metadata,
                row_event_max_size=model.row_event_max_size,
                dialect=flipped(model.dialect, *switches),
            )
            second, found = judge(other, observation), check_events(other, observation)
            if all(item.deviation for item in (*second.mismatches, *found.found)):
                return other, second, found
    return script, judgement, faults


def _mended(script: Script) -> Iterator[tuple[str, ...]]:
    """Switches that the server may have the other way for this Case."""
    if script.case.trigger:
        yield from ((switch,) for switch in TRIGGER_SWITCHES)
        yield TRIGGER_SWITCHES
    rows = (row for prediction in script.predictions for row in prediction.rows)
    if any(too_deep(stored) for row in rows for stored in row.change.after.values()):
        yield ("nests_without_limit",)


def digest(script: Script) -> str:
    """A digest of the predicted row events: equal for equal seeds and documents, whatever the machine."""
    total = hashlib.blake2b(digest_size=8)
    for prediction in script.predictions:
        for event in prediction.events:
            total.update(event.encode())
    return total.hexdigest()
