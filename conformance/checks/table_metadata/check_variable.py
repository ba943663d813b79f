"""The variable binlog_row_metadata (WL#4618, interface I1): values, scope, effect, privileges, the option at a start.

The Cases are tables and their products (``metadata_variable_cases``); the effect is judged on generated sessions. What
changes global values runs only on a server that the lab started.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.table_metadata import variable_cases as cases
from conformance.checks.table_metadata import variable_effect as metadata_effect
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.harness.sql_cases import GUEST, run_cases
from conformance.servers.run.owned import OwnServer
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.checks.table_metadata.variable_effect import Effect
    from conformance.harness.lab import Lab
    from conformance.servers.base import Server

_SERVER_ID: Final = 91  # of the server that is restarted
_BLOCKS: Final = {"quick": 4, "full": 60, "soak": 600}  # of generated sessions
_SESSIONS, _STEPS = 3, 50


def _server(lab: Lab) -> Server:
    if lab.server is None:
        pytest.skip("needs a server: statements about the variable are not among the recorded captures")
    return lab.server


@pytest.mark.requirement("TMS1")
def test_values(lab: Lab) -> None:
    """Every input is taken or refused as the table says; a refused one leaves the value as it was."""
    run_cases(lab, "metadata-variable/values", cases.value_cases(), {"source": _server(lab)})


@pytest.mark.requirement("TMS2")
def test_scope(lab: Lab) -> None:
    """There is a global value only; persisting follows the general rules."""
    run_cases(lab, "metadata-variable/scope", cases.scope_cases(), {"source": _server(lab)})


@pytest.mark.requirement("TMS4")
def test_privileges(lab: Lab) -> None:
    """Each scope needs its privilege, whatever other privileges an account has."""
    run_cases(lab, "metadata-variable/privileges", cases.privilege_cases(), {"source": _server(lab)})


@pytest.mark.requirement("TMS5")
def test_start(lab: Lab) -> None:
    """A start with the option takes its value, or ends with an error."""
    server = _server(lab)
    check = "metadata-variable/start"
    if not isinstance(server, OwnServer):
        lab.not_applicable(check, "TMS5", GUEST)
        return
    options = {name: value for name, value in lab.settings.server_options if name != "binlog-row-metadata"}
    with server.maker.launch(server_id=_SERVER_ID, options=options, wrapper=lab.settings.wrapper, start=False) as own:
        run_cases(lab, check, cases.start_cases(), {"source": own})


@pytest.mark.requirement("TMS3")
def test_effect(lab: Lab) -> None:
    """The next TABLE_MAP of every session has the items of the value that the variable has then."""
    server = _server(lab)
    check = "metadata-variable/effect"
    if not server.started_by_us:
        lab.not_applicable(check, "TMS3", GUEST)
        return
    draw = Stream("metadata-effect", lab.settings.seed)
    failed = 0
    with server.connect() as admin, server.schema(admin) as schema:
        before = admin.variable(f"global.{cases.VARIABLE}")
        sessions = [server.connect() for _ in range(_SESSIONS)]
        capture = server.capture()
        try:
            for session in sessions:
                session.execute(f"USE {schema}")
            for number in range(_BLOCKS[lab.settings.profile]):
                begun = time.perf_counter()
                effects = metadata_effect.run(
                    admin, sessions, capture, draw.fork(number), name=f"e{number}_", steps=_STEPS
                )
                failed += record(
                    lab,
                    Outcome(
                        check=check,
                        requirement="TMS3",
                        block=number,
                        cases=sum(len(effect.expected) for effect in effects),
                        problems=[problem for effect in effects for problem in judge(effect)],
                        seconds=time.perf_counter() - begun,
                    ),
                )
        finally:
            capture.close()
            for session in sessions:
                session.close()
            admin.execute(f"SET GLOBAL {cases.VARIABLE} = '{before}'")
    if failed:
        pytest.fail(f"{failed} TABLE_MAPs do not follow the variable; see the report", pytrace=False)


def judge(effect: Effect) -> list[Problem]:
    """Each TABLE_MAP against the setting of its moment."""
    wanted, seen = effect.expected, effect.seen
    problems = [
        Problem(
            field=f"TABLE_MAP {number} of a session",
            expected=expected,
            got=got,
            message="the log does not follow the variable",
            statements=effect.statements,
        )
        for number, (expected, got) in enumerate(zip(wanted, seen, strict=False))
        if expected != got
    ]
    if len(wanted) != len(seen):
        problems.append(
            Problem(
                field="TABLE_MAPs of a session",
                expected=str(len(wanted)),
                got=str(len(seen)),
                message="another number of TABLE_MAPs than changes",
                statements=effect.statements,
            )
        )
    return problems
