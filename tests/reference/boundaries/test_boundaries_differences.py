"""Where the worklog's model and the parser that shipped judge the same stream differently (transaction-boundaries C).

Without markers a BEGIN repairs the worklog's parser, because it is guessed to be a start.
"""

from __future__ import annotations

import pytest

from conformance.reference.boundaries.diagrams import DIFFERENCES
from conformance.reference.boundaries.observed_event import ObservedEvent
from conformance.reference.boundaries.shipped import ShippedParser
from conformance.reference.boundaries.unmarked import Receiver
from conformance.reference.event_types import EventType

G, XID, HEARTBEAT = ObservedEvent(EventType.GTID), ObservedEvent(EventType.XID), ObservedEvent(EventType.HEARTBEAT_V2)
MAP, ROWS, STOP = (
    ObservedEvent(EventType.TABLE_MAP),
    ObservedEvent(EventType.WRITE_ROWS),
    ObservedEvent(EventType.STOP, 0, 99),
)
ROTATE = ObservedEvent(EventType.ROTATE, 0, 99)
BEGIN, COMMIT = ObservedEvent(EventType.QUERY, text=b"BEGIN"), ObservedEvent(EventType.QUERY, text=b"COMMIT")
XA_ROLLBACK = ObservedEvent(EventType.QUERY, text=b"XA ROLLBACK X'78',X'',1")


STREAMS = [
    pytest.param([MAP, ROWS, G, BEGIN, XID], [0, 1], [], id="rows outside a group"),
    pytest.param([G, G, BEGIN, XID], [1], [1], id="two GTIDs in a row"),
    pytest.param([G, XID], [], [1], id="the end right behind a GTID"),
    pytest.param([BEGIN, BEGIN, XID], [1, 2], [1], id="BEGIN twice"),
    pytest.param([G, BEGIN, G, BEGIN, XID], [2], [2], id="a group inside a group"),
    pytest.param([G, BEGIN, STOP, XID], [2, 3], [], id="STOP inside a group"),
    pytest.param([G, BEGIN, ROTATE, XID], [2, 3], [], id="ROTATE inside a group"),
    pytest.param([G, BEGIN, COMMIT], [], [], id="an empty group"),
    pytest.param([G, BEGIN, HEARTBEAT, XID], [2, 3], [], id="a heartbeat inside a group"),
    pytest.param([XA_ROLLBACK], [], [0], id="XA ROLLBACK without a GTID"),
]


def test_the_page_lists_these_streams() -> None:
    assert [words for words, _, _ in DIFFERENCES] == [stream.id for stream in STREAMS]


@pytest.mark.parametrize(("events", "worklog", "shipped"), STREAMS)
def test_both_models_judge_a_stream_as_written(
    events: list[ObservedEvent], worklog: list[int], shipped: list[int]
) -> None:
    receiver, parser = Receiver(), ShippedParser()
    assert [number for number, event in enumerate(events) if receiver.feed(event).broken] == worklog
    assert [number for number, event in enumerate(events) if parser.feed(event)] == shipped
