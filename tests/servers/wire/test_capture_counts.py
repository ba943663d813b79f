"""Counting the transactions of a log file, also of one that a crash has cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.query import Query
from conformance.reference.event_types import EventType
from conformance.servers.wire.capture import Capture, Position

if TYPE_CHECKING:
    from pathlib import Path

GROUP = b"".join(encode_event(body) for body in (Gtid(type=EventType.ANONYMOUS_GTID), Query(text=b"BEGIN")))


class _Server:
    id = "a server"
    number = (8, 0, 45)
    started_by_us = True
    files_readable = True

    def connect(self) -> Any:
        raise AssertionError("nothing is asked")


def capture_of(directory: Path, data: bytes) -> Capture:
    (directory / "binlog.000001").write_bytes(data)
    capture = Capture(_Server(), over_protocol=False)
    capture._directory = directory
    return capture


def at(offset: int) -> Position:
    return Position(file="binlog.000001", offset=offset)


def test_transactions_are_counted_from_the_last_place_on(tmp_path: Path) -> None:
    capture = capture_of(tmp_path, MAGIC + GROUP * 3)
    for groups in (0, 1, 3, 2):
        assert capture.transactions_before(at(len(MAGIC) + groups * len(GROUP))) == groups


@pytest.mark.parametrize("cut", [1, 18, 19, len(GROUP) - 1])
def test_a_log_that_a_crash_has_cut_is_not_counted(tmp_path: Path, cut: int) -> None:
    """Up to its last whole event it is, and what the server says of its end is beyond that."""
    data = MAGIC + GROUP * 3
    capture = capture_of(tmp_path, data[:-cut])
    assert capture.transactions_before(at(len(data))) is None
    assert capture.transactions_before(at(len(MAGIC) + 2 * len(GROUP))) == 2


def test_an_empty_log_is_not_counted(tmp_path: Path) -> None:
    assert capture_of(tmp_path, b"").transactions_before(at(500)) is None


def test_another_log_of_the_same_name_is_counted_anew(tmp_path: Path) -> None:
    """The place that was counted to is inside of an event of the new file."""
    capture = capture_of(tmp_path, MAGIC + GROUP)
    assert capture.transactions_before(at(len(MAGIC) + len(GROUP))) == 1
    longer = encode_event(Query(text=b"x" * 500))
    (tmp_path / "binlog.000001").write_bytes(MAGIC + longer + GROUP * 2)
    assert capture.transactions_before(at(len(MAGIC) + len(longer) + 2 * len(GROUP))) == 2
