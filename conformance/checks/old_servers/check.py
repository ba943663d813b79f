"""FR10 and the old side of FR8: a real server from before the feature, given events of the server under test
(requirements FR8, requirements FR10).

Without an old server (binlog-lab servers install --old) the checks do not apply, and the report says how to get one.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.cases.case_sql import binlog_statement
from conformance.checks.old_servers import run as old
from conformance.harness import mysqlbinlog_replay
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.reference.event_types import EventType
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.old_server import launch_old, old_installation
from conformance.servers.roles.relay_log import log_file
from conformance.servers.run.owned import OwnServer
from conformance.stream import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.lab import Lab

_STATEMENTS = {"quick": 60, "full": 1_000, "soak": 5_000}
_STOPS = {"quick": 5, "full": 40, "soak": 200}  # relay logs, each with some updates and one event 39 at the end
_UPDATES_OF_A_LOG = 10
_REFUSED_BINLOG, _REFUSED_RELAY_LOG = 1730, 1594  # as observed on 5.6.24


@contextmanager
def _twins(lab: Lab, draw: Stream) -> Iterator[tuple[old.Twins, OwnServer]]:
    """The server under test, an old one beside it, and the tables on both."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server under test and an old one beside it")
    try:
        installation = old_installation()
    except ServerUnavailable as error:
        pytest.skip(str(error))
    lab.narrate(f"starting an old server, MySQL {installation.version}")
    with (
        launch_old(installation, narrate=lab.narrate) as ancient,
        server.connect() as writer,
        server.connect() as reader,
        ancient.connect() as session,
        server.schema(writer) as schema,
    ):
        capture = server.capture()
        try:
            twins = old.Twins(server, schema, writer, reader, session, capture)
            twins.begin(draw)
            yield twins, ancient
        finally:
            capture.close()


@pytest.mark.requirement("FR10", "X2")
def test_binlog_statements_on_an_old_server(lab: Lab) -> None:
    """An old server applies every update logged with the option off, and refuses every event 39 with an error."""
    draw = Stream("old", lab.settings.seed)
    begun = time.perf_counter()
    applied: list[Problem] = []
    refused: list[Problem] = []
    numbers: list[Problem] = []
    count = _STATEMENTS[lab.settings.profile]
    with _twins(lab, draw) as (twins, _):
        start = twins.capture.mark(twins.writer)
        twins.old.execute(binlog_statement(twins.capture.description(start.file)))
        for number in range(count):
            part = draw.fork("statement", number)
            statement = old.update(part, old.OFF)
            said = old.answer(twins.old, twins.logged(statement, partial=False), old.OFF)
            expected = old.read(twins.reader, old.OFF)
            applied += old.compare_rows(expected, said.rows, statement, "the old server has other rows")
            if said.error is not None:
                applied.append(_refused(said.error, statement))
            statement = old.update(part, old.ON)
            before = old.read(twins.old, old.ON)
            events = twins.logged(statement, partial=True)
            assert any(event[4] == EventType.PARTIAL_UPDATE_ROWS for event in events)
            said = old.answer(twins.old, events, old.ON)
            refused += old.compare_rows(before, said.rows, statement, "an event 39 changed rows of an old server")
            if said.error is None:
                refused.append(_accepted(statement))
            elif said.error != _REFUSED_BINLOG:
                numbers.append(_number(_REFUSED_BINLOG, said.error, statement))
    failed = _record(lab, "old/binlog-off", "X2", count, applied, begun)
    failed += _record(lab, "old/binlog-on", "FR10", count, refused, begun)
    failed += _record(lab, "old/binlog-error", "FR10", count, numbers, begun, verdict=Verdict.DIFFERS)
    if failed:
        pytest.fail(f"{failed} events are not treated as they must be by an old server; see the report", pytrace=False)


@pytest.mark.requirement("FR10", "X2")
def test_relay_log_of_an_old_server(lab: Lab) -> None:
    """An old applier works through updates logged with the option off, and stops with an error at an event 39."""
    draw = Stream("old-relay", lab.settings.seed)
    begun = time.perf_counter()
    applied: list[Problem] = []
    stopped: list[Problem] = []
    numbers: list[Problem] = []
    count = _STOPS[lab.settings.profile]
    with _twins(lab, draw) as (twins, ancient):
        start = twins.capture.mark(twins.writer)
        description = twins.capture.description(start.file)
        for number in range(count):
            part = draw.fork("log", number)
            events = [description]
            for _ in range(_UPDATES_OF_A_LOG):
                events += twins.logged(old.update(part, old.OFF), partial=False)
            whole = len(events)
            last = old.update(part, old.ON)
            before = old.read(twins.old, old.ON)
            data, ends = log_file([*events, *twins.logged(last, partial=True)])
            error, position, rows = old.come_to_rest(ancient, twins.old, data)
            expected = old.read(twins.reader, old.OFF)
            applied += old.compare_rows(expected, rows, last, "the old applier leaves other rows")
            stopped += old.compare_rows(
                before, old.read(twins.old, old.ON), last, "an event 39 changed rows of an old server"
            )
            if not error:
                stopped.append(_accepted(last))
            elif error != _REFUSED_RELAY_LOG:
                numbers.append(_number(_REFUSED_RELAY_LOG, error, last))
            if position != ends[whole - 1]:
                stopped.append(
                    Problem(
                        field="position of the applier",
                        expected=str(ends[whole - 1]),
                        got=str(position),
                        message="the applier's position is not in front of the failing transaction",
                        statements=(last,),
                    )
                )
    failed = _record(lab, "old/relay-off", "X2", count * _UPDATES_OF_A_LOG, applied, begun)
    failed += _record(lab, "old/relay-on", "FR10", count, stopped, begun)
    failed += _record(lab, "old/relay-error", "FR10", count, numbers, begun, verdict=Verdict.DIFFERS)
    if failed:
        pytest.fail(f"{failed} events are not treated as they must be by an old applier; see the report", pytrace=False)


@pytest.mark.requirement("X1")
def test_log_of_an_old_server(lab: Lab) -> None:
    """The log of an old server, through the new mysqlbinlog and mysql, gives the same rows on the new one."""
    if lab.server is not None and not isinstance(lab.server, OwnServer):
        lab.not_applicable("old/log", "X1", "client programs come with a server that the lab starts")
        return
    draw = Stream("old-log", lab.settings.seed)
    begun = time.perf_counter()
    problems: list[Problem] = []
    count = _STATEMENTS[lab.settings.profile]
    with _twins(lab, draw) as (twins, ancient):
        assert isinstance(twins.new, OwnServer)
        capture = ancient.capture()
        start = capture.mark(twins.old)
        statements = [_change(draw.fork("change", number), number) for number in range(count)]
        twins.old.execute_many(statements).check()
        end = capture.mark(twins.old)
        capture.close()
        expected = old.read(twins.old, old.OFF)
        try:
            text = mysqlbinlog_replay.print_log(ancient, start, end, program=twins.new.program("mysqlbinlog"))
            replayed = mysqlbinlog_replay.feed(twins.new, text)
        except (mysqlbinlog_replay.PrintFailed, ServerUnavailable) as error:
            problems.append(Problem(field="mysqlbinlog", expected="a text", got=str(error), message="it failed"))
        else:
            if replayed.error is not None:
                problems.append(
                    Problem(
                        field="replay",
                        expected="a replay without an error",
                        got=replayed.message,
                        message="the log of an old server is refused",
                    )
                )
            rows = old.read(twins.reader, old.OFF)
            problems += old.compare_rows(expected, rows, "", "other rows after the log of an old server")
    if _record(lab, "old/log", "X1", count, problems, begun):
        pytest.fail("the log of an old server is not applied as it must be; see the report", pytrace=False)


def _change(draw: Stream, number: int) -> str:
    match draw.below(6):
        case 4:
            return old.insert(draw, old.OFF, first=1_000 + 10 * number, count=1 + draw.below(3))
        case 5:
            return f"DELETE FROM {old.OFF} WHERE id >= 1000 AND id % 10 = {draw.below(3)}"
        case _:
            return old.update(draw, old.OFF)


def _accepted(statement: str) -> Problem:
    return Problem(
        field="error",
        expected="an error",
        got="none",
        message="an old server takes an event 39",
        statements=(statement,),
    )


def _refused(error: int, statement: str) -> Problem:
    return Problem(
        field="error",
        expected="none",
        got=str(error),
        message="an old server refuses an update that is logged without the option",
        statements=(statement,),
    )


def _number(expected: int, got: int, statement: str) -> Problem:
    return Problem(
        field="error",
        expected=str(expected),
        got=str(got),
        message="an old server refuses an event 39 with another error",
        statements=(statement,),
    )


def _record(
    lab: Lab,
    check: str,
    requirement: str,
    cases: int,
    problems: list[Problem],
    begun: float,
    *,
    verdict: Verdict = Verdict.FAIL,
) -> int:
    return record(
        lab,
        Outcome(
            check=check,
            requirement=requirement,
            block=0,
            cases=cases,
            problems=problems,
            verdict=verdict,
            seconds=time.perf_counter() - begun,
        ),
    )
