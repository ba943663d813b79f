"""NF1 and NF2 of WL#4618: an old server reads a log with metadata, and a new server reads a log without
(table-map-metadata 7.4).

Without an old server (binlog-lab servers install --old) the check does not apply.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.case_sql import binlog_statement
from conformance.checks.old_servers import row_transfer as transfer
from conformance.harness.check import GUEST
from conformance.judge.problem import Problem
from conformance.servers.roles.injector import launch_target
from conformance.servers.roles.old_server import launch_old
from conformance.servers.roles.variables import global_variable
from conformance.servers.run.owned import OwnServer
from conformance.servers.settings.listed import beside
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.old_servers.row_transfer import Taken, Written
    from conformance.harness.check import Check
    from conformance.harness.recorder import BlockRecord
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

_SCHEMA: Final = "binlog_lab_versions"
_RELAYED: Final = 3  # every so many tables are given to the applier too


@dataclass(frozen=True, slots=True)
class _Servers:
    """A session on each server, in a schema of the same name, and their logs."""

    new_server: OwnServer
    old_server: OwnServer
    new: Connection
    old: Connection
    new_log: Capture
    old_log: Capture


@contextmanager
def _servers(check: Check, server: OwnServer) -> Iterator[_Servers]:
    maker = check.needs_old_server()
    check.narrate(f"starting an old server, MySQL {maker.version}, and a new one without GTIDs for its log")
    with ExitStack() as stack:
        old_server = stack.enter_context(launch_old(maker, narrate=check.narrate))
        # With GTIDs a session that was given events of a log without them can do nothing else.
        target = stack.enter_context(
            launch_target(server.maker, options=beside(server.options), keep=check.lab.settings.keep)
        )
        new, session = stack.enter_context(target.connect()), stack.enter_context(old_server.connect())
        for connection in (new, session):
            connection.execute(f"CREATE SCHEMA {_SCHEMA} DEFAULT CHARACTER SET latin1")
            connection.execute(f"USE {_SCHEMA}")
        new_log, old_log = target.capture(), old_server.capture()
        stack.callback(new_log.close)
        stack.callback(old_log.close)
        yield _Servers(target, old_server, new, session, new_log, old_log)


@pytest.mark.check("metadata")
def test_old_and_new_servers(check: Check) -> None:
    """Each server applies the other one's rows, with metadata and without, and then has the same values."""
    server = check.needs_server("a server under test and an old one beside it")
    to_old, from_old = check.part("to-old", "TMX2"), check.part("from-old", "TMX1")
    if not isinstance(server, OwnServer):
        to_old.not_applicable(GUEST)
        from_old.leave_out(GUEST)
    draw = Stream("metadata-versions", check.seed)
    rows = check.size("rows")
    with _servers(check, server) as servers:
        description = servers.new_log.description(servers.new_log.mark(servers.new).file)
        servers.old.execute(binlog_statement(description))
        before = servers.old_log.description(servers.old_log.mark(servers.old).file)
        servers.new.execute(binlog_statement(before))
        for number in check.blocks():
            with to_old.block(number, cases=rows) as block:
                _to_old(block, servers, draw.fork("to-old", number), description)
            with from_old.block(number, cases=rows) as block:
                _from_old(block, servers, draw.fork("from-old", number))


def _to_old(block: BlockRecord, servers: _Servers, draw: Stream, description: bytes) -> None:
    """NF2: give the old server rows with FULL and MINIMAL metadata in turn, by BINLOG statements and by its applier."""
    made = transfer.table(draw, block.number)
    setting = ("FULL", "MINIMAL")[block.number % 2]
    with global_variable(servers.new_server, "binlog_row_metadata", setting):
        transfer.make(servers.new, made)
        written = transfer.write(servers.new, servers.new_log, draw.fork("rows"), made, block.cases or 0)
    transfer.make(servers.old, made)
    block.differs(*judge(written, transfer.by_statement(servers.old, written), f"BINLOG statements, {setting}"))
    if not block.number % _RELAYED:
        transfer.make(servers.old, made)
        taken = transfer.by_relay_log(servers.old_server, servers.old, description, written)
        block.differs(*judge(written, taken, f"its applier, {setting}"))
    if 0 in written.metadata:
        block.differs(_problem(written, "metadata", "some", "none", "the new server logs no metadata"))


def _from_old(block: BlockRecord, servers: _Servers, draw: Stream) -> None:
    """NF1: give the new server the old one's rows, whose TABLE_MAP ends with its null bitmap."""
    made = transfer.table(draw, block.number)
    transfer.make(servers.old, made)
    written = transfer.write(servers.old, servers.old_log, draw.fork("rows"), made, block.cases or 0)
    transfer.make(servers.new, made)
    block.differs(*judge(written, transfer.by_statement(servers.new, written), "BINLOG statements"))
    if any(written.metadata):
        block.differs(_problem(written, "metadata", "none", "some", "the old server is not from before the metadata"))


def judge(written: Written, taken: Taken, how: str) -> list[Problem]:
    """The differences between a server's rows and those of the server whose log it got."""
    if taken.error is not None:
        return [_problem(written, f"error, {how}", "none", str(taken.error), "the log of the other server is refused")]
    if len(written.rows) != len(taken.rows):
        return [_problem(written, f"rows, {how}", str(len(written.rows)), str(len(taken.rows)), "rows are missing")]
    return [
        _problem(written, f"{column.name}, {how}", repr(mine), repr(theirs), "another value than on the other server")
        for row, other in zip(written.rows, taken.rows, strict=True)
        for column, mine, theirs in zip(written.table.columns, row, other, strict=True)
        if mine != theirs
    ]


def _problem(written: Written, field: str, expected: str, got: str, message: str) -> Problem:
    return Problem(field, expected[:200], got[:200], message, statements=written.statements[:2])
