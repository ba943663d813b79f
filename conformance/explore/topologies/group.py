"""Group Replication: three members, one that takes writes or all of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from conformance.explore.followers import CATCH_UP_SECONDS
from conformance.explore.topologies.rivals import Rival
from conformance.explore.topologies.starting import GTID, launched, starting
from conformance.servers import clock
from conformance.servers.closing import Closing
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.pair import FAILED_WORKER, ReplicaLate, ReplicaStopped, first_cause
from conformance.servers.run.process import ProcessServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker, OwnServer
    from conformance.servers.wire.connection import Connection

_MEMBERS: Final = 3
_ACCOUNT: Final = "'lab_group'@'127.0.0.1'"
_START_SECONDS: Final = 60.0
_OPTIONS: Final = {
    **GTID,
    "plugin-load-add": "group_replication.so",
    "report-host": "127.0.0.1",
    "loose-group-replication-communication-stack": "MYSQL",
    "loose-group-replication-member-expel-timeout": "60",
    "loose-group-replication-recovery-get-public-key": "ON",
    "loose-group-replication-start-on-boot": "OFF",
}


class Member(Closing):
    """A member of the group that is not the world's source."""

    def __init__(self, source: OwnServer, replica: OwnServer) -> None:
        self.source = source
        self.replica = replica
        self.connection: Connection = replica.connect()

    def schema(self, name: str) -> str:
        """The same name."""
        return name

    def states(self) -> list[str]:
        """The states of all members as this one sees them, its own first."""
        rows = self.connection.execute(
            "SELECT MEMBER_STATE FROM performance_schema.replication_group_members "
            "ORDER BY MEMBER_ID = @@server_uuid DESC"
        ).texts()
        return [state or "" for (state,) in rows]

    def catch_up(self, executed: str) -> None:
        """Wait until the member has applied the transactions; a member that left the group has stopped."""

        def done() -> bool:
            states = self.states()
            if states != ["ONLINE"] * _MEMBERS:
                errors = [(int(row[0] or 0), row[1] or "") for row in self.connection.execute(FAILED_WORKER).texts()]
                raise ReplicaStopped(*(first_cause(errors) if errors else (0, ", ".join(states))), "group's applier")
            asked = f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 0.5)"
            return self.connection.execute(asked).scalar() == "0"

        if not clock.REAL.until(done, CATCH_UP_SECONDS, 0.0):
            raise ReplicaLate(f"{self.replica.id} has not applied {executed} after {CATCH_UP_SECONDS:g} s")

    def mend(self) -> None:
        """A group that has lost a member is made anew."""
        if self.states() != ["ONLINE"] * _MEMBERS:
            raise ServerUnavailable("a member left the group", "make the group anew")

    def close(self) -> None:
        """Close the session."""
        self.connection.close()


def group(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A group of three with a single primary, the source."""
    return _group(maker, narrate, {})


def group_multi(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A group of three that all take writes; a rival at a second member changes the rows of the base too.

    Chance decides which of two transactions stays: the rows of a twin would differ.
    """
    world = _group(
        maker, narrate,
        {
            "loose-group-replication-single-primary-mode": "OFF",
            "loose-group-replication-enforce-update-everywhere-checks": "ON",
        },
    )  # fmt: skip
    world.companions = (Rival(world),)
    world.twinned = False
    return world


def _group(maker: Maker, narrate: Callable[[str], None], more: dict[str, str]) -> World:
    name = f"b1a9f5d0-0000-4000-8000-{secrets.token_hex(6)}"
    options = {**_OPTIONS, **more, "loose-group-replication-group-name": name}
    with starting(maker, narrate, options) as world:
        if not isinstance(world.source, ProcessServer):
            raise ServerUnavailable("members of a group find each other as processes of this machine only")
        members: list[OwnServer] = [world.source]
        world.more = ", sql_generate_invisible_primary_key = ON"  # a group takes no rows of a table without a key
        for number in range(2, _MEMBERS + 1):
            members.append(launched(maker, number, options, narrate))
            world.owns(members[-1])
        _introduce(members)
        for member in members[1:]:
            world.pairs = (*world.pairs, Member(world.source, member))
            world.owns(world.pairs[-1])
        return world


def _introduce(members: Sequence[OwnServer]) -> None:
    """Let the members form a group, and wait until all are in it."""
    password = secrets.token_urlsafe(18)
    places = [f"127.0.0.1:{member.address.port}" for member in members]
    for member, place in zip(members, places, strict=True):
        with member.connect() as own:
            own.execute("SET SESSION sql_log_bin = 0")
            own.execute(f"CREATE USER {_ACCOUNT} IDENTIFIED BY '{password}'")
            own.execute(
                "GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM "
                f"ON *.* TO {_ACCOUNT}"
            )
            own.execute(
                f"CHANGE REPLICATION SOURCE TO SOURCE_USER = 'lab_group', SOURCE_PASSWORD = '{password}' "
                "FOR CHANNEL 'group_replication_recovery'"
            )
            own.execute(f"SET GLOBAL group_replication_local_address = '{place}'")
            own.execute(f"SET GLOBAL group_replication_group_seeds = '{','.join(places)}'")
            first = member is members[0]
            if first:
                own.execute("SET GLOBAL group_replication_bootstrap_group = ON")
            own.execute("START GROUP_REPLICATION")
            if first:
                own.execute("SET GLOBAL group_replication_bootstrap_group = OFF")
    with members[0].connect() as own:
        asked = "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'"
        if not clock.REAL.until(lambda: own.execute(asked).scalar() == str(len(members)), _START_SECONDS, 0.05):
            raise ServerUnavailable("the members did not form a group in the stated time")
