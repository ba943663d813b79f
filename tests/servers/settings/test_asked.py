"""Whether a server can be judged: each setting that cannot is refused by name, and missing rights with their GRANT."""

from __future__ import annotations

from typing import Any, cast

import pytest

from conformance.servers.errors import NotJudgeable
from conformance.servers.settings.asked import require_fit, unfit
from conformance.servers.settings.listed import REFUSED, SESSION, Setting, of
from conformance.servers.settings.rights import NEEDED, OF_SCHEMAS, held, missing_grants
from conformance.servers.settings.sessions import Beginning
from tests.servers.settings.sessions_of_a_server import FakeSession

_PLAIN = {setting.name: setting.value for setting in of(SESSION)}
_FIT = {
    **_PLAIN,
    **{setting.name: setting.wanted[0] if setting.wanted else str(setting.least) for setting in of(REFUSED)},
    "read_only": "OFF", "partial_revokes": "OFF", "activate_all_roles_on_login": "OFF",
}  # fmt: skip
_OTHERS = {"log_bin": "OFF", "innodb_read_only": "ON", "lower_case_table_names": "1"}
_FILTERS = {"binlog_do_db": ("shop", ""), "binlog_ignore_db": ("", "shop")}


def asked(session: FakeSession) -> None:
    require_fit(cast("Any", session), Beginning(cast("Any", session)), "SHOW LOG")


def test_a_server_with_the_wanted_values_is_judged() -> None:
    asked(FakeSession(dict(_FIT)))


@pytest.mark.planted
@pytest.mark.parametrize("fault", of(REFUSED), ids=lambda one: one.name)
def test_another_value_is_refused_by_its_name_and_reason(fault: Setting) -> None:
    value = fault.tried[0] if fault.tried else _OTHERS[fault.name]
    session = FakeSession({**_FIT, fault.name: value.lower()}, filters=_FILTERS.get(fault.name, ("", "")))
    shown = "shop" if fault.name in _FILTERS else value.lower()
    with pytest.raises(NotJudgeable) as caught:
        asked(session)
    assert caught.value.exit_code == 3
    assert f"{fault.name} is {shown}, expected" in str(caught.value)
    assert fault.why in str(caught.value)


def test_several_settings_are_told_at_once() -> None:
    session = FakeSession({**_FIT, "super_read_only": "ON", "max_connections": "5"})
    found = unfit(cast("Any", session), "SHOW LOG")
    assert [reason.partition(" ")[0] for reason in found] == ["super_read_only", "max_connections"]
    assert "expected at least 20" in found[1]


def test_a_setting_that_the_account_may_not_set_is_refused() -> None:
    session = FakeSession({**_FIT, "sql_require_primary_key": "ON"}, forbidden=frozenset({"sql_require_primary_key"}))
    with pytest.raises(NotJudgeable, match="sql_require_primary_key is ON, and the account may not set it"):
        asked(session)


# --- rights ----------------------------------------------------------------------------------------------------------

_GLOBAL = "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SESSION_VARIABLES_ADMIN ON *.* TO `guest`@`%`"
_SCHEMAS = r"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON `binlog\_lab\_%`.* TO `guest`@`%`"


@pytest.mark.planted
@pytest.mark.parametrize("fault", NEEDED)
def test_a_missing_right_is_refused_with_its_grant(fault: str) -> None:
    grants = tuple(text.replace(f"{fault}, ", "").replace(f", {fault} ", " ") for text in (_GLOBAL, _SCHEMAS))
    assert grants != (_GLOBAL, _SCHEMAS)
    asked(FakeSession(dict(_FIT), grants=(_GLOBAL, _SCHEMAS)))
    target = r"`binlog\_lab\_%`.*" if fault in OF_SCHEMAS else "*.*"
    with pytest.raises(NotJudgeable) as caught:
        asked(FakeSession(dict(_FIT), grants=grants))
    assert f"GRANT {fault} ON {target} TO 'guest'@'%'" in str(caught.value)


@pytest.mark.parametrize(
    ("grants", "has"),
    [
        (("GRANT USAGE ON *.* TO `guest`@`%`",), {"USAGE"}),
        ((r"GRANT ALL PRIVILEGES ON `binlog\_%`.* TO `guest`@`%`",), OF_SCHEMAS),
        (("GRANT SELECT ON `shop`.* TO `guest`@`%`",), set()),
        (("GRANT SELECT (`a`, `b`), TRIGGER ON *.* TO `guest`@`%` WITH GRANT OPTION",), {"SELECT", "TRIGGER"}),
        (("GRANT SELECT ON *.* TO `g`@`%`", "REVOKE SELECT ON `mysql`.* FROM `g`@`%`"), {"SELECT"}),
        (("GRANT `tester`@`%` TO `guest`@`%`",), set()),
    ],
)
def test_rights_are_read_from_the_grants(grants: tuple[str, ...], has: set[str]) -> None:
    assert held(cast("Any", FakeSession(dict(_FIT), grants=grants))) == has


def test_where_revokes_are_partial_a_pattern_is_a_name() -> None:
    session = FakeSession({**_FIT, "partial_revokes": "ON"}, grants=(_SCHEMAS, _GLOBAL))
    assert missing_grants(cast("Any", session), ["SELECT", "DROP"]) == ["GRANT SELECT, DROP ON *.* TO 'guest'@'%'"]


@pytest.mark.parametrize(
    ("right", "by"),
    [
        ("SESSION_VARIABLES_ADMIN", "SYSTEM_VARIABLES_ADMIN"), ("SESSION_VARIABLES_ADMIN", "SUPER"),
        ("REPLICATION CLIENT", "SUPER"), ("CONNECTION_ADMIN", "SUPER"), ("TRIGGER", "ALL PRIVILEGES"),
    ],
)  # fmt: skip
def test_some_rights_stand_for_others(right: str, by: str) -> None:
    session = FakeSession(dict(_FIT), grants=(f"GRANT {by} ON *.* TO `guest`@`%`",))
    assert missing_grants(cast("Any", session), [right]) == []


def test_before_8_0_super_is_every_right_with_an_underscore() -> None:
    session = FakeSession(dict(_FIT), grants=("GRANT SUPER ON *.* TO `guest`@`%`",), server_version="5.7.44")
    assert missing_grants(cast("Any", session), ["SESSION_VARIABLES_ADMIN", "BINLOG_ADMIN"]) == []


def test_read_only_needs_an_account_that_writes_all_the_same() -> None:
    session = FakeSession({**_FIT, "read_only": "ON"}, grants=(_GLOBAL, _SCHEMAS))
    expected = ["read_only is ON: the account needs GRANT CONNECTION_ADMIN ON *.* TO 'guest'@'%'"]
    assert unfit(cast("Any", session), "SHOW LOG") == expected
    session.grants = ("GRANT CONNECTION_ADMIN ON *.* TO `guest`@`%`",)
    assert unfit(cast("Any", session), "SHOW LOG") == []
