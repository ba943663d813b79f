"""FR7: the pseudo-SQL of ``mysqlbinlog -v`` says all that an update did: run as SQL, it does the same.

What the text is known not to carry (types, see ``judge.pseudo_statements``) must show exactly as foretold, and is
listed with the verdict ``info``; any other difference from the source's documents is a failure.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from conformance.cases.script import build_script
from conformance.checks.mysqlbinlog_output import judge as printing
from conformance.checks.mysqlbinlog_output.executed import (
    Executed,
    assigned_columns,
    example_case,
    execute,
    run_with_copies,
)
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.servers.errors import ServerUnavailable, SqlError
from conformance.servers.wire.capture import Captured
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.blocks import Limits
    from conformance.harness.lab import Lab
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

_UPDATES = 50  # of a block
_BLOCKS = {"quick": 8, "full": 60, "soak": 600}


@pytest.mark.requirement("FR7")
def test_executed_updates(lab: Lab) -> None:
    """Printed updates, run on copies of the rows from before them: the same documents as on the source."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: what its mysqlbinlog prints is run on it")
    try:
        program = server.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(f"needs the server's own mysqlbinlog: {error}")
    failed = 0
    limits = server_limits(server)
    with (
        server.connect() as connection,
        server.schema(connection) as schema,
        TemporaryDirectory(prefix="binlog-lab-") as directory,
    ):
        capture = server.capture()
        for number, script in enumerate(_scripts(lab, limits)):
            begun = time.perf_counter()
            path = Path(directory) / "block.binlog"
            executed = _execute(connection, capture, script, schema, program, path)
            failed += record(
                lab,
                Outcome(
                    check="printing/executed",
                    requirement="FR7",
                    block=number,
                    cases=max(1, executed.assigned),
                    problems=executed.problems,
                    listed=executed.losses,
                    case=script.case,
                    texts=executed.assigned,
                    seconds=time.perf_counter() - begun,
                ),
            )
        capture.close()
    if failed:
        pytest.fail(f"{failed} printed values make another change when they are run; see the report", pytrace=False)


def _scripts(lab: Lab, limits: Limits) -> Iterator[Script]:
    """The examples, then generated updates."""
    yield build_script(example_case(), row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)
    seed = f"{lab.settings.seed}/executed"
    for number in range(_BLOCKS[lab.settings.profile]):
        yield make_script(seed, number, limits, updates=_UPDATES, change=_with_the_option)


def _with_the_option(case: UpdateCase) -> UpdateCase:
    return replace(case, session=replace(case.session, partial_json=True))


def _execute(
    connection: Connection, capture: Capture, script: Script, schema: str, program: list[str], path: Path
) -> Executed:
    """One block: run it, print its log, run what is printed."""
    start = capture.mark(connection)
    try:
        run_with_copies(connection, script)
    except SqlError as error:
        return _not_run("the updates of the block", str(error), "an update is refused")
    end = capture.mark(connection)
    events = tuple(groups_of_thread(capture.since(start, end).events, connection.thread_id))
    log = Captured(start=start, end=end, format_description=capture.description(start.file), events=events)
    path.write_bytes(log.file_bytes())
    try:
        text = printing.client_text(program, path, "-v")
        assigned = assigned_columns(script, schema, text, printing.row_events(events))
    except (printing.ClientFailed, ValueError) as error:
        return _not_run("the updates of the block, printed", str(error), "other updates are printed")
    return execute(connection, assigned)


def _not_run(expected: str, got: str, message: str) -> Executed:
    return Executed(problems=[Problem(field="block", expected=expected, got=got, message=message)])
