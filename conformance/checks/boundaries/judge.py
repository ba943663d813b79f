"""Judges of transaction boundaries: marked streams, and the parser that shipped."""

from __future__ import annotations

import re
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem
from conformance.judge.updates.events import inner_events
from conformance.reference.binlog.header import FOOTER_SIZE, MAGIC, checksum_of
from conformance.reference.boundaries import unmarked
from conformance.reference.boundaries.markers import BoundaryType, mark, marker_of, marker_title
from conformance.reference.boundaries.observed_event import GTID_TYPES, ObservedEvent, observe
from conformance.reference.boundaries.reader import GroupKind, read_groups
from conformance.reference.boundaries.shipped import ParserState, ShippedParser
from conformance.reference.boundaries.source import mark_stream
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.boundaries.reader import Group

# The worklog's grammar; by its table a stream may also end inside a group.
_VALID: Final = re.compile(r"(?:1|2|3[14]*5)*(?:3[14]*)?")
_LOG_FRAME: Final = frozenset(
    (EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.ROTATE, EventType.STOP)
)
_ANOTHER: Final = (93).to_bytes(4, "little")


def mark_events(events: Sequence[bytes]) -> list[bytes]:
    """The events as a source with the feature would have written them."""
    types = mark_stream(map(observe, events))
    return [mark(event, kind) for event, kind in zip(events, types, strict=True)]


def of_another(event: bytes) -> bytes:
    """The event under another server's id: a receiver passes over events with its own id."""
    data = bytearray(event[:-FOOTER_SIZE])
    data[5:9] = _ANOTHER
    return bytes(data) + checksum_of(bytes(data)).to_bytes(FOOTER_SIZE, "little")


def without_gtids(events: Iterable[bytes]) -> list[bytes]:
    """The stream as a server without GTID events writes it."""
    return [event for event in events if event[4] not in GTID_TYPES]


def without_marks(events: Iterable[bytes]) -> list[bytes]:
    """The stream as a server without markers writes it."""
    return [mark(event, 0) if marker_of(_flags(event)) else event for event in events]


def has_marks(events: Iterable[bytes]) -> bool:
    """Whether the server marks its events: one marker is enough, so that an event without a marker is an error."""
    return any(markers_of(events))


def _flags(event: bytes) -> int:
    return int.from_bytes(event[17:19], "little")


def markers_of(events: Iterable[bytes]) -> list[int]:
    """The markers in the headers of events."""
    return [marker_of(_flags(event)) for event in events]


def expected_breaks(markers: Sequence[int]) -> list[int]:
    """The events of a marked stream that the worklog calls errors: by its grammar alone, begun anew after each
    error."""
    text = "".join(map(str, markers))
    start, out = 0, []
    for number in range(len(text)):
        if not _VALID.fullmatch(text, start, number + 1):
            out.append(number)
            start = number + 1
    return out


def breaks(events: Iterable[ObservedEvent]) -> list[int]:
    """The events that the kit's receiver calls errors."""
    receiver = unmarked.Receiver()
    return [number for number, event in enumerate(events) if receiver.feed(event).broken]


def _where(events: Sequence[bytes], number: int) -> str:
    event = events[number]
    words = observe(event).text[:40].decode("utf-8", "replace") if event[4] == EventType.QUERY else ""
    return f"event {number} {event_name(event[4])} {words}".rstrip()


def judge_marks(events: Sequence[bytes], marked: Sequence[bytes], groups: int, coin: str) -> list[Problem]:
    """Judge a real stream and its marked form. ``groups``: transactions that were run. ``coin``: which markers the
    mixed stream loses."""
    problems = []
    for number, (event, other) in enumerate(zip(events, marked, strict=True)):
        if len(event) != len(other) or mark(other, 0) != event:
            problems.append(
                Problem(
                    field=_where(events, number),
                    expected="the event with three bits changed",
                    got=f"{len(other)} bytes where it has {len(event)}",
                    message="a marker takes room or changes more than its bits",
                )
            )
    if problems:
        return problems
    markers = markers_of(marked)
    problems += [
        Problem(_where(events, number), "a marker", "none", "an event is not marked")
        for number, marker in enumerate(markers)
        if marker == BoundaryType.NOT_DEFINED
    ]
    random = Random(coin)
    mixed = [other if random.randrange(2) else event for event, other in zip(events, marked, strict=True)]
    for name, stream in (("marked", marked), ("unmarked", events), ("mixed", mixed)):
        receiver = unmarked.Receiver()
        for number, event in enumerate(stream):
            judged = receiver.feed(observe(event))
            if judged.broken is not None:
                problems.append(
                    Problem(
                        field=_where(events, number),
                        expected="an accepted event",
                        got=judged.broken.message,
                        message=f"a real transaction is refused as a {name} stream",
                    )
                )
            elif judged.type != markers[number]:
                problems.append(
                    Problem(
                        field=_where(events, number),
                        expected=str(markers[number]),
                        got=str(judged.type),
                        message=f"the guess differs from the mark in a {name} stream",
                    )
                )
    ends = sum(
        marker in (BoundaryType.END_TRANSACTION, BoundaryType.SELF_CONTAINED) and event[4] not in _LOG_FRAME
        for event, marker in zip(events, markers, strict=True)
    )
    if ends != groups:
        problems.append(
            Problem("transactions", str(groups), str(ends), "another number of transactions is marked than were run")
        )
    return problems


def judge_own_marks(events: Sequence[bytes], groups: int, coin: str) -> list[Problem]:
    """Judge a stream that its server marked itself: the types by the worklog's table, and all other rules of
    markers."""
    bare = without_marks(events)
    wanted = markers_of(mark_events(bare))
    wrong = [
        Problem(
            field=_where(events, number),
            expected=BoundaryType(due).title,
            got=marker_title(got),
            message="the server marks an event otherwise than the worklog's table",
        )
        for number, (due, got) in enumerate(zip(wanted, markers_of(events), strict=True))
        if due != got
    ]
    return wrong or judge_marks(bare, events, groups, coin)


def transactions_of(events: Iterable[bytes]) -> list[Group]:
    """The transactions of a stream without its frame, by types and texts of events alone.

    The markers of a server have a judge of their own.
    """
    groups = read_groups(BytesIO(b"".join(without_marks(events))), 0, footer=FOOTER_SIZE)
    return [group for group in groups if group.kind is not GroupKind.FRAME]


def judge_shipped(events: Sequence[bytes], groups: int, gtids: frozenset[str] | None) -> list[Problem]:
    """The shipped parser's model accepts a real stream, and the reader finds its transactions.

    ``gtids``: what the server says was executed meanwhile.
    """
    parser = ShippedParser()
    problems = []
    for number, event in enumerate(events):
        complaint = parser.feed(observe(event))
        if complaint is not None:
            problems.append(
                Problem(
                    field=_where(events, number),
                    expected="an accepted event",
                    got=f"{complaint.kind.name} in state {complaint.state.name}",
                    message="the model of the shipped parser refuses a real transaction",
                )
            )
    if parser.state is not ParserState.NONE:
        problems.append(
            Problem("end of the stream", "outside a transaction", parser.state.value, "a real transaction has no end")
        )
    found = transactions_of(events)
    strange = [str(group.kind) for group in found if group.kind in (GroupKind.OPEN, GroupKind.FRAGMENT)]
    names = [group.gtid for group in found if group.gtid is not None]
    for what, expected, got in (
        ("transactions", groups, len(found)),
        ("whole transactions", [], strange),
        ("GTIDs", sorted(names if gtids is None else gtids), sorted(names)),
    ):
        if expected != got:
            problems.append(Problem(what, str(expected)[:200], str(got)[:200], "the reader finds other transactions"))
    return problems


def judge_relay_logs(files: Sequence[bytes], gtids: Sequence[str | None]) -> list[Problem]:
    """Judge the relay logs of a receiver that received whole transactions.

    The parser accepts each file by itself, and the files together have the transactions. ``gtids``: those of the
    source, in order.
    """
    problems = []
    names: list[str | None] = []
    for number, data in enumerate(files):
        try:
            groups, strange = _relayed_groups(data)
        except CodecError as error:
            groups, strange = [], f"a file that cannot be read: {error}"
        names += [group.gtid for group in groups]
        if strange:
            problems.append(
                Problem(
                    field=f"relay log {number + 1}",
                    expected="whole transactions",
                    got=strange[:200],
                    message="a relay log of real transactions is not accepted",
                )
            )
    if names != list(gtids):
        problems.append(
            Problem(
                field="relay logs",
                expected=f"{len(gtids)} transactions",
                got=f"{len(names)} transactions, or others",
                message="the relay logs hold other transactions than the source's log",
            )
        )
    return problems


def _relayed_groups(data: bytes) -> tuple[list[Group], str]:
    """The transactions of one relay log, and what in it is strange. Raises :class:`CodecError`."""
    events = without_marks(split_log(data))  # markers of the source's own are judged by themselves
    found = [group for group in read_groups(BytesIO(file_of(events)), relay=True) if group.kind is not GroupKind.FRAME]
    strange = [str(group.kind) for group in found if group.kind in (GroupKind.OPEN, GroupKind.FRAGMENT)]
    receiver, parser = unmarked.Receiver(relay=True), ShippedParser()
    broken = [event for event in map(observe, events) if receiver.feed(event).broken or parser.feed(event)]
    said = f"{strange}, {[event_name(event.type) for event in broken]}" if strange or broken else ""
    return found, said


def judge_relayed(sent: Sequence[bytes], files: Sequence[bytes]) -> list[Problem]:
    """The relay logs hold the source's events byte for byte; a frame of its own surrounds them in every file."""
    wanted = [event for event in sent if event[4] not in _LOG_FRAME]
    got = [event for data in files for event in split_log(data) if event[4] not in _LOG_FRAME]
    return first_unequal(wanted, got, "event {} of the relay logs", "a relay log does not keep a marked event")


def first_unequal(wanted: Sequence[bytes], got: Sequence[bytes], field: str, message: str) -> list[Problem]:
    """The first event that differs or is missing; ``field`` has a place for its number."""
    if wanted == got:
        return []
    place = next(
        (number for number, pair in enumerate(zip(wanted, got, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(got)),
    )
    return [
        Problem(
            field=field.format(place),
            expected=b"".join(wanted[place : place + 1]).hex()[:80] or f"{len(wanted)} events",
            got=b"".join(got[place : place + 1]).hex()[:80] or f"{len(got)} events",
            message=message,
        )
    ]


def split_log(data: bytes) -> Iterable[bytes]:
    """The events of a file in memory, unchanged; a file that was cut off ends with bytes that are no event."""
    return inner_events(data[len(MAGIC) :])


def file_of(events: Iterable[bytes]) -> bytes:
    """A file of events that begin with its FORMAT_DESCRIPTION."""
    return MAGIC + b"".join(events)
