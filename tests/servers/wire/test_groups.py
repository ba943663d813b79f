"""Where the transactions of one session stand in a log that others write to as well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.cases.observation import Place
from conformance.reference.binlog.control_events import Rotate, Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.query import Query
from conformance.servers.wire.groups import groups_of_thread, placed_groups
from tests.judge.doctoring import script
from tests.judge.perfect_server import observe, starts

if TYPE_CHECKING:
    from collections.abc import Sequence

OURS, THEIRS = 7, 8


def transaction(thread: int, text: bytes = b"BEGIN") -> list[bytes]:
    bodies: list[Any] = [Gtid(immediate_commit_timestamp=1), Query(text=text, schema=b"s", thread_id=thread)]
    return [encode_event(body) for body in (*bodies, *([Xid(xid=1)] if text == b"BEGIN" else []))]


def flat(*groups: Sequence[bytes]) -> list[bytes]:
    return [event for group in groups for event in group]


def size(*groups: Sequence[bytes]) -> int:
    return sum(map(len, flat(*groups)))


def test_others_are_counted_and_the_last_definition_and_the_last_of_our_own_are_known() -> None:
    ours, theirs = transaction(OURS), transaction(THEIRS)
    definition = transaction(OURS, b"CREATE TABLE t (a INT)")
    log = flat(theirs, definition, theirs, ours, theirs, transaction(THEIRS, b"DROP TABLE x"), theirs, ours)
    start = 1000 + size(theirs, definition)
    events, places = placed_groups(log, OURS, 1000, (0, start))
    assert events == flat(ours, ours)
    first = start + size(theirs)
    second = first + size(ours, theirs, transaction(THEIRS, b"DROP TABLE x"), theirs)
    assert places == [
        Place(file=0, start=first, others=3, floor=2, own=2),
        Place(file=0, start=second, others=3, floor=2),
    ]


def test_numbers_begin_anew_in_the_next_file() -> None:
    ours, theirs = transaction(OURS), transaction(THEIRS)
    turn = [encode_event(Rotate(name=b"binlog.000002"))]
    head = [encode_event(FormatDescription(server_version="9.7.4"))]
    events, places = placed_groups(flat(theirs, ours, theirs, turn, head, theirs, ours), OURS, 500, (0, 500))
    assert events == flat(ours, ours)
    assert places == [
        Place(file=0, start=500 + size(theirs), others=1),
        Place(file=1, start=4 + size(head, theirs), others=1, earlier=1),
    ]


def test_compressed_transactions_are_ordinary_ones() -> None:
    observed = observe(script(compression=True))
    events, places = placed_groups(observed.events, observed.thread_id, 4, (0, 4))
    assert tuple(events) == observed.events
    assert [place.start for place in places] == list(starts(events))
    foreign = placed_groups(observed.events, observed.thread_id + 1, 4, (0, 4))
    assert foreign == ([], [])
    assert {replace(place, start=0) for place in places} == {Place(file=0, start=0)}
    assert list(groups_of_thread(events, observed.thread_id)) == events
