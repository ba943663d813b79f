"""Generated updates on a pair: run on the source, applied on the replica, and both tables compared."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final, Self

from conformance.cases.case_sql import TRIGGER, trigger_statement
from conformance.cases.row_images import RowImage
from conformance.cases.script import ReadBack, Statement
from conformance.cases.topology import ReplicaSettings
from conformance.harness.pairs.appliers import Applier, PairBlock
from conformance.harness.pairs.clocks import ClockWatch
from conformance.harness.pairs.cloning import clone
from conformance.harness.pairs.rebuilding import rebuild_by
from conformance.harness.pairs.tables import COUNTER, compare_sides
from conformance.judge.replica import (
    SAME,
    LogDiffersError,
    ReplicaModel,
    explain_lost_triggers,
    judge_stop,
    log_mismatch,
    relation_of,
    transactions,
)
from conformance.judge.replica_binlog import ReplicaBinlogSettings, compare_replica_binlog
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import Column, create_table
from conformance.requirements.versions import dialect_of
from conformance.servers.errors import ServerError
from conformance.servers.roles.pair import Pair, ReplicaStopped
from conformance.servers.wire.connection import version_number
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.pairs.rebuilding import Rebuild
    from conformance.judge.updates.mismatch import Mismatch
    from conformance.servers.wire.capture import Capture, Position
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """The settings that a block overrides in the generated Case."""

    image: RowImage
    partial_json: bool
    compression: bool
    key: bool

    def __str__(self) -> str:
        """SQL for people, and whether the table has a key."""
        options = "'PARTIAL_JSON'" if self.partial_json else "''"
        return (
            f"SET binlog_row_image='{self.image}', binlog_row_value_options={options}, "
            f"binlog_transaction_compression={int(self.compression)}{'' if self.key else ', no key'}"
        )

    def adapt(self, case: UpdateCase) -> UpdateCase:
        """The Case with this session, and with or without a primary key."""
        session = replace(
            case.session, row_image=self.image, partial_json=self.partial_json, compression=self.compression
        )
        table = case.table
        if not self.key:
            table = replace(table, primary_key=(), unique_keys=())
        elif not table.primary_key:
            at = table.index_of[case.selector]
            columns = list(table.columns)
            columns[at] = replace(columns[at], nullable=False)
            table = replace(table, columns=tuple(columns), primary_key=((at, 0),), unique_keys=())
        return replace(case, session=session, table=table)


REPLICAS: Final = tuple(
    ReplicaSettings(image=image, partial_json=partial, workers=workers)
    for image, partial, workers in product(RowImage, (True, False), (4, 1))
)
SOURCES: Final = tuple(
    SourceSettings(image=image, partial_json=partial, compression=compression, key=key)
    for image, partial, compression, key in product(RowImage, (True, False), (False, True), (True, False))
)


class PairRun:
    """The sessions on both sides of a pair, in a schema of their own. A context."""

    def __init__(self, pair: Pair, *, gtid: bool) -> None:
        self.pair = pair
        self.gtid = gtid
        self._stack = ExitStack()
        self.source: Connection = self._stack.enter_context(pair.source.connect())
        self.replica: Connection = self._stack.enter_context(pair.replica.connect())
        self._source_id = int(self.source.variable("server_id") or 0)
        self.applier = Applier(pair, self.replica)
        self._source_log: Capture = pair.source.capture()
        self._stack.callback(self._source_log.close)
        self._replica_log: Capture = pair.replica.capture()
        self._stack.callback(self._replica_log.close)
        self._settings: dict[int, ReplicaSettings] = {}
        self.diverged = False  # whether rows of the last block were made anew in a way that FR4 does not speak of
        self.ready = True  # for another block; otherwise `restart` comes first
        self.schema = ""

    def __enter__(self) -> Self:
        with self._stack:
            self._stack.callback(self._forget_schema)
            self.schema = self._stack.enter_context(self.pair.source.schema(self.source))
            self.catch_up()
            self.replica.execute(f"USE {self.schema}")
            self._kept = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def _forget_schema(self) -> None:
        """Drop the schema on the replica, which may have stopped before the source's DROP SCHEMA."""
        if not self.schema:
            return
        with suppress(ServerError):
            self.catch_up()
        self._drop_schema(self.replica)

    def _drop_schema(self, connection: Connection) -> None:
        with suppress(ServerError):
            connection.execute("SET SESSION sql_log_bin = 0")
            connection.execute(f"DROP SCHEMA IF EXISTS {self.schema}")

    def catch_up(self) -> None:
        """Wait until the replica has everything that the source wrote."""
        self.pair.wait(self._source_log.mark(self.source))

    def restart(self) -> None:
        """Drop the Case's table on both sides and let the replica go on behind everything that was written."""
        for connection, log in ((self.source, "1"), (self.replica, "0")):
            connection.execute(f"SET SESSION sql_log_bin = {log}")
            connection.execute("DROP TABLE IF EXISTS t")
        executed = self.source.variable("global.gtid_executed") if self.gtid else None
        self.pair.follow(self._source_log.mark(self.source), None if executed is None else executed.replace("\n", ""))
        self.ready = True

    def block(self, script: Script) -> PairBlock:
        """Run one block; where the source's log is not that of the updates, this is its only finding."""
        try:
            return self._block(script)
        except LogDiffersError as error:
            return PairBlock(updates=script.updates, stops=[log_mismatch(error)], broken=True)

    def _block(self, script: Script) -> PairBlock:
        """Run one block.

        Where the Case's topology says so, the replica has its settings, and its rows are made anew before the last
        steps. With settings and without such rows the run also compares the replica's own log, if nothing had to be
        repaired.
        """
        begun = time.perf_counter()
        case = script.case
        topology = case.topology
        rebuild = None if topology is None else self._rebuild_of(case)
        if topology is not None:
            self._configure(self.pair, topology.replicas[0])
        settings = case.session.statements()
        self.replica.execute_many([*settings, "SET SESSION sql_log_bin = 0"]).check()
        self.source.execute_many(
            [
                *settings,
                f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}",
                create_table(case.table),
                *([trigger_statement(case.table, case.trigger)] if case.trigger else []),
            ]
        ).check()
        start = self._source_log.mark(self.source)
        own_start = self._replica_log.mark(self.replica)
        clocks = ClockWatch(self.source, self.replica)
        self.source.execute(script.insert)
        model = ReplicaModel.of(script)
        result = PairBlock(updates=script.updates)
        first, rest = split_statements(script, 0 if rebuild is None else rebuild.after)
        execute_all(self.source, first)
        if rebuild is not None:
            rebuilt = self._source_log.mark(self.source)
            log = transactions(script, self._events(start, rebuilt), rebuild.after)
            self.applier.follow(script, log, model, rebuilt, result)
            if result.broken:
                return result
            self._rebuild(script, rebuild, model, result)
            result.updates -= sum(len(item.step.rows) for item in script.predictions[: rebuild.after])
        done = 0 if rebuild is None else rebuild.after
        execute_all(self.source, rest)
        end = self._source_log.mark(self.source)
        whole = transactions(script, self._events(start, end))
        later = [item for item in whole if item.first_step >= done]
        self.applier.follow(script, later, model, end, result)
        if topology is not None and rebuild is None and not result.stops:
            own = self._replica_log.since(own_start, self._replica_log.mark(self.replica))
            received = self._received(own.events)
            result.replica_binlog = compare_replica_binlog(
                script,
                whole,
                received,
                replica_binlog_settings(self.replica, topology.replicas[0]),
                self.schema,
                clock_step=clocks.step(),
            )
        if not result.broken:
            if case.trigger:  # which the probe would fire
                self.source.execute(f"DROP TRIGGER {TRIGGER}")
                self.catch_up()
            result.tables = compare_sides(
                self.source, self._source_log, self.replica, self._replica_log, script, model, result.relations
            )
            explain_lost_triggers(script, model, result.tables)
            if model.keyless and any(relation != SAME for relation in result.relations.values()):
                self.restart()  # the source's probe looks for rows that the replica cannot find
            else:
                self._end(result)
        result.seconds = time.perf_counter() - begun
        return result

    def _end(self, result: PairBlock) -> None:
        """Wait until the writes of the table comparison have arrived as well."""
        try:
            self.catch_up()
        except ReplicaStopped as stopped:
            result.stops.append(judge_stop(None, None, self.applier.stop(stopped)))
            result.broken = True

    def found(self, script: Script) -> list[Mismatch]:
        """All findings of a block."""
        block = self.block(script)
        self.ready = not block.broken
        self.diverged = any(not (relation.text or relation.equal) for relation in block.relations.values())
        return [*block.found, *block.replica_binlog.found, *block.replica_binlog.gained]

    def _configure(self, pair: Pair, settings: ReplicaSettings) -> None:
        if self._settings.get(id(pair)) != settings:
            pair.configure(settings.variables())
            self._settings[id(pair)] = settings

    def _rebuild_of(self, case: UpdateCase) -> Rebuild | None:
        rule = None if case.topology is None else case.topology.rebuild
        if rule is None:
            return None
        if rule.make == "dumped":
            return clone(self.pair, self.replica, self.schema, rule.after)
        return rebuild_by(rule, self.pair.dialect.json)

    def _received(self, events: Sequence[bytes]) -> list[bytes]:
        """The events of a replica's log with the source's server id. The workers' groups have thread ids of their own
        (observed on 9.7.4)."""
        number = self._source_id.to_bytes(4, "little")
        return [event for event in events if event[5:9] == number]

    def _events(self, start: Position, end: Position) -> list[bytes]:
        """The events of the source's own session."""
        return list(groups_of_thread(self._source_log.since(start, end).events, self.source.thread_id))

    def _rebuild(self, script: Script, rebuild: Rebuild, model: ReplicaModel, result: PairBlock) -> None:
        """Write other bytes into the replica's rows; returns how they relate to the source's rows from now on."""
        rows = rows_after(script, rebuild.after)
        rebuilt = rebuild.make(script.case, rows)
        self.replica.execute_many(["SET SESSION sql_log_bin = 0", *rebuilt.statements]).check()
        for index, documents in enumerate(rebuilt.documents):
            ours = model.documents(rows[index])
            model.rows[index] = dict(documents)
            for name, value in documents.items():
                result.relations[index, name] = relation_of(ours[name], value)


def logging_otherwise(draw: Draw, replica: ReplicaSettings) -> ReplicaSettings:
    """The replica with drawn values of the settings that shape its own log alone."""
    return replace(
        replica,
        metadata=draw.choice(("MINIMAL", "FULL")),
        rows_query=draw.below(2) == 1,
        compression=draw.below(4) == 3,
    )


def replica_binlog_settings(replica: Connection, asked: ReplicaSettings) -> ReplicaBinlogSettings:
    """The settings that shape what the replica's applier logs: as it was asked for them, whatever its variables say.

    The bytes of its log show whether it has them. What a version has no variable for, it does not do.
    """

    def told(name: str) -> str | None:
        return replica.variable(f"global.{name}")

    return ReplicaBinlogSettings(
        image=asked.image,
        partial_json=asked.partial_json,
        metadata=asked.metadata if told("binlog_row_metadata") else "MINIMAL",
        compression=asked.compression and told("binlog_transaction_compression") is not None,
        rows_query=asked.rows_query,
        row_event_max_size=int(told("binlog_row_event_max_size") or 8192),
        dialect=dialect_of(version_number(replica.server_version)),
    )


def with_counter(case: UpdateCase) -> UpdateCase:
    """The Case with the column ``n`` that the probe changes, which generated Cases have anyway."""
    if COUNTER in case.table.index_of:
        return case
    columns = (*case.table.columns, Column(name=COUNTER, type="INT"))
    return replace(case, table=replace(case.table, columns=columns), rows=tuple((*row, 0) for row in case.rows))


def rows_after(script: Script, steps: int) -> list[Mapping[str, object]]:
    """The source's rows after the first ``steps`` statements, as predicted."""
    rows = script.start_rows
    for prediction in script.predictions[:steps]:
        for row in prediction.rows:
            rows[row.index] = row.change.after
    return rows


def split_statements(script: Script, steps: int) -> tuple[list[str], list[str]]:
    """The statements up to a step, and those after it. Read-backs are left out."""
    items = [item for item in script.items if not isinstance(item, ReadBack)]
    place = next((at + 1 for at, item in enumerate(items) if isinstance(item, Statement) and item.step == steps - 1), 0)
    texts = [item.sql for item in items]
    return texts[:place], texts[place:]


def execute_all(connection: Connection, statements: Sequence[str]) -> None:
    """Execute all statements; pass over one that the server refuses."""
    first = 0
    while first < len(statements):
        batch = connection.execute_many(statements[first:])
        first += len(batch.results) + (batch.error is not None)
