"""The variable and its warnings, statement by statement (WL#2955, section 1; requirements 1).

The Cases are tables and their products (``variable_cases``, ``warning_cases``, ``startup_cases``): finite, and the same
in every profile. Cases that change global values run only on a server that the lab started; Cases that restart a server
have one of their own, of the same installation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sql_interface import startup_cases, variable_cases, warning_cases
from conformance.harness.check import GUEST
from conformance.harness.sql_cases import run_cases
from conformance.servers.run.owned import OwnServer
from conformance.servers.settings.listed import beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.sql_case import SqlCase
    from conformance.harness.check import Check
    from conformance.harness.session import Lab

_SERVER_ID: Final = 90  # of the server that is restarted
_NEEDS: Final = "a server: statements about the option are not among the recorded captures"
_DECIDED: Final = frozenset(
    {"binlog-format", "binlog-row-image", "binlog-row-value-options", "log-bin", "skip-log-bin"}
)


@pytest.fixture(scope="module")
def restartable(lab: Lab) -> Iterator[OwnServer | None]:
    """A server that Cases start with options of their own; it does not run yet. ``None`` where the lab has no such
    server."""
    server = lab.server
    if not isinstance(server, OwnServer):
        yield None
        return
    options = {name: value for name, value in beside(dict(lab.settings.server_options)).items() if name not in _DECIDED}
    with server.maker.launch(server_id=_SERVER_ID, options=options, wrapper=lab.settings.wrapper, start=False) as own:
        yield own


def _run(check: Check, cases: Iterable[SqlCase]) -> None:
    run_cases(check, cases, {"source": check.needs_server(_NEEDS)})


def _restart(check: Check, cases: Iterable[SqlCase], own: OwnServer | None) -> None:
    check.needs_server(_NEEDS)
    if own is None:
        check.leave_out(GUEST)
    run_cases(check, cases, {"source": own})


@pytest.mark.check("values")
def test_values(check: Check) -> None:
    """The server takes or refuses every value as the table says; a refused value leaves the variable as it was."""
    _run(check, variable_cases.value_cases())


@pytest.mark.check("scopes")
def test_scopes(check: Check) -> None:
    """Open sessions keep their value, new sessions copy the global value, and DEFAULT takes it over."""
    _run(check, variable_cases.scope_cases())


@pytest.mark.check("restrictions")
def test_restrictions(check: Check) -> None:
    """Transactions, procedures, functions and triggers refuse to set the variable, except with PERSIST_ONLY."""
    _run(check, variable_cases.restriction_cases())


@pytest.mark.check("privileges")
def test_privileges(check: Check) -> None:
    """Each scope needs its privilege, whatever other privileges an account has."""
    _run(check, variable_cases.privilege_cases())


@pytest.mark.check("hint")
def test_hint(check: Check) -> None:
    """The server ignores the optimizer hint, with a warning."""
    _run(check, variable_cases.hint_cases())


@pytest.mark.check("session-warnings")
def test_session_warnings(check: Check) -> None:
    """Every SET of a session variable, from every state, gives the warnings of the triggers, and no other."""
    _run(check, warning_cases.session_cases())


@pytest.mark.check("global-warnings")
def test_global_warnings(check: Check) -> None:
    """Every SET GLOBAL, PERSIST and PERSIST_ONLY, from every state, gives the triggers' warnings, and no other."""
    _run(check, warning_cases.global_cases())


@pytest.mark.check("warnings-without-a-log")
def test_warnings_without_a_log(check: Check, restartable: OwnServer | None) -> None:
    """A server without a binary log gives the warnings of the triggers, and no other."""
    _restart(check, [warning_cases.closed_log_case()], restartable)


@pytest.mark.check("warning-2")
def test_warning_2(check: Check, restartable: OwnServer | None) -> None:
    """The server gives warning 2 where it has the variable of version 1 row events; other servers lack both."""
    with check.needs_server(_NEEDS).connect() as connection:
        present = connection.variable("GLOBAL.log_bin_use_v1_row_events") is not None
    cases = list(warning_cases.v1_cases(present=present))
    _run(check, [case for case in cases if not case.restarts])
    starts = check.part("start", "W2c")
    _restart(starts, [case for case in cases if case.restarts], restartable)


@pytest.mark.check("command-line")
def test_command_line(check: Check, restartable: OwnServer | None) -> None:
    """A start with the option takes its value, or ends with an error."""
    _restart(check, startup_cases.command_line_cases(), restartable)


@pytest.mark.check("startup-warnings")
def test_startup_warnings(check: Check, restartable: OwnServer | None) -> None:
    """A start with the option on, from the command line, a file or persisted, logs the warning that applies."""
    _restart(check, startup_cases.startup_warning_cases(), restartable)
