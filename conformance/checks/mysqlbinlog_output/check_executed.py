"""FR7: the pseudo-SQL of ``mysqlbinlog -v``, run as SQL, does what the update did.

The text lacks some types (``pseudo_statements``): what they become must be exactly as predicted, and has the verdict
``info``. Any other difference from the source's documents is a failure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.mysqlbinlog_output import run
from conformance.checks.mysqlbinlog_output.generate import example_case
from conformance.checks.mysqlbinlog_output.run_executed import Executed, assigned_columns, execute, run_with_copies
from conformance.harness.updates.blocks import make_script
from conformance.judge.problem import Problem
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.checks.mysqlbinlog_output.run import Client
    from conformance.harness.check import Check
    from conformance.harness.updates.blocks import Limits


@pytest.mark.check("executed")
def test_executed_updates(check: Check) -> None:
    """Printed updates, run on copies of the old rows, give the same documents as on the source."""
    with run.mysqlbinlog(check, "a server: what its mysqlbinlog prints is run on it") as client:
        for number, script in enumerate(_scripts(check, client.limits)):
            with check.block(number, case=script.case) as block:
                executed = _execute(client, script)
                block.cases = max(1, executed.assigned)
                block.compared(texts_compared=executed.assigned)
                block.differs(*executed.problems)
                block.info(executed.losses)


def _scripts(check: Check, limits: Limits) -> Iterator[Script]:
    """The examples, then generated updates."""
    yield limits.script(example_case())
    for number in check.blocks():
        yield make_script(f"{check.seed}/executed", number, limits, updates=run.UPDATES, change=_with_the_option)


def _with_the_option(case: UpdateCase) -> UpdateCase:
    return replace(case, session=replace(case.session, partial_json=True))


def _execute(client: Client, script: Script) -> Executed:
    """Run one block, print its log, and run the printed text."""
    try:
        bodies = client.write_log(script, run_with_copies)
    except SqlError as error:
        return _not_run("the updates of the block", str(error), "an update is refused")
    try:
        assigned = assigned_columns(script, client.schema, client.text("-v"), bodies)
    except (run.ClientFailed, ValueError) as error:
        return _not_run("the updates of the block, printed", str(error), "other updates are printed")
    return execute(client.connection, assigned)


def _not_run(expected: str, got: str, message: str) -> Executed:
    return Executed(problems=[Problem("block", expected, got, message)])
