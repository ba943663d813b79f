"""A reader that passes over events reads and checks them all the same."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import PASSED, FileReader, Passed, read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType

LOGS = sorted(Path("tests/data/binlogs").glob("*.binlog"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_what_is_left_is_the_same_and_what_is_passed_over_is_counted(path: Path) -> None:
    data = path.read_bytes()
    whole = list(read_events(io.BytesIO(data), expand=True))
    reader = FileReader(expand=True)
    passed = Passed()
    reader.decoder.pass_over = passed
    left = list(read_events(io.BytesIO(data), reader=reader))
    shown = [event for event in whole if event.inner is not None or event.header.type not in PASSED]
    assert [event[:1] + event[2:] for event in left] == [event[:1] + event[2:] for event in shown]
    for one, other in zip(left, shown, strict=True):
        if isinstance(one.body, LazyRows) and isinstance(other.body, LazyRows):
            assert list(one.body.rows()) == list(other.body.rows())
    gone = Counter(event.header.type for event in whole if event.inner is None and event.header.type in PASSED)
    assert passed.take_counts() == gone
    assert not passed.take_counts()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_the_gtid_of_what_is_left_is_there_to_be_taken_once(path: Path) -> None:
    data = path.read_bytes()
    reader = FileReader()
    passed = reader.decoder.pass_over = Passed()
    expected: object = None
    whole = iter(read_events(io.BytesIO(data)))
    for left in read_events(io.BytesIO(data), reader=reader):
        for event in whole:
            if isinstance(event.body, (Gtid, GtidTagged)):
                expected = event.body
            if event.position == left.position:
                break
        assert passed.take_gtid() == expected
        assert passed.take_gtid() is None
        expected = None


def test_damage_in_an_event_that_is_passed_over_is_an_error() -> None:
    data = LOGS[0].read_bytes()
    events = list(read_events(io.BytesIO(data)))
    query = next(event for event in events if event.header.type == EventType.QUERY)
    place = query.position or 0
    for at in (place + 19, place + query.header.length - 1):
        damaged = data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]
        reader = FileReader()
        reader.decoder.pass_over = Passed()
        with pytest.raises(CodecError, match="checksum"):
            list(read_events(io.BytesIO(damaged), reader=reader))


def test_an_xid_of_another_length_is_an_error() -> None:
    data = LOGS[0].read_bytes()
    description = next(iter(read_events(io.BytesIO(data))))
    reader = FileReader()
    passed = Passed()
    reader.decoder.pass_over = passed
    reader.decoder.decode(encode_event(description.body))
    xid = next(event for event in read_events(io.BytesIO(data)) if event.header.type == EventType.XID)
    raw = xid.encode()
    assert reader.decoder.read(raw) is None
    assert passed.take_counts() == {EventType.XID: 1}
    long = bytearray(raw[:-4] + b"\0" + raw[-4:])
    long[9:13] = len(long).to_bytes(4, "little")
    reader.decoder.verify = False
    with pytest.raises(CodecError):
        reader.decoder.read(bytes(long))


def test_the_same_query_is_read_once_and_another_again() -> None:
    data = LOGS[0].read_bytes()
    events = list(read_events(io.BytesIO(data)))
    bodies = [event.body for event in events if event.header.type == EventType.QUERY]
    for one in bodies:
        assert [other for other in bodies if other == one]
    fresh = [event.typed().encode() for event in events if event.header.type == EventType.QUERY]
    stored = [
        data[event.position : (event.position or 0) + event.header.length]
        for event in events
        if event.header.type == EventType.QUERY
    ]
    assert fresh == stored
