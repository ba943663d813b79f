"""The reader of captured events for those who need all of them: nothing unread and no altered byte passes."""

from __future__ import annotations

import pytest

from conformance.judge.updates.events import readable_events
from conformance.reference.errors import DecodeError
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson
from tests.judge.updates.test_forms import XID, events

LOG = [*events(PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 2)])), (1, 1)), XID]


def test_all_events_are_decoded() -> None:
    names = [event.name for _, event in readable_events(LOG)]
    assert names == ["TABLE_MAP_EVENT", "PARTIAL_UPDATE_ROWS_EVENT", "XID_EVENT"]
    assert [raw for raw, _ in readable_events(LOG)] == LOG
    assert list(readable_events([])) == []


@pytest.mark.parametrize("number", range(len(LOG)))
def test_an_altered_bit_anywhere_is_told(number: int) -> None:
    for place in range(8 * len(LOG[number])):
        altered = bytearray(LOG[number])
        altered[place >> 3] ^= 1 << (place & 7)
        with pytest.raises(DecodeError):
            list(readable_events([*LOG[:number], bytes(altered), *LOG[number + 1 :]]))
