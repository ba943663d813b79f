"""A run of events is cut at their lengths; what cannot be an event is not lost."""

from __future__ import annotations

import pytest

from conformance.servers.wire.capture import split_events
from conformance.servers.wire.groups import groups_of_thread
from tests.judge.doctoring import script
from tests.judge.perfect_server import observe

_THREAD = 4711  # of the perfect server


def test_whole_events_are_cut_apart() -> None:
    events = observe(script()).events
    assert tuple(split_events(b"".join(events))) == events
    assert tuple(groups_of_thread(events, _THREAD)) == events
    assert tuple(groups_of_thread(events, 1)) == ()


@pytest.mark.planted("FR1")
@pytest.mark.parametrize("length", [0, 18, 0xFFFFFFFF])
def test_an_absurd_length_leaves_the_rest_in_one_piece(length: int) -> None:
    first, second, *rest = observe(script()).events
    torn = second[:9] + length.to_bytes(4, "little") + second[13:]
    pieces = tuple(split_events(b"".join((first, torn, *rest))))
    assert pieces == (first, b"".join((torn, *rest)))
    assert tuple(groups_of_thread(pieces, _THREAD)) == pieces
    assert tuple(split_events(first + b"abc")) == (first, b"abc")


@pytest.mark.planted("FR1")
def test_a_group_whose_session_cannot_be_read_is_everybodys() -> None:
    first, second, *rest = observe(script()).events[:5]
    torn = (first, second[:20], *rest)
    assert tuple(groups_of_thread(torn, _THREAD)) == torn
    assert tuple(groups_of_thread(torn, 1)) == torn
