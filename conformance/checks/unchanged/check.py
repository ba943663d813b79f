"""FR8 without a build that lacks the feature, as none is at hand.

In its place the check runs the same workload with the option off in session
and server, off in the session alone, and on. An independent encoder's prediction of every event does the rest
(``updates/event-bytes``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.checks.unchanged.judge import compare_off, compare_on
from conformance.checks.unchanged.run import three_runs
from conformance.harness.campaign.blocks import make_script
from conformance.harness.campaign.run import server_limits

if TYPE_CHECKING:
    from conformance.harness.check import Check

_UPDATES = 50  # of a block


@pytest.mark.check("unchanged/off", "FR8")
def test_other_events_are_unchanged(check: Check) -> None:
    """The same workload with the option off leaves equal bytes, whatever the global option; on, only updates differ."""
    server = check.needs_started_server(
        "a server: the same workload is run three times",
        "needs a server that the lab starts: a global variable is changed",
    )
    limits = server_limits(server)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        for number in check.blocks():
            begun = time.perf_counter()
            case = make_script(f"{check.seed}/unchanged", number, limits, updates=_UPDATES).case
            off, still_off, on = three_runs(connection, capture, schema, case, limits)
            for part, (problems, cases), broken in (
                (check, compare_off(off.events, still_off.events), [*off.broken, *still_off.broken]),
                (check.named("unchanged/on"), compare_on(off.events, on.events), on.broken),
            ):
                seconds = (time.perf_counter() - begun) / 2
                part.record(number, [*problems, *broken], cases=cases, case=case, seconds=seconds)
        capture.close()
