"""Groups of hand-made streams, exactly: extent, kind, GTID, number of events; what is read for them, what refused."""

from __future__ import annotations

from io import BytesIO
from itertools import accumulate, pairwise
from struct import pack
from typing import Final

import pytest

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum, Flag
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.reader import Group, GroupKind, file_footer, find_event, read_groups
from conformance.reference.event_types import EventType
from tests.reference.refusals import refused, where

UUID_TEXT: Final = "00000000-0000-0000-0000-000000000000"


def raw(code: int, body: bytes = b"", *, flags: int = 0, log_pos: int = 99, length: int | None = None) -> bytes:
    """An event without a checksum."""
    return pack("<IBIIIH", 0, code, 1, 19 + len(body) if length is None else length, log_pos, flags) + body


def q(text: bytes, *, flags: int = 0) -> bytes:
    return encode_event(Query(text=text), algorithm=Checksum.NONE, flags=flags)


G: Final = encode_event(Gtid(gno=7), algorithm=Checksum.NONE)
NAME: Final = f"{UUID_TEXT}:7"
ANONYMOUS: Final = raw(EventType.ANONYMOUS_GTID)
BEGIN, XA, DDL = q(b"BEGIN"), q(b"XA START X'78',X'',1"), q(b"create table t (a int)")
MAP, ROWS, XID = raw(EventType.TABLE_MAP, b"map"), raw(EventType.WRITE_ROWS, bytes(300)), raw(EventType.XID, bytes(8))
PAYLOAD, INCIDENT, STOP = raw(EventType.TRANSACTION_PAYLOAD), raw(EventType.INCIDENT), raw(EventType.STOP)
CONTEXT, VARIABLE = raw(EventType.TRANSACTION_CONTEXT), raw(EventType.USER_VAR)
OWN_ROTATE: Final = raw(EventType.ROTATE, flags=Flag.RELAY_LOG)

# Events, and for each group its kind, whether it has the GTID, and how many of the events are its own.
STREAMS: Final = [
    pytest.param([], [], id="nothing"),
    pytest.param([G, BEGIN, MAP, ROWS, XID], [("dml", True, 5)], id="a transaction"),
    pytest.param([ANONYMOUS, BEGIN, XID], [("dml", False, 3)], id="an anonymous one"),
    pytest.param([BEGIN, MAP, ROWS, XID, XA, MAP, XID], [("dml", False, 4), ("xa", False, 3)], id="without GTIDs"),
    pytest.param([DDL, DDL, G, DDL], [("ddl", False, 1), ("ddl", False, 1), ("ddl", True, 2)], id="statements"),
    pytest.param([VARIABLE, DDL, G, VARIABLE, DDL], [("ddl", False, 2), ("ddl", True, 3)], id="with a variable"),
    pytest.param([INCIDENT, G, INCIDENT], [("incident", False, 1), ("incident", True, 2)], id="incidents"),
    pytest.param([G, PAYLOAD, G, BEGIN, XID], [("compressed", True, 2), ("dml", True, 3)], id="compressed"),
    pytest.param([STOP, CONTEXT, STOP], [("frame", False, 1)] * 3, id="the frame"),
    pytest.param([G, CONTEXT, CONTEXT, BEGIN, XID], [("dml", True, 5)], id="passed over in a group"),
    pytest.param([G, BEGIN, MAP], [("open", True, 3)], id="the end is missing"),
    pytest.param([G, BEGIN, G, DDL], [("open", True, 2), ("ddl", True, 2)], id="another begins"),
    pytest.param(
        [G, BEGIN, STOP, DDL, STOP],
        [("open", True, 2), ("frame", False, 1), ("ddl", False, 1), ("frame", False, 1)],
        id="the file ends",
    ),
    pytest.param([MAP, CONTEXT, ROWS], [("fragment", False, 3)], id="no beginning, no end"),
    pytest.param([G, DDL, MAP, ROWS, XID], [("ddl", True, 2), ("fragment", False, 3)], id="no beginning"),
    pytest.param([MAP, PAYLOAD, XID], [("fragment", False, 2), ("fragment", False, 1)], id="ends alone"),
    pytest.param([MAP, G, DDL], [("fragment", False, 1), ("ddl", True, 2)], id="a fragment before a group"),
    pytest.param([MAP, STOP, MAP], [("fragment", False, 1), ("frame", False, 1), ("fragment", False, 1)], id="around"),
    # Marked: 2 alone, 3 the start, 4 inside, 5 the end.
    pytest.param(
        [q(b"x", flags=2 << 13), q(b"x", flags=3 << 13), q(b"x", flags=4 << 13), q(b"x", flags=5 << 13)],
        [("ddl", False, 1), ("ddl", False, 3)],
        id="marked statements",
    ),
    pytest.param([G, q(b"x", flags=4 << 13), DDL], [("ddl", True, 3)], id="a marker wins"),
    pytest.param([G, OWN_ROTATE, DDL], [("open", True, 1), ("frame", False, 1), ("ddl", False, 1)], id="no relay log"),
]  # fmt: skip


def expected(events: list[bytes], groups: list[tuple[str, bool, int]]) -> list[Group]:
    places = [0, *accumulate(len(event) for event in events)]
    counts = [0, *accumulate(count for _, _, count in groups)]
    assert counts[-1] == len(events)
    return [
        Group(places[first], places[last], GroupKind(kind), NAME if has_gtid else None, count)
        for (first, last), (kind, has_gtid, count) in zip(pairwise(counts), groups, strict=True)
    ]


@pytest.mark.parametrize(("events", "groups"), STREAMS)
def test_groups_of_a_stream(events: list[bytes], groups: list[tuple[str, bool, int]]) -> None:
    data = b"".join(events)
    for window in (1 << 20, 100, 19):
        assert list(read_groups(BytesIO(data), 0, footer=0, window=window)) == expected(events, groups)


def test_a_relay_logs_own_frame_belongs_to_the_group_around_it() -> None:
    events = [G, OWN_ROTATE, DDL, OWN_ROTATE]
    found = list(read_groups(BytesIO(b"".join(events)), 0, footer=0, relay=True))
    assert found == expected(events, [("ddl", True, 3), ("frame", False, 1)])


def test_markers_are_read_where_they_stand() -> None:
    events = [q(b"x", flags=kind << 10) for kind in (3, 4, 5)]
    data = BytesIO(b"".join(events))
    assert list(read_groups(data, 0, footer=0, shift=10)) == expected(events, [("ddl", False, 3)])
    assert list(read_groups(data, 0, footer=0)) == expected(events, [("ddl", False, 1)] * 3)


def test_a_part_has_the_groups_that_begin_in_it() -> None:
    events = [G, DDL, G, DDL, G, DDL]
    whole = expected(events, [("ddl", True, 2)] * 3)
    data = BytesIO(b"".join(events))
    start, middle = whole[1].start, whole[2].start
    for stop, count in ((start, 0), (start + 1, 1), (middle - 1, 1), (middle, 1), (middle + 1, 2)):
        assert list(read_groups(data, start, stop, footer=0)) == whole[1 : 1 + count]


def test_a_cut_off_event_does_not_count() -> None:
    events = [G, BEGIN, MAP]
    data = b"".join(events)
    for left in (1, 18, 19, 21):
        cut = data[: len(data) - len(MAP) + left]
        assert list(read_groups(BytesIO(cut), 0, footer=0)) == expected(events[:2], [("open", True, 2)])


class Watched(BytesIO):
    """How many bytes were asked for at a time."""

    asked: list[int]

    def read(self, size: int | None = -1, /) -> bytes:
        self.asked.append(-1 if size is None else size)
        return super().read(size)


def test_only_windows_and_the_rest_of_a_statement_are_read() -> None:
    long_text = q(b"insert " + b"x" * 200)
    events = [G, BEGIN, MAP, raw(EventType.WRITE_ROWS, bytes(10_000)), long_text, XID]
    file = Watched(b"".join(events))
    file.asked = []
    groups = list(read_groups(file, 0, footer=0, window=100))
    assert groups == expected(events, [("dml", True, 6)])
    assert max(file.asked) <= len(long_text)
    assert min(file.asked) == 100
    assert sum(file.asked) < 1000


@pytest.mark.parametrize("length", [0, 18])
def test_an_event_is_as_long_as_its_header_at_least(length: int) -> None:
    error = refused(list, read_groups(BytesIO(STOP + raw(EventType.STOP, length=length)), 0, footer=0))
    assert (where(error), error.got) == (("bad-length", 19, ""), length)


def test_a_gtid_event_has_room_for_its_number() -> None:
    body = b"\0" + bytes(16) + pack("<q", 7)
    whole, short = raw(EventType.GTID, body), raw(EventType.GTID, body[:-1])
    assert list(read_groups(BytesIO(whole), 0, footer=0)) == [Group(0, 44, GroupKind.OPEN, NAME, 1)]
    error = refused(list, read_groups(BytesIO(short), 0, footer=0))
    assert (where(error), error.got) == (("truncated", 19, ""), 43)


def format_event(length: int) -> bytes:
    """The beginning of a file; the version is one without checksums."""
    body = b"\4\0" + b"5.0.0".ljust(50, b"\0") + bytes(4) + b"\x13"
    return b"\xfebin" + raw(EventType.FORMAT_DESCRIPTION, body.ljust(length - 19, b"\x08")[: length - 19])


@pytest.mark.parametrize(
    ("data", "code", "offset"),
    [
        (b"", "not-a-binlog", 0),
        (b"\xfdbin" + bytes(30), "encrypted", 0),
        (b"\xfebin", "no-format-description", 8),
        (b"\xfebin" + bytes(4) + bytes((EventType.FORMAT_DESCRIPTION,)), "no-format-description", 8),
        (b"\xfebin" + bytes(30), "no-format-description", 8),
        (format_event(76), "bad-length", 13),
        (b"\xfebin" + raw(EventType.FORMAT_DESCRIPTION, bytes(100), length=(1 << 20) + 1), "bad-length", 13),
    ],
)  # fmt: skip
def test_where_a_file_is_no_binary_log(data: bytes, code: str, offset: int) -> None:
    assert where(refused(file_footer, BytesIO(data))) == (code, offset, "")


def test_the_shortest_and_the_longest_beginning_of_a_file() -> None:
    assert file_footer(BytesIO(format_event(1 << 20))) == 0
    file = BytesIO(format_event(77) + STOP)
    assert file_footer(file) == 0
    assert file.read() == STOP
    groups = list(read_groups(file))
    assert [(group.start, group.end, group.kind) for group in groups] == [(4, 81, "frame"), (81, 100, "frame")]


def test_two_events_in_a_row_are_no_proof_but_three_are_and_fewer_at_the_end() -> None:
    for start in (0, 7):
        events = [raw(EventType.STOP, log_pos=start + 19 * number) for number in (1, 2, 3)]
        rubbish = b"\xff" * 30
        assert find_event(b"".join(events) + rubbish, start) == 0
        assert find_event(b"".join(events[:2]) + rubbish, start) is None
        for number in range(3):
            assert find_event(b"".join(events[number:]), start + 19 * number) == 0
        assert find_event(b"\0" * 7 + b"".join(events[2:]), start + 38 - 7) == 7
        assert find_event(events[0][:18], start) is None
        assert find_event(b"", start) is None
