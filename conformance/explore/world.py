"""Sessions on real servers that run steps in two schemas, ``x`` and its twin ``y``."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, ServerError, SqlError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.explore.steps import Step
    from conformance.servers.roles.pair import Pair
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Position
    from conformance.servers.wire.connection import Connection

SIDES: Final = ("x", "y")
STATEMENT_SECONDS: Final = 60.0  # then a statement hangs
# The clock of every session stands still: a statement means the same in both schemas, and again tomorrow.
BEGINNING: Final = (
    "SET SESSION timestamp = 1700000000, binlog_row_value_options = 'PARTIAL_JSON', innodb_lock_wait_timeout = 1, "
    "lock_wait_timeout = 1, time_zone = '+00:00', max_error_count = 64, cte_max_recursion_depth = 1000"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """How one side ended a step: ``error`` 0, or its number and text; rows of a query; numbers of warnings."""

    error: int = 0
    text: str = ""
    rows: tuple[tuple[bytes | None, ...], ...] = ()
    affected: int = 0
    warnings: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """One step and what both sides answered; ``twin`` is ``None`` for a step that runs alone."""

    step: Step
    base: Answer
    twin: Answer | None = None


class Died(Exception):
    """A server of the world ended: ``role`` says which; ``death`` holds what is known of it."""

    def __init__(self, role: str, server: OwnServer, death: ServerError, step: Step | None) -> None:
        self.role = role
        self.server = server
        self.death = death
        self.step = step
        super().__init__(f"{role}: {death}")


@dataclass(slots=True)
class World(Closing):
    """One source, its replicas, and the schemas of one episode. Made by ``topologies``."""

    source: OwnServer
    pairs: tuple[Pair, ...] = ()
    number: int = 0
    twins: bool = True  # whether steps run in the twin schema too
    sessions: dict[tuple[int, str], Connection] = field(default_factory=dict)
    start: Position | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    _own: Connection | None = None

    def schema(self, side: str) -> str:
        """The name of the schema of a side."""
        return f"binlog_lab_e{self.number}{side}"

    @property
    def own(self) -> Connection:
        """The oracles' session: nothing that it does is logged."""
        if self._own is None or self._own.closed:
            self._own = self.source.connect()
            self._own.execute(f"{BEGINNING}, sql_log_bin = 0")
        return self._own

    def begin(self) -> Self:
        """Make the schemas of a new episode."""
        self.number += 1
        own = self.source.connect()
        try:
            for side in SIDES:
                own.execute(f"DROP SCHEMA IF EXISTS {self.schema(side)}")
                own.execute(f"CREATE SCHEMA {self.schema(side)} DEFAULT CHARACTER SET utf8mb4")
            own.execute("FLUSH BINARY LOGS")
            self.start = self.source.capture().mark(own)
        finally:
            own.close()
        return self

    def end(self) -> None:
        """Close the episode's sessions and drop its schemas."""
        self.close_sessions()
        with suppress(SqlError):
            own = self.source.connect()
            try:
                for side in SIDES:
                    own.execute(f"DROP SCHEMA IF EXISTS {self.schema(side)}")
            finally:
                own.close()

    def session(self, number: int, side: str) -> Connection:
        """The session with this number on a side."""
        connection = self.sessions.get((number, side))
        if connection is None or connection.closed:
            connection = self.source.connect(database=self.schema(side), timeout=STATEMENT_SECONDS)
            connection.execute(BEGINNING)
            self.sessions[number, side] = connection
        return connection

    def run(self, step: Step) -> Done:
        """Run a step on both sides."""
        base = self._answer(step, "x", step.base)
        return Done(step, base, self._answer(step, "y", step.twin) if self.twins and not step.alone else None)

    def run_together(self, steps: Sequence[Step]) -> list[Done]:
        """Run steps of several sessions at the same time, in the first schema only."""
        numbers = sorted({step.session for step in steps})
        for number in numbers:
            self.session(number, "x")

        def one(number: int) -> list[Done]:
            return [Done(step, self._answer(step, "x", step.base)) for step in steps if step.session == number]

        with ThreadPoolExecutor(len(numbers)) as pool:
            return [done for part in [pool.submit(one, number) for number in numbers] for done in part.result()]

    def _answer(self, step: Step, side: str, text: str) -> Answer:
        begun = time.monotonic()
        try:
            connection = self.session(step.session, side)
            result = connection.execute(text)
        except SqlError as error:
            return Answer(error.number, error.message, seconds=time.monotonic() - begun)
        except ConnectionLost as error:
            raise Died("source", self.source, error, step) from error
        warnings: tuple[int, ...] = ()
        if result.warnings:
            warnings = tuple(sorted({number for _, number, _ in connection.warnings()}))
        return Answer(0, "", result.rows, result.affected, warnings, time.monotonic() - begun)

    def mend(self) -> None:
        """Let each replica go on behind everything, without the episode's schemas; whatever stopped it is forgotten."""
        self.end()
        with self.source.connect() as own:
            here = self.source.capture().mark(own)
            executed = own.variable("global.gtid_executed") or ""
        for pair in self.pairs:
            pair.stop()
            with pair.replica.connect() as connection:
                connection.execute("SET SESSION sql_log_bin = 0, lock_wait_timeout = 5")
                for (name,) in connection.execute("SHOW SCHEMAS LIKE 'binlog\\_lab\\_e%'").texts():
                    connection.execute(f"DROP SCHEMA `{name}`")
            pair.follow(here, executed if pair.by_gtid else None)

    def close_sessions(self) -> None:
        """Close all sessions; what they had not committed is rolled back."""
        for connection in self.sessions.values():
            connection.close()
        self.sessions.clear()
        if self._own is not None:
            self._own.close()
            self._own = None

    def close(self) -> None:
        """End the world, with the servers that were made for it."""
        with suppress(ServerError):
            self.close_sessions()
        self._stack.close()

    def alive(self) -> bool:
        """Whether all servers run."""
        return self.source.alive() and all(pair.replica.alive() for pair in self.pairs)

    def owns(self, what: Closing) -> None:
        """Close this together with the world."""
        self._stack.callback(what.close)
