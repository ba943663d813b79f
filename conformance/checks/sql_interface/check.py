"""The variable and its warnings, statement by statement (WL#2955, section 1; requirements 1).

The Cases are tables and their products (``variable_cases``, ``warning_cases``, ``startup_cases``): finite, and the same
in every profile. What changes global values runs only on a server that the lab started; what restarts a server has one
of its own, of the same installation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sql_interface import startup_cases, variable_cases, warning_cases
from conformance.harness.sql_cases import GUEST, run_cases
from conformance.servers.run.owned import OwnServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.sql_case import SqlCase
    from conformance.harness.lab import Lab
    from conformance.servers.base import Server

_SERVER_ID: Final = 90  # of the server that is restarted
_DECIDED: Final = frozenset(
    {"binlog-format", "binlog-row-image", "binlog-row-value-options", "log-bin", "skip-log-bin"}
)


@pytest.fixture(scope="module")
def restartable(lab: Lab) -> Iterator[OwnServer | None]:
    """A server that Cases start with options of their own: not running yet. ``None`` where the lab has no such."""
    server = lab.server
    if not isinstance(server, OwnServer):
        yield None
        return
    options = {name: value for name, value in lab.settings.server_options if name not in _DECIDED}
    with server.maker.launch(server_id=_SERVER_ID, options=options, wrapper=lab.settings.wrapper, start=False) as own:
        yield own


def _run(lab: Lab, check: str, cases: Iterable[SqlCase]) -> None:
    run_cases(lab, f"sql-interface/{check}", cases, {"source": _server(lab)})


def _server(lab: Lab) -> Server:
    if lab.server is None:
        pytest.skip("needs a server: statements about the option are not among the recorded captures")
    return lab.server


def _restart(
    lab: Lab, check: str, cases: Iterable[SqlCase], own: OwnServer | None, requirements: tuple[str, ...]
) -> None:
    _server(lab)
    if own is None:
        for requirement in requirements:
            lab.not_applicable(f"sql-interface/{check}", requirement, GUEST)
        return
    run_cases(lab, f"sql-interface/{check}", cases, {"source": own})


@pytest.mark.requirement("S1")
def test_values(lab: Lab) -> None:
    """Every input is taken or refused as the table says; a refused one leaves the value as it was."""
    _run(lab, "values", variable_cases.value_cases())


@pytest.mark.requirement("S2")
def test_scopes(lab: Lab) -> None:
    """Open sessions keep their value, new ones copy the global one, and DEFAULT takes it over."""
    _run(lab, "scopes", variable_cases.scope_cases())


@pytest.mark.requirement("S3")
def test_restrictions(lab: Lab) -> None:
    """No setting in transactions, procedures, functions and triggers, except PERSIST_ONLY."""
    _run(lab, "restrictions", variable_cases.restriction_cases())


@pytest.mark.requirement("S4")
def test_privileges(lab: Lab) -> None:
    """Each scope needs its privilege, whatever other privileges an account has."""
    _run(lab, "privileges", variable_cases.privilege_cases())


@pytest.mark.requirement("S5")
def test_hint(lab: Lab) -> None:
    """The optimizer hint is ignored, with a warning."""
    _run(lab, "hint", variable_cases.hint_cases())


@pytest.mark.requirement("W0", "W1a", "W1b", "W1.text", "W3a", "W3b", "W3.text")
def test_session_warnings(lab: Lab) -> None:
    """Every SET of a session variable out of every state gives the warnings of the triggers, and no other."""
    _run(lab, "session-warnings", warning_cases.session_cases())


@pytest.mark.requirement("W0", "W1c", "W1d", "W1.text", "W3c", "W3d", "W3.text")
def test_global_warnings(lab: Lab) -> None:
    """The same for every SET GLOBAL, PERSIST and PERSIST_ONLY out of every state of the global values."""
    _run(lab, "global-warnings", warning_cases.global_cases())


@pytest.mark.requirement("W0", "W1a", "W1b", "W1c", "W1d", "W1e", "W1.text", "W3b", "W3d", "W3.text")
def test_warnings_without_a_log(lab: Lab, restartable: OwnServer | None) -> None:
    """The same on a server that writes no binary log."""
    case = warning_cases.closed_log_case()
    _restart(lab, "warnings-without-a-log", [case], restartable, case.requirements)


@pytest.mark.requirement("W2a", "W2b", "W2c", "W2.text")
def test_warning_2(lab: Lab, restartable: OwnServer | None) -> None:
    """Warning 2 where the variable of version 1 row events still exists; elsewhere nothing of it is left."""
    with _server(lab).connect() as connection:
        present = connection.variable("GLOBAL.log_bin_use_v1_row_events") is not None
    cases = list(warning_cases.v1_cases(present=present))
    _run(lab, "warning-2", [case for case in cases if not case.restarts])
    _restart(lab, "warning-2-start", [case for case in cases if case.restarts], restartable, ("W2c",))


@pytest.mark.requirement("S6", "W3e", "W3.text")
def test_command_line(lab: Lab, restartable: OwnServer | None) -> None:
    """A start with the option takes its value, or ends with an error."""
    _restart(lab, "command-line", startup_cases.command_line_cases(), restartable, ("S6", "W3e", "W3.text"))


@pytest.mark.requirement("W0", "W1e", "W1.text", "W3e", "W3.text")
def test_startup_warnings(lab: Lab, restartable: OwnServer | None) -> None:
    """A start with the option on, from the command line, a file or persisted, logs the warning that applies."""
    judged = ("W0", "W1e", "W1.text", "W3e", "W3.text")
    _restart(lab, "startup-warnings", startup_cases.startup_warning_cases(), restartable, judged)
