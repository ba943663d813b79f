"""NF1 and NF2 of WL#4618 with a real old server: it reads a log with metadata, and its log without is read
(table-map-metadata 7.4).

As all checks with an old server they do not apply without one (binlog-lab servers install --old).
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.case_sql import binlog_statement
from conformance.checks.old_servers import row_values as old_rows
from conformance.harness.check import GUEST
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.injector import launch_target
from conformance.servers.roles.old_server import launch_old, old_installation
from conformance.servers.roles.variables import global_variable
from conformance.servers.run.owned import OwnServer
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.old_servers.row_values import Taken, Written
    from conformance.harness.lab import Lab
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

_TABLES: Final = {"quick": 6, "full": 64, "soak": 640}
_ROWS: Final = {"quick": 10, "full": 20, "soak": 20}
_SCHEMA: Final = "binlog_lab_versions"
_RELAYED: Final = 3  # every so many tables are given to the applier too


@dataclass(frozen=True, slots=True)
class _Both:
    """A session on each server, in a schema of the same name, and their logs."""

    new_server: OwnServer
    old_server: ProcessServer
    new: Connection
    old: Connection
    new_log: Capture
    old_log: Capture


@contextmanager
def _both(lab: Lab, server: OwnServer) -> Iterator[_Both]:
    try:
        installation = old_installation()
    except ServerUnavailable as error:
        pytest.skip(str(error))
    lab.narrate(f"starting an old server, MySQL {installation.version}, and a new one without GTIDs for its log")
    with ExitStack() as stack:
        ancient = stack.enter_context(launch_old(installation, narrate=lab.narrate))
        # With GTIDs a session that was given events of a log without them can do nothing else.
        target = stack.enter_context(launch_target(server.maker, options=server.options, keep=lab.settings.keep))
        new, session = stack.enter_context(target.connect()), stack.enter_context(ancient.connect())
        for connection in (new, session):
            connection.execute(f"CREATE SCHEMA {_SCHEMA} DEFAULT CHARACTER SET latin1")
            connection.execute(f"USE {_SCHEMA}")
        new_log, old_log = target.capture(), ancient.capture()
        stack.callback(new_log.close)
        stack.callback(old_log.close)
        yield _Both(target, ancient, new, session, new_log, old_log)


@pytest.mark.requirement("TMX1", "TMX2")
def test_old_and_new_servers(lab: Lab) -> None:
    """Rows that one server logs are taken by the other, with the same values: with metadata, and without."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server under test and an old one beside it")
    if not isinstance(server, OwnServer):
        for requirement, check in (("TMX1", "from-old"), ("TMX2", "to-old")):
            lab.not_applicable(f"metadata-versions/{check}", requirement, GUEST)
        return
    draw = Stream("metadata-versions", lab.settings.seed)
    failed = 0
    with _both(lab, server) as both:
        description = both.new_log.description(both.new_log.mark(both.new).file)
        both.old.execute(binlog_statement(description))
        before = both.old_log.description(both.old_log.mark(both.old).file)
        both.new.execute(binlog_statement(before))
        for number in range(_TABLES[lab.settings.profile]):
            failed += _to_old(lab, both, draw.fork("to-old", number), number, description)
            failed += _from_old(lab, both, draw.fork("from-old", number), number)
    if failed:
        pytest.fail(f"{failed} values are not on the other server as they must be; see the report", pytrace=False)


def _to_old(lab: Lab, both: _Both, draw: Stream, number: int, description: bytes) -> int:
    """NF2: with FULL and MINIMAL in turn, by BINLOG statements and by the old applier."""
    begun = time.perf_counter()
    made = old_rows.table(draw, number)
    setting = ("FULL", "MINIMAL")[number % 2]
    with global_variable(both.new_server, "binlog_row_metadata", setting):
        old_rows.make(both.new, made)
        written = old_rows.write(both.new, both.new_log, draw.fork("rows"), made, _ROWS[lab.settings.profile])
    old_rows.make(both.old, made)
    problems = judge(written, old_rows.by_statement(both.old, written), f"BINLOG statements, {setting}")
    if not number % _RELAYED:
        old_rows.make(both.old, made)
        taken = old_rows.by_relay_log(both.old_server, both.old, description, written)
        problems += judge(written, taken, f"its applier, {setting}")
    if 0 in written.metadata:
        problems.append(_problem(written, "metadata", "some", "none", "the new server logs no metadata"))
    return _record(lab, "to-old", "TMX2", number, problems, begun)


def _from_old(lab: Lab, both: _Both, draw: Stream, number: int) -> int:
    """NF1: the TABLE_MAP ends with its null bitmap."""
    begun = time.perf_counter()
    made = old_rows.table(draw, number)
    old_rows.make(both.old, made)
    written = old_rows.write(both.old, both.old_log, draw.fork("rows"), made, _ROWS[lab.settings.profile])
    old_rows.make(both.new, made)
    problems = judge(written, old_rows.by_statement(both.new, written), "BINLOG statements")
    if any(written.metadata):
        problems.append(_problem(written, "metadata", "none", "some", "the old server is not from before the metadata"))
    return _record(lab, "from-old", "TMX1", number, problems, begun)


def judge(written: Written, taken: Taken, how: str) -> list[Problem]:
    """What a server has after the log of the other one, against what that one has."""
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
    return Problem(
        field=field, expected=expected[:200], got=got[:200], message=message, statements=written.statements[:2]
    )


def _record(lab: Lab, check: str, requirement: str, number: int, problems: list[Problem], begun: float) -> int:
    return record(
        lab,
        Outcome(
            check=f"metadata-versions/{check}",
            requirement=requirement,
            block=number,
            cases=_ROWS[lab.settings.profile],
            problems=problems,
            seconds=time.perf_counter() - begun,
        ),
    )
