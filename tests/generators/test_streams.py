"""Streams of events, and transactions in SQL: sound before they are damaged, of every kind, from their seed alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies

from conformance.checks.boundaries import check_broken_streams as test_broken_boundaries
from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries import transactions
from conformance.reference.binlog.control_events import Rotate
from conformance.reference.binlog.files import EventDecoder
from conformance.reference.boundaries.observed_event import observe
from conformance.reference.boundaries.shipped import ParserState, ShippedParser
from conformance.reference.event_types import EventType
from generators import streams
from generators.draw import Stream
from generators.strategies import HypothesisDraw
from generators.streams import Starts

STARTS = (Starts.GTID, Starts.ANONYMOUS, Starts.TAGGED, Starts.NOTHING)


@pytest.mark.parametrize("start", STARTS)
def test_whole_streams_can_be_read_and_are_accepted_by_both_models(start: str) -> None:
    for number in range(30):
        bodies = [body for item in streams.stream(Stream("s", start, number), 12, start) for body in item]
        placed = streams.placed(bodies)
        parser, decoder = ShippedParser(), EventDecoder()
        for item in placed:
            decoder.decode(item.data, item.position)
            assert parser.feed(observe(item.data)) is None
        assert parser.state is ParserState.NONE
        # A heartbeat stands between groups only, where it is a group of one.
        events = [item.data for item in placed]
        assert boundaries.breaks(map(observe, events)) == []
        assert boundaries.breaks(map(observe, boundaries.mark_events(events))) == []


def test_every_kind_of_group_and_of_damage_comes_up() -> None:
    draws = [Stream("k", number) for number in range(400)]
    types = {body.type for draw in draws for item in streams.stream(draw, 3) for body in item}
    wanted = set(EventType) - {
        EventType.START_V3, EventType.STOP, EventType.SLAVE, EventType.DELETE_FILE, EventType.HEARTBEAT,
        EventType.PARTIAL_UPDATE_ROWS, EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1,
    }  # fmt: skip
    assert types == wanted
    damaged = [streams.damaged(draw, streams.group(draw, "savepoint")) for draw in draws]
    assert {what for what, _ in damaged} == set(streams.DAMAGES)


def test_a_stream_follows_from_its_seed() -> None:
    def data(seed: int) -> list[bytes]:
        bodies = [body for item in streams.stream(Stream("f", seed), 5) for body in item]
        return [item.data for item in streams.placed(bodies)]

    assert data(1) == data(1)
    assert data(1) != data(2)


def test_positions_are_those_of_the_file_and_begin_anew_behind_a_rotate() -> None:
    bodies = [streams.group(Stream("p"), "rows")[0], Rotate(name=b""), *streams.group(Stream("q"), "rows")]
    placed = streams.placed(bodies)
    assert [item.file for item in placed[:4]] == ["made.000001"] * 4
    assert {item.file for item in placed[4:]} == {"made.000002"}
    assert placed[4].position == 4
    for item, following in pairwise(placed):
        if item.file == following.file:
            assert following.position == item.position + len(item.data)
            assert int.from_bytes(item.data[13:17], "little") == following.position


@pytest.mark.parametrize("kind", transactions.KINDS)
def test_units_follow_from_their_seed_and_vary(kind: str) -> None:
    units = [transactions.unit(Stream("u", number), kind) for number in range(20)]
    assert units == [transactions.unit(Stream("u", number), kind) for number in range(20)]
    assert len({unit.statements for unit in units}) > 1
    for unit in units:
        assert unit.statements[0] == transactions.PLAIN
        assert unit.groups >= 1


@given(strategies.data())
def test_whatever_is_drawn_is_sound_and_its_corruptions_are_told_by_the_table(data: strategies.DataObject) -> None:
    draw = HypothesisDraw(data.draw)
    events = [item.data for item in streams.placed(streams.group(draw))]
    marked = boundaries.mark_events(events)
    assert boundaries.breaks(map(observe, marked)) == []
    assert boundaries.breaks(map(observe, events)) == []
    _, stream = test_broken_boundaries.corrupted(draw, marked)
    assert boundaries.breaks(map(observe, stream)) == boundaries.expected_breaks(boundaries.markers_of(stream))
