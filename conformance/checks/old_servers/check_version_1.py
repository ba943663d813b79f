"""X1 for row events of old sources: version 1 (types 23 to 25) and version 2.

The reference builds the events, and BINLOG statements give them to the server: no old server is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.old_servers.generate_version_1 import case
from conformance.harness.sql_cases import run_cases
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("version-1")
def test_row_events_of_old_sources(check: Check) -> None:
    """The new server applies the rows that an old source wrote, updated or deleted."""
    server = check.needs_started_server(
        "a server: the events are given to one", "needs a server that the lab started itself: events are given to it"
    )
    cases = [case(Stream("version-1", check.seed, number), number) for number in check.blocks()]
    run_cases(check, cases, {"source": server})
