"""The reader of groups: they tile the file, wherever reading begins and however the file is cut."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies

from conformance.reference.binlog.control_events import Incident, Xid
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.gtid import Gtid, gtid_text
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.boundaries.markers import mark
from conformance.reference.boundaries.observed_event import observe
from conformance.reference.boundaries.reader import Group, GroupKind, find_event, read_groups
from conformance.reference.boundaries.source import mark_stream
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from tests.reference.boundaries.streams import FILES, events_of

PLAIN = [path for path in FILES if "relay" not in path.stem]


def groups(data: bytes, start: int = 4, stop: int | None = None, *, window: int = 1 << 20) -> list[Group]:
    return list(read_groups(BytesIO(data), start, stop, window=window))


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_groups_tile_the_file_and_have_the_gtids_of_its_events(path: Path) -> None:
    data = path.read_bytes()
    found = groups(data)
    assert found[0].start == 4
    assert found[-1].end == len(data)
    assert all(one.end == next_one.start for one, next_one in pairwise(found))
    events = decode_file(data)
    assert [group.gtid for group in found if group.gtid] == [
        name for event in events if (name := gtid_text(event.body))
    ]
    assert sum(group.events for group in found) == len(events)
    assert not {group.kind for group in found} & {GroupKind.FRAGMENT, GroupKind.OPEN}
    for window in (19, 64, 700):
        assert groups(data, window=window) == found


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_marked_files_give_the_same_groups(path: Path) -> None:
    events = events_of(path)
    types = mark_stream([observe(event, footer) for event, footer in events])
    marked = [mark(event, kind, footer=footer) for (event, footer), kind in zip(events, types, strict=True)]
    assert groups(b"\xfebin" + b"".join(marked)) == groups(path.read_bytes())


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_reading_from_any_event_gives_a_fragment_and_then_the_same_groups(path: Path) -> None:
    data = path.read_bytes()
    whole = groups(data)
    events = events_of(path)
    position = 4
    for event, _ in events[:120]:
        found = groups(data, position)
        rest = [group for group in whole if group.start >= position]
        assert found[len(found) - len(rest) :] == rest
        for extra in found[: len(found) - len(rest)]:
            # A QUERY that is no longer seen behind its BEGIN counts as a statement, INTVAR and the like as its start.
            assert extra.kind in (
                GroupKind.FRAGMENT,
                GroupKind.DDL,
                GroupKind.DML,
                GroupKind.XA,
                GroupKind.COMPRESSED,
                GroupKind.OPEN,
            )
            assert extra.gtid is None
        position += len(event)


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_the_first_event_behind_any_byte_is_found(path: Path) -> None:
    data = path.read_bytes()
    starts = []
    position = 4
    for event, _ in events_of(path):
        starts.append(position)
        position += len(event)
    for place in range(4, len(data), max(1, len(data) // 300)):
        wanted = next((start for start in starts if start >= place), None)
        found = find_event(data[place : place + 40_000 if place + 40_000 < len(data) else None], place)
        assert wanted == (None if found is None else place + found) or (wanted or 0) > place + 30_000


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_parts_of_a_file_give_the_groups_of_the_whole(parts: int) -> None:
    data = Path(PLAIN[0]).read_bytes()
    cuts = [4 + (len(data) - 4) * number // parts for number in range(parts + 1)]
    found: list[Group] = []
    for low, high in pairwise(cuts):
        offset = find_event(data[low:], low)
        if offset is None:
            continue
        found += [group for group in groups(data, low + offset, high) if group.kind is not GroupKind.FRAGMENT and
                  (group.gtid or group.kind is GroupKind.FRAME)]  # fmt: skip
    assert found == groups(data)


def test_kinds() -> None:
    writer = FileWriter()
    gtid = Gtid(uuid=Gtid().uuid, gno=1)
    data = writer.start()
    bodies = [
        [gtid, begin(), Xid(xid=1)],
        [gtid, Query(text=b"create table t (a int)")],
        [gtid, Query(text=b"XA START X'78',X'',1"), Query(text=b"XA END X'78',X'',1"), Query(text=b"ROLLBACK")],
        [gtid, Incident()],
        [gtid, begin()],  # its end is missing
        [gtid, begin(), Xid(xid=2)],
    ]
    for group in bodies:
        for body in group:
            data += writer.add(body)  # type: ignore[arg-type]
    kinds = [group.kind for group in groups(data)]
    assert kinds == [
        GroupKind.FRAME, GroupKind.FRAME, GroupKind.DML, GroupKind.DDL, GroupKind.XA, GroupKind.INCIDENT,
        GroupKind.OPEN, GroupKind.DML,
    ]  # fmt: skip


def test_a_file_cut_anywhere_gives_its_whole_groups_and_an_open_one() -> None:
    data = (Path(PLAIN[0]).parent / "13-statement-format.binlog").read_bytes()
    whole = groups(data)
    for length in range(200, len(data), 3):
        found = groups(data[:length])
        complete = [group for group in whole if group.end <= length]
        assert found[: len(complete)] == complete
        assert [group.kind for group in found[len(complete) :]] in ([], [GroupKind.OPEN])
        assert not found or found[-1].end <= length


def test_an_event_without_a_length_is_an_error() -> None:
    data = bytearray((Path(PLAIN[0]).parent / "11-no-gtid.binlog").read_bytes())
    place = 4 + len(events_of(PLAIN[0].parent / "11-no-gtid.binlog")[0][0])
    data[place + 9 : place + 13] = bytes(4)
    with pytest.raises(CodecError, match="at least as long"):
        groups(bytes(data))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not-a-binlog"),
        (b"\xfdbin" + bytes(30), "encrypted"),
        (b"\xfebin" + bytes(30), "no-format-description"),
        (b"\xfebin" + bytes(4) + bytes((EventType.FORMAT_DESCRIPTION,)) + bytes(30), "bad-length"),
    ],
)
def test_what_is_no_binary_log_is_said_to_be_none(data: bytes, code: str) -> None:
    with pytest.raises(CodecError) as error:
        groups(data)
    assert error.value.code == code


@given(strategies.data())
def test_damaged_files_give_groups_or_an_error_of_the_family(data: strategies.DataObject) -> None:
    path = data.draw(strategies.sampled_from([path for path in PLAIN if path.stat().st_size < 8_000]))
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(strategies.integers(1, 4))):
        place = data.draw(strategies.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(strategies.integers(0, 255))
    del damaged[data.draw(strategies.integers(len(damaged) // 2, len(damaged))) :]
    start = data.draw(strategies.integers(0, len(damaged)))
    for begin_at, footer in ((4, None), (start, 4)):
        try:
            found = list(read_groups(BytesIO(bytes(damaged)), begin_at, footer=footer))
        except CodecError:
            continue
        assert all(one.end == following.start for one, following in pairwise(found))
        assert not found or found[-1].end <= len(damaged)
    find_event(bytes(damaged[start:]), start)
