"""Borders of QUERY, of dates and times, of compressed transactions and of tagged GTIDs, beside those of other tests."""

from __future__ import annotations

from random import Random

import pytest

from conformance.reference.binlog.control_events import Stop
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.gtid import GtidTagged
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import (
    StatusDatabases,
    StatusInteger,
    StatusIntegers,
    StatusText,
    StatusVariable,
    decode_status,
    encode_status,
)
from conformance.reference.tables.temporal import (
    Date,
    Datetime,
    Time,
    Timestamp,
    decode_old_datetime,
    decode_old_time,
    encode_date,
    encode_datetime,
    encode_old_datetime,
    encode_old_time,
    encode_time,
    encode_timestamp,
    text,
)
from tests.reference.refusals import refused, where

# --- status variables of QUERY


@pytest.mark.parametrize(
    ("data", "pos"),
    [("0c", 1), ("0c 01", 2), ("0c 01 61", 2), ("0c 02 61 00", 4), ("0c 02 61 00 62", 4)],
)
def test_a_list_of_databases_that_is_cut_off_is_named(data: str, pos: int) -> None:
    assert where(refused(decode_status, bytes.fromhex(data))) == ("truncated", pos, "UPDATED_DB_NAMES")
    assert decode_status(bytes.fromhex("0c 02 61 00 00")) == (StatusDatabases((b"a", b"")),)


@pytest.mark.parametrize(
    ("variable", "code"),
    [
        (StatusInteger(0, 1 << 32), 0),
        (StatusInteger(16, -1), 16),
        (StatusInteger(2, 1), 2),  # the catalog is a text
        (StatusInteger(300, 1), 300),
        (StatusIntegers(3, (1, 2, 3)), 3),
        (StatusIntegers(4, (1, 2, 1 << 16)), 4),
        (StatusText(6, b"x" * 256), 6),
        (StatusDatabases((b"a\0",)), 12),
        (StatusDatabases((b"a",) * 254), 12),
    ],
)
def test_a_status_variable_that_cannot_be_written_is_named(variable: StatusVariable, code: int) -> None:
    error = refused(encode_status, (StatusInteger(0, 1), variable))
    assert where(error) == ("bad-value", None, f"status[{code}]")


# --- dates and times


def test_fractions_are_shown_where_there_are_any() -> None:
    assert str(Time(True, 1, 2, 3)) == "-01:02:03"
    assert str(Time(True, 1, 2, 3, 450)) == "-01:02:03.000450"
    assert str(Datetime(24, 1, 2, 3, 4, 5)) == "0024-01-02 03:04:05"
    assert str(Datetime(24, 1, 2, 3, 4, 5, 678_900)) == "0024-01-02 03:04:05.678900"
    assert text(Time(False, 1, 2, 3, 450_000), 2) == "01:02:03.45"
    assert text(Time(False, 1, 2, 3, 450_000)) == "01:02:03"
    assert text(Datetime(24, 1, 2, 3, 4, 5, 678_900), 4) == "0024-01-02 03:04:05.6789"


def test_the_first_values_that_have_no_room_are_refused() -> None:
    assert encode_time(Time(True, 2048, 0, 0), 0) == bytes(3)
    error = refused(encode_time, Time(True, 2049, 0, 0), 0)
    assert (error.code, error.expected, error.got) == ("out-of-range", "0..2048", 2049)
    error = refused(encode_time, Time(True, 2048, 0, 1), 0)
    assert (error.code, error.got) == ("out-of-range", "-2048:00:01")
    assert encode_datetime(Datetime(10082, 5, 31, 31, 63, 63), 0) == b"\xff" * 5
    error = refused(encode_datetime, Datetime(10082, 6, 0), 0)
    assert (error.code, error.got) == ("out-of-range", 10082)
    assert encode_date(Date(0x7FFF, 15, 31)) == b"\xff" * 3
    assert refused(encode_date, Date(0x8000, 0, 0)).got == 0x8000
    assert encode_timestamp(Timestamp((1 << 32) - 1, 999_999), 3) == bytes.fromhex("ffffffff 0f423f")
    assert refused(encode_timestamp, Timestamp(1 << 32), 0).got == 1 << 32


def test_old_times_have_the_whole_range_of_their_bytes() -> None:
    assert decode_old_time(0) == Time(False, 0, 0, 0)
    assert decode_old_time(1) == Time(False, 0, 0, 1)
    assert decode_old_time((1 << 23) - 1) == Time(False, 838, 86, 7)
    assert decode_old_time(1 << 23) == Time(True, 838, 86, 8)
    assert decode_old_time((1 << 24) - 1) == Time(True, 0, 0, 1)
    assert encode_old_time(Time(True, 838, 86, 8)) == bytes.fromhex("000080")


def test_old_datetimes_have_the_whole_range_of_their_bytes() -> None:
    for value, number in (
        (Datetime(0, 0, 0), 0),
        (Datetime(2024, 2, 3, 1), 20240203010000),
        (Datetime(2024, 2, 3, 0, 59, 59), 20240203005959),
        (Datetime(2024, 2, 3, 23, 0, 1), 20240203230001),
        (Datetime(1844674407, 37, 9, 55, 16, 15), (1 << 64) - 1),
    ):
        assert decode_old_datetime(number) == value
        assert encode_old_datetime(value) == number.to_bytes(8, "little")
    error = refused(encode_old_datetime, Datetime(1844674407, 37, 9, 55, 16, 16))  # 1 << 64
    assert (error.code, error.got) == ("out-of-range", 1844674407)


# --- compressed transactions


def test_a_frame_may_end_where_a_piece_of_it_ends() -> None:
    """Bytes that cannot be compressed make a frame of any size wanted."""
    noise = Random(1).randbytes(600)
    whole, content = next(
        (made, noise[:size])
        for size in range(400, 600)
        if len((made := TransactionPayload.compress(noise[:size])).payload) == 512
    )
    assert whole.uncompressed() == content
    longer = TransactionPayload(payload=whole.payload + b"\0")
    assert where(refused(longer.uncompressed)) == ("trailing-bytes", 512, "")
    shorter = TransactionPayload(payload=whole.payload[:-1])
    assert where(refused(shorter.uncompressed)) == ("truncated", 511, "")


# --- events and tagged GTIDs


def test_an_event_whose_start_is_not_said_is_the_first() -> None:
    event = encode_event(Stop(), log_pos=None)
    assert decode_event(event).header.log_pos == len(event) == 23


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ("00", "gtid_flags"),
        ("04", "gno"),
        ("08", "last_committed"),
        ("0a", "sequence_number"),
        ("10", "transaction_length"),
    ],
)
def test_a_field_that_is_cut_off_in_a_tagged_gtid_is_named(fields: str, name: str) -> None:
    """Numbers are stored doubled: version 1, the size, nothing that has to be known, and the number of a field."""
    data = bytes.fromhex("02 08 00" + fields)
    assert where(refused(GtidTagged.decode, data)) == ("truncated", 4, name)
