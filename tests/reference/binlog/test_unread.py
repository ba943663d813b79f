"""Events of unknown types: what a reader keeps of them, and where it ends."""

from __future__ import annotations

from io import BytesIO

import pytest

from conformance.reference.binlog.control_events import Opaque, Xid
from conformance.reference.binlog.event import UnreadEvents, UnreadKind, encode_event, listed_unread
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.header import Checksum, Flag
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.errors import ReplayError, Unsupported
from conformance.reference.event_types import MariadbEventType
from conformance.reference.replay.engine import Replay

UNKNOWN = Opaque(type=121, data=b"later")


def read(data: bytes, unread: UnreadEvents) -> int:
    """How many events a reader gives."""
    reader = FileReader(expand=True)
    reader.decoder.unread = unread
    return len(list(read_events(BytesIO(data), reader=reader)))


def a_log(*bodies: object, flags: int = 0) -> tuple[bytes, int]:
    """A log, and the position of its second event."""
    writer = FileWriter()
    data = writer.start()
    place = len(data)
    for body in bodies:
        data += writer.add(body, flags=flags)  # type: ignore[arg-type]
    return data, place


def test_events_are_counted_by_type_with_the_place_of_the_first() -> None:
    data, place = a_log(UNKNOWN, Xid(xid=1), UNKNOWN, Opaque(type=250, data=b""))
    unread = UnreadEvents()
    assert read(data, unread) > 4
    first, second = unread.kinds(ignorable=False)
    assert (first.code, first.events, first.position) == (121, 2, place)
    assert (second.code, second.events) == (250, 1)
    assert not unread.kinds(ignorable=True)


def test_the_flag_to_ignore_it_decides() -> None:
    data, place = a_log(UNKNOWN, flags=int(Flag.IGNORABLE))
    unread = UnreadEvents(stops=True)
    read(data, unread)
    assert unread.kinds() == [UnreadKind(121, ignorable=True, events=1, source="", position=place)]
    data, place = a_log(UNKNOWN, flags=0xFFFF & ~Flag.IGNORABLE)
    with pytest.raises(Unsupported, match=rf"event@{place}: UNKNOWN_EVENT\(121\).*unknown-event"):
        read(data, UnreadEvents(stops=True))


@pytest.mark.parametrize("stops", [True, False])
def test_an_event_inside_a_compressed_transaction_is_met_too(stops: bool) -> None:
    inner = b"".join(encode_event(body, algorithm=Checksum.NONE) for body in (Query(text=b"BEGIN"), UNKNOWN))
    data, place = a_log(TransactionPayload.compress(inner))
    unread = UnreadEvents(stops=stops)
    if stops:
        with pytest.raises(Unsupported, match=rf"event@{place}.inner\[1\]: UNKNOWN_EVENT"):
            read(data, unread)
        return
    read(data, unread)
    assert [kind.position for kind in unread.kinds()] == [place]


def test_records_of_parts_are_one_record() -> None:
    one, two = UnreadEvents(), UnreadEvents()
    one.source, two.source = "a", "b"
    one.add(121, 0, 4)
    two.add(121, 0, 90)
    two.add(MariadbEventType.GTID, 0, 200)
    one.update(two.take())
    assert listed_unread(one.kinds(), "not read") == (
        "not read: UNKNOWN_EVENT(121), 2 times, first at a:4; MariaDB's GTID_EVENT (type 162), once, at b:200"
    )
    assert not two.kinds()
    assert [kind.events for kind in one.take().kinds()] == [2, 1]


def test_what_mariadb_encrypts_is_said_to_be_encrypted() -> None:
    begin = Opaque(type=int(MariadbEventType.START_ENCRYPTION), data=b"\1\2\0\0\0" + bytes(12))
    data, place = a_log(begin)
    assert [event.header.type for event in read_events(BytesIO(data))][-1] == MariadbEventType.START_ENCRYPTION
    behind = len(data)
    data, _ = a_log(begin, Xid(xid=1))
    assert behind > place
    with pytest.raises(Unsupported, match=rf"event@{behind}.*encrypted from here on"):
        list(read_events(BytesIO(data)))


def test_a_replay_ends_there_and_a_lenient_one_forgets_what_it_knew() -> None:
    event = next(e for e in read_events(BytesIO(a_log(UNKNOWN)[0])) if e.header.type == 121)
    with pytest.raises(ReplayError, match="unknown-event"):
        Replay().event(event)
    lenient = Replay(lenient=True)
    lenient.tables["d", "t"] = None  # type: ignore[assignment]
    lenient.event(event)
    assert not lenient.tables
    ignorable = event._replace(header=event.header._replace(flags=int(Flag.IGNORABLE)))
    Replay().event(ignorable)
