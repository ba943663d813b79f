"""WL#4162: the transition table, the source's marks, the receiver's guess, and where the marker stands."""

from __future__ import annotations

import re
from itertools import product
from random import Random
from typing import Final

import pytest

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.markers import mark, marker_of, mask, with_marker
from conformance.reference.boundaries.observed_event import ObservedEvent, observe, query_text
from conformance.reference.boundaries.source import mark_stream
from conformance.reference.boundaries.unmarked import Receiver, Role, role_of
from conformance.reference.boundaries.worklog import BoundaryParser
from conformance.reference.errors import CodecError, EncodeError
from conformance.reference.event_types import EventType
from tests.reference.boundaries.streams import FILES, events_of

# The worklog's grammar with one difference, which its table makes: a stream may end anywhere.
GRAMMAR: Final = re.compile(r"(?:1|2|3[14]*5)*(?:3[14]*)?")


def q(text: str) -> ObservedEvent:
    return ObservedEvent(EventType.QUERY, text=text.encode())


GTID = ObservedEvent(EventType.GTID)
XID = ObservedEvent(EventType.XID)
MAP, ROWS = ObservedEvent(EventType.TABLE_MAP), ObservedEvent(EventType.WRITE_ROWS)
INTVAR, RAND, USER_VAR = (
    ObservedEvent(EventType.INTVAR),
    ObservedEvent(EventType.RAND),
    ObservedEvent(EventType.USER_VAR),
)
PREPARE, PAYLOAD = ObservedEvent(EventType.XA_PREPARE), ObservedEvent(EventType.TRANSACTION_PAYLOAD)
LOAD, EXECUTE = ObservedEvent(EventType.BEGIN_LOAD_QUERY), ObservedEvent(EventType.EXECUTE_LOAD_QUERY)

# Sequences of transaction-boundaries D, with the markers of transaction-boundaries A.6 and A.7.
GROUPS: Final = [
    ([GTID, q("create table t (a int)")], "35"),
    ([GTID, q("BEGIN"), MAP, ROWS, XID], "34445"),
    ([GTID, q("BEGIN"), MAP, ROWS, q("COMMIT")], "34445"),
    ([GTID, q("BEGIN"), MAP, ROWS, q("SAVEPOINT `s1`"), MAP, ROWS, XID], "34444445"),
    ([GTID, q("BEGIN"), q("insert"), q("SAVEPOINT `s1`"), q("ROLLBACK TO `s1`"), q("insert"), XID], "3444445"),
    ([GTID, q("BEGIN"), q("insert"), q("ROLLBACK")], "3445"),
    ([GTID, q("XA START X'78',X'79',7"), MAP, ROWS, q("XA END X'78',X'79',7"), PREPARE], "344445"),
    ([GTID, q("XA COMMIT X'78',X'79',7")], "35"),
    ([GTID, q("XA ROLLBACK X'78',X'79',7")], "35"),
    ([GTID, USER_VAR, q("create table t select @v")], "345"),
    ([GTID, q("BEGIN"), LOAD, EXECUTE, XID], "34445"),
    ([GTID, q("BEGIN"), INTVAR, RAND, USER_VAR, USER_VAR, q("insert"), XID], "34444445"),
    ([GTID, q("BEGIN"), INTVAR, INTVAR, USER_VAR, q("insert"), XID], "3444445"),
    ([GTID, q("BEGIN"), q("COMMIT")], "345"),
    ([GTID, PAYLOAD], "35"),
    # Without a GTID, as servers before 5.7 write them.
    ([q("BEGIN"), MAP, ROWS, XID], "3445"),
    ([q("create table t (a int)")], "2"),
    ([USER_VAR, INTVAR, q("create table t select @v")], "345"),
    ([q("BEGIN"), INTVAR, q("insert"), q("COMMIT")], "3445"),
    # What is no statement, and what nobody knows.
    ([ObservedEvent(EventType.INCIDENT)], "2"),
    ([GTID, q("BEGIN"), INTVAR, q("insert"), ObservedEvent(EventType.INCIDENT)], "34445"),
    ([ObservedEvent(99)], "2"),
]


@pytest.mark.parametrize(("group", "markers"), GROUPS, ids=range(len(GROUPS)))
def test_a_source_marks_as_the_worklog_says_and_a_receiver_guesses_the_same(
    group: list[ObservedEvent], markers: str
) -> None:
    twice = [*group, *group]
    assert "".join(f"{kind:d}" for kind in mark_stream(twice)) == markers * 2
    receiver = Receiver()
    judged = [receiver.feed(event) for event in twice]
    assert "".join(f"{item.type:d}" for item in judged) == markers * 2
    assert not any(item.broken for item in judged)


@pytest.mark.parametrize("length", range(1, 7))
def test_the_table_accepts_what_the_grammar_accepts_and_names_the_first_event_that_does_not(length: int) -> None:
    for stream in product("12345", repeat=length):
        parser = BoundaryParser()
        first = next((number for number, kind in enumerate(stream) if parser.feed(int(kind))), None)
        text = "".join(stream)
        wrong = next((number for number in range(length) if not GRAMMAR.fullmatch(text[: number + 1])), None)
        assert first == wrong, text


def test_a_fault_in_the_middle_is_told_until_the_next_start_and_ignored_events_stay_silent() -> None:
    parser = BoundaryParser()
    broken = [parser.feed(kind) for kind in (2, 3, 2, 4, 1, 4, 5, 3, 5)]
    assert [None if item is None else item.message for item in broken] == [
        None,
        None,
        "Unable to change boundary parser from Start Transaction to Self Contained.",
        "Unable to change boundary parser from Not Defined to Inside Transaction.",
        None,
        "Unable to change boundary parser from Not Defined to Inside Transaction.",
        "Unable to change boundary parser from Not Defined to End Transaction.",
        None,
        None,
    ]


@pytest.mark.parametrize("marker", [6, 7])
def test_reserved_markers_are_errors_everywhere(marker: int) -> None:
    for before in ((), (2,), (3,), (3, 4), (3, 5)):
        parser = BoundaryParser()
        assert not any(parser.feed(kind) for kind in before)
        broken = parser.feed(marker)
        assert broken is not None
        assert broken.message.endswith(f"to Reserved ({marker}).")
        assert parser.state == 0


def test_a_marker_takes_no_room_and_leaves_every_other_bit_alone() -> None:
    event = encode_event(Query(text=b"BEGIN"), flags=0x0308)
    for marker in range(8):
        marked = mark(event, marker)
        assert len(marked) == len(event)
        assert marker_of(int.from_bytes(marked[17:19], "little")) == marker
        assert mark(marked, 0) == event
        assert marked[:17] == event[:17]
        assert marked[19:-4] == event[19:-4]


def test_markers_go_into_free_bits_only() -> None:
    assert [mask(shift) for shift in (10, 11, 12, 13)] == [0x1C00, 0x3800, 0x7000, 0xE000]
    for shift in (-1, 0, 7, 9, 14):
        with pytest.raises(EncodeError):
            mask(shift)
    with pytest.raises(EncodeError):
        with_marker(0, 8)
    with pytest.raises(CodecError):
        mark(bytes(20), 1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_captured_file_is_accepted_marked_and_unmarked_and_mixed(path: object) -> None:
    events = [observe(event, footer) for event, footer in events_of(path)]
    relay = "relay" in str(path)
    types = list(mark_stream(events, relay=relay))
    whole = BoundaryParser()
    assert not any(whole.feed(kind) for kind in types)
    coin = Random(7)
    for share in (0, 1, 2, 3, 4):
        receiver = Receiver(relay=relay)
        mixed = [
            event._replace(flags=with_marker(event.flags, kind if coin.randrange(4) < share else 0))
            for event, kind in zip(events, types, strict=True)
        ]
        judged = [receiver.feed(event) for event in mixed]
        assert [item.type for item in judged] == types
        assert not any(item.broken or item.type != item.guess for item in judged)


def test_a_stream_that_begins_in_the_middle_warns_until_the_next_start() -> None:
    receiver = Receiver()
    judged = [receiver.feed(event) for event in (MAP, ROWS, XID, GTID, q("BEGIN"), MAP, ROWS, XID)]
    assert [item.broken is not None for item in judged] == [True] * 3 + [False] * 5


def test_what_a_receiver_passes_over() -> None:
    fake = ObservedEvent(EventType.ROTATE, Flag.ARTIFICIAL, 0)
    for events, markers in (
        (
            [fake, ObservedEvent(EventType.FORMAT_DESCRIPTION), ObservedEvent(EventType.PREVIOUS_GTIDS, 0x80, 150)],
            "112",
        ),
        (
            [
                ObservedEvent(EventType.ROTATE, 0, 200),
                ObservedEvent(EventType.STOP, 0, 200),
                ObservedEvent(EventType.HEARTBEAT),
            ],
            "222",
        ),
        (
            [ObservedEvent(EventType.IGNORABLE, Flag.IGNORABLE), ObservedEvent(99, Flag.IGNORABLE), ObservedEvent(99)],
            "112",
        ),
        ([ObservedEvent(EventType.INCIDENT), GTID, ObservedEvent(EventType.INCIDENT)], "235"),
        (
            [
                GTID,
                ObservedEvent(EventType.TRANSACTION_CONTEXT),
                q("BEGIN"),
                ObservedEvent(EventType.VIEW_CHANGE),
                q("COMMIT"),
            ],
            "31445",
        ),
    ):
        receiver = Receiver()
        assert "".join(f"{receiver.feed(event).type:d}" for event in events) == markers


def test_a_heartbeat_in_a_group_is_an_error_of_the_worklog() -> None:
    receiver = Receiver()
    assert [receiver.feed(event).broken is None for event in (GTID, ObservedEvent(EventType.HEARTBEAT_V2))] == [
        True,
        False,
    ]


def test_a_relay_logs_own_frame_may_stand_in_a_group() -> None:
    events = [
        GTID, q("BEGIN"), ObservedEvent(EventType.ROTATE, Flag.RELAY_LOG, 300),
        ObservedEvent(EventType.FORMAT_DESCRIPTION, Flag.RELAY_LOG), ObservedEvent(EventType.PREVIOUS_GTIDS, 0xC0, 200),
        MAP, ROWS, XID,
    ]  # fmt: skip
    receiver = Receiver(relay=True)
    judged = [receiver.feed(event) for event in events]
    assert "".join(f"{item.type:d}" for item in judged) == "34111445"
    assert [item.type for item in judged] == list(mark_stream(events, relay=True))
    receiver = Receiver()
    assert any(receiver.feed(event).broken for event in events)


def test_what_stands_in_a_group_is_passed_over_in_a_relay_log_only() -> None:
    for event in (
        ObservedEvent(EventType.ROTATE, 0, 300),
        ObservedEvent(EventType.STOP, 0, 300),
        ObservedEvent(EventType.PREVIOUS_GTIDS),
    ):
        events = [event, GTID, q("BEGIN"), event, MAP]  # and the stream ends in the group
        assert "".join(f"{kind:d}" for kind in mark_stream(events)) == "23424"
        assert "".join(f"{kind:d}" for kind in mark_stream(events, relay=True)) == "23414"
    for flag in (Flag.RELAY_LOG, Flag.ARTIFICIAL):  # the replica's own is passed over everywhere
        stop = ObservedEvent(EventType.STOP, flag, 300)
        assert [list(mark_stream([stop], relay=relay)) for relay in (False, True)] == [[2], [1]]


@pytest.mark.parametrize("shift", [10, 11, 12, 13])
def test_a_marker_wins_over_the_guess(shift: int) -> None:
    """A DDL statement behind its GTID is the end, if it does not say otherwise; so is the next one."""
    statement = q("create table t (a int)")
    receiver = Receiver(shift=shift)
    events = (GTID, statement._replace(flags=with_marker(8, 4, shift)), statement)
    judged = [receiver.feed(event) for event in events]
    assert [(item.type, item.guess) for item in judged] == [(3, 3), (4, 5), (5, 5)]
    assert not any(item.broken for item in judged)
    assert not receiver.parser.in_group


def test_the_frame_of_a_relay_log_is_known_by_its_flags() -> None:
    for code in (EventType.STOP, EventType.ROTATE, EventType.PREVIOUS_GTIDS, EventType.HEARTBEAT):
        assert role_of(ObservedEvent(code, Flag.RELAY_LOG, 99)) is Role.FRAME
        assert role_of(ObservedEvent(code, 0, 99), relay=True) is Role.FRAME
        for flag in (Flag.RELAY_LOG, Flag.ARTIFICIAL):
            assert role_of(ObservedEvent(code, flag, 99), relay=True) is Role.ASIDE


def test_a_reset_forgets_the_open_group() -> None:
    receiver = Receiver()
    receiver.feed(GTID)
    receiver.feed(q("BEGIN"))
    receiver.reset()
    assert not receiver.parser.in_group
    broken = receiver.feed(XID).broken
    assert broken is not None
    assert broken.message == "Unable to change boundary parser from Not Defined to End Transaction."


def test_a_query_without_room_for_its_text_has_none() -> None:
    event = encode_event(Query(text=b"BEGIN", schema=b"shop"))
    assert query_text(event) == b"BEGIN"
    for length in range(19, len(event)):
        assert b"BEGIN".startswith(query_text(event[:length]))
    with pytest.raises(CodecError):
        observe(event[:18])
