"""A second workload at another member of a group, which conflicts with the first."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.companion import Companion
from conformance.explore.oracles.tables import describe
from conformance.explore.topologies.locked import DATA
from conformance.explore.world import BEGINNING
from conformance.servers.errors import ServerError, SqlError

if TYPE_CHECKING:
    from conformance.explore.steps import Step
    from conformance.explore.world import World
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

DONE: Final = "rival transactions committed"
REFUSED: Final = "rival transactions refused"  # with the number of the error, as 3101 of a failed certification
_EVERY: Final = 4  # steps that change data from one rival transaction to the next
_SYNC_SECONDS: Final = 2


class Rival(Companion):
    """Changes JSON columns of the base at another member: beside a step, or in front of one.

    A transaction beside a step begins before it and commits after it, so that the group must refuse one of the two. One
    in front of a step ends an open transaction of the source that changed the same rows. Both wait until the other
    member has what was written before: a group does not say what a definition means for rows on their way.
    """

    def __init__(self, member: OwnServer) -> None:
        super().__init__()
        self._member = member
        self._session: Connection | None = None
        self._steps = 0
        self._open = False

    def before(self, world: World, step: Step) -> None:
        """Begin a transaction, and in front of every second step commit it at once."""
        if not step.base.startswith(DATA):
            return
        self._steps += 1
        if self._steps % _EVERY:
            return
        self._change(world)
        if self._steps % (2 * _EVERY):
            self._commit(world)

    def after(self, world: World, step: Step) -> None:
        """Commit what was begun."""
        self._commit(world)

    def settle(self, world: World) -> None:
        """Wait until the source has all."""
        self._commit(world)
        if self._session is not None:
            _wait(world.own, self._session)

    def ended(self, world: World) -> None:
        """Close the session."""
        if self._session is not None:
            self._session.close()
            self._session = None
        self._open = False

    def _change(self, world: World) -> None:
        if self._session is None or self._session.closed:
            self._session = self._member.connect(timeout=60.0)
            self._session.execute(BEGINNING)
        session, schema = self._session, world.schema("x")
        _wait(session, world.own)
        session.execute("BEGIN")
        self._open = True
        for table in describe(session, schema).values():
            columns = [column.name for column in table.columns if column.type == "json" and not column.expression]
            if not columns or table.engine != "InnoDB":
                continue
            changes = ", ".join(f"`{name}` = JSON_SET(`{name}`, '$.rival', {self._steps})" for name in columns)
            try:
                session.execute(f"UPDATE `{schema}`.`{table.name}` SET {changes} ORDER BY 1 LIMIT 4")
            except SqlError as error:
                self.happened[f"{REFUSED} ({error.number})"] += 1

    def _commit(self, world: World) -> None:
        if not self._open or self._session is None:
            return
        self._open = False
        try:
            self._session.execute("COMMIT")
            self.happened[DONE] += 1
        except SqlError as error:
            self.happened[f"{REFUSED} ({error.number})"] += 1
            with suppress(ServerError):
                self._session.execute("ROLLBACK")
        _wait(world.own, self._session)


def _wait(here: Connection, there: Connection) -> None:
    """Wait until ``here`` has what ``there`` has executed; a prepared transaction may hold it up."""
    executed = there.variable("global.gtid_executed") or ""
    here.execute(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', {_SYNC_SECONDS})")
