"""Facts that a server reports by SQL about itself and a session, for event fields that no model can predict.

Observed on 9.7.4: the status variable Queries is the id of the very query that reads it. Ids rise by one with each
statement of all sessions. A transaction's XID is the id of its first statement that needs the storage engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from conformance.cases.observation import Interval, LogFacts
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.servers import clock as lab_clock
from conformance.servers.wire.connection import version_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.observation import Place
    from conformance.servers.wire.connection import Connection
    from conformance.servers.wire.packets import Result

_QUERIES: Final = "SHOW SESSION STATUS LIKE 'Queries'"
_FACTS: Final = (
    "SELECT @@global.server_id, @@global.server_uuid, @@global.version, @@global.binlog_checksum,"
    " @@global.gtid_executed, @@global.gtid_mode, CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS UNSIGNED)"
)
_CLOCK: Final = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS UNSIGNED)"
_RESOLUTION: Final = 1000  # microseconds: the lab's clock, where a tape holds what it showed
_DEPENDENCIES: Final = "binlog_transaction_dependency_"
_TRACKING, _HISTORY = f"{_DEPENDENCIES}tracking", f"{_DEPENDENCIES}history_size"


class Reading(NamedTuple):
    """A reading of a server's clock, in microseconds since the epoch.

    ``asked``: the lab's monotonic clock before the question and behind the answer, in seconds.
    """

    clock: int
    asked: tuple[float, float]

    def elapsed(self, since: Reading) -> tuple[int, int]:
        """Microseconds between two readings, at least and at most, by the lab's clock."""
        least = round((self.asked[0] - since.asked[1]) * 1e6) - _RESOLUTION
        return max(0, least), round((self.asked[1] - since.asked[0]) * 1e6) + _RESOLUTION


def read_clock(connection: Connection) -> Reading:
    """Read the server's clock."""
    begun = lab_clock.monotonic()
    shown = connection.execute(_CLOCK).number()
    return Reading(shown, (begun, lab_clock.monotonic()))


class Moment(NamedTuple):
    """The server's facts at one moment."""

    server_id: int
    server_uuid: str
    version: int
    checksum: bool
    executed: tuple[Interval, ...]
    gtids: bool
    reading: Reading
    query: int


def facts_before(connection: Connection) -> Moment:
    """The present facts. The session's next query has the id after ``query``."""
    begun = lab_clock.monotonic()
    facts, queries = connection.execute_many([_FACTS, _QUERIES]).check()
    return _moment(facts, queries, (begun, lab_clock.monotonic()))


def facts_behind(connection: Connection) -> Moment:
    """The present facts. The session's last query has the id before ``query``."""
    begun = lab_clock.monotonic()
    queries, facts = connection.execute_many([_QUERIES, _FACTS]).check()
    return _moment(facts, queries, (begun, lab_clock.monotonic()))


def _moment(facts: Result, queries: Result, asked: tuple[float, float]) -> Moment:
    server_id, uuid, version, checksum, executed, mode, clock = (str(value) for value in facts.only())
    own = UUID(uuid)
    entries = PreviousGtids.parse(executed).entries
    major, minor, patch = version_number(version)
    return Moment(
        server_id=int(server_id),
        server_uuid=uuid,
        version=major * 10000 + minor * 100 + patch,
        checksum=checksum.upper() == "CRC32",
        executed=next((entry.intervals for entry in entries if entry.uuid == own and not entry.tag), ()),
        gtids=mode.upper().startswith("ON"),  # ON_PERMISSIVE too
        reading=Reading(int(clock), asked),
        query=int(str(queries.only()[1])),
    )


def has_writesets(connection: Connection) -> bool:
    """Whether the logical clock follows rows: as the variable says. Without it a server that has a history of rows
    always does so, and one without a history never (reference of options, 8.4)."""
    rows = connection.execute(f"SHOW GLOBAL VARIABLES LIKE '{_DEPENDENCIES}%'").texts()
    found = {row[0]: row[1] for row in rows}
    return found[_TRACKING] == "WRITESET" if _TRACKING in found else _HISTORY in found


def log_facts(
    first: Moment, last: Moment, places: Sequence[Place], *, sequence: int | None, writesets: bool, alone: bool
) -> LogFacts:
    """The facts of both moments in one record."""
    return LogFacts(
        server_id=first.server_id,
        server_uuid=first.server_uuid,
        version=first.version,
        checksum=first.checksum,
        clock=(first.reading.clock, last.reading.clock),
        elapsed=last.reading.elapsed(first.reading),
        executed=(first.executed, last.executed),
        queries=(first.query, last.query),
        sequence=sequence,
        writesets=writesets,
        alone=alone,
        places=tuple(places),
        gtids=first.gtids,
    )
