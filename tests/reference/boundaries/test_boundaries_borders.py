"""Borders of splitting and finding events, of row format, and of savepoints."""

from __future__ import annotations

from struct import pack

import pytest

from conformance.reference.binlog.control_events import Rotate, Stop
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.markers import mark, marker_of, mask, with_marker
from conformance.reference.boundaries.observed_event import ObservedEvent, decoded_text, observe, query_text
from conformance.reference.boundaries.reader import find_event
from conformance.reference.boundaries.row_format import RowFormatParser
from conformance.reference.boundaries.source import mark_inside, split_inner
from conformance.reference.boundaries.unmarked import Receiver
from conformance.reference.event_types import EventType
from conformance.reference.replay.engine import Replay
from tests.reference.refusals import refused, where


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
    error = refused(next, events)
    assert where(error) == ("bad-length", len(event) + 9, "")


def q(text: bytes) -> ObservedEvent:
    return ObservedEvent(EventType.QUERY, text=text)


BEGIN = q(b"BEGIN")


@pytest.mark.parametrize(
    ("before", "event", "good"),
    [
        # Behind BEGIN a statement is one of four.
        *((BEGIN, q(text), True) for text in (
            b"SAVEPOINT `a`", b"savepoint `a`", b"XA END X'61',X'',1", b"XA PREPARE X'61'", b"CREATE TABLE t (a INT)",
        )),
        *((BEGIN, q(text), False) for text in (b"INSERT INTO t", b"ROLLBACK TO `a`", b" SAVEPOINT `a`", b"SAVEPOIN")),
        # Elsewhere it is anything but a temporary table, which takes more than 16 bytes.
        *((None, q(text), True) for text in (b"INSERT INTO t", b"CREATE TEMPORARY", b"drop temporary t")),
        *((None, q(text), False) for text in (b"CREATE TEMPORARY ", b"DROP TEMPORARY TA", b"drop Temporary table t")),
        (BEGIN, q(b"COMMIT"), True),
        (BEGIN, BEGIN, True),
        # A user variable stands in front of a statement that has no BEGIN.
        (None, ObservedEvent(EventType.USER_VAR), True),
        (ObservedEvent(EventType.GTID), ObservedEvent(EventType.USER_VAR), True),
        (BEGIN, ObservedEvent(EventType.USER_VAR), False),
        *((BEGIN, ObservedEvent(code), True) for code in (
            EventType.TABLE_MAP, EventType.ROWS_QUERY, EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.XID,
            EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS, EventType.VIEW_CHANGE, EventType.ROTATE,
        )),
        # These nowhere, and neither what nobody knows nor a QUERY without a text.
        *((before, ObservedEvent(code), False) for before in (None, BEGIN) for code in (
            EventType.INTVAR, EventType.RAND, EventType.APPEND_BLOCK, EventType.DELETE_FILE, EventType.BEGIN_LOAD_QUERY,
            EventType.EXECUTE_LOAD_QUERY, 99, EventType.QUERY,
        )),
        (None, ObservedEvent(99, 0x80), True),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_row_format_and_where(before: ObservedEvent | None, event: ObservedEvent, good: bool) -> None:
    parser = RowFormatParser()
    assert before is None or parser.feed(before)
    assert parser.feed(event) is good


@pytest.mark.parametrize("body", [Query(text=b"BEGIN", schema=b"shop"), Rotate(name=bytes(60)), Stop()])
def test_what_is_seen_of_an_event(body: Query | Rotate | Stop) -> None:
    expected = ObservedEvent(body.type, 0x0308, 1234, b"BEGIN" if isinstance(body, Query) else b"")
    for algorithm, footer in ((Checksum.CRC32, 4), (Checksum.NONE, 0)):
        data = encode_event(body, flags=0x0308, log_pos=1234, algorithm=algorithm)
        behind = data[len(data) - footer :] if isinstance(body, Query) else b""
        assert observe(data, footer) == expected._replace(behind=behind)
    decoded = decode_event(encode_event(body, flags=0x0308, log_pos=1234))
    header, text = decoded.header, decoded_text(decoded)
    assert (header.type, header.flags, header.log_pos, text) == expected[:4]
    assert Receiver().judge(header.type, header.flags, header.log_pos, text) == Receiver().feed(expected)


def test_an_event_is_seen_from_its_header_on() -> None:
    data = encode_event(Stop(), algorithm=Checksum.NONE)
    assert observe(data, 0) == ObservedEvent(EventType.STOP)
    error = refused(observe, data[:18])
    assert where(error) == ("truncated", 0, "")
    assert (error.expected, error.got) == (19, 18)
    assert observe(encode_event(Query(text=b"BEGIN"))).text == b"BEGIN"  # with a checksum, if nothing else is said


def test_the_text_of_a_query_is_found_anywhere_in_a_buffer() -> None:
    event = encode_event(Query(text=b"BEGIN", schema=b"shop"))
    buffer = b"x" * 50 + event
    assert query_text(buffer, 4, 50) == query_text(buffer + event, 4, 50, len(buffer)) == b"BEGIN"
    for length in (19, 35):  # nothing behind it either
        assert query_text(buffer[: 50 + length], 4, 50) == b""


def test_a_marker_may_stand_in_any_free_bits() -> None:
    event = encode_event(Query(text=b"BEGIN"), flags=0x0308)
    for shift in (10, 11, 12, 13):
        flags = with_marker(0xFFFF, 5, shift)
        assert flags == 0xFFFF & ~mask(shift) | 5 << shift
        assert marker_of(flags, shift) == 5
        assert mark(event, 5, shift=shift) == encode_event(Query(text=b"BEGIN"), flags=0x0308 | 5 << shift)
    assert marker_of(0xFFFF, 10) == 7


def test_what_cannot_be_marked_is_refused() -> None:
    for shift in (-1, 0, 9, 14):
        error = refused(mask, shift)
        assert (where(error), error.got) == (("used-flags", None, ""), shift)
    for marker in (-1, 8):
        error = refused(with_marker, 0, marker)
        assert (where(error), error.got) == (("out-of-range", None, ""), marker)
    for size, footer in ((22, 4), (18, 0)):
        error = refused(mark, bytes(size), 1, footer=footer)
        assert (where(error), error.got) == (("truncated", 0, ""), size)
        assert len(mark(bytes(size + 1), 1, footer=footer)) == size + 1


def test_the_events_of_a_payload_are_marked_as_if_they_were_not_compressed() -> None:
    bodies = [Query(text=text) for text in (b"BEGIN", b"INSERT", b"ROLLBACK")]
    plain, marked = (
        [encode_event(body, algorithm=Checksum.NONE, flags=8 | kind) for body, kind in zip(bodies, kinds, strict=True)]
        for kinds in ((0, 0, 0), (4 << 13, 4 << 13, 5 << 13))
    )
    assert mark_inside(b"".join(plain)) == b"".join(marked)
    in_other_bits = [encode_event(Stop(), algorithm=Checksum.NONE, flags=kind << 10) for kind in (0, 5)]
    assert mark_inside(in_other_bits[0], shift=10) == in_other_bits[1]
    assert mark_inside(b"") == b""


def test_a_savepoint_may_be_rolled_back_to_twice() -> None:
    replay = Replay()
    for text in (b"BEGIN", b"SAVEPOINT `a`", b"SAVEPOINT `b`", b"ROLLBACK TO `a`", b"ROLLBACK TO `a`", b"COMMIT"):
        replay.event(decode_event(encode_event(Query(text=text))))
