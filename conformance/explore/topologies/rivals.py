"""A second workload at another member of a group, which conflicts with the first."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.tables import describe
from conformance.explore.topologies.locked import DATA
from conformance.explore.world import BEGINNING, Companion
from conformance.servers.errors import ServerError, SqlError

if TYPE_CHECKING:
    from conformance.explore.steps import Step
    from conformance.explore.world import World
    from conformance.servers.wire.connection import Connection

DONE: Final = "rival transactions committed"
REFUSED: Final = "rival transactions refused"  # with the number of the error, as 3101 of a failed certification
_EVERY: Final = (
    4  # steps that change data from one rival transaction to the next; of those that run together, each group has one
)
_SYNC_SECONDS: Final = 2


class Rival(Companion):
    """Changes JSON columns of the base at another member: beside a step, or in front of one.

    A transaction beside a step begins before it and commits after it, so that the group must refuse one of the two. One
    in front of a step ends an open transaction of the source that changed the same rows. Both wait until the other
    member has what was written before: a group does not say what a definition means for rows on their way.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._member = world.pairs[0].replica
        self._session: Connection | None = None
        self._steps = self._turns = 0
        self._open = False

    def before(self, step: Step) -> None:
        """Begin a transaction, and every second time commit it at once."""
        self._steps += step.base.startswith(DATA)
        if not step.together and (self._steps % _EVERY or not step.base.startswith(DATA)):
            return
        self._turns += 1
        self._change()
        if self._turns % 2:
            self._commit()

    def after(self) -> None:
        """Commit what was begun."""
        self._commit()

    def settle(self) -> None:
        """Wait until the source has all."""
        self._commit()
        if self._session is not None:
            _wait(self.world.own, self._session)

    def ended(self) -> None:
        """Close the session."""
        if self._session is not None:
            self._session.close()
            self._session = None
        self._open = False

    def _change(self) -> None:
        if self._session is None or self._session.closed:
            self._session = self._member.connect(timeout=60.0)
            self._session.execute(BEGINNING)
        session, schema = self._session, self.world.schema("x")
        _wait(session, self.world.own)
        session.execute("BEGIN")
        self._open = True
        for table in describe(session, schema).values():
            columns = [column.name for column in table.columns if column.type == "json" and not column.expression]
            if not columns or table.engine != "InnoDB":
                continue
            changes = ", ".join(f"`{name}` = JSON_SET(`{name}`, '$.rival', {self._turns})" for name in columns)
            try:
                session.execute(f"UPDATE `{schema}`.`{table.name}` SET {changes} LIMIT 4")
            except SqlError as error:
                self.happened[f"{REFUSED} ({error.number})"] += 1

    def _commit(self) -> None:
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
        _wait(self.world.own, self._session)


def _wait(here: Connection, there: Connection) -> None:
    """Wait until ``here`` has what ``there`` has executed; a prepared transaction may hold it up."""
    executed = there.variable("global.gtid_executed") or ""
    here.execute(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', {_SYNC_SECONDS})")
