"""The table of versions and dialects: its rows do what they say, a wrong cell is found, and what is nobody's knowledge
is marked as such."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.reference.dialect import MYSQL
from conformance.requirements.reading import rules_in, rules_of
from conformance.requirements.versions import (
    OBSERVED,
    SWITCHES,
    DialectError,
    dialect_of,
    make_dialect,
    parse_table,
    parse_version,
    text_of,
)
from tests.faults.runner import each
from tests.live import ROOT
from tests.requirements.dialect_rows import ROWS
from tests.requirements.faults_of_dialects import TABLE_FAULTS
from tests.requirements.versions_page import PAGE, page

if TYPE_CHECKING:
    from conformance.requirements.versions import Version
    from tests.faults.fault import Fault

# Cells that nobody knows, from versions 11 and 12: row, and the versions from which on to which.
UNKNOWN = {
    "v1_option_deprecated": {"8.0.16"},
    "reads_v1_rows": {"8.3.0"},
    "fde_types": {"8.0.0", "8.1.0", "8.3.0"},
    "fde_v1_header_len": {"8.3.0"},
    "gtid_extra": {"8.0.37", "8.1.0"},
    "tlv_max": {"8.0.23"},
    "signedness_counts_year": {"8.0.1", "8.0.16"},
    "null_bitmap_padding": {"8.0.0"},
    "reader_skips_unknown_tlv": {"8.0.1", "8.0.16"},
    "query_status_max": {"8.0.16", "9.6.0"},
    "partial_through_view": {"8.0.16"},
    "row_end_check": {"8.1.0"},
    "rows_query_length": {"8.1.0"},
    "json_text_double": {"8.1.0"},
    "json_time_hours": {"8.1.0"},
    "corrupt_event_symbol": {"8.0.31", "8.1.0"},
    "gtid_mode_default": {"9.0.0"},
    "server_id_default": {"8.0.0"},
    "applier_workers_default": {"8.0.27"},
    "small_lob_changes": {"8.1.0"},
    "mysqlbinlog_variable_charset": {"8.1.0"},
    "mysqlbinlog_flag_list": {"9.0.0"},
}


@pytest.mark.parametrize("row", SWITCHES)
def test_every_row_does_what_it_says(row: str) -> None:
    assert ROWS[row], "no test exercises this row"
    for check in ROWS[row]:
        check(dialect_of)


def test_no_test_is_for_a_row_that_there_is_not() -> None:
    assert set(ROWS) == set(SWITCHES)


@each(TABLE_FAULTS)
def test_a_wrong_cell_is_found(fault: Fault) -> None:
    table = {**SWITCHES, fault.change.id: fault.change}

    def at(version: Version) -> object:
        return make_dialect(table, version)

    for check in ROWS[fault.change.id]:
        try:
            check(at)  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - whatever a wrong table makes of events, it is noticed
            return
    pytest.fail(f"nothing notices {fault.id}")


def test_cells_that_nobody_knows_are_those_listed() -> None:
    marked = {row: {text_of(cell.since) for cell in switch.cells if cell.probe} for row, switch in SWITCHES.items()}
    assert {row: cells for row, cells in marked.items() if cells} == UNKNOWN


def test_the_page_is_that_of_the_table_and_its_tests() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tests.requirements.versions_page"


def test_nothing_else_asks_for_a_version() -> None:
    """No tuple of numbers is compared with a version outside of the table's module; what a file says of itself is a
    matter of its format (5.6.1 brought checksums)."""
    comparison = re.compile(r"(?:number|version\w*|numbers\.groups\(\)\)\))\)*\s*(?:>=|<=|<|>)\s*\(\d+, \d+")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("conformance", "generators", "scenarios")
        for path in (ROOT / folder).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if comparison.search(line) and "sys.version_info" not in line
    ]
    assert comparison.search("if server.number >= (8, 0, 3):")
    assert [line for line in found if "binlog/format_description.py" not in line] == []


def test_9_7_is_the_dialect_that_everything_has_by_default() -> None:
    assert dialect_of((9, 7, 4)) == dialect_of((9, 7, 0)) == MYSQL


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("5.6.24-log", "mysql-5.6"), ("5.7.44", "mysql-5.7.8"), ("8.0.15", "mysql-8.0.15"),
        ("8.0.43-0ubuntu0.22.04.1", "mysql-8.0.39"), ("8.4.10", "mysql-8.4"), ("9.6.0-debug", "mysql-9.6"),
        ("9.7.4-2", "mysql-9.7"), ("26.7.0", "mysql-9.7"), ("26.10.0-commercial", "mysql-9.7"),
    ],
)  # fmt: skip
def test_a_dialect_is_named_after_the_version_since_which_it_is_the_same(version: str, name: str) -> None:
    assert dialect_of(parse_version(version)).name == name


def test_after_the_last_observed_version_nothing_is_known() -> None:
    for switch in SWITCHES.values():
        assert not switch.at((9, 7, 4)).probe
        assert switch.at((9, 7, 4)).value == switch.at((26, 7, 0)).value
        assert switch.at((26, 7, 0)).probe
        assert switch.at((9, 8, 0)).mark == "newer than 9.7.4"


def test_versions_have_suffixes_and_years() -> None:
    assert parse_version("8.0.36-28") == (8, 0, 36)
    assert parse_version(" 5.6.24-log") == (5, 6, 24)
    assert parse_version("26.7.0") == (26, 7, 0)
    assert parse_version("8.4", patch=99) == (8, 4, 99)
    for text in ("mysql", "9", "", "8.x.1", "9.7.4x"):
        with pytest.raises(ValueError, match="not a version"):
            parse_version(text)
    for text in ("10.11.6-MariaDB", "5.5.5-10.6.12-MariaDB-log"):
        with pytest.raises(ValueError, match="fork"):
            parse_version(text)


def test_versions_before_the_table_have_no_dialect() -> None:
    with pytest.raises(ValueError, match=r"5\.5\.62 is older than 5\.6\.0"):
        dialect_of((5, 5, 62))


def _table(**changes: str) -> str:
    item = {
        "id": '"has_json"', "field": '"json.exists"', "what": '"w"',
        "cells": '[{ since = "5.6.0", value = false, mark = "K" }]', **changes,
    }  # fmt: skip
    return "[[switch]]\n" + "".join(f"{name} = {value}\n" for name, value in item.items())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("switch = 1 =", "not a table"),
        ("", "not a table"),
        (_table(other="1"), "expected id, field, what, cells"),
        (_table(), "missing, unknown or there twice"),
        (_table() + _table(), "listed twice"),
        (_table(cells='[{ since = "8.0.0", value = true, mark = "K" }]'), "not in order from 5.6.0"),
        (_table(cells='[{ since = "5.6.0", value = "yes", mark = "K" }]'), "expected one type"),
        (_table(cells='[{ since = "5.6.0", value = true, absent = true, mark = "K" }]'), "value or absent"),
        (_table(cells='[{ since = "5.6.0", value = true }]'), "expected since, mark"),
        (_table(cells='[{ since = "5.6.0", mark = "K" }]'), "value or absent"),
    ],
)
def test_a_table_that_says_nonsense_is_refused(text: str, words: str) -> None:
    with pytest.raises(DialectError, match=words):
        parse_table(text)


@pytest.mark.parametrize("version", ["8.4.0", "8.4.10", "9.0.1", OBSERVED, "9.9.9-log"])
def test_what_is_read_without_the_table_is_what_the_table_says(version: str) -> None:
    assert rules_of(version) == rules_in(dialect_of(parse_version(version)))


def test_older_logs_are_read_by_the_table() -> None:
    assert not rules_of("8.0.1").year_counted
