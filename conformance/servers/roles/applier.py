"""A real applier without a source: the reference builds its transactions in a hand-written relay log (requirements
0.3).

One relay log holds many transactions, one after the other. Each transaction first writes a mark to a table. The marks
tell what is committed; the applier's position lags (:mod:`conformance.servers.roles.relay_log`). At a stop the lab
reads the rows, then repairs them with sql_log_bin=0 (or skips the transaction). It then starts the applier again on the
same log. Observed on 9.7.4: a stop costs about 15 ms in all.

What can be trusted at a stop (9.7.4, four workers): the thread is down when SHOW REPLICA STATUS says No, not when an
error appears. The worker that failed names the cause. Workers that waited for its commit report, for example, 3030, and
the coordinator may repeat any of these numbers.

The lab watches the server. A death is the outcome of the transaction that the applier was executing; the server then
starts again with a new relay log of the remaining transactions. The marks name that transaction once the server is
back: it may have advanced after the lab's last look, and committed rows survive a crash (``injector.OPTIONS``).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import MARKS, MARKS_MAP, ApplierOutcome, SecondStart
from conformance.cases.by_hand.injection import SCHEMA
from conformance.cases.case_sql import binlog_statement
from conformance.cases.session import SORT_BUFFER
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.rows import rows_body
from conformance.reference.binlog.writer import begin
from conformance.reference.event_types import EventType
from conformance.requirements.versions import dialect_of
from conformance.servers import clock
from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, ProtocolError, ServerError
from conformance.servers.install.cache import silent
from conformance.servers.roles.injector import OPTIONS, SERVER_ID, Injector, empty_tables, read_states
from conformance.servers.roles.pair import FAILED_WORKER
from conformance.servers.roles.relay_log import (
    FILE,
    RELAY_LOG,
    applier_status,
    log_file,
    put_relay_log,
    put_relay_log_script,
    start_applier,
    terms_of,
)
from conformance.servers.run.options import option_words
from conformance.servers.wire.packets import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.cases.by_hand.damaged_frame import Damage
    from conformance.cases.by_hand.injection import InjectionOutcome, RowState
    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Maker, OwnServer
    from conformance.servers.wire.connection import Connection

_APPLIER_ID: Final = SERVER_ID + 1  # differs from the server id of the events
_OPTIONS: Final[dict[str, str | None]] = {
    **OPTIONS,
    "innodb-stats-persistent": "OFF",  # the lab makes and drops tables by the hundred
    "relay-log": RELAY_LOG,
    "replica-parallel-workers": "4",
    "replica-preserve-commit-order": "ON",
}
_BESIDE: Final = 1 << 20  # the marks of transactions that run beside a Case
_END: Final = 1 << 30  # the mark of the last transaction of a log
_PATIENCE: Final = 30.0
_SHORTEST, _LONGEST = 0.0005, 0.01  # seconds between two looks at the applier


@dataclass(frozen=True, slots=True)
class Stop:
    """A stopped applier: the worker's error number and text, and the coordinator's error number."""

    error: int
    coordinator: int
    message: str


class ApplierSilent(Exception):
    """The applier neither stopped nor reached the end of the log in the stated time."""


def transaction(number: int, events: Sequence[bytes], *, after: int | None = None) -> list[bytes]:
    """The events of a transaction around some row events. ``number`` counts from 1.

    ``after``: the transaction that must be committed before this one begins; by default the previous one.
    """
    clock = Gtid(
        type=EventType.ANONYMOUS_GTID,
        last_committed=number - 1 if after is None else after,
        sequence_number=number,
    )
    head = [encode_event(body, server_id=SERVER_ID) for body in (clock, begin(SCHEMA))]
    return [*head, *events, encode_event(Xid(xid=number), server_id=SERVER_ID)]


def mark(number: int) -> list[bytes]:
    """The events that write a mark to the table."""
    rows = rows_body(MARKS_MAP, EventType.WRITE_ROWS, [Row(None, (number,))])
    return [encode_event(body, server_id=SERVER_ID) for body in (MARKS_MAP, rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction for the applier, and the queries that read its outcome.

    ``events``: table maps and row events. ``reads``: queries whose columns come in fives, see :data:`STATE`; each finds
    ``rows`` rows at most. ``repair``: plain SQL statements after which the events fit (``None``: skip the transaction
    instead). ``beside``: how many small transactions may run with this one.
    """

    events: tuple[bytes, ...]
    reads: tuple[str, ...]
    rows: int = 1
    repair: tuple[str, ...] | None = None
    beside: int = 0
    damage: Damage | None = None  # to its last row event in the file; the repair replaces the file


@dataclass(slots=True)
class _Entry:
    """A transaction on the server: its number from 1, and its outcome."""

    number: int
    what: Transaction
    outcome: ApplierOutcome


@dataclass(slots=True)
class _Place:
    """How far the applier is in a log.

    ``entry``: the transaction that the applier is executing, as of the last look. ``passed``: number of the last one
    that is finished although its mark may be missing.
    """

    entry: _Entry
    passed: int = 0


def relay_log(transactions: Sequence[tuple[int, Transaction]], version: str) -> bytes:
    """A relay log of some numbered transactions with their damages."""
    events = [encode_event(FormatDescription(server_version=version), server_id=SERVER_ID)]
    clock = 0
    torn = {}
    for number, what in transactions:
        before = clock
        clock += 1
        events += transaction(clock, [*mark(number), *what.events])
        if what.damage is not None:
            torn[len(events) - 2] = what.damage  # the XID event follows it
        for other in range(what.beside):
            clock += 1
            events += transaction(clock, mark(_BESIDE * (other + 1) + number), after=before)
    data, ends = log_file([*events, *transaction(clock + 1, mark(_END))])
    if not torn:
        return data
    whole = bytearray(data)
    for index, damage in torn.items():
        where = slice(ends[index - 1], ends[index])
        whole[where] = damage.apply(bytes(whole[where]))
    return bytes(whole)


def _repair_of(what: Transaction) -> tuple[str, ...]:
    if what.damage is not None:
        return (f"/* write the repaired file in its place: {FILE} of the same statements without the damage */ DO 0",)
    return ("SET GLOBAL sql_replica_skip_counter = 1",) if what.repair is None else what.repair


def script_of(what: Transaction, prepare: Iterable[str], version: str) -> tuple[str, ...]:
    """Statements that repeat a transaction, on a server with an empty secure_file_priv.

    ``prepare`` makes the transaction's tables, in a session that knows the format of BINLOG statements.
    """
    options = " ".join(option_words({**_OPTIONS, "secure-file-priv": "", "skip-replica-start": None}))
    look = ("DO SLEEP(1)", FAILED_WORKER, *what.reads, f"SELECT id FROM {SCHEMA}.mark")
    start_again = ["START REPLICA SQL_THREAD", *look]
    return (
        f"/* needs a server with {options} */ SET SESSION sql_log_bin = 0, SESSION sort_buffer_size = {SORT_BUFFER}",
        *empty_tables(MARKS),
        binlog_statement(encode_event(FormatDescription(server_version=version), server_id=SERVER_ID)),
        *prepare,
        *put_relay_log_script(relay_log([(1, what)], version)),
        *start_again,
        *_repair_of(what),
        *start_again,
        "STOP REPLICA SQL_THREAD",
        "SET GLOBAL sql_replica_skip_counter = 0",
    )


def launch_applier(
    maker: Maker,
    *,
    options: Mapping[str, str | None] | None = None,
    keep: bool = False,
    narrate: Narrate = silent,
) -> OwnServer:
    """A server whose applier executes hand-written relay logs. ``options`` use current names."""
    named = dialect_of(maker.number).terms.named
    given = {named(name): value for name, value in {**(options or {}), **_OPTIONS}.items()}
    return maker.launch(server_id=_APPLIER_ID, options=given, keep=keep, narrate=narrate)


class Applier(Closing):
    """Gives relay logs to the applier of a server from :func:`launch_applier`, and keeps that server running."""

    def __init__(self, server: OwnServer) -> None:
        self.server = server
        self._injector = Injector(server, described=False)  # for its session and its outcomes of deaths

    @property
    def deaths(self) -> int:
        """How often the server has crashed so far."""
        return self._injector.deaths

    def session(self) -> Connection:
        """A session on the server, which is started again if it died."""
        return self._injector.session()

    # --- Cases -------------------------------------------------------------------------------------------------------

    @contextmanager
    def executing(self, mode: str) -> Iterator[None]:
        """Run the applier with another replica_exec_mode, which it reads when it starts."""
        variable = terms_of(self.server).named("replica_exec_mode")
        self.session().execute(f"SET GLOBAL {variable} = '{mode}'")
        try:
            yield
        finally:
            self.session().execute(f"SET GLOBAL {variable} = DEFAULT")

    def load(self, events: Sequence[tuple[bytes, ...]]) -> None:
        """Store the rows for the Cases, byte for byte; each item holds a transaction's table map and rows.

        The applier stores them, never a BINLOG statement. Observed on 9.7.4: once in some hundred times, such a
        statement ends a server that has also had a replica's threads.
        """
        outcomes = self.apply([Transaction(events=item, reads=()) for item in events])
        if not all(outcome.committed and not outcome.stopped for outcome in outcomes):
            raise ServerError("the applier does not take the rows that the Cases begin with")

    def apply(self, transactions: Sequence[Transaction]) -> list[ApplierOutcome]:
        """The outcome of each transaction, in order. Their tables must exist."""
        self.session().execute_many(empty_tables(MARKS)).check()
        entries = [_Entry(number, what, ApplierOutcome()) for number, what in enumerate(transactions, 1)]
        for entry in entries:
            entry.outcome = ApplierOutcome(before=self._read(entry))
        left = entries
        while left:
            place = _Place(left[0])
            try:
                self._feed(left, place)
                break
            except ConnectionLost as error:
                death = self._injector.lost(error, None)
            except ApplierSilent:
                self.server.kill()
                self.hang_up()  # otherwise the next Case would find the session broken
                death = None
            self._look(self.session(), left, place)
            self._gone(place.entry, death)
            left = [entry for entry in left if entry.number > place.entry.number]
        for entry in entries:
            if not (entry.outcome.death or entry.outcome.silent):
                try:
                    self._conclude(self.session(), entry)
                except ConnectionLost as error:
                    self._gone(entry, replace(self._injector.lost(error, None), reading=True))
        return [entry.outcome for entry in entries]

    def _feed(self, entries: Sequence[_Entry], place: _Place) -> None:
        """Let the applier execute one relay log to its end."""
        session = self.session()
        put_relay_log(self.server, session, self._log(entries))
        self._skip(session, 0)  # no unfinished work of an earlier log
        tried: _Entry | None = None  # was repaired, and has not yet gone on
        while True:
            start_applier(self.server, session)
            stop = self._wait(session, entries, place)
            if stop is None:
                break
            entry = place.entry
            if entry is tried:
                assert entry.outcome.second_start is not None
                entry.outcome = replace(
                    entry.outcome,
                    second_start=replace(
                        entry.outcome.second_start, error=stop.error or stop.coordinator or -1, message=stop.message
                    ),
                )
                self._skip(session)
                place.passed, tried = entry.number, None
                continue
            entry.outcome = replace(
                entry.outcome,
                stopped=True,
                error=stop.error,
                coordinator=stop.coordinator,
                message=stop.message,
                after=self._read(entry),
                committed=self._marks(session, entry),
                second_start=SecondStart(),
            )
            if entry.what.damage is not None and stop.error:
                entry.what = replace(entry.what, damage=None)
                self.server.put_data(FILE, self._log(entries))
                tried = entry
            elif entry.what.repair is None or not stop.error:
                self._skip(session)
                place.passed = entry.number
            else:
                session.execute_many(entry.what.repair).check()
                tried = entry

    def _log(self, entries: Sequence[_Entry]) -> bytes:
        return relay_log([(entry.number, entry.what) for entry in entries], self.server.version)

    def _wait(self, session: Connection, entries: Sequence[_Entry], place: _Place) -> Stop | None:
        """Wait until the applier is down, or has reached the end of the log (``None``)."""
        begun = clock.monotonic()
        pause = _SHORTEST
        known = -1
        while True:
            status = applier_status(self.server, session)
            # In this order: transactions committed before the thread was seen to be down have their marks.
            last, end = self._look(session, entries, place)
            if end:
                session.execute(f"STOP {terms_of(self.server).replica} SQL_THREAD")
                return None
            if not status.running:
                # It stops where no Case is, and nothing more can be done about it.
                if place.entry.number <= max(last, place.passed):
                    raise ApplierSilent
                return self._stop(session, status.error, status.message)
            if last > known:
                known, begun = last, clock.monotonic()
            if clock.monotonic() - begun > _PATIENCE:
                raise ApplierSilent
            clock.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _stop(self, session: Connection, coordinator: int, message: str) -> Stop:
        rows = session.execute(FAILED_WORKER).texts()
        if not rows:
            return Stop(coordinator, coordinator, message)
        return Stop(int(rows[0][0] or 0), coordinator, rows[0][1] or "")

    def _look(self, session: Connection, entries: Sequence[_Entry], place: _Place) -> tuple[int, bool]:
        """Find the applier's place: the last transaction with a mark, and whether the end of the log has its mark."""
        known, end = session.execute(
            f"SELECT COALESCE(MAX(IF(id < {_BESIDE}, id, 0)), 0), COALESCE(MAX(id = {_END}), 0) FROM {SCHEMA}.mark"
        ).only()
        last = whole(known)
        behind = max(last, place.passed)
        place.entry = next((entry for entry in entries if entry.number > behind), entries[-1])
        return last, _once(whole(end))

    def _marks(self, session: Connection, entry: _Entry) -> bool:
        return _once(session.execute(f"SELECT COUNT(*) FROM {SCHEMA}.mark WHERE id = {entry.number}").number())

    def _beside(self, session: Connection, entry: _Entry) -> int:
        marks = ", ".join(str(_BESIDE * (other + 1) + entry.number) for other in range(entry.what.beside))
        if not marks:
            return 0
        return session.execute(f"SELECT COUNT(*) FROM {SCHEMA}.mark WHERE id IN ({marks})").number()

    def _skip(self, session: Connection, count: int = 1) -> None:
        session.execute(terms_of(self.server).named(f"SET GLOBAL sql_replica_skip_counter = {count}"))

    def _read(self, entry: _Entry) -> tuple[RowState | None, ...]:
        session, what = self.session(), entry.what
        return tuple(state for query in what.reads for state in read_states(session, query, most=what.rows))

    def _conclude(self, session: Connection, entry: _Entry) -> None:
        """Read the outcome of the last transaction at the end of the log."""
        rows, committed = self._read(entry), self._marks(session, entry)
        beside = self._beside(session, entry)
        outcome = entry.outcome
        if outcome.second_start is None:
            entry.outcome = replace(outcome, after=rows, committed=committed, beside=beside)
        else:
            second = replace(outcome.second_start, after=rows, committed=committed, beside=beside)
            entry.outcome = replace(outcome, second_start=second)

    def _gone(self, entry: _Entry, death: InjectionOutcome | None) -> None:
        """Record that the server died at this transaction, or hangs (``None``); later logs omit the transaction."""
        if death is None or death.silent:
            entry.outcome = replace(entry.outcome, silent=True)
        else:
            entry.outcome = replace(entry.outcome, death=death.death, reading=death.reading)

    def hang_up(self) -> None:
        """Close the session; the next use opens a new one."""
        self._injector.hang_up()

    def close(self) -> None:
        """Close the session and the server."""
        self._injector.close()


def _once(marks: int) -> bool:
    """Whether a mark is there, which can be there once."""
    if marks not in (0, 1):
        raise ProtocolError(f"expected a mark once or not at all, got {marks}")
    return marks == 1
