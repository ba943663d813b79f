"""Dates and times, in documents and in columns: each part up to its limit both ways, and one beyond it refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.jsonb import opaque
from conformance.reference.tables import temporal
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable


def beyond(call: Callable[[Any], Any], largest: Any, limits: tuple[int, ...], code: str, *, least: int = 0) -> None:
    """``limits`` are those of the last parts; of others nothing is said."""
    names = largest._fields[len(largest) - len(limits) :]
    for name, limit in zip(names, limits, strict=True):
        for part in (least, limit):
            call(largest._replace(**{name: part}))
        for part in (-1, limit + 1):
            error = refused(call, largest._replace(**{name: part}))
            assert (error.code, name) == (code, name)


def test_parts_of_dates_and_times_in_documents() -> None:
    limits = (9999, 12, 31, 23, 59, 59, 999_999)
    moment = opaque.DateTime(*limits)
    beyond(opaque.pack_datetime, moment, limits, "temporal-range")
    beyond(opaque.pack_time, opaque.Time(False, 838, 59, 59, 999_999), (838, 59, 59, 999_999), "temporal-range")
    beyond(opaque.pack_date, opaque.Date(9999, 12, 31), (9999, 12, 31), "temporal-range")
    assert opaque.unpack_datetime(opaque.pack_datetime(moment)) == moment
    assert opaque.unpack_datetime(-opaque.pack_datetime(moment)) == moment
    assert opaque.unpack_date(opaque.pack_date(opaque.Date(9999, 12, 31))) == (9999, 12, 31)
    assert str(moment) == "9999-12-31 23:59:59.999999"
    for clock in (opaque.Time(False, 838, 59, 59, 999_999), opaque.Time(True, 838, 59, 59, 999_999)):
        assert opaque.unpack_time(opaque.pack_time(clock)) == clock
    assert not opaque.unpack_time(0).negative


def test_values_for_documents_are_made_from_their_parts() -> None:
    assert opaque.opaque_text(opaque.date(2024, 2, 29)) == "2024-02-29"
    assert opaque.opaque_text(opaque.time(1)) == "01:00:00.000000"
    assert opaque.opaque_text(opaque.time(1, 2, 3, 4, negative=True)) == "-01:02:03.000004"
    assert opaque.opaque_text(opaque.datetime(2024, 2, 29)) == "2024-02-29 00:00:00.000000"
    assert opaque.opaque_text(opaque.timestamp(2024, 2, 29)) == "2024-02-29 00:00:00.000000"
    for make, kind in ((opaque.datetime, 12), (opaque.timestamp, 7)):
        value = make(2024, 2, 29, 1, 2, 3, 4)
        assert (value.field_type, opaque.opaque_text(value)) == (kind, "2024-02-29 01:02:03.000004")
        assert opaque.unpack_datetime(opaque.temporal_number(value)) == (2024, 2, 29, 1, 2, 3, 4)
    assert (opaque.date(1, 1, 1).field_type, opaque.time(1).field_type) == (10, 11)


@pytest.mark.parametrize("size", range(4))
def test_parts_of_columns_with_a_fraction(size: int) -> None:
    unit = (1_000_000, 10_000, 100, 1)[size]
    most = (0, 990_000, 999_900, 999_999)[size]

    def time(value: temporal.Time) -> None:
        assert temporal.decode_time(temporal.encode_time(value, size), size) == value

    def datetime(value: temporal.Datetime) -> None:
        assert temporal.decode_datetime(temporal.encode_datetime(value, size), size) == value

    clocks: tuple[Any, ...] = (temporal.Time(False, 0x7FF, 63, 63, most), temporal.Time(True, 0x7FF, 63, 63, most))
    for clock in clocks:
        time(clock)
        for name, limit in (("hour", 0x7FF), ("minute", 63), ("second", 63)):
            time(clock._replace(**{name: 0}))
            assert refused(time, clock._replace(**{name: -1})).code == "out-of-range"
            if not (clock.negative and name == "hour"):
                assert refused(time, clock._replace(**{name: limit + 1})).code == "out-of-range"
    assert refused(time, temporal.Time(True, 0x800, 0, 1)).code == "out-of-range"
    moment = temporal.Datetime(9999, 12, 31, 31, 63, 63, most)
    datetime(moment)
    for name, limit in (("month", 12), ("day", 31), ("hour", 31), ("minute", 63), ("second", 63)):
        datetime(moment._replace(**{name: 0}))
        for part in (-1, limit + 1):
            assert refused(datetime, moment._replace(**{name: part})).code == "out-of-range"
    for year in (-10_082, 10_082):  # what 17 bits and their sign hold
        datetime(moment._replace(year=year, month=0))
    for year in (-10_083, 10_083):
        assert refused(datetime, moment._replace(year=year, month=0)).code == "out-of-range"
    if size:
        for fraction in (-unit, (1 << 8 * size) * unit):
            error = refused(temporal.encode_timestamp, temporal.Timestamp(1, fraction), size)
            assert (error.code, error.got) == ("fraction", fraction)
    if unit > 1:
        assert refused(temporal.encode_timestamp, temporal.Timestamp(1, 1), size).code == "fraction"
    for seconds in (0, 0xFFFFFFFF):
        stamp = temporal.Timestamp(seconds, most)
        assert temporal.decode_timestamp(temporal.encode_timestamp(stamp, size), size) == stamp
    for seconds in (-1, 1 << 32):
        assert refused(temporal.encode_timestamp, temporal.Timestamp(seconds), size).code == "out-of-range"


def test_parts_of_columns_from_before_5_6_4() -> None:
    def date(value: temporal.Date) -> None:
        assert temporal.decode_date(int.from_bytes(temporal.encode_date(value), "little")) == value

    def time(value: temporal.Time) -> None:
        raw = int.from_bytes(temporal.encode_old_time(value), "little")
        assert temporal.decode_old_time(raw) == value

    def datetime(value: temporal.Datetime) -> None:
        raw = int.from_bytes(temporal.encode_old_datetime(value), "little")
        assert temporal.decode_old_datetime(raw) == value

    beyond(date, temporal.Date(0x7FFF, 15, 31), (0x7FFF, 15, 31), "out-of-range")
    for negative in (False, True):
        beyond(time, temporal.Time(negative, 837, 99, 99), (99, 99, 0), "out-of-range")
        time(temporal.Time(negative, 838, 59, 59))
        for hour in (-1, 839):
            assert refused(time, temporal.Time(negative, hour, 0, 0)).code == "out-of-range"
    beyond(datetime, temporal.Datetime(9999, 99, 99, 99, 99, 99), (99, 99, 99, 99, 99, 0), "out-of-range")
    datetime(temporal.Datetime(1_844_674_406, 99, 99, 99, 99, 99))
    for year in (-1, 1_844_674_408):
        assert refused(datetime, temporal.Datetime(year, 1, 1)).code == "out-of-range"


def test_a_timestamp_prints_in_utc_and_its_zero_as_the_zero_date() -> None:
    assert temporal.text(temporal.Timestamp(0)) == "0000-00-00 00:00:00"
    assert temporal.text(temporal.Timestamp(0), 3) == "0000-00-00 00:00:00.000"
    assert temporal.text(temporal.Timestamp(1, 120_000), 2) == "1970-01-01 00:00:01.12"
    assert temporal.text(temporal.Timestamp(1, 120_000)) == "1970-01-01 00:00:01"
    assert temporal.text(temporal.Datetime(2024, 2, 29, 1, 2, 3, 450_000), 1) == "2024-02-29 01:02:03.4"
    assert temporal.text(temporal.Datetime(2024, 2, 29, 1, 2, 3, 450_000)) == "2024-02-29 01:02:03"
    assert temporal.text(temporal.Date(2024, 2, 29), 3) == "2024-02-29"
