"""Blocks of updates whose instructions are counted with the option on and off, on a source and on a replica (FR15).

Both blocks of a pair run the same statements; which goes first alternates. On the source the session's own thread
counts. On the replica the relay log fills while the applier stands; then the applier's threads count until the end of
what was fetched. The option of the replica follows that of the source.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.servers import clock
from conformance.servers.closing import Closing
from conformance.servers.errors import ServerError
from conformance.servers.roles.pair import Pair
from conformance.servers.run.callgrind import Callgrind, counted
from conformance.servers.run.process import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.cache import Narrate
    from conformance.servers.install.installation import Installation
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

ROWS: Final = 200
UPDATES: Final = 2000  # of a block: observed, the blocks of a pair then differ by less than 1 %
PAIRS: Final = 7
WARM_UP: Final = 1000
_PACKET: Final = 500
_OPTION: Final = "binlog_row_value_options"
_SCHEMA: Final = "binlog_lab_throughput"
_SECONDS: Final = 900.0
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_APPLIER: Final = (
    "SELECT THREAD_OS_ID FROM performance_schema.threads "
    "WHERE NAME REGEXP '^thread/sql/(replica|slave)_(sql|worker)$' AND THREAD_OS_ID IS NOT NULL"
)


class Workload(NamedTuple):
    """The columns that a series updates (``json`` or ``other``), and its row image."""

    updates: str
    image: str

    def __str__(self) -> str:
        return f"{'JSON' if self.updates == 'json' else 'non-JSON'} updates, {self.image} images"


WORKLOADS: Final = tuple(Workload(updates, image) for updates in ("json", "other") for image in ("MINIMAL", "FULL"))


def table(draw: Draw) -> list[str]:
    """Make rows with documents from some hundred to some thousand bytes, all with the members that the updates name."""
    rows = []
    for row in range(ROWS):
        part = draw.fork("row", row)
        filling = part.letters(200 + part.below(4000), _LETTERS)
        numbers = ", ".join(str(part.below(30_000)) for _ in range(10))
        rows.append(
            f"INSERT INTO t VALUES ({row}, 0, '{part.letters(20, _LETTERS)}', JSON_OBJECT('a', {part.below(30_000)}, "
            f"'name', '{part.letters(20, _LETTERS)}', 'list', JSON_ARRAY({numbers}), 'more', JSON_OBJECT('x', 1.5e0, "
            f"'y', 1), 'filling', '{filling}'))"
        )
    return ["CREATE TABLE t (id INT PRIMARY KEY, n INT, c VARCHAR(40), j JSON)", *rows]


def statements(draw: Draw, workload: Workload, count: int, turn: int) -> list[str]:
    """Updates of one row each, which leave documents about as large as they were.

    The two turns of a pair (0 and 1) differ in their values only: a repeated value would change nothing the second
    time.
    """
    made = []
    for _ in range(count):
        row, kind, number = draw.below(ROWS), draw.below(5), 2 * draw.below(15_000) + turn
        word = "AB"[turn] + draw.letters(19, _LETTERS)
        if workload.updates == "other":
            change = ("n = n + 1", f"c = '{word}'", f"n = {number}, c = '{word}'")[kind % 3]
        else:
            change = (
                "j = "
                + (
                    f"JSON_SET(j, '$.a', {number})",
                    f"JSON_REPLACE(j, '$.name', '{word}', '$.more.x', {number}.25e0)",
                    f"JSON_SET(j, '$.list[{number % 10}]', {number})",
                    f"JSON_SET(JSON_REMOVE(j, '$.more.y'), '$.more.y', {number})",
                    f"JSON_SET(j, '$.name', '{word}')",
                )[kind]
            )
        made.append(f"UPDATE t SET {change} WHERE id = {row}")
    return made


def set_up(connection: Connection, draw: Draw) -> None:
    """Make the schema and its table; the session stays in the schema."""
    connection.execute_many(
        [f"DROP SCHEMA IF EXISTS {_SCHEMA}", f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *table(draw)]
    ).check()


def run(connection: Connection, sql: list[str]) -> None:
    """Run the statements in packets, each a transaction."""
    for start in range(0, len(sql), _PACKET):
        connection.execute_many(sql[start : start + _PACKET]).check()


def switch(connection: Connection, workload: Workload, *, on: bool) -> None:
    """Set the session's option and image."""
    value = "'PARTIAL_JSON'" if on else "''"
    connection.execute(f"SET SESSION {_OPTION} = {value}, SESSION binlog_row_image = {workload.image}")


class _Counted(Closing):
    """A server whose threads are counted, and whatever it needs. A context."""

    _stack: ExitStack

    def close(self) -> None:
        """End the servers."""
        self._stack.close()


class Source(_Counted):
    """Counts the instructions of a session's own thread."""

    side = "source"

    def __init__(self, installation: Installation, draw: Draw, narrate: Narrate) -> None:
        with ExitStack() as stack:
            self._counting = stack.enter_context(Callgrind(installation, server_id=201, narrate=narrate))
            self._connection = stack.enter_context(self._counting.server.connect())
            set_up(self._connection, draw)
            self._thread = int(
                self._connection.execute(
                    "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()"
                ).scalar()
                or 0
            )
            self._counting.start_counting()
            self._stack = stack.pop_all()

    def count(self, workload: Workload, sql: list[str], *, on: bool) -> int:
        """Instructions of the session over one block."""
        switch(self._connection, workload, on=on)
        self._counting.take()
        run(self._connection, sql)
        return counted(self._counting.take(), [self._thread])


class Replica(_Counted):
    """Counts the instructions of an applier's threads; the source beside it runs at full speed."""

    side = "replica"

    def __init__(self, installation: Installation, draw: Draw, narrate: Narrate) -> None:
        with ExitStack() as stack:
            source = stack.enter_context(launch(installation, server_id=202, narrate=narrate))
            self._connection = stack.enter_context(source.connect())
            self._counting = stack.enter_context(
                Callgrind(
                    installation,
                    server_id=203,
                    options={"replica-parallel-workers": "1", "replica-checkpoint-period": "1"},
                    narrate=narrate,
                )
            )
            self._log = source.capture()
            stack.callback(self._log.close)
            position = self._log.mark(self._connection)
            self._pair = Pair(source, self._counting.server)
            stack.callback(self._pair.close)
            self._pair.link(position)
            set_up(self._connection, draw)
            self._pair.wait(self._log.mark(self._connection), timeout=_SECONDS)
            self._counting.start_counting()
            self._stack = stack.pop_all()

    def count(self, workload: Workload, sql: list[str], *, on: bool) -> int:
        """Instructions of the applier over the transactions of one block."""
        value = "'PARTIAL_JSON'" if on else "''"
        control = self._pair.connection
        replica = self._pair.dialect.terms.replica
        control.execute(f"STOP {replica} SQL_THREAD")
        control.execute(f"SET GLOBAL {_OPTION} = {value}, GLOBAL binlog_row_image = {workload.image}")
        switch(self._connection, workload, on=on)
        run(self._connection, sql)
        end = self._log.mark(self._connection)
        self._await_fetched(end.file, end.offset)
        self._counting.take()
        control.execute(f"START {replica} SQL_THREAD")
        self._pair.wait(end, timeout=_SECONDS)
        threads = [int(row[0] or 0) for row in control.execute(_APPLIER).texts()]
        return counted(self._counting.take(), threads)

    def _await_fetched(self, file: str, offset: int) -> None:
        """Wait until the relay log holds everything."""
        terms = self._pair.dialect.terms

        def fetched() -> bool:
            shown = self._pair.connection.execute(terms.replica_status).named()[0]
            row = {terms.today(name): value for name, value in shown.items()}
            return (row["Source_Log_File"] or "", int(row["Read_Source_Log_Pos"] or 0)) >= (file, offset)

        if not clock.until(fetched, _SECONDS, 0.1):
            raise ServerError("the receiver does not come to the end of the source's log")


def ratios(
    side: Source | Replica, draw: Draw, workload: Workload, *, pairs: int = PAIRS, updates: int = UPDATES
) -> Iterator[tuple[int, int]]:
    """Pairs of counts: with the option on, and off."""
    for turn, on in enumerate((True, False)):  # caches, statistics and pages settle
        side.count(workload, statements(draw.fork("warm-up"), workload, WARM_UP, turn), on=on)
    for number in range(pairs):
        order = (True, False) if number % 2 == 0 else (False, True)
        counts = {}
        for turn, on in enumerate(order):
            counts[on] = side.count(workload, statements(draw.fork("pair", number), workload, updates, turn), on=on)
        yield counts[True], counts[False]
