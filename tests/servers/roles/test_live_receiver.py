"""A real receiver before a source made by hand: what a lost connection leaves of its boundary parser (9.7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.control_events import Opaque, Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.query import Query
from conformance.servers.roles.receiver import ReceiverTarget, launch_receiver
from conformance.servers.run.process import ProcessMaker
from conformance.servers.source.scripted import FILE
from generators import streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body
    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live
BEGIN, INSERT, XID = Query(text=b"BEGIN"), Query(text=b"insert into t values (1)"), Xid(xid=1)
AGAIN = encode_event(FormatDescription(), server_id=streams.SERVER_ID, log_pos=0)  # of a dump from the middle


@pytest.fixture(scope="module")
def target(installation: Installation) -> Iterator[ReceiverTarget]:
    with ReceiverTarget(launch_receiver(ProcessMaker(installation))) as running:
        yield running


def gtid(number: int) -> Gtid:
    return Gtid(uuid=streams.SOURCE, gno=number)


def group(number: int) -> list[Body]:
    return [gtid(number), BEGIN, INSERT, XID]


def test_a_connection_that_is_taken_up_by_position_goes_on_inside_the_transaction(target: ReceiverTarget) -> None:
    placement = streams.Placement()
    first = [*placement.frame(), *map(placement.place, group(1)[:-1])]
    place = placement.position
    bodies: list[Body] = [XID, gtid(2), BEGIN, XID, XID]
    second = list(map(placement.place, bodies))
    heard = target.hear(
        [[item.data for item in first], [AGAIN, *(item.data for item in second)]], (FILE, placement.position)
    )
    assert heard.asked == [(FILE, 4), (FILE, place)]
    assert [(item.code, item.position) for item in heard.warnings] == [(10445, second[-1].position)]


def test_a_connection_that_is_taken_up_by_gtid_begins_anew(target: ReceiverTarget) -> None:
    placement = streams.Placement()
    first = [item.data for item in (*placement.frame(), *map(placement.place, group(11)[:-1]))]
    again = streams.Placement()
    second = [again.place(body).data for body in (*group(11), *group(12))]
    heard = target.hear([first, [AGAIN, *second]], (FILE, again.position), by_gtid=True)
    assert len(heard.asked) == 2
    assert heard.warnings == []
    assert heard.place == (FILE, again.position)


def test_an_event_that_no_format_knows_stops_the_receiver_at_its_place(target: ReceiverTarget) -> None:
    placement = streams.Placement()
    stream = [*placement.frame(), placement.place(gtid(21))]
    place = placement.position
    stream.append(placement.place(Opaque(type=43, data=b"later")))
    heard = target.hear([[item.data for item in stream]], (FILE, placement.position))
    assert (heard.place, heard.error) == ((FILE, place), 13122)
    assert heard.warnings == []
