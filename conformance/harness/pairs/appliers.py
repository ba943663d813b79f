"""The applier of a replica beside the reference: followed through the source's log, repaired where the model predicts a
stop.

Where applier and reference refuse the same diff, the lab repairs the stop: it copies the rows of the transaction from
the source, skips the transaction, and starts the applier again. After any other stop it gives up the block.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import insert_statement, where_clause
from conformance.judge.replica import Stop, TableComparison, differences_of, judge_stop
from conformance.judge.replica_binlog import ReplicaBinlog
from conformance.judge.updates.mismatch import Mismatch
from conformance.reference.errors import EncodeError, MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.sql.as_read import as_written
from conformance.reference.sql.quoting import quote_identifier
from conformance.servers import clock
from conformance.servers.roles.pair import ReplicaStopped, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.script import Script
    from conformance.judge.replica import Relation, ReplicaModel, Transaction
    from conformance.servers.roles.pair import Pair
    from conformance.servers.wire.capture import Position
    from conformance.servers.wire.connection import Connection

_SETTLE_SECONDS: Final = 10.0


@dataclass(slots=True, kw_only=True)
class PairBlock:
    """The findings of one block on a pair. ``broken``: the block was given up, and the replica must follow the log
    anew."""

    updates: int
    bytes: int = 0  # of a log that was compared; these two among them
    by_rule: int = 0
    on_trust: int = 0
    stops: list[Mismatch] = field(default_factory=list)
    tables: TableComparison = field(default_factory=TableComparison)
    relations: dict[tuple[int, str], Relation] = field(default_factory=dict)
    replica_binlog: ReplicaBinlog = field(default_factory=ReplicaBinlog)
    unlike: Counter[str] = field(default_factory=Counter)  # updates of rows by how the replica's differed before
    broken: bool = False
    seconds: float = 0.0

    @property
    def found(self) -> list[Mismatch]:
        """Stops, then the differences between the tables."""
        return [*self.stops, *self.tables.found]


class Applier:
    """The applier of a pair's replica, and a session there for repairs."""

    def __init__(self, pair: Pair, session: Connection) -> None:
        self.pair = pair
        self.session = session

    def follow(
        self, script: Script, log: Sequence[Transaction], model: ReplicaModel, end: Position, result: PairBlock
    ) -> None:
        """Follow the log until the replica is at ``end``; the model advances with the replica."""
        place = 0
        while not result.broken:
            refusal = None
            while place < len(log):
                if result.relations:
                    _count_unlike(script, log[place], model, result)
                refusal = model.apply(log[place])
                if refusal is not None:
                    break
                place += 1
            try:
                self.pair.wait(end)
            except ReplicaStopped as stopped:
                transaction = log[place] if refusal is not None else None
                stop = judge_stop(refusal, transaction, self.stop(stopped))
                result.stops.append(stop)
                if stop.deviation is None or transaction is None:
                    result.broken = True
                    return
                try:
                    self._repair(script, transaction, model)
                except (EncodeError, MysqlError):
                    # A value that only a column can give, or none can: the rest of the block is not compared.
                    result.updates = sum(len(item.rows) for item in log[: place + 1])
                    result.broken = True
                    return
                if transaction.gtid is not None:
                    self.pair.skip(transaction.gtid)
                else:  # a skip counter would count from where the workers' positions were last told
                    self.pair.follow(replace(end, offset=transaction.end))
                place += 1
                continue
            if refusal is None:
                return
            result.stops.append(
                Mismatch(
                    kind="no-stop",
                    step=refusal.step,
                    rows=(refusal.row,),
                    field=refusal.column,
                    expected=f"{refusal.number}: {refusal.reason}",
                    got="the applier went on",
                    message="the applier takes a diff that the reference refuses",
                )
            )
            if refusal.switch is None or model.apply(log[place], unless=refusal.switch) is not None:
                result.broken = True
                return
            place += 1

    def stop(self, stopped: ReplicaStopped | None = None) -> Stop:
        """The error and its place, once the applier's threads have ended."""
        status = clock.until(self.pair.status, _SETTLE_SECONDS, 0.01, lambda seen: seen.sql_running == "No")
        if stopped is None or stopped.thread != "applier":
            number, message = status.sql_errno or status.io_errno, status.sql_error or status.io_error
        else:
            number, message = stopped.number, stopped.message
        place = place_of(message)
        return Stop(number=number, message=message, offset=status.executed_offset if place is None else place[1])

    def _repair(self, script: Script, transaction: Transaction, model: ReplicaModel) -> None:
        """Copy the rows of a transaction from the source as they are after it, outside the replica's log."""
        case = script.case
        names = [column.name for column in case.table.columns]
        before: dict[int, object] = {}
        after: dict[int, Mapping[str, object]] = {}
        for logged in transaction.rows:
            change = next(row.change for row in script.predictions[logged.step].rows if row.index == logged.row)
            before.setdefault(logged.row, change.before[case.selector])
            after[logged.row] = change.after
        where = where_clause(case.table, case.selector, list(before.values()))
        documents = set(model.json)
        rows = [
            [self._written(row[name]) if name in documents else row[name] for name in names] for row in after.values()
        ]
        self.session.execute_many(
            [
                "SET SESSION sql_log_bin = 0",
                "BEGIN",
                f"DELETE FROM {quote_identifier(case.table.name)} WHERE {where}",
                insert_statement(case.table, rows),
                "COMMIT",
            ]
        ).check()
        for index, row in after.items():
            model.rows[index] = {name: _fresh(value) for name, value in model.documents(row).items()}

    def _written(self, document: object) -> object:
        """The document whose SQL makes this one on the replica: its version may change what it makes of SQL."""
        return encode(as_written(decode(document), self.pair.dialect.json)) if isinstance(document, bytes) else document


def _count_unlike(script: Script, transaction: Transaction, model: ReplicaModel, result: PairBlock) -> None:
    """Count the updates of a transaction on rows whose documents are stored differently on the source."""
    met: dict[int, set[str]] = {}
    for logged in transaction.rows:
        result.unlike["updates"] += 1
        if logged.row not in met:
            predicted = script.predictions[logged.step].rows
            before = next(item.change.before for item in predicted if item.index == logged.row)
            ours, theirs = model.documents(before), model.rows[logged.row]
            met[logged.row] = {
                word
                for name in theirs
                if ours[name] != theirs[name]
                for word in differences_of(ours[name], theirs[name])
            }
        result.unlike.update(met[logged.row])


def _fresh(value: bytes | None) -> bytes | None:
    """The bytes of a document as written from its value."""
    return None if value is None else encode(decode(value))
