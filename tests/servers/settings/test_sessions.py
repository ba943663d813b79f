"""Sessions of the lab begin alike: what differs is set, once asked, and what may not be set is kept."""

from __future__ import annotations

from typing import Any, cast

import pytest

from conformance.servers.errors import SqlError
from conformance.servers.settings.listed import SESSION, Setting, of
from conformance.servers.settings.sessions import Beginning, differing
from tests.servers.settings.sessions_of_a_server import FakeSession

_PLAIN = {setting.name: setting.value for setting in of(SESSION)}


def begun(session: FakeSession) -> Beginning:
    return Beginning(cast("Any", session))


@pytest.mark.planted
@pytest.mark.parametrize("fault", [setting for setting in of(SESSION) if setting.tried], ids=lambda one: one.name)
def test_another_value_is_seen_and_set(fault: Setting) -> None:
    session = FakeSession({**_PLAIN, fault.name: fault.tried[0]})
    assert differing(cast("Any", session)) == {fault.name: fault.tried[0]}
    beginning = begun(session)
    later = FakeSession()
    beginning.put(cast("Any", later))
    value = fault.value if fault.value.isdigit() else f"'{fault.value}'"
    assert later.said == [f"SET SESSION {fault.name} = {value}"]


def test_on_a_server_with_the_values_of_the_list_nothing_is_set() -> None:
    session, later = FakeSession(dict(_PLAIN)), FakeSession()
    begun(session).put(cast("Any", later))
    assert (len(session.said), later.said) == (2, [])


def test_a_variable_that_a_session_inherits_is_left_alone() -> None:
    beginning = begun(FakeSession({**_PLAIN, "binlog_format": "MIXED", "autocommit": "OFF"}))
    session = FakeSession()
    beginning.put(cast("Any", session), frozenset({"binlog_format"}))
    assert session.said == ["SET SESSION autocommit = 'ON'"]


def test_what_the_account_may_not_set_is_kept_and_the_rest_is_set() -> None:
    forbidden = frozenset({"binlog_format"})
    beginning = begun(FakeSession({**_PLAIN, "binlog_format": "MIXED", "autocommit": "OFF"}, forbidden=forbidden))
    assert list(beginning.refused) == ["binlog_format"]
    assert beginning.differing["binlog_format"] == "MIXED"
    session = FakeSession(forbidden=forbidden)
    beginning.put(cast("Any", session))
    assert session.said == ["SET SESSION autocommit = 'ON'"]


def test_a_server_from_before_8_0_keeps_its_settings() -> None:
    session = FakeSession({"binlog_format": "MIXED"}, server_version="5.7.44")
    assert begun(session).differing == {}
    assert session.said == []


class _Refusing(FakeSession):
    """A session that refuses the first question, with this error."""

    error = 0

    def execute(self, statement: str) -> Any:
        if statement.startswith("SELECT @@session."):
            raise SqlError(self.error, "HY000", "refused")
        return FakeSession.execute(self, statement)


@pytest.mark.parametrize(("error", "lifted"), [(3024, True), (1193, False)])
def test_a_limit_that_ends_the_question_itself_is_lifted(error: int, lifted: bool) -> None:
    session = _Refusing(dict(_PLAIN))
    session.error = error
    limits = {"sql_select_limit", "max_join_size", "max_execution_time"}
    assert set(differing(cast("Any", session))) == (limits if lifted else set())


def test_a_variable_that_a_version_has_not_got_is_not_set() -> None:
    without = {name: value for name, value in _PLAIN.items() if name != "restrict_fk_on_non_standard_key"}
    assert begun(FakeSession(without)).differing == {}
