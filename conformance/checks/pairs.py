"""Generated updates on a pair: run on the source, followed on the replica, and both tables compared.

A stop of the applier that the reference refuses at the same diff is repaired: the rows of the transaction are copied
from the source, the transaction is skipped, the applier started again. After any other stop the block is given up.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from conformance.cases.images import RowImage
from conformance.cases.script import ReadBack, Statement
from conformance.cases.sql import insert_statement, where_clause
from conformance.cases.sql_format import format_document
from conformance.cases.sql_tokens import quote_identifier
from conformance.judge.events import iter_events
from conformance.judge.mismatch import Mismatch
from conformance.judge.own_log import OwnLog, compare_own_log
from conformance.judge.replica import (
    ReplicaModel,
    Sides,
    Stop,
    TableComparison,
    compare_tables,
    judge_stop,
    place_of,
    relation_of,
    transactions,
    unlikeness,
)
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody
from conformance.reference.errors import CodecError, EncodeError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables import Column, create_table
from conformance.servers.errors import ServerError, SqlError
from conformance.servers.groups import groups_of_thread
from conformance.servers.pair import Pair, ReplicaStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.judge.replica import Relation, Table, Texts, Transaction, Verdicts
    from conformance.servers.capture import Capture, Position
    from conformance.servers.connection import Connection

COUNTER: Final = "n"
_SETTLE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    """What the replica's own applier works with."""

    image: RowImage
    partial_json: bool
    workers: int

    def variables(self) -> dict[str, str]:
        """The global variables."""
        return {
            "binlog_row_image": f"'{self.image}'",
            "binlog_row_value_options": "'PARTIAL_JSON'" if self.partial_json else "''",
            "replica_parallel_workers": str(self.workers),
            "replica_checkpoint_period": "1",  # milliseconds until the applied position is told; 300 by default
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """What a block overrides in the generated Case."""

    image: RowImage
    partial_json: bool
    compression: bool
    key: bool

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


@dataclass(slots=True, kw_only=True)
class PairBlock:
    """What one block on a pair found. ``broken``: it was given up, and the replica must take up the log anew."""

    updates: int
    stops: list[Mismatch] = field(default_factory=list)
    tables: TableComparison = field(default_factory=TableComparison)
    relations: dict[tuple[int, str], Relation] = field(default_factory=dict)
    own_log: OwnLog = field(default_factory=OwnLog)
    unlike: Counter[str] = field(default_factory=Counter)  # updates of rows by how the replica's differed before
    broken: bool = False
    seconds: float = 0.0

    @property
    def found(self) -> list[Mismatch]:
        """Stops, then what differs between the tables."""
        return [*self.stops, *self.tables.found]


class Rebuilt(NamedTuple):
    """Statements that change the replica's rows, and the documents that they leave, in start order."""

    statements: Sequence[str]
    documents: Sequence[Mapping[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Rebuild:
    """After how many steps the replica's rows are made anew, and how: from the source's rows of that moment."""

    after: int
    make: Callable[[UpdateCase, Sequence[Mapping[str, object]]], Rebuilt]


class PairRun:
    """The sessions on both sides of a pair, in a schema of their own. A context."""

    def __init__(self, pair: Pair, *, gtid: bool) -> None:
        self.pair = pair
        self.gtid = gtid
        self._stack = ExitStack()
        self.source: Connection = self._stack.enter_context(pair.source.connect())
        self.replica: Connection = self._stack.enter_context(pair.replica.connect())
        self._source_log: Capture = pair.source.capture()
        self._stack.callback(self._source_log.close)
        self._replica_log: Capture = pair.replica.capture()
        self._stack.callback(self._replica_log.close)
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
        """On the replica, which may have stopped in front of the source's DROP SCHEMA."""
        if not self.schema:
            return
        with suppress(ServerError):
            self.catch_up()
        with suppress(ServerError):
            self.replica.execute("SET SESSION sql_log_bin = 0")
            self.replica.execute(f"DROP SCHEMA IF EXISTS {self.schema}")

    def catch_up(self) -> None:
        """Until the replica has everything that the source wrote."""
        self.pair.wait(self._source_log.mark(self.source))

    def restart(self) -> None:
        """The replica goes on behind everything that was written, the Case's table gone on both sides."""
        for connection, log in ((self.source, "1"), (self.replica, "0")):
            connection.execute(f"SET SESSION sql_log_bin = {log}")
            connection.execute("DROP TABLE IF EXISTS t")
        executed = self.source.variable("global.gtid_executed") if self.gtid else None
        self.pair.follow(self._source_log.mark(self.source), None if executed is None else executed.replace("\n", ""))

    def block(
        self, script: Script, rebuild: Rebuild | None = None, *, settings_of: ReplicaSettings | None = None
    ) -> PairBlock:
        """Run one block. With ``rebuild`` the replica's rows are made anew before the last steps come. With the
        settings of the replica its own log is compared as well, where nothing had to be repaired."""
        begun = time.perf_counter()
        case = script.case
        settings = case.session.statements()
        self.replica.execute_many([*settings, "SET SESSION sql_log_bin = 0"]).check()
        self.source.execute_many(
            [*settings, f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}", create_table(case.table)]
        ).check()
        start = self._source_log.mark(self.source)
        own_start = self._replica_log.mark(self.replica)
        self.source.execute(script.insert)
        model = ReplicaModel(_start_rows(case), _json_names(case))
        result = PairBlock(updates=script.updates)
        first, rest = _split(script, 0 if rebuild is None else rebuild.after)
        _execute(self.source, first)
        if rebuild is not None:
            rebuilt = self._source_log.mark(self.source)
            log = transactions(script, self._events(start, rebuilt), rebuild.after)
            self._follow(script, log, model, rebuilt, result)
            if result.broken:
                return result
            self._rebuild(script, rebuild, model, result)
            result.updates -= sum(len(item.step.rows) for item in script.predictions[: rebuild.after])
        done = 0 if rebuild is None else rebuild.after
        _execute(self.source, rest)
        end = self._source_log.mark(self.source)
        whole = transactions(script, self._events(start, end))
        self._follow(script, [item for item in whole if item.first_step >= done], model, end, result)
        if settings_of is not None and rebuild is None and not result.stops:
            own = self._replica_log.since(own_start, self._replica_log.mark(self.replica))
            result.own_log = compare_own_log(
                script,
                whole,
                self._received(own.events),
                ReplicaModel(_start_rows(case), _json_names(case)),
                partial_json=settings_of.partial_json,
            )
        if not result.broken:
            result.tables = self._compare(script, model, result.relations)
            try:
                self.catch_up()
            except ReplicaStopped as stopped:
                result.stops.append(judge_stop(None, None, self._stop(stopped)))
                result.broken = True
        result.seconds = time.perf_counter() - begun
        return result

    def _received(self, events: Sequence[bytes]) -> list[bytes]:
        """Of the replica's log, what carries the source's server id. The workers' groups have thread ids of their own
        (observed on 9.7.4)."""
        number = self.pair.source.server_id.to_bytes(4, "little")
        return [event for event in events if event[5:9] == number]

    def _events(self, start: Position, end: Position) -> list[bytes]:
        """Of the source's own session."""
        return list(groups_of_thread(self._source_log.since(start, end).events, self.source.thread_id))

    def _rebuild(self, script: Script, rebuild: Rebuild, model: ReplicaModel, result: PairBlock) -> None:
        """Other bytes for the replica's rows, and what relates them to the source's from now on."""
        rows = rows_after(script, rebuild.after)
        rebuilt = rebuild.make(script.case, rows)
        self.replica.execute_many(["SET SESSION sql_log_bin = 0", *rebuilt.statements]).check()
        for index, documents in enumerate(rebuilt.documents):
            ours = model.documents(rows[index])
            model.rows[index] = dict(documents)
            for name, value in documents.items():
                result.relations[index, name] = relation_of(ours[name], value)

    # --- the applier -------------------------------------------------------------------------------------------------

    def _follow(
        self, script: Script, log: Sequence[Transaction], model: ReplicaModel, end: Position, result: PairBlock
    ) -> None:
        """Until the replica is at ``end``; the model goes with it."""
        place = 0
        while not result.broken:
            refusal = None
            while place < len(log):
                if result.relations:
                    self._count_unlike(script, log[place], model, result)
                refusal = model.apply(log[place])
                if refusal is not None:
                    break
                place += 1
            try:
                self.pair.wait(end)
            except ReplicaStopped as stopped:
                transaction = log[place] if refusal is not None else None
                stop = judge_stop(refusal, transaction, self._stop(stopped))
                result.stops.append(stop)
                if stop.deviation is None or transaction is None:
                    result.broken = True
                    return
                try:
                    self._repair(script, transaction, model)
                except EncodeError:  # a value that only a column can give: the rest of the block is not compared
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

    def _count_unlike(self, script: Script, transaction: Transaction, model: ReplicaModel, result: PairBlock) -> None:
        """Updates in a transaction that meets rows whose documents are stored otherwise than on the source."""
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
                    for word in unlikeness(ours[name], theirs[name])
                }
            result.unlike.update(met[logged.row])

    def _stop(self, stopped: ReplicaStopped | None = None) -> Stop:
        """The error and the place, when the applier's threads have ended."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while (status := self.pair.status()).sql_running != "No" and time.monotonic() < deadline:
            time.sleep(0.01)
        if stopped is None or stopped.thread != "applier":
            number, message = status.sql_errno or status.io_errno, status.sql_error or status.io_error
        else:
            number, message = stopped.number, stopped.message
        return Stop(number=number, message=message, offset=place_of(message, status.executed_offset))

    def _repair(self, script: Script, transaction: Transaction, model: ReplicaModel) -> None:
        """The rows of a transaction as the source has them after it, outside the replica's log."""
        case = script.case
        names = [column.name for column in case.table.columns]
        before: dict[int, object] = {}
        after: dict[int, Mapping[str, object]] = {}
        for logged in transaction.rows:
            change = next(row.change for row in script.predictions[logged.step].rows if row.index == logged.row)
            before.setdefault(logged.row, change.before[case.selector])
            after[logged.row] = change.after
        where = where_clause(case.table, case.selector, list(before.values()))
        rows = [[row[name] for name in names] for row in after.values()]
        self.replica.execute_many(
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

    # --- the tables --------------------------------------------------------------------------------------------------

    def _compare(
        self, script: Script, model: ReplicaModel, relations: Mapping[tuple[int, str], Relation]
    ) -> TableComparison:
        """Both tables as they are. The replica is read first: the source's probe is an update that arrives there."""
        case = script.case
        names = [column.name for column in case.table.columns]
        json = _json_names(case)
        order = sorted(range(len(case.rows)), key=lambda index: script.model.rows[index][case.selector])  # type: ignore[arg-type,return-value]
        theirs = self._probe(self.replica, self._replica_log, case, revert=True)
        their_texts = _texts(self.replica, case, json)
        our_texts = _texts(self.source, case, json)
        ours = self._probe(self.source, self._source_log, case, revert=False)
        places = {name: names.index(name) for name in json}
        documents = [{name: row[place] for name, place in places.items()} for row in ours]
        keys = [row[names.index(case.selector)] for row in ours]
        equal = _equal(self.replica, case, keys, documents)
        sides = Sides(source=ours, replica=theirs, source_texts=our_texts, replica_texts=their_texts, equal=equal)
        return compare_tables(names, json, sides, order, model, relations or None)

    def _probe(self, connection: Connection, log: Capture, case: UpdateCase, *, revert: bool) -> Table:
        """The rows in their stored bytes: the before-image of an update with image FULL and the option off."""
        table = quote_identifier(case.table.name)
        # Its own inverse, and a change for every row.
        change = f"{COUNTER} = IF({COUNTER} IS NULL, -99999, IF({COUNTER} = -99999, NULL, -1 - {COUNTER}))"
        update = f"UPDATE {table} SET {change} ORDER BY {quote_identifier(case.selector)}"
        connection.execute(
            "SET SESSION sql_log_bin = 1, SESSION binlog_row_image = 'FULL', SESSION binlog_row_value_options = '', "
            "SESSION binlog_transaction_compression = 0"
        )
        start = log.mark(connection)
        connection.execute(update)
        captured = log.since(start, log.mark(connection))
        if revert:
            connection.execute("SET SESSION sql_log_bin = 0")
            connection.execute(update)
        rows: list[tuple[object, ...]] = []
        for _, event, error in iter_events(groups_of_thread(captured.events, connection.thread_id)):
            if event is None:
                raise ServerError(f"an event of the probe cannot be read: {error}")
            if isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES:
                rows += [row.before or () for row in event.body.rows]
        return tuple(rows)


def with_counter(case: UpdateCase) -> UpdateCase:
    """The Case with the column ``n`` that the probe changes, which generated Cases have anyway."""
    if COUNTER in case.table.index_of:
        return case
    columns = (*case.table.columns, Column(name=COUNTER, type="INT"))
    return replace(case, table=replace(case.table, columns=columns), rows=tuple((*row, 0) for row in case.rows))


def rows_after(script: Script, steps: int) -> list[Mapping[str, object]]:
    """The source's rows after the first ``steps`` statements, as predicted."""
    rows = _start_rows(script.case)
    for prediction in script.predictions[:steps]:
        for row in prediction.rows:
            rows[row.index] = row.change.after
    return rows


def _split(script: Script, steps: int) -> tuple[list[str], list[str]]:
    """The statements up to a step, and those behind it. Read-backs are left out."""
    items = [item for item in script.items if not isinstance(item, ReadBack)]
    place = next((at + 1 for at, item in enumerate(items) if isinstance(item, Statement) and item.step == steps - 1), 0)
    texts = [item.sql for item in items]
    return texts[:place], texts[place:]


def _execute(connection: Connection, statements: Sequence[str]) -> None:
    """All statements; one that the server refuses is passed over."""
    first = 0
    while first < len(statements):
        batch = connection.execute_many(statements[first:])
        first += len(batch.results) + (batch.error is not None)


def _json_names(case: UpdateCase) -> list[str]:
    return [case.table.columns[index].name for index in case.table.json_columns]


def _start_rows(case: UpdateCase) -> list[Mapping[str, object]]:
    names = [column.name for column in case.table.columns]
    return [dict(zip(names, row, strict=True)) for row in case.rows]


def _fresh(value: bytes | None) -> bytes | None:
    """The bytes of a document that was written from its value."""
    return None if value is None else encode(decode(value))


def _texts(connection: Connection, case: UpdateCase, json: Sequence[str]) -> Texts:
    columns = ", ".join(map(quote_identifier, json))
    table, selector = quote_identifier(case.table.name), quote_identifier(case.selector)
    try:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY {selector}").rows
    except SqlError as error:
        if error.number != 3157:  # a document that is too deep has no text (partial-update sheet 8, deviation 3)
            raise
        return tuple((None,) * len(json) for _ in case.rows)


def _equal(
    connection: Connection, case: UpdateCase, keys: Sequence[object], documents: Sequence[Mapping[str, object]]
) -> Verdicts:
    """Whether each document of the replica is equal by = to the source's, written as an SQL literal of its types."""
    statements: list[str] = []
    for key, row in zip(keys, documents, strict=True):
        where = where_clause(case.table, case.selector, [key])
        parts = []
        for name, value in row.items():
            assert value is None or isinstance(value, bytes)
            if value is None:
                parts.append(f"{quote_identifier(name)} IS NULL")
                continue
            try:
                parts.append(f"{quote_identifier(name)} <=> {format_document(decode(value))}")
            except CodecError:  # no literal makes it, see cases.sql_format
                parts.append("NULL")
        statements.append(f"SELECT {', '.join(parts)} FROM {quote_identifier(case.table.name)} WHERE {where}")
    verdicts: list[tuple[bool | None, ...]] = []
    while len(verdicts) < len(statements):
        batch = connection.execute_many(statements[len(verdicts) :])
        for result in batch.results:
            values = result.rows[0] if result.rows else ()
            verdicts.append(tuple(None if value is None else value == b"1" for value in values))
        if batch.error is not None:
            if batch.error.number != 3157:
                raise batch.error
            verdicts.append(())
    # A row that is not there, or too deep a document, has no answer.
    return tuple(row or (None,) * len(documents[0]) for row in verdicts)
