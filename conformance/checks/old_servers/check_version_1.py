"""X1 for the row events of old sources, of version 1 (types 23 to 25) and 2: built by the reference, given to the
server by BINLOG statements. No old server is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.old_servers.version_1 import case
from conformance.harness.sql_cases import run_cases
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.lab import Lab

_CASES: Final = {"quick": 40, "full": 600, "soak": 5000}  # of two judged statements each


@pytest.mark.requirement("X1")
def test_row_events_of_old_sources(lab: Lab) -> None:
    """Rows that an old source wrote, updated or deleted are so on the new server."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: the events are given to one")
    if not server.started_by_us:
        lab.not_applicable("old/version-1", "X1", "events are given only to a server that the lab started itself")
        return
    count = _CASES[lab.settings.profile]
    cases = [case(Stream("version-1", lab.settings.seed, number), number) for number in range(count)]
    run_cases(lab, "old/version-1", cases, {"source": server})
