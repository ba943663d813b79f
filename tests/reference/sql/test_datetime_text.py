"""Dates with times of options: what mysqlbinlog 9.7.4 takes and refuses, but for the forms that nobody writes."""

from __future__ import annotations

import pytest

from conformance.reference.sql.datetime_text import parse_datetime

MOMENT = (2026, 11, 20, 6, 1, 12)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20 06:01:12", "26-11-20 6:1:12", "2026-11-20T06:01:12", "20261120060112", "20261120T060112",
        "261120060112", "2026.11.20 06.01.12", "2026:11:20:06:01:12", "2026--11-20 06:01:12", " 2026-11-20  06:01:12 ",
        "2026-11-20 06:01:12.", "2026-11-20 06:01:12.999999999", "2026-011-20 006:01:12", "20261120060112.5",
    ],
)  # fmt: skip
def test_a_moment_has_many_forms(text: str) -> None:
    assert parse_datetime(text) == MOMENT


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20 06", (2026, 11, 20, 6, 0, 0)),
        ("2026-11-20 6:59", (2026, 11, 20, 6, 59, 0)),
        ("70-01-02 00:00:00", (1970, 1, 2, 0, 0, 0)),
        ("69-12-31 23:59:59", (2069, 12, 31, 23, 59, 59)),
        ("2024-02-29 1:2:3", (2024, 2, 29, 1, 2, 3)),
    ],
)
def test_parts_may_be_short_or_missing(text: str, moment: tuple[int, ...]) -> None:
    assert parse_datetime(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "2026-11-20", "20261120", "261120", "2026-13-01 00:00:00", "2026-00-01 00:00:00",
        "2026-02-29 00:00:00", "2026-11-00 00:00:00", "2026-11-31 00:00:00", "2026-11-20 24:00:00",
        "2026-11-20 06:60:00", "2026-11-20 23:59:60", "2026-11-20 06:01:12Z", "2026-11-20 06:01:12+00:00",
        "2026-11-20 06:01:12.x", "2026-11-20 06:01:12 x", "2026 11 20 06 01 12", "12026-11-20 06:01:12",
        "0000-01-01 00:00:00", "2026-11-20 06:01:" + "1" * 5000, "2026-11-20t06:01:12", "20261120 060112",
    ],
)  # fmt: skip
def test_no_moments(text: str) -> None:
    assert parse_datetime(text) is None
