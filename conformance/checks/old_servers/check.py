"""FR10 and FR8: a real server from before the feature gets events of the server under test (requirements FR8,
requirements FR10).

Without an old server (binlog-lab servers install --old) the checks do not apply, and the report says how to get one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.case_sql import binlog_statement
from conformance.checks.old_servers import run
from conformance.checks.old_servers.generate import OFF, ON, change, update
from conformance.checks.old_servers.judge import accepted, compare_rows, other_error, refused
from conformance.harness import mysqlbinlog_replay
from conformance.judge.problem import Problem
from conformance.reference.event_types import EventType
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.old_server import launch_old
from conformance.servers.roles.relay_log import log_file
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.check import Check
    from conformance.servers.run.owned import OwnServer

_UPDATES_OF_A_LOG: Final = 10
_CHANGED: Final = "an event 39 changed rows of an old server"
_REFUSED_BINLOG, _REFUSED_RELAY_LOG = 1730, 1594  # as observed on 5.6.24


@contextmanager
def _servers(check: Check, draw: Stream) -> Iterator[tuple[run.NewAndOld, OwnServer]]:
    """The server under test, an old one beside it, and the tables on both."""
    maker = check.needs_old_server()
    server = check.lab.server
    assert server is not None
    check.narrate(f"starting an old server, MySQL {maker.version}")
    with (
        launch_old(maker, narrate=check.narrate) as old_server,
        server.connect() as writer,
        server.connect() as reader,
        old_server.connect() as session,
        server.schema(writer) as schema,
    ):
        capture = server.capture()
        try:
            servers = run.NewAndOld(server, schema, writer, reader, session, capture)
            servers.begin(draw)
            yield servers, old_server
        finally:
            capture.close()


@pytest.mark.check("binlog")
def test_binlog_statements_on_an_old_server(check: Check) -> None:
    """An old server applies every update logged with the option off, and refuses every event 39 with an error."""
    draw = Stream("old", check.seed)
    count = check.size()
    with (
        _servers(check, draw) as (servers, _),
        check.part("off", "X2").block(cases=count) as applied,
        check.part("on", "FR10").block(cases=count) as refusals,
        check.part("error", "FR10").block(cases=count, verdict=Verdict.DIFFERS) as numbers,
    ):
        start = servers.capture.mark(servers.writer)
        servers.old.execute(binlog_statement(servers.capture.description(start.file)))
        for number in range(count):
            part = draw.fork("statement", number)
            statement = update(part, OFF)
            answer = run.by_statement(servers.old, servers.logged(statement, partial=False), OFF)
            expected = run.read(servers.reader, OFF)
            applied.differs(*compare_rows(expected, answer.rows, statement, "the old server has other rows"))
            if answer.error is not None:
                applied.differs(refused(answer.error, statement))
            statement = update(part, ON)
            before = run.read(servers.old, ON)
            events = servers.logged(statement, partial=True)
            assert any(event[4] == EventType.PARTIAL_UPDATE_ROWS for event in events)
            answer = run.by_statement(servers.old, events, ON)
            refusals.differs(*compare_rows(before, answer.rows, statement, _CHANGED))
            if answer.error is None:
                refusals.differs(accepted(statement))
            elif answer.error != _REFUSED_BINLOG:
                numbers.differs(other_error(_REFUSED_BINLOG, answer.error, statement))


@pytest.mark.check("relay")
def test_relay_log_of_an_old_server(check: Check) -> None:
    """An old applier applies updates logged with the option off, and stops with an error at an event 39."""
    draw = Stream("old-relay", check.seed)
    count = check.size()
    with (
        _servers(check, draw) as (servers, old_server),
        check.part("off", "X2").block(cases=count * _UPDATES_OF_A_LOG) as applied,
        check.part("on", "FR10").block(cases=count) as stopped,
        check.part("error", "FR10").block(cases=count, verdict=Verdict.DIFFERS) as numbers,
    ):
        start = servers.capture.mark(servers.writer)
        description = servers.capture.description(start.file)
        for number in range(count):
            part = draw.fork("log", number)
            events = [description]
            for _ in range(_UPDATES_OF_A_LOG):
                events += servers.logged(update(part, OFF), partial=False)
            whole = len(events)
            last = update(part, ON)
            before = run.read(servers.old, ON)
            data, ends = log_file([*events, *servers.logged(last, partial=True)])
            error, position, rows = run.by_relay_log(old_server, servers.old, data)
            expected = run.read(servers.reader, OFF)
            applied.differs(*compare_rows(expected, rows, last, "the old applier leaves other rows"))
            stopped.differs(*compare_rows(before, run.read(servers.old, ON), last, _CHANGED))
            if not error:
                stopped.differs(accepted(last))
            elif error != _REFUSED_RELAY_LOG:
                numbers.differs(other_error(_REFUSED_RELAY_LOG, error, last))
            if position != ends[whole - 1]:
                stopped.differs(
                    Problem(
                        field="position of the applier",
                        expected=str(ends[whole - 1]),
                        got=str(position),
                        message="the applier's position is not in front of the failing transaction",
                        statements=(last,),
                    )
                )


@pytest.mark.check("log")
def test_log_of_an_old_server(check: Check) -> None:
    """The new mysqlbinlog and mysql apply the log of an old server: the new server has the same rows."""
    new_server = check.needs_own_server(
        "a server under test and an old one beside it",
        "needs a server that the lab starts: client programs come with it",
    )
    draw = Stream("old-log", check.seed)
    count = check.size()
    with _servers(check, draw) as (servers, old_server), check.block(cases=count) as block:
        capture = old_server.capture()
        start = capture.mark(servers.old)
        statements = [change(draw.fork("change", number), number) for number in range(count)]
        servers.old.execute_many(statements).check()
        end = capture.mark(servers.old)
        capture.close()
        expected = run.read(servers.old, OFF)
        try:
            text = mysqlbinlog_replay.print_log(old_server, start, end, printer=new_server)
            replayed = mysqlbinlog_replay.feed(new_server, text)
        except (mysqlbinlog_replay.PrintFailed, ServerUnavailable) as error:
            block.differs(Problem("mysqlbinlog", "a text", str(error), "it failed"))
            return
        if replayed.error is not None:
            block.differs(
                Problem("replay", "a replay without an error", replayed.message, "the log of an old server is refused")
            )
        rows = run.read(servers.reader, OFF)
        block.differs(*compare_rows(expected, rows, "", "other rows after the log of an old server"))
