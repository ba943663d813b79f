"""Borders of splitting and finding events, of row format, and of savepoints."""

from __future__ import annotations

from struct import pack

import pytest

from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.header import Checksum, EventType
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.small import Stop
from conformance.reference.boundaries.reader import find_event
from conformance.reference.boundaries.row_format import RowFormatParser
from conformance.reference.boundaries.seen import Seen
from conformance.reference.boundaries.source import split_inner
from conformance.reference.errors import DecodeError
from conformance.reference.replay.engine import Replay


def stops(start: int, count: int = 3) -> bytes:
    """Events that say themselves where they end."""
    out = b""
    for _ in range(count):
        out += encode_event(Stop(), log_pos=None, start=start + len(out))
    return out


def test_events_are_found_where_positions_turn_over() -> None:
    for start in (4, (1 << 32) - 70, (1 << 32) - 30, (1 << 32) - 23, 5 << 32):
        data = stops(start)
        assert find_event(data, start) == 0
        assert find_event(b"\0" * 7 + data, start - 7) == 7


def test_one_event_is_no_proof() -> None:
    """Bytes that look like one event, something else behind them, then real ones."""
    alone = stops(100, 1)
    rubbish = b"\xff" * 5
    data = alone + rubbish + stops(100 + len(alone) + len(rubbish))
    assert find_event(data, 100) == len(alone) + len(rubbish)
    assert find_event(alone, 100) == 0  # up to the end exactly


@pytest.mark.parametrize("length", [0, 1, 18, 20, 1 << 31])
def test_an_inner_event_is_at_least_its_header_and_at_most_what_is_left(length: int) -> None:
    event = encode_event(Stop(), algorithm=Checksum.NONE)
    assert list(split_inner(event * 3)) == [event] * 3
    events = split_inner(event + event[:9] + pack("<I", length) + event[13:])
    assert next(events) == event
    with pytest.raises(DecodeError) as refused:
        next(events)
    assert refused.value.code == "bad-length"


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (b"SAVEPOINT `a`", True),
        (b"XA END X'61',X'',1", True),
        (b"CREATE TABLE t (a INT)", True),
        (b"INSERT INTO t", False),
    ],
)
def test_what_may_stand_behind_begin_in_row_format(text: bytes, good: bool) -> None:
    parser = RowFormatParser()
    assert parser.feed(Seen(EventType.QUERY, text=b"BEGIN"))
    assert parser.feed(Seen(EventType.QUERY, text=text)) is good


def test_a_savepoint_may_be_rolled_back_to_twice() -> None:
    replay = Replay()
    for text in (b"BEGIN", b"SAVEPOINT `a`", b"SAVEPOINT `b`", b"ROLLBACK TO `a`", b"ROLLBACK TO `a`", b"COMMIT"):
        replay.event(decode_event(encode_event(Query(text=text))))
