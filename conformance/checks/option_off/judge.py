"""The log of the same workload run several times: with the option off it must not change, with it on only updates
change.

Facts that no model can know are taken from one side (``judge.borrowed``), and held against their rule in every run; the
judge compares every other byte.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem
from conformance.judge.updates.borrowed import borrow, complete
from conformance.judge.updates.compare import judge_rules
from conformance.judge.updates.events import readable_events, split_groups
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.rows import STMT_END, UPDATE_TYPES, RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.rows import Row

_SHOWN: Final = 2000  # hexadecimal digits of an event


def broken_rules(script: Script, observation: Observation) -> list[Problem]:
    """Fields of one run that break their rule."""
    return [Problem(item.field, item.expected, item.got, item.message) for item in judge_rules(script, observation)]


def compare_off(first: Sequence[bytes], second: Sequence[bytes]) -> tuple[list[Problem], int]:
    """Two runs with the session's option off: problems, and the number of events compared."""
    problems = [
        Problem(
            field=f"event {number}",
            expected=event_name(EventType.UPDATE_ROWS),
            got=event_name(event[4]),
            message="an event of the new type with the option off",
        )
        for events in (first, second)
        for number, event in enumerate(events)
        if event[4] == EventType.PARTIAL_UPDATE_ROWS
    ]
    if len(first) != len(second):
        problems.append(_count("events", len(first), len(second)))
    try:
        pairs = zip(readable_events(first), readable_events(second), strict=False)
        for number, (one, other) in enumerate(pairs):
            problems += _same_event(f"event {number}", one, other)
    except CodecError as error:
        problems.append(_unreadable(error))
    return problems, min(len(first), len(second))


def compare_on(off: Sequence[bytes], on: Sequence[bytes]) -> tuple[list[Problem], int]:
    """A run with the option off and one with it on: problems, and the number of events and statements compared."""
    off_groups, on_groups = split_groups(off), split_groups(on)
    problems: list[Problem] = []
    if len(off_groups) != len(on_groups):
        problems.append(_count("transactions", len(off_groups), len(on_groups)))
    compared = 0
    for number, (one, other) in enumerate(zip(off_groups, on_groups, strict=False)):
        try:
            without, with_option = _statements(readable_events(one)), _statements(readable_events(other))
        except CodecError as error:
            problems.append(_unreadable(error))
            continue
        where = f"transaction {number}"
        if [type(item) for item in without] != [type(item) for item in with_option]:
            problems.append(_count(f"{where}, events", len(without), len(with_option)))
            continue
        for item, twin in zip(without, with_option, strict=True):
            compared += 1
            if isinstance(item, list) and isinstance(twin, list):
                problems += _same_update(where, item, twin)
            elif not isinstance(item, list) and not isinstance(twin, list):
                problems += _same_event(where, item, twin, lengths=False)
    return problems, compared


def _statements(events: Iterable[tuple[bytes, Event]]) -> list[list[RowsBody] | tuple[bytes, Event]]:
    """Events in order, those of an update statement together: their number depends on their sizes."""
    out: list[list[RowsBody] | tuple[bytes, Event]] = []
    for update, run in groupby(events, lambda item: item[1].body.type in UPDATE_TYPES):
        if update:
            out.append([event.body for _, event in run if isinstance(event.body, RowsBody)])
        else:
            out += run
    return out


def _same_event(
    where: str, one: tuple[bytes, Event], other: tuple[bytes, Event], *, lengths: bool = True
) -> list[Problem]:
    """Compare two events that must be the same. ``lengths``: also the length that a GTID event gives of its
    transaction."""
    raw, event = other
    body = borrow(one[1].body, event.body)
    if not lengths and isinstance(body, Gtid) and isinstance(event.body, Gtid):
        body = replace(body, transaction_length=event.body.transaction_length)
    algorithm = Checksum.NONE if event.checksum is None else Checksum.CRC32
    expected = complete(body, event.header, algorithm=algorithm)
    if expected == raw and one[1].header.flags == event.header.flags:
        return []
    return [
        Problem(
            f"{where}, {event_name(one[0][4])}", expected.hex()[:_SHOWN], raw.hex()[:_SHOWN], "the event's bytes differ"
        )
    ]


def _same_update(where: str, off: list[RowsBody], on: list[RowsBody]) -> list[Problem]:
    """Compare the same update statement twice: only type, value_options, and diffs in place of documents may differ."""
    problems = []
    heads = [
        {
            (body.flags & ~STMT_END, body.extra, body.column_count, body.before_columns, body.after_columns)
            for body in bodies
        }
        for bodies in (off, on)
    ]
    if heads[0] != heads[1]:
        problems.append(
            Problem(
                field=f"{where}, head of the row events",
                expected=repr(heads[0]),
                got=repr(heads[1]),
                message="more than type, value_options and diffs differ",
            )
        )
    rows_off = [row for body in off for row in body.rows]
    rows_on = [row for body in on for row in body.rows]
    if len(rows_off) != len(rows_on):
        problems.append(_count(f"{where}, rows", len(rows_off), len(rows_on)))
    problems += [
        Problem(
            field=f"{where}, row {number}",
            expected=repr(row)[:_SHOWN],
            got=repr(twin)[:_SHOWN],
            message="more than type, value_options and diffs differ",
        )
        for number, (row, twin) in enumerate(zip(rows_off, rows_on, strict=False))
        if not _same_row(row, twin)
    ]
    return problems


def _same_row(off: Row, on: Row) -> bool:
    if off.before != on.before or off.after is None or on.after is None or len(off.after) != len(on.after):
        return False
    return all(
        isinstance(value, bytes) if isinstance(twin, PartialJson) else value == twin
        for value, twin in zip(off.after, on.after, strict=True)
    )


def _count(field: str, expected: int, got: int) -> Problem:
    return Problem(field, str(expected), str(got), "another number in the second run")


def _unreadable(error: CodecError) -> Problem:
    return Problem("event", "a readable event", str(error), "the event cannot be read")
