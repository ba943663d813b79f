"""FR3: the output of ``mysqlbinlog`` makes the same changes on a server with the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.mysqlbinlog_replay.judge import judge, print_problem
from conformance.checks.mysqlbinlog_replay.run import replay, two_servers
from conformance.harness.mysqlbinlog_replay import PrintFailed
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits

if TYPE_CHECKING:
    from conformance.harness.check import Check

_UPDATES = 50  # of a block


@pytest.mark.check("rows")
def test_replayed_updates(check: Check) -> None:
    """``mysqlbinlog --skip-gtids | mysql`` replays generated updates: all rows have the same text and stored bytes."""
    server = check.needs_own_server(
        "a server: the output of mysqlbinlog is fed to a second one",
        "needs a server that the lab starts: a second one of its installation stands beside it",
    )
    check.needs_programs("mysqlbinlog", "mysql")
    check.narrate("starting a second server for replays")
    with two_servers(server, check.narrate) as servers:
        limits = server_limits(server)
        for number in check.blocks():
            script = make_script(f"{check.seed}/replaying", number, limits, updates=_UPDATES)
            with check.block(number, case=script.case) as block:
                try:
                    replayed = replay(servers, script)
                    problems, cases = judge(script, replayed, check.lab.deviations, check.lab.version)
                except PrintFailed as error:
                    problems, cases = [print_problem(error)], 1
                block.cases = cases
                block.compared(texts_compared=cases)
                block.differs(*problems)
