"""FR3: the output of ``mysqlbinlog``, fed to a server with the same rows, makes the same changes (requirements FR3)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.harness import mysqlbinlog_replay as replaying
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.judge.replica import LogDiffersError
from conformance.judge.updates.events import split_groups
from conformance.reference.sql.tokens import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.update_cases import run_case
from conformance.servers.run.owned import OwnServer
from conformance.servers.wire.capture import Position

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.harness.lab import Lab
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

_UPDATES = 50  # of a block
_BLOCKS = {"quick": 8, "full": 60, "soak": 600}
_SECOND_ID = 71


@pytest.mark.requirement("FR3")
def test_replayed_updates(lab: Lab) -> None:
    """Generated updates through ``mysqlbinlog --skip-gtids | mysql``: the same text and stored bytes in all rows."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: the output of mysqlbinlog is fed to a second one")
    if not isinstance(server, OwnServer):
        lab.not_applicable(
            "replaying/rows", "FR3", "a second server of the same installation is started beside the lab's own only"
        )
        return
    try:
        server.program("mysqlbinlog")
        server.program("mysql")
    except ServerUnavailable as error:
        pytest.skip(f"needs the server's own client programs: {error}")
    lab.narrate("starting a second server for replays")
    failed = 0
    with (
        server.maker.launch(
            server_id=_SECOND_ID, options=server.options, keep=server.keep, narrate=lab.narrate
        ) as other,
        server.connect() as connection,
        other.connect() as target,
        server.schema(connection) as schema,
    ):
        target.execute(f"CREATE SCHEMA {schema} DEFAULT CHARACTER SET utf8mb4")
        target.execute(f"USE {schema}")
        limits = server_limits(server)
        source_log, target_log = server.capture(), other.capture()
        for number in range(_BLOCKS[lab.settings.profile]):
            begun = time.perf_counter()
            script = make_script(f"{lab.settings.seed}/replaying", number, limits, updates=_UPDATES)
            problems, cases = _replay(
                lab, (server, connection, source_log), (other, target, target_log), script, schema
            )
            outcome = Outcome(
                check="replaying/rows",
                requirement="FR3",
                block=number,
                cases=cases,
                problems=problems,
                case=script.case,
                texts=cases,
                seconds=time.perf_counter() - begun,
            )
            failed += record(lab, outcome)
        source_log.close()
        target_log.close()
    if failed:
        pytest.fail(f"{failed} differences after replays of mysqlbinlog's output; see the report", pytrace=False)


def _replay(
    lab: Lab,
    source: tuple[OwnServer, Connection, Capture],
    target: tuple[OwnServer, Connection, Capture],
    script: Script,
    schema: str,
) -> tuple[list[Problem], int]:
    """One block on both servers: problems, and the number of updates that the answer is about."""
    server, connection, capture = source
    other, second, second_log = target
    case = script.case
    start = capture.mark(connection)
    observation = run_case(connection, capture, script, schema)
    end = capture.mark(connection)
    left = replaying.take_state(connection, capture, case.table, case.selector)
    second.execute_many(
        [
            *case.session.statements(),
            f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}",
            create_table(case.table),
            script.insert,
        ]
    ).check()
    # The replay begins behind the INSERT of the start rows, the first transaction of the Case.
    first = _end_of_first(observation.events)
    try:
        text = replaying.print_log(server, Position(file=start.file, offset=first), end)
    except replaying.PrintFailed as error:
        problem = Problem(field="mysqlbinlog", expected="a text", got=str(error), message="mysqlbinlog failed")
        return [problem], 1
    replayed = replaying.feed(other, text)
    try:
        # A server may have mended what a switch stands for; whether it has is judged by the deviation's witness.
        expected = replaying.expected_of(script, observation.events, refuses=replayed.error is not None)
    except LogDiffersError as error:
        problem = Problem(field="log", expected="the predicted updates", got=str(error), message="another log")
        return [problem], 1
    updates = [len(prediction.step.rows) for prediction in script.predictions if prediction.events]
    if replayed.error is not None:
        problem = replaying.stop_problem(lab, script, expected.refusal, replayed)
        return [problem], 1 + sum(updates[: replayed.statements])
    got = replaying.take_state(second, second_log, case.table, case.selector)
    wanted = replaying.expected_state(script, left, expected.model)
    problems = replaying.compare_states(wanted, got, [column.name for column in case.table.columns])
    if expected.refusal is not None:
        problems.append(
            Problem(
                field=expected.refusal.column,
                expected=f"{expected.refusal.number}: {expected.refusal.reason}",
                got="a replay without an error",
                message="a diff was taken that the applier refuses",
            )
        )
    if replayed.statements != len(updates):
        problems.append(
            Problem(
                field="statements",
                expected=str(len(updates)),
                got=str(replayed.statements),
                message="another number of statements is in the text",
            )
        )
    return problems, max(1, sum(updates))


def _end_of_first(events: tuple[bytes, ...]) -> int:
    """Where the first transaction ends in the file."""
    last = split_groups(events)[0][-1]
    return int.from_bytes(last[13:17], "little")
