"""GTID events of every age, tagged GTIDs, GTID sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from conformance.reference.binlog.gtid import Gtid, GtidTagged, body_with_length, gtid_text, with_transaction_length
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.query import Query
from conformance.reference.cursor import Cursor
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType
from tests.reference.refusals import refused, where

_UUID = UUID("11111111-2222-3333-4444-555555555555")

_FULL = Gtid(
    gtid_flags=1,
    uuid=_UUID,
    gno=9,
    last_committed=1,
    sequence_number=2,
    immediate_commit_timestamp=1795154439830779,
    original_commit_timestamp=1795154439000000,
    transaction_length=300,
    immediate_server_version=90704,
    original_server_version=80046,
    commit_group_ticket=7,
)
_NO_ORIGINALS = replace(_FULL, original_commit_timestamp=None, original_server_version=None)

# Where servers of some age stop (binlog-events 6, versions 5.3), with the length of the body.
_AGES = [
    ("9.7 with all", _FULL, 42 + 7 + 7 + 3 + 4 + 4 + 8),
    ("9.7 on the source", replace(_NO_ORIGINALS, commit_group_ticket=None), 42 + 7 + 3 + 4),
    ("8.0.2", replace(_NO_ORIGINALS, immediate_server_version=None, commit_group_ticket=None), 42 + 7 + 3),
    (
        "8.0.1",
        replace(_NO_ORIGINALS, transaction_length=None, immediate_server_version=None, commit_group_ticket=None),
        42 + 7,
    ),
    ("5.7", Gtid(uuid=_UUID, gno=9, last_committed=1, sequence_number=2), 42),
    ("5.6", Gtid(uuid=_UUID, gno=9, last_committed=None, sequence_number=None), 25),
]


@pytest.mark.parametrize(("gtid", "size"), [age[1:] for age in _AGES], ids=[age[0] for age in _AGES])
def test_a_gtid_may_stop_at_every_boundary(gtid: Gtid, size: int) -> None:
    raw = gtid.encode()
    assert len(raw) == size
    assert Gtid.read(Cursor(raw), EventType.GTID) == gtid


def test_between_the_boundaries_it_is_cut_off() -> None:
    raw = _FULL.encode()
    allowed = {25, 42, 56, 59, 67, 75}
    for end in range(len(raw) + 1):
        if end in allowed:
            Gtid.read(Cursor(raw[:end]), EventType.GTID)
        else:
            with pytest.raises(DecodeError):
                Gtid.read(Cursor(raw[:end]), EventType.GTID)


def test_a_field_behind_a_missing_one_cannot_be_written() -> None:
    with pytest.raises(EncodeError):
        replace(_FULL, transaction_length=None).encode()
    with pytest.raises(EncodeError):
        replace(_FULL, sequence_number=None).encode()


@pytest.mark.parametrize(
    "change",
    [
        {"immediate_commit_timestamp": 1 << 55},
        {"original_commit_timestamp": 1 << 56},
        {"immediate_server_version": 1 << 31},
        {"gno": 1 << 63},
        {"gtid_flags": 256},
        {"last_committed": -1},
    ],
)
def test_a_number_that_does_not_fit_is_an_encode_error(change: dict[str, int]) -> None:
    with pytest.raises(EncodeError):
        replace(_FULL, **change).encode()  # type: ignore[arg-type]


@pytest.mark.parametrize("others", [100, 160, 165, 170, 171, 172, 173, 174, 65400, 65440, 65450, 65455, 65460, 1 << 24])
@pytest.mark.parametrize("footer", [0, 4])
def test_the_length_of_a_transaction_counts_itself(others: int, footer: int) -> None:
    for gtid in (replace(_NO_ORIGINALS, commit_group_ticket=None), _FULL, GtidTagged(uuid=_UUID, tag="t")):
        filled = with_transaction_length(gtid, others, footer)
        assert filled.transaction_length == others + 19 + len(filled.encode()) + footer
        assert body_with_length(gtid, gtid.encode(), others, footer) == filled.encode()


def test_a_length_in_more_bytes_than_it_needs_is_not_written_again() -> None:
    long = replace(_FULL, transaction_length=100)
    start = len(replace(long, immediate_server_version=None, original_server_version=None, commit_group_ticket=None,
                        ).encode()) - 1  # fmt: skip
    body = long.encode()
    body = body[:start] + b"\xfc\x64\x00" + body[start + 1 :]
    assert Gtid.decode(body) == long
    assert body_with_length(long, body, 500, 4) is None


_TAGGED = bytes.fromhex(
    "026e0000020222222222444466668888aaaaaaaaaaaa042406126f746865725f74616708040a08"
    "0c7ffbfcb3f6ae6006107d031283120b"
)  # fmt: skip


def test_the_worked_tagged_gtid_both_ways() -> None:
    assert GtidTagged.decode(_TAGGED) == GtidTagged(
        gtid_flags=1,
        uuid=_UUID,
        gno=9,
        tag="other_tag",
        last_committed=1,
        sequence_number=2,
        immediate_commit_timestamp=1795154439830779,
        transaction_length=223,
        immediate_server_version=90704,
    )
    assert GtidTagged.decode(_TAGGED).encode() == _TAGGED


def test_uuid_bytes_from_0x80_take_two_bytes() -> None:
    small = GtidTagged(uuid=UUID(int=0)).encode()
    large = GtidTagged(uuid=UUID(int=(1 << 128) - 1)).encode()
    assert len(large) == len(small) + 16
    assert GtidTagged.decode(large).uuid == UUID(int=(1 << 128) - 1)


def test_optional_fields_of_a_tagged_gtid_both_ways() -> None:
    gtid = GtidTagged(
        uuid=_UUID,
        tag="a_1",
        gno=(1 << 63) - 2,
        original_commit_timestamp=5,
        original_server_version=6,
        commit_group_ticket=(1 << 64) - 1,
    )
    assert GtidTagged.decode(gtid.encode()) == gtid
    few = GtidTagged(gtid_flags=None, last_committed=None, immediate_commit_timestamp=None, uuid=_UUID, tag="t")
    assert GtidTagged.decode(few.encode()) == few


def test_fields_of_a_newer_writer_are_skipped_unless_it_forbids_that() -> None:
    newer = bytearray(_TAGGED + b"\x18\x02\x02")
    newer[1] += 2 * 3
    assert GtidTagged.decode(bytes(newer)).encode() == _TAGGED
    newer[2] = 13 << 1
    with pytest.raises(Unsupported) as caught:
        GtidTagged.decode(bytes(newer))
    assert caught.value.code == "serialization-field"


@pytest.mark.parametrize(
    "raw",
    [
        _TAGGED[:-1],
        _TAGGED + b"\0",
        b"\x04" + _TAGGED[1:],
        _TAGGED.replace(b"other_tag", b"Other_tag"),
        _TAGGED[:22] + b"\x02" + _TAGGED[23:],
    ],
)
def test_a_damaged_tagged_gtid_is_refused(raw: bytes) -> None:
    with pytest.raises(CodecError):
        GtidTagged.decode(raw)


_SET = PreviousGtids(
    entries=(
        GtidEntry(_UUID, "other_tag", ((5, 6),)),
        GtidEntry(UUID("6d31aba5-e4a6-11f1-9d7e-02fc00000001"), "", ((1, 4), (6, 7))),
        GtidEntry(UUID("6d31aba5-e4a6-11f1-9d7e-02fc00000001"), "b_2", ((1, 2),)),
    ),
    tagged=True,
)
_SET_TEXT = (
    "11111111-2222-3333-4444-555555555555:other_tag:5,"
    "6d31aba5-e4a6-11f1-9d7e-02fc00000001:1-3:6:b_2:1"
)  # fmt: skip


def test_a_tagged_set_both_ways() -> None:
    raw = _SET.encode()
    assert raw[:8].hex() == "0103000000000001"
    assert raw[24:34] == b"\x12other_tag"
    assert PreviousGtids.decode(raw) == _SET


def test_a_set_without_tags_has_the_plain_form() -> None:
    plain = PreviousGtids(entries=(GtidEntry(_UUID, "", ((1, 2),)),))
    assert plain.encode().hex() == "01" + "00" * 7 + _UUID.hex + "01" + "00" * 7 + "01" + "00" * 7 + "02" + "00" * 7
    assert PreviousGtids.decode(plain.encode()) == plain
    assert PreviousGtids().encode() == bytes(8)
    assert PreviousGtids(tagged=True).encode().hex() == "0100000000000001"


def test_the_text_of_a_set_both_ways() -> None:
    assert str(_SET) == _SET_TEXT
    assert PreviousGtids.parse(_SET_TEXT).entries == _SET.entries
    assert PreviousGtids.parse(f"{_UUID}:3-4:1:2,\n{_UUID}:9").entries == (GtidEntry(_UUID, "", ((1, 5), (9, 10))),)
    assert PreviousGtids.parse("") == PreviousGtids()


@pytest.mark.parametrize("text", ["nonsense", f"{_UUID}:x-y", f"{_UUID}:0", f"{_UUID}:5-3"])
def test_a_wrong_text_is_a_decode_error(text: str) -> None:
    with pytest.raises(DecodeError):
        PreviousGtids.parse(text)


# (start, end, new bytes, code): the slice of the encoded set that is replaced.
@pytest.mark.parametrize(
    ("start", "end", "new", "code"),
    [
        (-1, None, "", "truncated"),
        (len(_SET.encode()), None, "00", "trailing-bytes"),
        (0, 1, "02", "gtid-set-format"),
        (7, 8, "02", "gtid-set-format"),
        (1, 2, "ff", "truncated"),
        (25, 26, "4f", "gtid-tag"),
        (42, 50, "00" * 8, "gtid-interval"),
        (34, 42, "ff" * 8, "truncated"),
    ],
)
def test_a_damaged_set_is_refused(start: int, end: int | None, new: str, code: str) -> None:
    raw = _SET.encode()
    damaged = raw[:start] + bytes.fromhex(new) + (b"" if end is None else raw[end:])
    with pytest.raises(DecodeError) as caught:
        PreviousGtids.decode(damaged)
    assert caught.value.code == code


def test_an_interval_that_is_none_cannot_be_written() -> None:
    with pytest.raises(EncodeError):
        PreviousGtids(entries=(GtidEntry(_UUID, "", ((3, 3),)),)).encode()


def test_only_a_transaction_with_a_number_has_a_text() -> None:
    uuid = UUID(int=1)
    assert gtid_text(Gtid(uuid=uuid, gno=7)) == f"{uuid}:7"
    assert gtid_text(GtidTagged(uuid=uuid, gno=7, tag="t")) == f"{uuid}:t:7"
    assert gtid_text(GtidTagged(uuid=uuid, gno=7)) == f"{uuid}:7"
    assert gtid_text(GtidTagged(uuid=None, gno=None, tag=None)) == "00000000-0000-0000-0000-000000000000:0"
    assert gtid_text(GtidTagged(uuid=uuid, gno=-5, tag="t")) == f"{uuid}:t:18446744073709551611"
    assert gtid_text(Gtid(type=EventType.ANONYMOUS_GTID, uuid=uuid, gno=7)) is None
    assert gtid_text(Query(text=b"BEGIN")) is None


def test_numbers_of_a_gtid_have_their_limits() -> None:
    largest = Gtid(
        type=EventType.ANONYMOUS_GTID,
        gtid_flags=255,
        gno=(1 << 63) - 1,
        last_committed=(1 << 64) - 1,
        sequence_number=(1 << 64) - 1,
        immediate_commit_timestamp=(1 << 55) - 1,
        original_commit_timestamp=(1 << 56) - 1,
        transaction_length=(1 << 64) - 1,
        immediate_server_version=(1 << 31) - 1,
        original_server_version=(1 << 32) - 1,
        commit_group_ticket=(1 << 64) - 1,
    )
    zeros = replace(largest, immediate_commit_timestamp=0, immediate_server_version=0, gno=-(1 << 63))
    for gtid in (largest, zeros):
        assert Gtid.read(Cursor(gtid.encode()), gtid.type) == gtid
    for name, field, limit in (
        ("gtid_flags", "gtid_flags", 1 << 8), ("last_committed", "last_committed", 1 << 64),
        ("sequence_number", "sequence_number", 1 << 64), ("immediate_commit_timestamp", "commit_timestamp", 1 << 55),
        ("original_commit_timestamp", "commit_timestamp", 1 << 56),
        ("immediate_server_version", "server_version", 1 << 31),
        ("original_server_version", "server_version", 1 << 32), ("commit_group_ticket", "commit_group_ticket", 1 << 64),
    ):  # fmt: skip
        changes: list[dict[str, Any]] = [{name: limit}, {name: -1}]
        for change in changes:
            assert where(refused(replace(largest, **change).encode)) == ("out-of-range", None, field)
    for gno in (1 << 63, -(1 << 63) - 1):
        assert refused(replace(largest, gno=gno).encode).code == "out-of-range"
    missing: list[dict[str, Any]] = [{"sequence_number": None}, {"last_committed": None}, {"transaction_length": None}]
    for change in missing:
        assert refused(replace(largest, **change).encode).code == "bad-value"


def test_numbers_of_a_tagged_gtid_have_their_limits() -> None:
    largest = GtidTagged(
        gtid_flags=(1 << 64) - 1,
        uuid=UUID(bytes=b"\xff" * 16),
        gno=-(1 << 63),
        tag="t" * 32,
        last_committed=(1 << 63) - 1,
        sequence_number=(1 << 63) - 1,
        original_commit_timestamp=(1 << 64) - 1,
        commit_group_ticket=(1 << 64) - 1,
        last_non_ignorable=12,
    )
    raw = largest.encode()
    assert len(raw) > 127  # its length takes two bytes
    assert GtidTagged.decode(raw) == largest
    tags = [replace(largest, tag="t" * length, original_commit_timestamp=None) for length in range(1, 33)]
    for gtid in tags:
        assert GtidTagged.decode(gtid.encode()) == gtid
    assert where(refused(replace(largest, gtid_flags=1 << 64).encode)) == ("out-of-range", None, "gtid_flags")
    small = GtidTagged(gtid_flags=None, uuid=UUID(int=0)).encode()
    place = small.index(bytes(16))
    wide = small[:place] + bytes.fromhex("0104") + small[place + 1 :]  # 256
    damaged = wide[:1] + bytes((wide[1] + 2,)) + wide[2:]
    assert where(refused(GtidTagged.decode, damaged)) == ("out-of-range", place - 1, "uuid")
