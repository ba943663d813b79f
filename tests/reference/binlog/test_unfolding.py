"""How compressed transactions are read piece by piece, and where they are bombs (binlog-events 15)."""

from __future__ import annotations

from random import Random
from struct import pack
from typing import Any

import pytest

from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.binlog.unfolding import EVENT_RATIO, FREE, RATIO, split, unfold
from conformance.reference.errors import DecodeError
from tests.hostile.logs.log import COLUMNS, inner, rows_head
from tests.reference.refusals import refused, where

zstandard = pytest.importorskip("zstandard")

_BLOCK = 128 << 10


def _equal_rows(size: int) -> bytes:
    """Events of about eight thousand bytes, all of them equal: what a server writes for many equal rows."""
    event = inner(30, rows_head(2) + (b"\2" + pack("<I", 7)) * 1600)
    return inner(19, COLUMNS.encode()) + event * (size // len(event))


def _event_of(size: int) -> bytes:
    """One event that is nearly the whole transaction."""
    return inner(200, bytes(size))


@pytest.mark.parametrize(
    "options",
    [
        {"level": 3, "write_content_size": True},
        {"level": 3, "write_content_size": False},
        {"level": 19, "write_checksum": True},
        {"level": 1, "write_content_size": False, "write_checksum": True},
    ],
    ids=["as a server", "no size", "a checksum", "a checksum and no size"],
)
@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_536, _BLOCK - 1, _BLOCK, _BLOCK + 1, 700_000])
def test_the_pieces_are_the_content_and_none_is_larger_than_a_block(size: int, options: dict[str, Any]) -> None:
    noise = Random(size).randbytes(size // 2)
    content = noise + bytes(size - len(noise))
    frame = zstandard.ZstdCompressor(**options).compress(content)
    pieces = list(unfold(frame))
    assert b"".join(pieces) == content
    assert max(map(len, pieces), default=0) <= _BLOCK
    assert where(refused(lambda: list(unfold(frame[:-1])))) == ("truncated", len(frame) - 1, "")
    assert where(refused(lambda: list(unfold(frame + b"xy")))) == ("trailing-bytes", len(frame), "")


def test_a_transaction_of_equal_rows_is_no_bomb() -> None:
    content = _equal_rows(3 * FREE)
    payload = TransactionPayload.compress(content)
    assert 9_000 < len(content) / len(payload.payload) < RATIO
    event = EventDecoder().decode(_whole(payload))
    decoder = EventDecoder()
    assert sum(isinstance(each.body, LazyRows) for each in decoder.inner_events(event)) > 1500


def _whole(payload: TransactionPayload) -> bytes:
    from conformance.reference.binlog.event import encode_event

    return encode_event(payload)


def test_a_transaction_of_one_byte_is_a_bomb_beyond_what_is_free() -> None:
    most = TransactionPayload.compress(bytes(FREE))
    assert len(most.uncompressed()) == FREE
    error = refused(TransactionPayload.compress(bytes(FREE + 1)).uncompressed)
    assert error.code == "payload-bomb"
    assert isinstance(error, DecodeError)
    assert "transaction" in error.message
    assert str(FREE) in str(error.expected)
    assert FREE < int(str(error.got)) <= FREE + _BLOCK


def test_a_large_event_is_a_bomb_beyond_its_ratio() -> None:
    """The noise in the first event keeps the transaction as a whole within its ratio."""
    small = inner(200, Random(2).randbytes(3000))
    allowed = TransactionPayload.compress(small + _event_of(FREE - HEADER_SIZE - _BLOCK))
    assert [frame.start for frame in allowed.inner_frames()] == [0, len(small)]
    bomb = TransactionPayload.compress(small + _event_of(FREE + 2 * _BLOCK))
    error = refused(lambda: list(bomb.inner_frames()))
    assert error.code == "payload-bomb"
    assert "event" in error.message
    assert where(error) == ("payload-bomb", len(small), "inner[1]")
    noise = Random(1).randbytes(FREE // EVENT_RATIO * 2)
    real = TransactionPayload.compress(inner(200, noise + bytes(FREE + _BLOCK)))
    assert len(list(real.inner_frames())) == 1


def test_a_limit_of_ones_own_takes_the_place_of_the_ratios() -> None:
    bomb = TransactionPayload.compress(_event_of(2 * FREE))
    assert refused(lambda: list(bomb.inner_frames())).code == "payload-bomb"
    assert [len(frame.data) for frame in bomb.inner_frames(3 * FREE)] == [2 * FREE + HEADER_SIZE]
    error = refused(lambda: list(bomb.inner_frames(FREE)))
    assert (error.code, error.expected) == ("payload-too-large", FREE)


@pytest.mark.parametrize("step", [1, 7, 19, 20, 1000])
def test_events_are_found_wherever_the_pieces_end(step: int) -> None:
    events = [inner(200, bytes(size)) for size in (0, 1, 50, 0, 300)]
    data = b"".join(events)
    pieces = [data[place : place + step] for place in range(0, len(data), step)]
    frames = list(split(pieces, None, 1))
    assert [frame.data for frame in frames] == events
    assert [frame.number for frame in frames] == [0, 1, 2, 3, 4]
    assert [frame.start for frame in frames] == [0, 19, 39, 108, 127]


@pytest.mark.parametrize("step", [1, 1000])
def test_an_event_that_does_not_fit_names_its_place(step: int) -> None:
    data = inner(200, b"abc") + inner(200, b"abc")
    for cut, code, offset in ((len(data) - 1, "bad-length", 31), (30, "truncated", 22)):
        pieces = [data[:cut][place : place + step] for place in range(0, cut, step)]
        assert where(refused(lambda pieces=pieces: list(split(pieces, None, 1)))) == (code, offset, "inner[1]")
