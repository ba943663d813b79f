"""``expand`` on a real server: the campaign in short, and that it sees what is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from tests.expansion.campaign import run_blocks
from tests.expansion.naive_events import frames

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live


def another_value(data: bytes) -> bytes:
    """Another first value in the last UPDATE, with its checksum."""
    frame = [frame for frame in frames(data) if frame.type == 31][-1]
    start, length = frame.start, int.from_bytes(data[frame.start + 9 : frame.start + 13], "little")
    event = bytearray(data[start : start + length - 4])
    event[len(frame.kind) + 1] ^= 1
    return data[:start] + event + crc32(event).to_bytes(4, "little") + data[start + length :]


def test_four_logs_are_what_the_server_writes_itself(server: ProcessServer, tmp_path: Path) -> None:
    result = run_blocks(server, tmp_path, seed="live", updates=120, block=30, peer=False)
    assert result.problems == []
    assert result.counts["events 39"] > 50
    assert result.counts["events 40"] > 5
    assert result.counts["events with other layout"] < 5


@pytest.mark.parametrize(
    ("alter", "seen"), [(another_value, "mysqlbinlog"), (lambda data: data[:-40], "the file")], ids=["value", "cut"]
)
def test_a_planted_fault_is_seen(
    server: ProcessServer, tmp_path: Path, alter: Callable[[bytes], bytes], seen: str
) -> None:
    result = run_blocks(server, tmp_path, seed="live", updates=10, block=10, peer=False, alter=alter)
    assert any(seen in problem for problem in result.problems)
