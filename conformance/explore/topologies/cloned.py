"""A replica that CLONE makes anew in the middle of each episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.topologies.starting import GTID, joined, starting
from conformance.explore.world import Companion
from conformance.servers import clock
from conformance.servers.errors import ConnectionLost, SqlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.followers import Linked
    from conformance.explore.steps import Step
    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker

CLONED: Final = "replicas made by CLONE"
_NO_SUPERVISOR: Final = 3707  # the data are there, and the server ends: nothing but the lab starts it again
_END_SECONDS: Final = 60.0


class Cloning(Companion):
    """Clones the source after the first UPDATE: then the data files hold a partial update, and more will follow."""

    def __init__(self, world: World, pair: Linked) -> None:
        super().__init__(world)
        self._pair = pair
        self._waits = self._due = False

    def began(self) -> None:
        """Wait for the first UPDATE."""
        self._waits = True

    def before(self, step: Step) -> None:
        """Look for the first UPDATE."""
        self._due = self._waits and step.base.startswith("UPDATE")

    def after(self) -> None:
        """Clone after the first UPDATE."""
        if self._due:
            self._waits = self._due = False
            self._clone()

    def _clone(self) -> None:
        pair = self._pair
        address = pair.source.address_for(pair.replica)
        pair.unlink()
        pair.connection.execute(f"SET GLOBAL clone_valid_donor_list = '{address.host}:{address.port}'")
        try:
            pair.connection.execute(
                f"CLONE INSTANCE FROM '{address.user}'@'{address.host}':{address.port} "
                f"IDENTIFIED BY '{address.password}'"
            )
        except SqlError as error:
            if error.number != _NO_SUPERVISOR:
                raise
        except ConnectionLost:
            pass
        clock.REAL.until(lambda: not pair.replica.alive(), _END_SECONDS, 0.01)
        pair.replica.stop()
        pair.reopen()
        pair.link()
        self.happened[CLONED] += 1


def clone(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A replica by GTID that is cloned from its source after the first UPDATE of each episode."""
    options = {**GTID, "plugin-load-add": "mysql_clone.so", "disabled-storage-engines": "MyISAM"}  # CLONE copies InnoDB
    with starting(maker, narrate, options) as world:
        world.companions = (Cloning(world, joined(world, maker, narrate, options)),)
        return world
