"""What a replica writes to its own log of the updates it applies (requirements sheet, FR6), and its redo log. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.judge.events import iter_events
from conformance.judge.mismatch import Mismatch
from conformance.judge.replica import key_before
from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.header import EventType, event_name
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included
from conformance.reference.decision import decide
from conformance.reference.diffs import decode_diffs, encode_diffs
from conformance.reference.update import ColumnChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.script import Script
    from conformance.judge.replica import LoggedRow, ReplicaModel, Transaction
    from conformance.reference.decision import Decision

SHARE: Final = 0.05  # of the document: what an update in place may add to the redo log
_NOISE: Final = 0.01  # of the document: more than this without any work decides nothing


class _OwnRow(NamedTuple):
    """An updated row of the replica's log: its event's type, the selector's old value if there, the after-image."""

    type: int
    key: object
    values: Mapping[str, object]


@dataclass(slots=True)
class OwnLog:
    """Rows compared, and what differs."""

    rows: int = 0
    found: list[Mismatch] = field(default_factory=list)


def compare_own_log(
    script: Script, log: Sequence[Transaction], events: Sequence[bytes], model: ReplicaModel, *, partial_json: bool
) -> OwnLog:
    """The replica's row events beside the source's. ``model`` has the replica's rows before all of them;
    ``partial_json`` is the replica's own option."""
    result = OwnLog()
    names = [column.name for column in script.case.table.columns]
    selector = script.case.table.index_of[script.case.selector]
    own: list[_OwnRow] = []
    for _, event, error in iter_events(events):
        if event is None:
            result.found.append(_differs(None, "event", "a readable event", str(error)))
            return result
        if isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES:
            columns = included(event.body.after_columns or 0, event.body.column_count)
            old = included(event.body.before_columns or 0, event.body.column_count)
            for row in event.body.rows:
                after = {names[index]: value for index, value in zip(columns, row.after or (), strict=True)}
                key = (row.before or ())[list(old).index(selector)] if selector in old else None
                own.append(_OwnRow(event.body.type, key, after))
    if len(own) != sum(len(item.rows) for item in log):
        expected = sum(len(item.rows) for item in log)
        result.found.append(_differs(None, "rows", str(expected), str(len(own))))
        return result
    wanted = EventType.PARTIAL_UPDATE_ROWS if partial_json else EventType.UPDATE_ROWS
    rows = iter(_in_order(script, [logged for transaction in log for logged in transaction.rows], own))
    for transaction in log:
        for logged in transaction.rows:
            kind, _, values = next(rows)
            result.rows += 1
            if kind != wanted:
                result.found.append(_differs(logged, "event type", event_name(wanted), event_name(kind)))
                continue
            before = dict(model.rows[logged.row])
            if model.apply_row(logged) is not None:
                return result  # a refusal: the applier stands here, and the log ends
            _compare_row(logged, before, model, values, partial_json, result)
    return result


def _in_order(script: Script, logged: Sequence[LoggedRow], own: Sequence[_OwnRow]) -> list[_OwnRow]:
    """The replica's rows in the source's order. Without a key an applier meets the rows of a statement in the order of
    its own table (observed on 9.7.4); its before-image then has all columns, the selector among them."""
    ordered: list[_OwnRow] = []
    for _, group in groupby(enumerate(logged), lambda item: item[1].step):
        places = list(group)
        rows = [own[place] for place, _ in places]
        by_key = {row.key: row for row in rows}
        wanted = [key_before(script, row.step, row.row) for _, row in places]
        ordered += [by_key[key] for key in wanted] if set(by_key) == set(wanted) else rows
    return ordered


def _compare_row(
    logged: LoggedRow,
    before: Mapping[str, bytes | None],
    model: ReplicaModel,
    values: Mapping[str, object],
    partial_json: bool,
    result: OwnLog,
) -> None:
    for name in model.json:
        after = model.rows[logged.row][name]
        if name not in values:
            if name in logged.values:
                result.found.append(_differs(logged, name, "the column, which the source sent", "not in the image"))
            continue
        sent = logged.values.get(name)
        change = _change(before[name], after, sent) if isinstance(sent, PartialJson) else None
        decision = decide(before[name], after, change, partial_json=partial_json)
        got = values[name]
        data = got.diffs if isinstance(got, PartialJson) else got
        if isinstance(got, PartialJson) is not decision.partial or data != decision.data:
            result.found.append(_differs(logged, name, _words(decision), _shown(got)))


def _change(before: bytes | None, after: bytes | None, sent: PartialJson) -> ColumnChange:
    """The diffs that came in, as the replica writes them again: paths in canonical text."""
    diffs = tuple(decode_diffs(sent.diffs))
    return ColumnChange(
        before=before,
        after=after,
        diffs=diffs,
        encoded=encode_diffs(diffs),
        in_place=False,
        ranges=None,
        rules=(),
    )


def _words(decision: Decision) -> str:
    data = "NULL" if decision.data is None else decision.data.hex()
    return f"{'diffs' if decision.partial else 'whole'} ({decision.reason}) {data}"


def _shown(value: object) -> str:
    if isinstance(value, PartialJson):
        return f"diffs {value.diffs.hex()}"
    return f"whole {value.hex() if isinstance(value, bytes) else value}"


def _differs(logged: LoggedRow | None, name: str, expected: str, got: str) -> Mismatch:
    return Mismatch(
        kind="own-log",
        step=None if logged is None else logged.step,
        rows=() if logged is None else (logged.row,),
        field=name,
        expected=expected,
        got=got,
        message="the replica's own log is not as its option and what it received ask for",
    )


def judge_redo(growth: int, idle: int, updates: int, document: int) -> str:
    """``pass``, ``fail`` or ``inconclusive``: growth of the redo log over some updates of one document, and over
    a like time without work."""
    if idle > _NOISE * document * updates:
        return "inconclusive"
    return "pass" if growth < SHARE * document * updates else "fail"
