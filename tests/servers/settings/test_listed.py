"""The list of settings: each entry says what the lab does; options are found under every spelling."""

from __future__ import annotations

import pytest

from conformance.cases.session import SQL_MODE_TEXT
from conformance.servers.auto import parse_server_option
from conformance.servers.errors import SpecError
from conformance.servers.settings.listed import OPTION, PREDICTED, REFUSED, SESSION, SETTINGS, beside, listed, of


def test_each_setting_has_one_treatment_and_what_that_needs() -> None:
    names = [setting.name for setting in SETTINGS]
    assert len(set(names)) == len(names)
    assert {setting.treatment for setting in SETTINGS} == {SESSION, PREDICTED, REFUSED, OPTION}
    for setting in SETTINGS:
        assert setting.why, setting.name
        assert bool(setting.wanted or setting.least) is (setting.treatment == REFUSED), setting.name
        assert setting.value not in setting.tried or setting.treatment != SESSION, setting.name


def test_at_least_forty_settings_are_tried_with_another_value() -> None:
    assert sum(bool(setting.tried) for setting in SETTINGS) >= 40
    areas = {setting.area for setting in SETTINGS if setting.tried}
    assert areas >= {"logging", "replication", "json", "innodb", "security"}


def test_the_sessions_have_the_mode_that_cases_write() -> None:
    values = {setting.name: setting.value for setting in of(SESSION)}
    assert values["sql_mode"] == SQL_MODE_TEXT


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("binlog-format", "binlog_format"),
        ("--loose-binlog_format", "binlog_format"),
        ("skip-log-bin", "log_bin"),
        ("Default_Storage_Engine", "default_storage_engine"),
        ("skip-name-resolve", None),
        ("innodb-page-size", None),
    ],
)
def test_an_option_is_found_under_its_spellings(option: str, name: str | None) -> None:
    found = listed(option)
    assert (found.name if found else None) == name


def test_servers_beside_have_no_options_of_sessions() -> None:
    kept = {"skip-log-bin": None, "innodb-page-size": "4k"}
    options = {"default-storage-engine": "MyISAM", **kept, "autocommit": "0", "binlog-checksum": "NONE"}
    assert beside(options) == kept


@pytest.mark.parametrize("setting", of(OPTION), ids=lambda setting: setting.name)
def test_an_option_that_the_lab_sets_is_refused_with_its_reason(setting: object) -> None:
    name = setting.name  # type: ignore[attr-defined]
    with pytest.raises(SpecError, match=f"the lab sets {name.replace('_', '-')} itself: it (reads|tries)"):
        parse_server_option(f"{name}=1")
