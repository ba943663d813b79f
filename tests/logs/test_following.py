"""Following logs: positions behind whole transactions, whatever the length of a file, and what is refused."""

from __future__ import annotations

import shutil
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from conformance.logs.following import FollowError, Logs, Offset
from conformance.logs.rows.options import OptionError
from conformance.logs.rows.tuples import read_rows
from conformance.reference.binlog.files import decode_file
from tests.scenarios.binlog_checks import NAMES, asked, relay_of_another

if TYPE_CHECKING:
    from pathlib import Path

A, B = NAMES["14-rotate-a"], NAMES["14-rotate-b"]


def logs_of(folder: Path) -> Logs:
    return Logs(map(str, folder.iterdir()))


def rows_between(folder: Path, *offsets: Offset, split: int | None = None) -> list[object]:
    """The rows that a stream reads from offset to offset, without the directory's name."""
    logs, options = logs_of(folder), asked(folder)
    return [
        row[1:]
        for start, end in pairwise(offsets)
        for part in logs.parts(start, end, split)
        for row in read_rows(part, options)
        if row[-1] is None or row[-1][0] != b"in-use"
    ]


def test_a_growing_log_gives_each_row_once_whenever_it_is_looked_at(tmp_path: Path) -> None:
    data = (A.read_bytes(), B.read_bytes())
    for number, whole in enumerate(data, 1):
        (tmp_path / f"binlog.{number:06}").write_bytes(whole)
    start = logs_of(tmp_path).start("earliest")
    expected = rows_between(tmp_path, start, logs_of(tmp_path).latest(start))
    assert len(expected) == 5
    for name in tmp_path.iterdir():
        name.unlink()
    offsets = [start]
    for number, whole in enumerate(data, 1):
        ends = {0, 4} | {event.position + event.header.length for event in decode_file(whole) if event.position}
        for length in sorted({*range(150, len(whole), 37), *ends, len(whole)}):
            if length < 130 and number == 1:
                continue
            (tmp_path / f"binlog.{number:06}").write_bytes(whole[:length])
            offsets.append(logs_of(tmp_path).latest(offsets[-1]))
    assert len(set(offsets)) > 6
    assert [logs_of(tmp_path).place(offset) for offset in offsets] == sorted(map(logs_of(tmp_path).place, offsets))
    for split in (None, 1):
        assert rows_between(tmp_path, *offsets, split=split) == expected


def test_an_offset_is_behind_a_transaction_and_names_it(tmp_path: Path) -> None:
    shutil.copy(NAMES["05-partial-multi-json-minimal"], tmp_path / "binlog.000007")
    logs = logs_of(tmp_path)
    begin = logs.start("earliest")
    ends = {
        event.position for event in decode_file((tmp_path / "binlog.000007").read_bytes()) if event.header.type == 33
    }
    offset, seen = begin, []
    while (after := logs.latest(offset, 1)) != offset:
        offset = after
        seen.append(offset)
    assert offset == logs.latest(begin) == logs.start("latest")
    assert {found.gtid_position for found in seen if found.gtid} == ends
    assert all(found.gtid.count(":") == 1 for found in seen if found.gtid)
    assert rows_between(tmp_path, begin, *seen) == rows_between(tmp_path, begin, offset)
    middle = logs.start(f"binlog.000007:{seen[5].position}")
    assert len(rows_between(tmp_path, middle, offset)) < len(rows_between(tmp_path, begin, offset))


def test_damage_in_the_middle_waits_for_the_next_log_and_is_told_then(tmp_path: Path) -> None:
    data = A.read_bytes()
    (tmp_path / "binlog.000001").write_bytes(data[:-70] + bytes(70))
    begin = logs_of(tmp_path).start("earliest")
    stopped = logs_of(tmp_path).latest(begin)
    assert logs_of(tmp_path).latest(stopped) == stopped
    shutil.copy(B, tmp_path / "binlog.000002")
    end = logs_of(tmp_path).latest(stopped)
    problems = [row[-1] for row in rows_between(tmp_path, begin, stopped, end) if row[-1]]  # type: ignore[index]
    assert len(problems) == 1


def test_what_would_lose_rows_is_an_error(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        shutil.copy(NAMES["14-rotate-b"], tmp_path / f"binlog.{number:06}")
    begin = logs_of(tmp_path).start("earliest")
    inside = logs_of(tmp_path).latest(begin, 400)
    assert inside.gtid
    with pytest.raises(FollowError, match="it is another log"):
        logs_of(tmp_path).latest(inside._replace(gtid="6d31aba5-e4a6-11f1-9d7e-02fc00000001:99"))
    with pytest.raises(FollowError, match="has 1073 bytes, and was read up to 5000"):
        logs_of(tmp_path).latest(inside._replace(position=5000))
    (tmp_path / "binlog.000002").unlink()
    with pytest.raises(FollowError, match=r"a log is missing between binlog.000001 and binlog.000003"):
        logs_of(tmp_path).latest(begin)
    (tmp_path / "binlog.000001").unlink()
    with pytest.raises(FollowError, match=r"binlog.000001 is gone, and was read up to"):
        logs_of(tmp_path).latest(inside)


def test_logs_of_one_server_are_followed_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("binlog.999999", "binlog.1000000", "notes.txt"):
        shutil.copy(A, tmp_path / name)
    logs = logs_of(tmp_path)
    assert list(logs.files) == [999_999, 1_000_000]
    assert logs.latest(logs.start("earliest")).file == "binlog.1000000"
    shutil.copy(A, tmp_path / "other.000001")
    with pytest.raises(OptionError, match=r"the numbered logs of one server, .* got those of binlog, other"):
        logs_of(tmp_path)
    with pytest.raises(OptionError, match="got none"):
        Logs([str(tmp_path / "notes.txt")])
    place = tmp_path / "relay.000001"
    relay_of_another(place)
    logs = Logs([str(place)])
    with pytest.raises(OptionError, match="is a relay log"):
        logs.latest(logs.start("earliest"))
