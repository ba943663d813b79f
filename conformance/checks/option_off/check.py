"""FR8 without a build that lacks the feature, as none is at hand.

In its place the check runs the same workload in a new session: with the option off in session and server, off in the
session alone, on, and off again. What the session writes then must be what it wrote before it ever had the option on.
An independent encoder's prediction of every event does the rest (``updates/event-bytes``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.checks.option_off.judge import compare_off, compare_on
from conformance.checks.option_off.run import four_runs
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits

if TYPE_CHECKING:
    from conformance.harness.check import Check

_UPDATES = 50  # of a block


@pytest.mark.check("events")
def test_other_events_are_unchanged(check: Check) -> None:
    """With the option off, in the server or the session, before it was on or after, the same workload leaves equal
    bytes; on, only updates differ."""
    server = check.needs_started_server(
        "a server: the same workload is run four times",
        "needs a server that the lab starts: a global variable is changed",
    )
    limits = server_limits(server)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        for number in check.blocks():
            begun = time.perf_counter()
            case = make_script(f"{check.seed}/unchanged", number, limits, updates=_UPDATES).case
            with server.connect(database=schema) as session:
                off, still_off, on, again = four_runs(session, capture, schema, case, limits)
            for part, (problems, cases), broken in (
                (check, compare_off(off.events, still_off.events), [*off.broken, *still_off.broken]),
                (check.part("on"), compare_on(off.events, on.events), on.broken),
                (check.part("off-again"), compare_off(off.events, again.events), again.broken),
            ):
                seconds = (time.perf_counter() - begun) / 3
                part.record(number, [*problems, *broken], cases=cases, case=case, seconds=seconds)
        capture.close()
