"""IP3: no update makes a document deeper than 100 levels, on the tree or in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.update_case import Hazard
from conformance.checks import triggers
from conformance.checks.lab import UpdateCheck
from conformance.stream import Verdict
from generators import depth
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.checks.lab import Lab

_CASES: Final = {"quick": 60, "full": 1000, "soak": 10_000}  # of one update
_CHECK: Final = UpdateCheck(
    id="depth/updates",
    kinds=frozenset(("event", "events", "outcome", "decode", "apply", "size", "free", "text")),
    requirements=("IP3",),
    verdict=Verdict.FAIL,
)


@pytest.mark.requirement("IP3")
def test_nesting_is_limited(lab: Lab) -> None:
    """A result of 100 levels can be read; a deeper one is refused, and the row is as it was."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: documents of the greatest depth are not among the recorded captures")
    if str(Hazard.CORRUPTS_ROW) not in server.hazards():
        leave = "may leave a row that cannot be read: give leave with --allow corrupts-row"
        lab.not_applicable(_CHECK.id, "IP3", leave)
        return
    cases = (depth.case(Stream("depth", lab.settings.seed, number)) for number in range(_CASES[lab.settings.profile]))
    for result in triggers.run(server, cases):
        lab.record_block(result, (_CHECK,))
    if lab.failed[_CHECK.id]:
        pytest.fail(f"{lab.failed[_CHECK.id]} cases failed; see the report", pytrace=False)
