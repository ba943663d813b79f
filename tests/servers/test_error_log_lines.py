"""Warnings and errors of an error log, also where an entry point has put its own words before them."""

from __future__ import annotations

from conformance.servers.roles.sql_cases import read_log

CHECKED = """\
2026-06-01 10:00:00+00:00 [ERROR] [Entrypoint]: mysqld failed while attempting to check config
\tcommand was: mysqld --binlog-row-value-options=BAD --verbose --help
\t2026-06-01T10:00:00.123456Z 0 [ERROR] [MY-000077] [Server] mysqld: Error while setting value 'BAD' to 'x'.
2026-06-01T10:00:00.123999Z 0 [ERROR] [MY-010119] [Server] Aborting
"""


def test_the_first_error_behind_the_check_of_a_configuration_is_read() -> None:
    assert read_log(CHECKED.splitlines()) == [
        ("ERROR", 77, "mysqld: Error while setting value 'BAD' to 'x'."),
        ("ERROR", 10119, "Aborting"),
    ]


def test_words_of_other_programs_are_no_lines_of_the_log() -> None:
    assert read_log(["[ERROR] [MY-000001] nothing", "x [Warning] y", "", "\t"]) == []
