"""The event that opens a log file is held against itself: its length, and the checksum that it announces."""

from __future__ import annotations

import binascii

import pytest

from conformance.servers.errors import UnreadableLog
from conformance.servers.wire.capture import sound_description

HEAD = bytes(4) + b"\x0f" + bytes(4) + (40).to_bytes(4, "little") + bytes(6) + b"\x04\0" + bytes(14) + b"\1"
SOUND = HEAD + binascii.crc32(HEAD).to_bytes(4, "little")


def test_a_sound_one_is_taken() -> None:
    assert len(SOUND) == 40
    assert sound_description(SOUND, "b.1") == SOUND
    without = SOUND[:-5] + b"\0" + SOUND[-4:]  # no checksums: what stands there says nothing
    assert sound_description(without, "b.1") == without


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("place", [0, 5, 14, 19, 30, 36, 39])
def test_another_byte_is_no_log_to_read(place: int) -> None:
    with pytest.raises(UnreadableLog, match=r"of b\.1 has a wrong checksum"):
        sound_description(SOUND[:place] + bytes((SOUND[place] ^ 1,)) + SOUND[place + 1 :], "b.1")


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("event", [b"", SOUND[:10], SOUND[:-1], SOUND + b"x"], ids=["none", "cut", "short", "long"])
def test_another_length_is_no_log_to_read(event: bytes) -> None:
    with pytest.raises(UnreadableLog, match=r"of b\.1 has \d+ bytes and says \d+"):
        sound_description(event, "b.1")
