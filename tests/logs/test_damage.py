"""The places behind damage: the next sound event, and the next transaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.logs.damage import Behind, sound_behind
from tests.in_process import lab_here

REPORTS = Path(__file__).parents[1] / "data" / "reports"
SOUND = REPORTS / "kit-ignorable-100.binlog"  # events at …, 595 WRITE_ROWS, 639 XID, 670 ignorable, 696 GTID, …
FLIPPED = REPORTS / "one-bit-flipped.binlog"


def changed(tmp_path: Path, *places: tuple[int, bytes]) -> str:
    data = bytearray(SOUND.read_bytes())
    for place, octets in places:
        data[place : place + len(octets)] = octets
    path = tmp_path / "log"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("places", "behind"),
    [
        ([(631, b"\x02")], Behind(639, 696)),
        ([(604, b"\xff\xff")], Behind(639, 696)),
        ([(600, bytes(60))], Behind(670, 696)),
        ([(631, b"\x02"), (650, b"\x02")], Behind(670, 696)),
        ([(595, bytes(1011 - 595))], None),
        ([(8, b"\x63")], None),
    ],
    ids=["a value", "its length", "zeros over two events", "two events", "all behind it", "the description"],
)
def test_places_behind_damage(places: list[tuple[int, bytes]], behind: Behind | None, tmp_path: Path) -> None:
    assert sound_behind(changed(tmp_path, *places), 595) == behind


def test_an_event_that_is_cut_off_has_nothing_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(SOUND.read_bytes()[:660])
    assert sound_behind(str(path), 639) is None
    assert sound_behind("mysql://root@127.0.0.1/binlog.000001", 639) is None


def test_the_message_says_where_to_go_on() -> None:
    words = "event@595: the checksum is wrong"
    for command in ("decode", "apply", "check"):
        ended = lab_here(command, FLIPPED)
        assert ended.code == 1
        assert words in ended.err
        assert "the next sound event begins at 639, the next transaction at 670" in ended.err
    on = lab_here("decode", "--format", "jsonl", "--start-position", "670", FLIPPED)
    assert (on.code, len(on.out.splitlines())) == (0, 1)
