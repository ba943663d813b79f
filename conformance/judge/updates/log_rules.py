"""The rules of the fields that no model can know (``judge.borrowed``). Pure.

The rules compare a field with what the server and the session say by SQL, with positions and lengths, and with the
events around it. They are observed on 9.7.4, where docs/spec has no other rule. They read fields at their offsets,
without decoding; the comparison of bytes reports unreadable events.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from conformance.judge.updates.attribution import of_rule
from conformance.judge.updates.events import inner_events, split_groups
from conformance.judge.updates.mismatch import Mismatch
from conformance.judge.updates.server_clock import SECOND, ServerClock
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER, HEADER_SIZE, checksum_of, kind_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import ROWS_TYPES, STMT_END
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.observation import LogFacts, Place

_GTID: Final = Struct("<B16sqBQQ")  # flags, UUID, number, type of clock, last_committed, sequence_number
_QUERY: Final = Struct("<II")  # thread id, execution time
_XID: Final = Struct("<Q")
_CLOCK_SIZE: Final = 7  # bytes of a commit timestamp; the uppermost bit says whether the original one follows
_ORIGINAL: Final = 1 << 55
_VERSION_SIZE: Final = 4
_TABLE_ID_SIZE: Final = 6
_ROWS_FLAGS: Final = HEADER_SIZE + _TABLE_ID_SIZE
_U4: Final = 1 << 32


TIMES: Final = frozenset(
    ("header.timestamp", "GTID_LOG_EVENT.immediate_commit_timestamp", "QUERY_EVENT.execution_time")
)
"""The fields that a clock which is set and set back again may spoil, unseen by the readings before and behind."""


class GroupNote(NamedTuple):
    """The Case's note on a transaction. ``keys``: those of the rows it writes; ``None`` for a table without a key that
    tells rows apart. ``first`` and ``last``: numbers of the statements, of which one gives the XID; 0 is the INSERT.
    ``exact``: only these rows make the transaction depend on another one of the Case."""

    keys: frozenset[object] | None
    first: int
    last: int
    exact: bool = True


@dataclass(slots=True)
class _Violation:
    event: int
    where: str
    expected: str
    got: str
    kinds: set[str]  # of the events
    count: int = 1


def judge_log(
    events: Sequence[bytes],
    facts: LogFacts | None,
    *,
    thread_id: int | None = None,
    notes: Sequence[GroupNote] = (),
    statements: int = 0,
    applied: bool = False,
    step: int = 0,
) -> list[Mismatch]:
    """One mismatch for each field whose rule some event breaks, with the first such event and how many there are.

    ``events``: whole transactions in the order of the log. Without ``facts`` only the relations between events are
    judged. ``notes`` are parallel to the transactions, if those are the expected ones; ``statements``: the number of
    the last statement. ``applied``: the log is a replica's, whose workers' queries run in any order. ``step``: without
    facts, the microseconds by which a clock was set meanwhile.
    """
    log = _Log(facts, thread_id, statements, applied=applied, step=step)
    groups = split_groups(events)
    places = facts.places if facts is not None and len(facts.places) == len(groups) else (None,) * len(groups)
    known: Sequence[GroupNote | None] = notes if len(notes) == len(groups) else (None,) * len(groups)
    for group, place, note in zip(groups, places, known, strict=True):
        log.group(group, place, note)
    return log.mismatches()


class _Log:
    """The walk through the transactions, with the state that the rules need."""

    def __init__(
        self, facts: LogFacts | None, thread_id: int | None, statements: int, *, applied: bool, step: int
    ) -> None:
        self.facts, self.thread_id, self.statements, self.applied = facts, thread_id, statements, applied
        self.found: dict[str, _Violation] = {}
        self.seen = self.transactions = 0
        self.server_id = facts.server_id if facts else None
        self.uuid = UUID(facts.server_uuid).bytes if facts else None
        self.times = ServerClock(facts.clock, facts.elapsed) if facts else ServerClock(None, step=step)
        self.version = facts.version if facts else None
        self.position: int | None = None
        self.timestamp = 0
        self.file = -1
        self.gno: int | None = None
        self.sequence: int | None = None
        self.own = 0  # sequence number of the session's last transaction in this file
        self.floor = 0  # the same of the last transaction that all later ones depend on
        self.writers: dict[object, int] = {}
        self.committed_at = facts.clock[0] if facts else 0
        self.xid: int | None = None
        self.xid_note: GroupNote | None = None
        self.table_ids: dict[bytes, int] = {}
        self.now = (0, "")  # number and name of the event at hand

    # --- findings --------------------------------------------------------------------------------------------------

    def expect(self, field: str, expected: object, got: object) -> None:
        if expected != got:
            self.broken(field, str(expected), str(got))

    def within(self, field: str, low: int, high: int, got: int) -> None:
        if not low <= got <= high:
            self.broken(field, str(low) if low == high else f"{low} to {high}", str(got))

    def broken(self, field: str, expected: str, got: str) -> None:
        known = self.found.get(field)
        if known is None:
            number, name = self.now
            where = f"event {number} ({name}, transaction {self.transactions})"
            self.found[field] = _Violation(number, where, expected, got, {name})
        else:
            known.count += 1
            known.kinds.add(self.now[1])

    def mismatches(self) -> list[Mismatch]:
        return [
            Mismatch(
                kind="event",
                step=None,
                field=field,
                expected=item.expected,
                got=item.got,
                message=f"{field} breaks its rule in {item.where}: expected {item.expected}, got {item.got}"
                f" ({item.count} of {self.seen} events)",
                broken=of_rule(field, item.kinds),
            )
            for field, item in self.found.items()
        ]

    # --- the walk --------------------------------------------------------------------------------------------------

    def group(self, group: list[bytes], place: Place | None, note: GroupNote | None) -> None:
        if place is not None:
            self.position = place.start
        elif self.position is not None:
            self.rising(group[0])
        if self.facts is not None:
            self.now = self.seen, event_name(kind_of(group[0]))
            self.expect("checksum", self.facts.checksum, any(map(_has_checksum, group)))
        stamps = _Stamps(self)
        commit: int | None = None
        for event in group:
            if len(event) < HEADER_SIZE + FOOTER_SIZE:
                self.position = None
                continue
            self.event(event, stamps)
            if self.position is None:
                self.position = int.from_bytes(event[13:17], "little")
            else:
                self.position += len(event)
                self.expect("header.log_pos", self.position % _U4, int.from_bytes(event[13:17], "little"))
            kind = event[4]
            # A worker without GTIDs may write the second of the commit into the frame alone (observed on 9.7.4).
            if kind == EventType.GTID or (kind == EventType.ANONYMOUS_GTID and not self.applied):
                commit = self.gtid(event, place, note)
            elif kind == EventType.TRANSACTION_PAYLOAD:
                self.payload(event, stamps, note)
            else:
                self.body(event, note)
        stamps.close(commit)
        self.transactions += 1

    def rising(self, event: bytes) -> None:
        """Check a transaction that stands anywhere behind the last one: its first event has the position."""
        assert self.position is not None
        self.now = self.seen, event_name(kind_of(event))
        end = int.from_bytes(event[13:17], "little")
        if end < (self.position + len(event)) % _U4 and self.position < _U4:
            self.broken("header.log_pos", f"{self.position + len(event)} or more", str(end))
        self.position = None

    def payload(self, event: bytes, stamps: _Stamps, note: GroupNote | None) -> None:
        """Check the events inside a payload: they have no positions of their own."""
        end = len(event) - (FOOTER_SIZE if self.facts is None or self.facts.checksum else 0)
        try:
            data = TransactionPayload.decode(event[HEADER_SIZE:end]).uncompressed()
        except CodecError:
            return
        for inner in inner_events(data):
            if len(inner) < HEADER_SIZE:
                continue
            self.event(inner, stamps)
            self.expect("header.log_pos", 0, int.from_bytes(inner[13:17], "little"))
            self.body(inner, note)

    def event(self, event: bytes, stamps: _Stamps) -> None:
        timestamp, kind, server_id, _, _, _ = HEADER.unpack_from(event)
        self.now = self.seen, event_name(kind)
        self.seen += 1
        if self.server_id is None:
            self.server_id = server_id
        self.expect("header.server_id", self.server_id, server_id)
        if not self.times.possible_second(timestamp):
            self.broken("header.timestamp", self.times.words_in_seconds, str(timestamp))
        stamps.add(kind, timestamp, event)

    def body(self, event: bytes, note: GroupNote | None) -> None:
        kind = event[4]
        if kind == EventType.QUERY and len(event) >= HEADER_SIZE + _QUERY.size:
            thread_id, seconds = _QUERY.unpack_from(event, HEADER_SIZE)
            if self.thread_id is not None:
                self.expect("QUERY_EVENT.thread_id", self.thread_id, thread_id)
            longest = max(0, self.committed_at // SECOND - int.from_bytes(event[:4], "little"))
            # A worker's BEGIN may be a second later (observed on 9.7.4).
            if not self.applied and not self.times.lasted(seconds, longest):
                self.broken("QUERY_EVENT.execution_time", f"0 to {longest}" if longest else "0", str(seconds))
        elif kind == EventType.XID and len(event) >= HEADER_SIZE + _XID.size:
            self.xid_of(_XID.unpack_from(event, HEADER_SIZE)[0], note)
        elif kind == EventType.TABLE_MAP:
            self.table_map(event)
        elif kind in ROWS_TYPES:
            table_id = int.from_bytes(event[HEADER_SIZE : HEADER_SIZE + _TABLE_ID_SIZE], "little")
            if table_id not in self.table_ids.values():
                self.broken(f"{event_name(kind)}.table_id", "that of its TABLE_MAP_EVENT", str(table_id))

    # --- one field each --------------------------------------------------------------------------------------------

    def table_map(self, event: bytes) -> None:
        """The id of a table stays while its definition does: a session that only changes rows sees one id."""
        table_id = int.from_bytes(event[HEADER_SIZE : HEADER_SIZE + _TABLE_ID_SIZE], "little")
        start = HEADER_SIZE + _TABLE_ID_SIZE + 2
        if start >= len(event):
            return  # cut off
        middle = start + 1 + event[start] + 1  # lengths of names take one byte each
        name = event[start : middle + 1 + event[middle]] if middle < len(event) else event[start:]
        known = self.table_ids.get(name)
        if known is None:
            if table_id in self.table_ids.values():
                self.broken("TABLE_MAP_EVENT.table_id", "an id of its own", str(table_id))
            self.table_ids[name] = table_id
        else:
            self.expect("TABLE_MAP_EVENT.table_id", known, table_id)

    def xid_of(self, xid: int, note: GroupNote | None) -> None:
        if self.applied:
            return
        if self.xid is not None and xid <= self.xid:
            self.broken("XID_EVENT.xid", f"more than {self.xid}", str(xid))
        elif note is not None and self.facts is not None:
            before, behind = self.facts.queries
            low, high = before + 1 + note.first, behind - 1 - (self.statements - note.last)
            if self.xid is not None and self.xid_note is not None:
                low = max(low, self.xid + note.first - self.xid_note.last)
            self.within("XID_EVENT.xid", low, high, xid)
        self.xid, self.xid_note = xid, note

    def gtid(self, event: bytes, place: Place | None, note: GroupNote | None) -> int | None:
        """Check all fields of a GTID event; returns the commit timestamp."""
        if len(event) < HEADER_SIZE + _GTID.size:
            return None
        _, uuid, gno, _, committed, sequence = _GTID.unpack_from(event, HEADER_SIZE)
        if event[4] == EventType.GTID:  # the other has zeros, which the comparison of bytes demands
            if self.uuid is None:
                self.uuid = uuid
            if uuid != self.uuid:
                self.broken("GTID_LOG_EVENT.uuid", str(UUID(bytes=self.uuid)), str(UUID(bytes=uuid)))
            self.number(gno, place)
        self.clock(committed, sequence, place, note)
        return self.commit(event)

    def number(self, gno: int, place: Place | None) -> None:
        """Check the GTID's number: the next free one behind those of the transactions between."""
        field = "GTID_LOG_EVENT.gno"
        before, after = self.facts.executed if self.facts else ((), ())
        if self.gno is not None and place is not None:
            wanted = low = _next_free(self.gno, before)
            for _ in range(place.others + place.earlier):
                wanted = _next_free(wanted, before)
            # Others may bring numbers of their own.
            self.within(field, low if self.facts is not None and not self.facts.alone else wanted, wanted, gno)
        elif self.gno is not None and gno <= self.gno:
            self.broken(field, f"more than {self.gno}", str(gno))
        if self.facts is not None and (_inside(gno, before) or not _inside(gno, after)):
            self.broken(field, f"in {_shown(after)} and not in {_shown(before)}", str(gno))
        self.gno = gno

    def clock(self, committed: int, sequence: int, place: Place | None, note: GroupNote | None) -> None:
        field = "GTID_LOG_EVENT.sequence_number"
        if place is None:
            if self.sequence is not None and sequence <= self.sequence:
                self.broken(field, f"more than {self.sequence}", str(sequence))
            self.within("GTID_LOG_EVENT.last_committed", 0, sequence - 1, committed)
            self.sequence = sequence
            return
        if place.file != self.file:
            start = 0 if place.file else self.facts.sequence if self.facts else None
            self.file, self.sequence = place.file, start
            self.own = 0
            self.floor = 1 if place.file else 0  # a server that begins another file forgets the writers
            self.writers.clear()
        wanted = sequence if self.sequence is None else self.sequence + place.others + 1
        before = wanted - place.others - 1
        if place.floor:
            self.floor = before + place.floor
        if place.own:
            self.own = before + place.own
        self.expect(field, wanted, sequence)
        low, high = self.parents(wanted, place, note)
        self.within("GTID_LOG_EVENT.last_committed", low, high, committed)
        self.sequence = self.own = wanted
        if note is not None and note.keys is not None:
            self.writers.update(dict.fromkeys(note.keys, wanted))

    def parents(self, sequence: int, place: Place, note: GroupNote | None) -> tuple[int, int]:
        """The bounds of last_committed.

        It is the number of the last writer of one of the rows, or the last on which all later ones depend. It is never
        later than what was committed when the transaction was prepared, which is at least the session's last one.
        """
        if self.facts is None or not self.facts.writesets:
            return self.own, sequence - 1
        if note is None:  # the rows are unknown
            return min(self.floor, self.own), sequence - 1
        if note.keys is None:
            return self.own, sequence - 1
        rows = max((self.writers.get(key, 0) for key in note.keys), default=0)
        wanted = max(rows, self.floor)
        if place.others and not self.facts.alone:
            return min(wanted, self.own), sequence - 1
        return min(wanted, self.own), wanted if note.exact else max(wanted, self.own)

    def commit(self, event: bytes) -> int | None:
        """Check the time of the commit, and the version of the server, which end the event."""
        at = HEADER_SIZE + _GTID.size
        clock = int.from_bytes(event[at : at + _CLOCK_SIZE], "little")
        original = clock & _ORIGINAL
        if original and not self.applied:
            return None  # on a source the original is the same and not written: other bytes than predicted
        clock &= ~_ORIGINAL
        field = "GTID_LOG_EVENT.immediate_commit_timestamp"
        if not self.times.possible(clock):
            self.broken(field, self.times.words, str(clock))
        elif self.times.is_behind(clock, self.committed_at):
            self.broken(field, f"{self.committed_at} or later", str(clock))
        self.committed_at = clock
        if original:
            at += _CLOCK_SIZE
            clock = int.from_bytes(event[at : at + _CLOCK_SIZE], "little")
            if clock > self.committed_at + self.times.tolerance:
                self.broken("GTID_LOG_EVENT.original_commit_timestamp", f"{self.committed_at} or less", str(clock))
        end = len(event) - (FOOTER_SIZE if self.facts is None or self.facts.checksum else 0)
        version = int.from_bytes(event[end - _VERSION_SIZE : end], "little")
        if self.version is None:
            self.version = version
        self.expect("GTID_LOG_EVENT.immediate_server_version", self.version, version)
        return clock


class _Stamps:
    """The seconds in the headers of one transaction.

    Events of one statement have the same. The frame has that of the first statement in front and that of the commit
    behind, and none goes back.
    """

    def __init__(self, log: _Log) -> None:
        self.log = log
        self.frame: list[tuple[tuple[int, str], int]] = []  # GTID and payload: written at the commit
        self.statement: int | None = None

    def add(self, kind: int, timestamp: int, event: bytes) -> None:
        log = self.log
        if kind in (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.TRANSACTION_PAYLOAD):
            self.frame.append((log.now, timestamp))
            return
        if self.statement is not None and kind != EventType.XID:
            log.expect("header.timestamp", self.statement, timestamp)
        elif log.times.is_behind(timestamp * SECOND, log.timestamp * SECOND):
            log.broken("header.timestamp", f"{log.timestamp} or later", str(timestamp))
        log.timestamp = self.statement = timestamp
        if kind in ROWS_TYPES and int.from_bytes(event[_ROWS_FLAGS : _ROWS_FLAGS + 2], "little") & STMT_END:
            self.statement = None

    def close(self, commit: int | None) -> None:
        """End the transaction. ``log.timestamp`` is that of its last event."""
        log = self.log
        for now, timestamp in self.frame:
            log.now = now
            log.expect("header.timestamp", log.timestamp, timestamp)
        if commit is not None and log.times.is_behind(commit, log.timestamp * SECOND):
            log.broken("header.timestamp", f"not behind the commit at {commit / SECOND:.6f}", str(log.timestamp))


def _has_checksum(event: bytes) -> bool:
    return checksum_of(event[:-FOOTER_SIZE]) == int.from_bytes(event[-FOOTER_SIZE:], "little")


def _next_free(number: int, taken: Sequence[tuple[int, int]]) -> int:
    number += 1
    for start, end in taken:
        if start <= number < end:
            number = end
    return number


def _inside(number: int, intervals: Sequence[tuple[int, int]]) -> bool:
    return any(start <= number < end for start, end in intervals)


def _shown(intervals: Sequence[tuple[int, int]]) -> str:
    return ":".join(f"{start}-{end - 1}" for start, end in intervals) or "nothing"
