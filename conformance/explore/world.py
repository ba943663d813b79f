"""Sessions on real servers that run steps in two schemas, ``x`` and its twin ``y``."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from conformance.explore.followers import Linked
from conformance.servers.clock import REAL
from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, ServerError, SqlError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.explore.followers import Follower
    from conformance.explore.steps import Step
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Position
    from conformance.servers.wire.connection import Connection

SIDES: Final = ("x", "y")
LOCK_SECONDS: Final = 20  # for the removal of an episode's schemas
LOGGING: Final = ("FULL", "CRC32")
"""The settings of the log's metadata and checksums with which each episode begins."""
STATEMENT_SECONDS: Final = 60.0  # then a statement hangs
# The clock of every session stands still: a statement means the same in both schemas, and again tomorrow. The log has
# the texts of the statements, which the prediction needs.
BEGINNING: Final = (
    "SET SESSION timestamp = 1700000000, binlog_row_value_options = 'PARTIAL_JSON', innodb_lock_wait_timeout = 1, "
    "lock_wait_timeout = 1, time_zone = '+00:00', max_error_count = 64, cte_max_recursion_depth = 1000, "
    "binlog_rows_query_log_events = ON"
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


class Companion:
    """Something that a topology does beside the steps of an episode; it overrides what it needs.

    ``happened`` is for the census.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.happened: Counter[str] = Counter()

    def began(self) -> None:
        """The schemas of a new episode are there."""

    def before(self, step: Step) -> None:
        """A step is about to run; of those that run together, the first."""

    def after(self) -> None:
        """The step, or all that run together, has ended."""

    def settle(self) -> None:
        """The oracles are about to look: end what is open."""

    def ended(self) -> None:
        """The sessions of the episode are closed, and its schemas are about to be dropped."""


@dataclass(slots=True)
class World(Closing):
    """One source, its replicas, and the schemas of one episode. Made by ``topologies``.

    ``twinned``: both schemas can have the same rows; ``durable``: its servers keep what they acknowledged when they are
    killed; ``more``: settings of the steps' sessions beside those of every world, each behind a comma.
    """

    source: OwnServer
    pairs: tuple[Follower, ...] = ()
    companions: tuple[Companion, ...] = ()
    twinned: bool = True
    durable: bool = False
    more: str = ""
    number: int = 0
    sessions: dict[tuple[int, str], Connection] = field(default_factory=dict)
    start: Position | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    _own: Connection | None = None
    _twins: bool = True

    @property
    def twins(self) -> bool:
        """Whether steps run in the twin schema too."""
        return self._twins and self.twinned

    @twins.setter
    def twins(self, wanted: bool) -> None:
        self._twins = wanted

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
            _forget_prepared(own)
            for side in SIDES:
                own.execute(f"DROP SCHEMA IF EXISTS {self.schema(side)}")
                own.execute(f"CREATE SCHEMA {self.schema(side)} DEFAULT CHARACTER SET utf8mb4")
            if own.execute("SELECT @@GLOBAL.binlog_row_metadata, @@GLOBAL.binlog_checksum").texts() != [LOGGING]:
                own.execute("SET GLOBAL binlog_row_metadata = '{}', binlog_checksum = '{}'".format(*LOGGING))
            own.execute("FLUSH BINARY LOGS")
            self.start = self.source.capture().mark(own)
        finally:
            own.close()
        self._beside(lambda companion: companion.began())
        return self

    def _beside(self, moment: Callable[[Companion], None]) -> None:
        for companion in self.companions:
            try:
                moment(companion)
            except ConnectionLost as error:
                dead = [pair.replica for pair in self.pairs if not pair.replica.alive()]
                raise Died(*(("replica", dead[0]) if dead else ("source", self.source)), error, None) from error

    def settle(self) -> None:
        """End what is open beside the steps: the oracles are about to look."""
        self._beside(lambda companion: companion.settle())

    def happened(self) -> Counter[str]:
        """The counts of what happened beside the steps, since the last call."""
        counted: Counter[str] = Counter()
        for companion in self.companions:
            counted.update(companion.happened)
            companion.happened.clear()
        return counted

    def end(self) -> None:
        """Close the episode's sessions and drop its schemas."""
        self.close_sessions()
        self._beside(lambda companion: companion.ended())
        with suppress(SqlError):
            own = self.source.connect()
            try:
                _forget_prepared(own)
                for side in SIDES:
                    own.execute(f"DROP SCHEMA IF EXISTS {self.schema(side)}")
            finally:
                own.close()

    def session(self, number: int, side: str) -> Connection:
        """The session with this number on a side."""
        connection = self.sessions.get((number, side))
        if connection is None or connection.closed:
            connection = self.source.connect(database=self.schema(side), timeout=STATEMENT_SECONDS)
            connection.execute(f"{BEGINNING}{self.more}")
            self.sessions[number, side] = connection
        return connection

    def run(self, step: Step) -> Done:
        """Run a step on both sides."""
        self._beside(lambda companion: companion.before(step))
        base = self._answer(step, "x", step.base)
        done = Done(step, base, self._answer(step, "y", step.twin) if self.twins and not step.alone else None)
        self._beside(lambda companion: companion.after())
        return done

    def disconnect(self, number: int) -> None:
        """End the session with this number on both sides; the next step begins another one."""
        for side in SIDES:
            connection = self.sessions.pop((number, side), None)
            if connection is not None:
                connection.close()

    def run_together(self, steps: Sequence[Step]) -> list[Done]:
        """Run steps of several sessions at the same time, in the first schema only."""
        numbers = sorted({step.session for step in steps})
        for number in numbers:
            self.session(number, "x")
        self._beside(lambda companion: companion.before(steps[0]))

        def one(number: int) -> list[Done]:
            return [Done(step, self._answer(step, "x", step.base)) for step in steps if step.session == number]

        with ThreadPoolExecutor(len(numbers)) as pool:
            parts = [pool.submit(one, number) for number in numbers]
            ended = [done for part in parts for done in part.result()]
        self._beside(lambda companion: companion.after())
        return ended

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
        """Let each replica go on behind everything, without the episode's schemas; whatever stopped it is forgotten.

        Raises :class:`ServerError` where the world must be made anew.
        """
        self.end()
        for pair in self.pairs:
            pair.mend()

    def kill_source(self) -> None:
        """Kill the source and start it again; the replicas find it. Open transactions and sessions are lost."""
        assert self.durable
        self.close_sessions()
        self.source.kill()
        self.source.start()

    def kill_replica(self, number: int = 0) -> None:
        """Kill a replica and start it again; it goes on from what it had stored."""
        assert self.durable
        pair = self.pairs[number]
        assert isinstance(pair, Linked)
        pair.replica.kill()
        pair.reopen()
        pair.start()

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

    def owns(self, what: Closing | Follower) -> None:
        """Close this together with the world."""
        self._stack.callback(what.close)


def _forget_prepared(own: Connection) -> None:
    """Roll back XA transactions that a script prepared and did not decide: their locks would outlive its sessions.

    From here on the session waits at most :data:`LOCK_SECONDS` for a lock.
    """
    own.execute(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}")

    def decided() -> bool:
        left = own.execute("XA RECOVER").texts()
        for row in left:
            with suppress(SqlError):  # its session is about to let it go
                own.execute(f"XA ROLLBACK '{row[3]}'")
        return not left

    REAL.until(decided, LOCK_SECONDS, 0.02)
