"""Borders of packed decimals and of dates and times, in and out of JSON, with the code of every refusal."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import DATE, DATETIME, DECIMAL, TIME, TIMESTAMP, Opaque
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from conformance.reference.errors import CodecError

# --- packed decimals


@pytest.mark.parametrize(
    ("digits", "size"),
    [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4), (9, 4), (10, 5), (18, 8), (19, 9)],
)
def test_every_count_of_digits_has_its_size_before_and_behind_the_point(digits: int, size: int) -> None:
    assert opaque.decimal_size(digits, 0) == size
    assert opaque.decimal_size(digits, digits) == size
    assert opaque.decimal_size(2 * digits, digits) == 2 * size
    for text in ("9" * digits, "1" + "0" * (digits - 1), "0" * (digits - 1) + "1"):
        whole = opaque.pack_decimal(False, text, digits, 0)
        fraction = opaque.pack_decimal(False, text, digits, digits)
        assert len(whole) == len(fraction) == size
        assert opaque.unpack_decimal(whole, digits, 0) == int(text)
        assert opaque.unpack_decimal(fraction, digits, digits) == Decimal(f"0.{text}")
        both = opaque.pack_decimal(True, text * 2, 2 * digits, digits)
        assert opaque.unpack_decimal(both, 2 * digits, digits) == Decimal(f"-{text}.{text}")


def test_digits_may_be_fewer_than_the_precision_and_zeros_in_front_more() -> None:
    for digits in ("7", "07", "007", "0000000007"):
        assert opaque.pack_decimal(False, digits, 2, 0).hex() == "87"
        assert opaque.pack_decimal(True, digits, 2, 0).hex() == "78"
    assert opaque.pack_decimal(False, "", 2, 1).hex() == "8000"
    for zeros in ("0", "000", "0000"):
        assert opaque.pack_decimal(True, zeros, 3, 1).hex() == "8000"
    assert opaque.pack_decimal(False, "0100", 3, 0).hex() == "8064"
    for digits, count in (("100", 3), ("00100", 3), ("9" * 40, 40)):
        error = refused(opaque.pack_decimal, False, digits, 2, 0)
        assert (where(error), error.expected, error.got) == (("decimal-overflow", None, ""), 2, count)


@pytest.mark.parametrize(
    ("precision", "scale"), [(0, 0), (-1, 0), (1, -1), (1, 2), (82, 0), (82, 1), (82, 82), (74, 1), (81, 40), (74, 64)]
)
def test_types_beyond_nine_groups_do_not_exist(precision: int, scale: int) -> None:
    error = refused(opaque.pack_decimal, False, "1", precision, scale)
    assert (type(error).__name__, where(error), error.got) == (
        "EncodeError", ("decimal-type", None, ""), (precision, scale),
    )  # fmt: skip
    error = refused(opaque.unpack_decimal, b"\x80", precision, scale)
    assert (type(error).__name__, where(error), error.got) == (
        "DecodeError", ("decimal-type", None, ""), (precision, scale),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("precision", "scale"), [(1, 0), (1, 1), (81, 0), (81, 81), (81, 9), (81, 36), (73, 1), (65, 30)]
)
def test_nine_groups_before_and_behind_the_point_exist(precision: int, scale: int) -> None:
    data = opaque.pack_decimal(True, "9" * precision, precision, scale)
    assert opaque.unpack_decimal(data, precision, scale).as_tuple() == (1, (9,) * precision, -scale)


@pytest.mark.parametrize(
    ("data", "precision", "scale", "offset", "got"),
    [
        ("8a", 1, 0, 0, 10),
        ("8b", 1, 0, 0, 11),
        ("e4", 2, 0, 0, 100),
        ("83e8", 3, 0, 0, 1000),
        ("bb9aca00", 9, 0, 0, 10**9),
        ("bb9ac9ff 3b9aca00", 18, 0, 4, 10**9),
        ("81 3b9aca00", 10, 0, 1, 10**9),
        ("81 0a", 2, 1, 1, 10),
        ("8a 09", 2, 1, 0, 10),
        ("80 64", 3, 2, 1, 100),
        ("80 3b9ac9ff 0a", 11, 10, 5, 10),
        ("8a", 1, 1, 0, 10),
        ("7e f5", 2, 1, 1, 10),
    ],
)  # fmt: skip
def test_a_group_with_a_digit_too_many_says_where_it_is(
    data: str, precision: int, scale: int, offset: int, got: int
) -> None:
    error = refused(opaque.unpack_decimal, bytes.fromhex(data), precision, scale)
    assert (where(error), error.got) == (("decimal-digits", offset, ""), got)


def test_other_lengths_than_the_types_are_refused() -> None:
    for size in (0, 1, 3, 10):
        error = refused(opaque.unpack_decimal, b"\x80" * size, 3, 1)
        assert (where(error), error.expected, error.got) == (("decimal-length", None, ""), 2, size)


# --- DECIMAL in JSON


def payload(data: str) -> bytes:
    return bytes.fromhex(data)


@pytest.mark.parametrize(
    ("data", "text", "wide"),
    [
        ("0201 8105", "1.5", False),
        ("0201 7efa", "-1.5", False),
        ("0201 8a05", "10.5", True),  # a short first group may have a digit more than it counts
        ("0201 e305", "99.5", True),
        ("0200 e3", "99", False),
        ("0300 83e8", "1000", True),
        ("0a00 80 00000001", "1", False),
        ("0a00 8a 00000001", "10000000001", True),
        ("0101 85", "0.5", False),
        ("0202 85", "0.05", False),
        ("0900 bb9ac9ff", "999999999", False),
        ("0000", "0", False),
        ("0100 80", "0", False),
        ("0301 8000", "0.0", False),
    ],
)
def test_the_lenient_reading_takes_one_digit_more_before_the_point(data: str, text: str, *, wide: bool) -> None:
    """Observed on 9.7.4."""
    stored = payload(data)
    assert opaque.decimal_to_text(stored, lenient=True) == text
    assert opaque.decimal_number(stored) == Decimal(text)
    assert opaque.decimal_is_wide(stored) is wide
    assert opaque.opaque_text(Opaque(DECIMAL, stored)) == text
    if wide or not stored[0]:
        assert refused(opaque.decimal_to_text, stored).code == "mysql-3142"
        assert refused(opaque.decimal_parts, stored).code == "mysql-3142"
    else:
        assert opaque.decimal_to_text(stored) == text


@pytest.mark.parametrize(
    "data", ["", "02", "0203 8105", "5200" + "80" * 40, "0201 81", "0201 810500", "0100 e4", "0201 800a", "0001"]
)  # fmt: skip
def test_what_no_reading_takes_is_3142(data: str) -> None:
    stored = payload(data)
    for lenient in (False, True):
        error: CodecError = refused(opaque.decimal_to_text, stored, lenient=lenient)
        assert (where(error), getattr(error, "number", 0)) == (("mysql-3142", None, ""), 3142)
    assert refused(opaque.decimal_number, stored).code == "mysql-3142"
    assert refused(opaque.decimal_is_wide, stored).code == "mysql-3142"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("0201 8085", "0.5"),  # 0x85 is -123 as a number with a sign; times 10^8 in 32 bits: 584901888
        ("0201 7f7a", "-0.5"),
        ("0201 802b", "0.0"),  # 43: 5032704
        ("0201 802c", "0.1"),
        ("0201 7f20", "-0.9"),
        ("0403 8010c7", "0.000"),
        ("0908 80 80000000", "0.00000000"),
        ("0908 80 19999a00", "0.00000102"),
        ("0908 80 1a000000", "0.06710886"),
        ("0b0a 80 00000000 85", "0.0000000005"),
    ],
)
def test_the_lenient_reading_shifts_a_short_last_group_in_32_bits(data: str, text: str) -> None:
    """Observed on 9.7.4: a number that is out of range may be in range afterwards."""
    stored = payload(data)
    assert opaque.decimal_to_text(stored, lenient=True) == text
    assert opaque.decimal_number(stored) == Decimal(text)
    assert not opaque.decimal_is_wide(stored)
    assert refused(opaque.decimal_to_text, stored).code == "mysql-3142"


@pytest.mark.parametrize(
    "data",
    [
        "0201 800a", "0201 802a", "0201 80c8", "0302 807f", "0302 80ff", "0403 8003e8", "0403 80fff0", "0504 802710",
        "0706 80ffffff", "0908 80 05f5e100", "0908 80 ffffffff", "0b0a 80 00000000 ff", "0b0a 80 3b9aca00 05",
    ],
)  # fmt: skip
def test_a_shifted_group_out_of_range_is_3142(data: str) -> None:
    """Observed on 9.7.4."""
    assert refused(opaque.decimal_to_text, payload(data), lenient=True).code == "mysql-3142"


@pytest.mark.parametrize("data", ["0100 7f", "0201 7fff", "0b01 7f ffffffff ff", "0101 7f"])
def test_a_minus_zero_is_zero_where_it_is_read_at_all(data: str) -> None:
    stored = payload(data)
    number = opaque.decimal_number(stored)
    assert number == 0
    assert not number.is_signed()
    negative, whole, fraction = opaque.decimal_parts(stored, lenient=True)
    assert (negative, (whole + fraction).strip("0")) == (True, "")
    assert refused(opaque.decimal_to_text, stored).code == "mysql-3142"


LITERALS = [
    ("0", (False, "0", "")),
    ("000", (False, "0", "")),
    ("01.5", (False, "01", "5")),
    ("001.50", (False, "01", "50")),
    ("1.5", (False, "1", "5")),
    ("10", (False, "10", "")),
    ("+7", (False, "7", "")),
    ("-7.", (True, "7", "")),
    ("-.5", (True, "", "5")),
    ("9" * 81, (False, "9" * 81, "")),
    ("9" * 82, (False, "9" * 65, "")),
    ("-" + "1" * 82 + ".5", (True, "9" * 65, "")),
    ("9" * 72 + "." + "1" * 10, (False, "9" * 72, "1" * 9)),
    ("9" * 73 + ".1", (False, "9" * 73, "")),
    ("." + "1" * 82, (False, "", "1" * 81)),
    ("1." + "1" * 82, (False, "1", "1" * 72)),
]


@pytest.mark.parametrize(("text", "parts"), LITERALS)
def test_a_literal_keeps_nine_groups_of_digits(text: str, parts: tuple[bool, str, str]) -> None:
    assert opaque.literal_digits(text) == parts
    negative, whole, fraction = parts
    stored = opaque.decimal_from_text(text).payload
    assert stored[:2] == bytes((len(whole) + len(fraction), len(fraction)))
    assert stored[2:] == opaque.pack_decimal(negative, whole + fraction, stored[0], stored[1])


@pytest.mark.parametrize("text", ["", ".", "-", "+.", "1e5", " 1", "1 ", "--1", "1.5.", "x", "X1", "٣.0"])
def test_what_is_no_literal_is_refused(text: str) -> None:
    for read in (opaque.literal_digits, opaque.decimal_from_text):
        error = refused(read, text)
        assert (type(error).__name__, where(error), error.got) == ("EncodeError", ("decimal-text", None, ""), text)


# --- dates and times

LAST: dict[str, Any] = {"month": 12, "day": 31, "hour": 23, "minute": 59, "second": 59, "microsecond": 999_999}


@pytest.mark.parametrize(("part", "last"), [("year", 9999), *LAST.items()])
def test_each_part_of_a_datetime_has_its_range(part: str, last: int) -> None:
    zero = opaque.DateTime(0, 0, 0)
    for value in (0, 1, last):
        moment = zero._replace(**{part: value})
        assert opaque.unpack_datetime(opaque.pack_datetime(moment)) == moment
    for value in (-1, last + 1):
        moment = zero._replace(**{part: value})
        error = refused(opaque.pack_datetime, moment)
        assert (type(error).__name__, where(error), error.got) == (
            "EncodeError", ("temporal-range", None, ""), tuple(moment),
        )  # fmt: skip


@pytest.mark.parametrize(("part", "last"), [("hour", 838), ("minute", 59), ("second", 59), ("microsecond", 999_999)])
def test_each_part_of_a_time_has_its_range(part: str, last: int) -> None:
    for negative in (False, True):
        zero = opaque.Time(False, 0, 0, 0, 0)
        for value in (1, last):
            clock = zero._replace(negative=negative, **{part: value})
            assert opaque.unpack_time(opaque.pack_time(clock)) == clock
        for value in (-1, last + 1):
            clock = zero._replace(negative=negative, **{part: value})
            error = refused(opaque.pack_time, clock)
            assert (where(error), error.got) == (("temporal-range", None, ""), tuple(clock))


def test_parts_that_are_not_given_are_zero() -> None:
    """Bytes of jsonb 5.2."""
    assert opaque.date(2024, 2, 29).payload.hex() == "0000000000bab219"
    assert opaque.time(12, 34, 56, 123456).payload.hex() == "40e201b8c8000000"
    assert opaque.time(0, 0, 1, negative=True).payload.hex() == "000000ffffffffff"
    assert opaque.opaque_text(opaque.time(7)) == "07:00:00.000000"
    assert opaque.opaque_text(opaque.time(7, 8)) == "07:08:00.000000"
    assert opaque.opaque_text(opaque.time(7, 8, 9)) == "07:08:09.000000"
    moments = [
        ((2024, 1, 2), "2024-01-02 00:00:00.000000"),
        ((2024, 1, 2, 3), "2024-01-02 03:00:00.000000"),
        ((2024, 1, 2, 3, 4), "2024-01-02 03:04:00.000000"),
        ((2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05.000000"),
        ((2024, 1, 2, 3, 4, 5, 6), "2024-01-02 03:04:05.000006"),
    ]
    for parts, text in moments:
        assert opaque.opaque_text(opaque.datetime(*parts)) == text
        assert opaque.opaque_text(opaque.timestamp(*parts)) == text
        assert opaque.timestamp(*parts) == Opaque(TIMESTAMP, opaque.datetime(*parts).payload)
        assert str(opaque.DateTime(*parts)) == text


@pytest.mark.parametrize("field_type", [DATE, TIME, DATETIME, TIMESTAMP])
@pytest.mark.parametrize("size", [0, 1, 7, 9, 16])
def test_a_temporal_value_has_eight_bytes(field_type: int, size: int) -> None:
    for read in (opaque.temporal_number, opaque.opaque_text):
        error = refused(read, Opaque(field_type, bytes(size)))
        assert (type(error).__name__, where(error)) == ("DecodeError", ("temporal-length", None, ""))
        assert (error.expected, error.got) == (8, size)
    assert opaque.temporal_number(Opaque(field_type, b"\xff" * 8)) == -1
