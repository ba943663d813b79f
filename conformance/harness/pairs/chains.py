"""Generated updates on a chain of three: the middle server applies the first one's log, the last applies the middle
one's.

The table of the last server must be that of the first. The own logs of the middle and of the last server must be as the
settings of each ask (requirements FR6.1). A replica logs what it applies under the first server's id.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from conformance.harness.pairs.appliers import Applier, PairBlock
from conformance.harness.pairs.clocks import ClockWatch
from conformance.harness.pairs.run import PairRun, execute_all, replica_binlog_settings, split_statements
from conformance.harness.pairs.tables import compare_sides
from conformance.judge.replica import LogDiffersError, ReplicaModel, judge_stop, log_mismatch, transactions
from conformance.judge.replica_binlog import ReplicaBinlog, compare_replica_binlog
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.roles.pair import ReplicaStopped

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.harness.topology import Chain
    from conformance.judge.updates.mismatch import Mismatch
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection


@dataclass(slots=True)
class ChainBlock:
    """``last`` holds the comparison of the last table with the first, and every stop."""

    last: PairBlock
    middle_log: ReplicaBinlog = field(default_factory=ReplicaBinlog)
    last_log: ReplicaBinlog = field(default_factory=ReplicaBinlog)


class ChainRun(PairRun):
    """The sessions on the three servers of a chain. A context."""

    def __init__(self, chain: Chain, *, gtid: bool) -> None:
        super().__init__(chain.upper, gtid=gtid)
        self.lower = chain.lower
        self.last: Connection = self._stack.enter_context(chain.lower.replica.connect())
        self.last_applier = Applier(chain.lower, self.last)
        self._last_log: Capture = chain.lower.replica.capture()
        self._stack.callback(self._last_log.close)

    def __enter__(self) -> Self:
        super().__enter__()
        self.last.execute(f"USE {self.schema}")
        return self

    def catch_up(self) -> None:
        """Wait until the last server has everything that the first one wrote."""
        super().catch_up()
        self.lower.wait(self._replica_log.mark(self.replica))

    def _forget_schema(self) -> None:
        super()._forget_schema()
        self._drop_schema(self.last)

    def restart(self) -> None:
        """Let all servers go on behind everything that was written."""
        super().restart()
        self.last.execute("SET SESSION sql_log_bin = 0")
        self.last.execute("DROP TABLE IF EXISTS t")
        executed = self.replica.variable("global.gtid_executed") if self.gtid else None
        position = self._replica_log.mark(self.replica)
        self.lower.follow(position, None if executed is None else executed.replace("\n", ""))

    def found(self, script: Script) -> list[Mismatch]:
        """All findings of a block."""
        block = self.chain_block(script)
        self.ready = not block.last.broken
        logs = (block.middle_log, block.last_log)
        return [*block.last.found, *(item for log in logs for item in (*log.found, *log.gained))]

    def chain_block(self, script: Script) -> ChainBlock:
        """Run one block; where the log is not that of the updates, this is its only finding."""
        try:
            return self._chain_block(script)
        except LogDiffersError as error:
            return ChainBlock(PairBlock(updates=script.updates, stops=[log_mismatch(error)], broken=True))

    def _chain_block(self, script: Script) -> ChainBlock:
        """Run one block. After a stop of the middle server, known or not, the last server is not judged: repaired rows
        do not pass through the middle one's log."""
        begun = time.perf_counter()
        case = script.case
        assert case.topology is not None
        middle, last = case.topology.replicas
        self._configure(self.pair, middle)
        self._configure(self.lower, last)
        settings = case.session.statements()
        for connection in (self.replica, self.last):
            connection.execute_many([*settings, "SET SESSION sql_log_bin = 0"]).check()
        self.source.execute_many(
            [*settings, f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}", create_table(case.table)]
        ).check()
        sent_from = self._source_log.mark(self.source)
        middle_from = self._replica_log.mark(self.replica)
        last_from = self._last_log.mark(self.last)
        clocks = ClockWatch(self.source, self.replica, self.last)
        self.source.execute(script.insert)
        execute_all(self.source, split_statements(script, 0)[1])
        end = self._source_log.mark(self.source)
        result = PairBlock(updates=script.updates)
        block = ChainBlock(result)
        sent = transactions(script, self._events(sent_from, end))
        self.applier.follow(script, sent, self._model(script), end, result)
        if result.stops:
            result.broken = True
            return block
        middle_end = self._replica_log.mark(self.replica)
        passed_on = self._received(self._replica_log.since(middle_from, middle_end).events)
        block.middle_log = compare_replica_binlog(
            script,
            sent,
            passed_on,
            replica_binlog_settings(self.replica, middle),
            self.schema,
            clock_step=clocks.step(),
        )
        if block.middle_log.found:  # that is the failure; nothing can be said of the last server
            result.broken = True
            return block
        received = transactions(script, passed_on)
        model = self._model(script)
        self.last_applier.follow(script, received, model, middle_end, result)
        if not result.stops:
            own = self._received(self._last_log.since(last_from, self._last_log.mark(self.last)).events)
            block.last_log = compare_replica_binlog(
                script,
                received,
                own,
                replica_binlog_settings(self.last, last),
                self.schema,
                clock_step=clocks.step(),
            )
        if not result.broken:
            result.tables = compare_sides(
                self.source, self._source_log, self.last, self._last_log, script, model, result.relations
            )
            try:
                self.catch_up()
            except ReplicaStopped as stopped:
                result.stops.append(judge_stop(None, None, self.last_applier.stop(stopped)))
                result.broken = True
        result.seconds = time.perf_counter() - begun
        return block

    def _model(self, script: Script) -> ReplicaModel:
        return ReplicaModel.of(script)
