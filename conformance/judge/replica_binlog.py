"""A replica's own log of the updates it applies (requirements FR6), and its redo log. Pure.

The model predicts the whole log byte for byte, as the source's log: from the received events, the applier's rows, and
the replica's own settings. Bodies and comparison are those of the source's log (``Model``, ``judge.events``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from conformance.cases.predict import Model, RowPrediction
from conformance.cases.row_images import RowImage
from conformance.judge.replica import ReplicaModel
from conformance.judge.updates.borrowed import borrowed_bytes
from conformance.judge.updates.events import iter_events, judge_groups, split_groups
from conformance.judge.updates.expected import (
    ExpectedEvent,
    ExpectedGroup,
    applied_group,
    in_version,
    insert_events,
    statement_events,
)
from conformance.judge.updates.log_rules import judge_log
from conformance.judge.updates.mismatch import Judgement, Mismatch
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included, one_statement
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.partial.diffs import decode_diffs, encode_diffs
from conformance.reference.partial.update import ColumnChange, RowChange
from conformance.reference.tables.columns import BIT, BLOB, GEOMETRY, JSON, VECTOR, PartialJson
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.script import Script
    from conformance.judge.replica import LoggedRow, Transaction

SHARE: Final = 0.05  # of the document: what an update in place may add to the redo log
_KNOWN: Final = frozenset(("uuid", "gno", "server_id"))  # known from the received events
_NOISE: Final = 0.01  # of the document: more than this without any work decides nothing
_LARGE: Final = frozenset((BLOB, JSON, GEOMETRY, VECTOR))  # types that an applier keeps as a BLOB


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaBinlogSettings:
    """The global variables of a replica that shape what its applier logs, as it was asked for them; and the dialect of
    its version."""

    image: RowImage
    partial_json: bool
    metadata: str = "MINIMAL"
    compression: bool = False
    rows_query: bool = False
    row_event_max_size: int = 8192
    dialect: Dialect = MYSQL


@dataclass(slots=True)
class ReplicaBinlog:
    """Updated rows, events and bytes compared, and the differences (FR6). ``narrow``: rows that got diffs and whose
    before-image may hold the key only; ``gained``: before-images with JSON columns among these (A7).
    ``clock_step``: by how many microseconds a server's clock was set."""

    rows: int = 0
    events: int = 0
    bytes: int = 0
    by_rule: int = 0
    on_trust: int = 0
    found: list[Mismatch] = field(default_factory=list)
    narrow: int = 0
    clock_step: int = 0
    gained: list[Mismatch] = field(default_factory=list)


def compare_replica_binlog(
    script: Script,
    log: Sequence[Transaction],
    events: Sequence[bytes],
    settings: ReplicaBinlogSettings,
    schema: str,
    *,
    clock_step: int = 0,
) -> ReplicaBinlog:
    """Compare the replica's own log of a whole Case with the prediction. ``log``: what the replica received, the INSERT
    included. ``events``: those of its own log that stem from the source, which may begin with definitions.
    ``clock_step``: by how many microseconds a server's clock was set meanwhile."""
    # An applier knows a statement's text only from the log that it reads.
    rows_query = settings.rows_query and any(item.rows_query for item in log)
    replica = LoggingReplica(script, replace(settings, rows_query=rows_query), schema)
    expected = list(replica.groups(log))
    observed = _behind_definitions(split_groups(events))
    judgement = Judgement()
    judge_groups(replace(script, model=replica.model), expected, observed, judgement)
    judgement.settle(script)
    result = ReplicaBinlog(rows=replica.applied, events=judgement.events, bytes=judgement.bytes, clock_step=clock_step)
    result.by_rule, result.on_trust = borrowed_bytes(judgement.kinds, judgement.frames, None, known=_KNOWN)
    rules = judge_log([event for group in observed for event in group], None, applied=True, step=clock_step)
    result.found = [_own(mismatch) for mismatch in (*judgement.mismatches, *_other_gtids(expected, observed), *rules)]
    if settings.image is RowImage.MINIMAL and replica.model.key:
        rows = [row for transaction in log for row in transaction.rows]
        result.narrow = sum(any(isinstance(value, PartialJson) for value in row.values.values()) for row in rows)
        result.gained = list(_gained(replica.model, observed))
    return result


class LoggingReplica:
    """A replica's rows, and what it logs of the transactions that it applies. ``applied``: number of rows so far.
    ``model``: its table, and its settings as those of a session."""

    def __init__(self, script: Script, settings: ReplicaBinlogSettings, schema: str) -> None:
        case = script.case
        session = replace(
            case.session,
            row_image=settings.image,
            partial_json=settings.partial_json,
            compression=settings.compression,
            rows_query=settings.rows_query,
        )
        self.model = Model(
            case.table,
            case.selector,
            session,
            script.start_rows,
            row_metadata=settings.metadata,
            row_event_max_size=settings.row_event_max_size,
            dialect=settings.dialect,
        )
        self.applied = 0
        self._script = script
        self._schema = schema
        self._documents = ReplicaModel.of(script)
        self._table = replace(self.model.table_map, schema=schema)
        types = zip(case.table.columns, self.model.table_map.columns, strict=True)
        self._stored_apart = {
            column.name
            for column, mapped in types
            if mapped.type in _LARGE or (mapped.type == BIT and (column.length or 1) % 8)
        }

    def groups(self, log: Sequence[Transaction]) -> Iterator[ExpectedGroup]:
        """One group for the INSERT and one for each transaction, up to the row that the applier refuses."""
        first = next((place for place, item in enumerate(log) if item.rows), len(log))
        if first:
            yield self._group(log[first - 1], insert_events(replace(self._script, model=self.model), self._table))
        for transaction in log[first:]:
            events: list[ExpectedEvent] = []
            for step, rows in groupby(transaction.rows, lambda row: row.step):
                predicted = self._statement(tuple(rows))
                if predicted is None:
                    return
                events += statement_events(self._table, predicted, step, self._text(step))
            yield self._group(transaction, events)

    def _group(self, transaction: Transaction, events: Sequence[ExpectedEvent]) -> ExpectedGroup:
        """The group of a transaction. The GTID event keeps its GTID and the time of the first commit."""
        head = transaction.head or Gtid()
        committed = head.original_commit_timestamp or head.immediate_commit_timestamp
        start = Gtid(type=head.type, uuid=head.uuid, gno=head.gno, original_commit_timestamp=committed)
        session = self.model.session
        group = applied_group(self._schema, session, start, events, compressed=session.compression)
        return in_version(group, self.model.dialect)

    def _text(self, step: int) -> str:
        if not self.model.session.rows_query:
            return ""
        return next(item.sql for item in self._script.items if getattr(item, "step", None) == step)

    def _statement(self, rows: Sequence[LoggedRow]) -> list[RowsBody] | None:
        """The events of one statement; ``None`` where the applier refuses a row."""
        changed: list[tuple[frozenset[int], RowPrediction]] = []
        for _, event in groupby(rows, lambda row: row.event):
            for logged, columns in self._met(tuple(event)):
                before = self.model.rows[logged.row]
                if self._documents.apply_row(logged) is not None:
                    return None
                after = {**before, **logged.values, **self._documents.rows[logged.row]}
                self.model.rows[logged.row] = after
                sent = {name: value for name, value in logged.values.items() if isinstance(value, PartialJson)}
                changes = {name: _change(before[name], after[name], value) for name, value in sent.items()}
                change = RowChange(before, after, True, changes)
                changed.append((columns, RowPrediction(logged.row, change, self.model.decide(change))))
        self.applied += len(rows)
        # Columns that are assigned and in no image, as in FULL ones, begin no event.
        runs = groupby(changed, lambda item: self.model.images(item[0]))
        return one_statement(
            body
            for items in (list(run) for _, run in runs)
            for body in self.model.events_of([row for _, row in items], items[0][0])
        )

    def _met(self, event: Sequence[LoggedRow]) -> Iterator[tuple[LoggedRow, frozenset[int]]]:
        """The rows of an event in the order in which the applier meets them, each with the columns that count as
        assigned (observed on 9.7.4).

        Assigned are the columns of the after-image. Columns of BLOB's kind, or of bits that fill no bytes, count too if
        a before-image read so far in this event has their value. Without a key the applier reads all before-images
        first. It then meets the rows in the order of the table, which is that of the INSERT.
        """
        columns = set(event[0].values)
        if not self.model.key:
            columns.update(*map(self._unpacked, event))
            event = sorted(event, key=lambda row: row.row)
        for logged in event:
            columns |= self._unpacked(logged)
            yield logged, frozenset(map(self.model.table.index_of.__getitem__, columns))

    def _unpacked(self, logged: LoggedRow) -> set[str]:
        return {name for name, value in logged.before.items() if name in self._stored_apart and value is not None}


def _change(before: object, after: object, sent: PartialJson) -> ColumnChange:
    """The received diffs as the replica writes them: paths in canonical text."""
    assert before is None or isinstance(before, bytes)
    assert after is None or isinstance(after, bytes)
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


def _behind_definitions(groups: list[list[bytes]]) -> list[list[bytes]]:
    """The groups without the leading transactions that make the table: one statement each, which is no BEGIN."""
    for place, group in enumerate(groups):
        bodies = [None if event is None else event.body for _, event, _ in iter_events(group)]
        if not (len(bodies) == 2 and isinstance(bodies[1], Query) and bodies[1].text != b"BEGIN"):
            return groups[place:]
    return []


def _other_gtids(expected: Sequence[ExpectedGroup], observed: Sequence[list[bytes]]) -> Iterator[Mismatch]:
    """Transactions that the replica does not log under the GTID with which they came."""
    for wanted, group in zip(expected, observed, strict=False):
        due = wanted.events[0].body
        _, event, _ = next(iter_events(group))
        got = None if event is None else event.body
        if isinstance(due, Gtid) and isinstance(got, Gtid) and (due.uuid, due.gno) != (got.uuid, got.gno):
            yield Mismatch(
                kind="event",
                step=None,
                field="GTID",
                expected=f"{due.uuid}:{due.gno}",
                got=f"{got.uuid}:{got.gno}",
                message="the transaction has another GTID",
            )


def _gained(model: Model, groups: Sequence[Sequence[bytes]]) -> Iterator[Mismatch]:
    """Count before-images with JSON columns."""
    names = [column.name for column in model.table.columns]
    for _, event, _ in iter_events(raw for group in groups for raw in group):
        body = None if event is None else event.body
        if isinstance(body, RowsBody) and body.type in UPDATE_TYPES and body.column_count == len(names):
            there = [names[index] for index in included(body.before_columns or 0, body.column_count)]
            if any(name in model.columns.json for name in there):
                yield Mismatch(
                    kind="own-before-image",
                    step=None,
                    field="before_columns",
                    expected=", ".join(names[index] for index in model.key),
                    got=", ".join(there),
                    message="the before-image of the replica's own log has gained JSON columns",
                )


def _own(mismatch: Mismatch) -> Mismatch:
    """A difference of the replica's log. The judge permits no variation there: what came in is known."""
    evidence = mismatch.evidence[0] if mismatch.evidence else None
    return replace(
        mismatch,
        kind="own-log",
        expected=mismatch.expected if evidence is None else evidence.expected,
        got=mismatch.got if evidence is None else evidence.got,
        message=f"the replica's own log is not as its settings and what it received ask for: {mismatch.message}",
        variation=None,
    )


def judge_redo(growth: int, idle: int, updates: int, document: int) -> Verdict:
    """``pass``, ``fail`` or ``inconclusive``: growth of the redo log over some updates of one document, and over an
    equal time without work."""
    if idle > _NOISE * document * updates:
        return Verdict.INCONCLUSIVE
    return Verdict.PASS if growth < SHARE * document * updates else Verdict.FAIL
