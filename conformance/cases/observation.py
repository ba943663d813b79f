"""The observation of an update Case on a server: counts, errors, rows read back, and the bytes of its binary log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """The answer to one statement: rows changed, or the error's number and text."""

    changed: int
    error: int | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a captured transaction stands in the log, by the lengths of all events in front of it.

    ``file``: number of the file in the capture, from 0. ``others``: foreign transactions in front of it, since the
    Case's last one or since the file began. ``floor``: which of those (from 1) is the last on which all later ones
    depend, because it did more than change rows; 0: none. ``own``: which of those is the last of the same session; 0:
    none. ``earlier``: foreign transactions behind the Case's last one, in the files before this.
    """

    file: int
    start: int
    others: int = 0
    floor: int = 0
    own: int = 0
    earlier: int = 0


Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFacts:
    """Facts that no model can know, from server and session: by SQL and by lengths, never from the events.

    Pairs are from before the first statement and from behind the last one. ``clock``: microseconds since the epoch.
    ``executed``: the numbers under the server's own UUID (half-open). ``queries``: the ids of the queries next to the
    Case's. ``sequence``: transactions in the first file in front of the capture, if they were counted. ``writesets``:
    transactions depend on each other by rows. ``alone``: other sessions have no foreign keys. ``gtids``: new
    transactions get GTIDs, as ``gtid_mode`` says. ``elapsed``: microseconds between the readings of ``clock``, at least
    and at most, by the lab's monotonic clock; ``None``: unknown.
    """

    server_id: int
    server_uuid: str
    version: int
    checksum: bool
    clock: tuple[int, int]
    executed: tuple[tuple[Interval, ...], tuple[Interval, ...]]
    queries: tuple[int, int]
    sequence: int | None
    writesets: bool
    alone: bool
    places: tuple[Place, ...]
    gtids: bool = True
    elapsed: tuple[int, int] | None = None


ReadBackRow = tuple[bytes | None, ...]
"""Storage size, storage free and text of each JSON column, as the server sent them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The run of one Case. ``outcomes`` are parallel to the Case's steps, ``read_backs`` to the script's read-backs.

    ``read_back_errors`` are parallel to ``read_backs``: the number of the error that ended the SELECT, 0 for none;
    empty where nobody noted them. ``refused``: statements around the updates (INSERT, BEGIN, COMMIT), with the error.
    ``events`` are the whole events that the Case's own session wrote after its table existed, in log order.
    """

    outcomes: tuple[StatementOutcome, ...]
    read_backs: tuple[tuple[ReadBackRow, ...], ...]
    read_back_errors: tuple[int, ...] = ()
    refused: tuple[tuple[str, StatementOutcome], ...] = ()
    events: tuple[bytes, ...]
    server_version: str
    thread_id: int
    schema: str
    log: LogFacts | None = None  # None: the facts are unknown, as for captures of other origin
