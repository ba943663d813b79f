"""The variable binlog_row_metadata (WL#4618, interface I1): values, scope, effect, privileges, the option at a start.

The Cases are tables and their products (``variable_cases``); generated sessions show the effect. Cases that change
global values run only on a server that the lab started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.table_metadata import variable_cases as cases
from conformance.checks.table_metadata import variable_effect as metadata_effect
from conformance.harness.sql_cases import run_cases
from conformance.judge.problem import Problem
from conformance.servers.settings.listed import beside
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.sql_case import SqlCase
    from conformance.checks.table_metadata.variable_effect import Effect
    from conformance.harness.check import Check

_SERVER_ID: Final = 91  # of the server that is restarted
_SESSIONS, _STEPS = 3, 50
_NEEDS: Final = "a server: statements about the variable are not among the recorded captures"


def _run(check: Check, statements: Iterable[SqlCase]) -> None:
    run_cases(check, statements, {"source": check.needs_server(_NEEDS)})


@pytest.mark.check("variable-values")
def test_values(check: Check) -> None:
    """The server takes or refuses every value as the table says; a refused value leaves the variable as it was."""
    _run(check, cases.value_cases())


@pytest.mark.check("variable-scope")
def test_scope(check: Check) -> None:
    """The variable has a global value only; persisting follows the general rules."""
    _run(check, cases.scope_cases())


@pytest.mark.check("variable-privileges")
def test_privileges(check: Check) -> None:
    """Each scope needs its privilege, whatever other privileges an account has."""
    _run(check, cases.privilege_cases())


@pytest.mark.check("variable-start")
def test_start(check: Check) -> None:
    """A start with the option takes its value, or ends with an error."""
    server = check.needs_own_server(_NEEDS)
    settings = check.lab.settings
    given = beside(dict(settings.server_options))
    options = {name: value for name, value in given.items() if name != "binlog-row-metadata"}
    with server.maker.launch(server_id=_SERVER_ID, options=options, wrapper=settings.wrapper, start=False) as own:
        run_cases(check, cases.start_cases(), {"source": own})


@pytest.mark.check("variable-effect")
def test_effect(check: Check) -> None:
    """The next TABLE_MAP of every session has the items of the variable's current value."""
    server = check.needs_started_server(_NEEDS)
    draw = Stream("metadata-effect", check.seed)
    with server.connect() as admin, server.schema(admin) as schema:
        before = admin.variable(f"global.{cases.VARIABLE}")
        sessions = [server.connect() for _ in range(_SESSIONS)]
        capture = server.capture()
        try:
            for session in sessions:
                session.execute(f"USE {schema}")
            for number in check.blocks():
                with check.block(number) as block:
                    effects = metadata_effect.run(
                        admin, sessions, capture, draw.fork(number), name=f"e{number}_", steps=_STEPS
                    )
                    block.cases = sum(len(effect.expected) for effect in effects)
                    for effect in effects:
                        block.differs(*judge(effect))
        finally:
            capture.close()
            for session in sessions:
                session.close()
            admin.execute(f"SET GLOBAL {cases.VARIABLE} = '{before}'")


def judge(effect: Effect) -> list[Problem]:
    """Compare each TABLE_MAP with the setting of its moment."""
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
