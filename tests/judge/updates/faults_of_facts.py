"""Faults of the fields that no model can know: where each stands, and how its values are altered.

Written down from docs/spec/binlog-events.md before the rules: one value, all values, all by as much, two in each
other's place; also inside compressed transactions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.event_types import EventType
from tests.judge.doctoring import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.cases.observation import Observation

ROWS: Final = frozenset((EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS))


class Field(NamedTuple):
    """Where a field stands (a negative offset: from the end of an event), and the types that have it."""

    name: str
    offset: int
    size: int
    types: frozenset[int] | None = None


def gtid(name: str, offset: int, size: int) -> Field:
    return Field(f"GTID_LOG_EVENT.{name}", offset, size, frozenset((EventType.GTID,)))


QUERY: Final = frozenset((EventType.QUERY,))
FIELDS: Final = {
    field.name: field
    for field in (
        Field("header.timestamp", 0, 4),
        Field("header.server_id", 5, 4),
        Field("header.log_pos", 13, 4),
        gtid("uuid", 20, 16),
        gtid("gno", 36, 8),
        gtid("last_committed", 45, 8),
        gtid("sequence_number", 53, 8),
        gtid("immediate_commit_timestamp", 61, 7),
        gtid("immediate_server_version", -8, 4),
        Field("QUERY_EVENT.thread_id", 19, 4, QUERY),
        Field("QUERY_EVENT.execution_time", 23, 4, QUERY),
        Field("XID_EVENT.xid", 19, 8, frozenset((EventType.XID,))),
        Field("TABLE_MAP_EVENT.table_id", 19, 6, frozenset((EventType.TABLE_MAP,))),
        Field("rows.table_id", 19, 6, ROWS),
    )
}
CONSTANT: Final = frozenset(
    (
        "header.timestamp",  # a recorded block is done in a second
        "header.server_id",
        "GTID_LOG_EVENT.uuid",
        "GTID_LOG_EVENT.immediate_server_version",
        "QUERY_EVENT.thread_id",
        "QUERY_EVENT.execution_time",
        "TABLE_MAP_EVENT.table_id",
        "rows.table_id",
    )
)


def unpacked(events: Sequence[bytes]) -> list[list[bytes]]:
    """Each event, and behind a compressed one those inside."""
    out = []
    for event in events:
        inner = []
        if event[4] == EventType.TRANSACTION_PAYLOAD:
            data, position = TransactionPayload.decode(event[19:-4]).uncompressed(), 0
            while position < len(data):
                length = int.from_bytes(data[position + 9 : position + 13], "little")
                inner.append(data[position : position + length])
                position += length
        out.append([event, *inner])
    return out


def packed(events: list[list[bytes]]) -> tuple[bytes, ...]:
    out = []
    for event, *inner in events:
        if inner:
            whole = TransactionPayload.compress(b"".join(inner)).encode()
            event = event[:19] + whole + event[-4:]
        out.append(sealed(event))
    return tuple(out)


def altered(observation: Observation, field: Field, change: Callable[[list[int]], list[int]]) -> Observation:
    """An observation with the values of a field changed."""
    return replace(observation, events=altered_events(observation.events, field, change))


def altered_events(log: Sequence[bytes], field: Field, change: Callable[[list[int]], list[int]]) -> tuple[bytes, ...]:
    """All values of a field, in the order of the log, changed."""
    events = unpacked(log)
    places = [
        (number, inner)
        for number, group in enumerate(events)
        for inner, event in enumerate(group)
        if (field.types is None or event[4] in field.types) and (field.name != "header.log_pos" or not inner)
    ]
    values = []
    for number, inner in places:
        event = events[number][inner]
        start = field.offset % len(event)
        values.append(int.from_bytes(event[start : start + field.size], "little"))
    new = change(values)
    assert new != values, "the fault changes nothing"
    for (number, inner), value in zip(places, new, strict=True):
        event = events[number][inner]
        start = field.offset % len(event)
        data = (value % (1 << 8 * field.size)).to_bytes(field.size, "little")
        events[number][inner] = event[:start] + data + event[start + field.size :]
    return packed(events)


def one(values: list[int]) -> list[int]:
    return [value + (number == len(values) // 2) * max(1, value // 2) for number, value in enumerate(values)]


def one_step(values: list[int]) -> list[int]:
    """By the smallest step, which only the neighbours betray."""
    return [value + (number == len(values) // 2) for number, value in enumerate(values)]


def every(values: list[int]) -> list[int]:
    return [(1 << 31) - 1 for _ in values]


def shifted(values: list[int]) -> list[int]:
    """Still rising, each by as much."""
    return [value + 1 for value in values]


def shifted_far(values: list[int]) -> list[int]:
    return [value + 3_600_000_000 for value in values]


def swapped(values: list[int]) -> list[int]:
    return [values[-1], *values[1:-1], values[0]]


CHANGES: Final = {change.__name__: change for change in (one, one_step, every, shifted, shifted_far, swapped)}
LOOSE: Final = frozenset((
    ("GTID_LOG_EVENT.immediate_commit_timestamp", "one_step"),
    ("GTID_LOG_EVENT.immediate_commit_timestamp", "shifted"),
    ("QUERY_EVENT.execution_time", "one_step"),
    ("QUERY_EVENT.execution_time", "shifted"),
))  # fmt: skip
"""Rules that are ranges: a microsecond more, or a second in a run of several, is no fault."""
