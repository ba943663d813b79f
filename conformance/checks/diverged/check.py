"""FR5: events meet documents that they were not made for, and damaged events meet any document.

Either an error that changes nothing, or a document that can be read; and the server lives. The events are given to a
server as BINLOG statements; ``test_applier`` has what a replica's applier does with them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.harness.injections import injected, record
from generators import damaged_events, diverged
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.injection import Injection
    from conformance.harness.lab import Lab
    from conformance.servers.roles.injector import Injector

_GROUPS = {"quick": 8, "full": 60, "soak": 1000}  # of about a hundred injections
_DAMAGED = {"quick": 300, "full": 3000, "soak": 50_000}
_BLOCK = 500


def _injector(lab: Lab, check: str) -> Injector | None:
    if lab.server is None:
        pytest.skip("needs a server: events are put into one")
    injector = lab.injector()
    if injector is None:
        lab.not_applicable(
            check, "FR5", "events are injected only into a server that the lab starts beside the one under test"
        )
    return injector


def _run(lab: Lab, injector: Injector, check: str, injections: Sequence[Injection]) -> int:
    """Inject, judge and record in blocks; the number of failures."""
    failures = 0
    for block, start in enumerate(range(0, len(injections), _BLOCK)):
        begun = time.perf_counter()
        part = injections[start : start + _BLOCK]
        seed = f"{check} {lab.settings.seed}"
        outcomes = zip(part, injector.run(part), strict=True)
        items = [injected(lab, injector, injection, outcome, seed) for injection, outcome in outcomes]
        failures += record(lab, check, block, items, time.perf_counter() - begun)
    return failures


def _conclude(failures: int) -> None:
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)


@pytest.mark.requirement("FR5")
def test_diverged_documents(lab: Lab) -> None:
    """The matrix of requirements FR5 and generated groups, by BINLOG statements."""
    injector = _injector(lab, "diverged/statements")
    if injector is None:
        return
    injections = list(diverged.matrix())
    for number in range(_GROUPS[lab.settings.profile]):
        injections += diverged.group(Stream("diverged", lab.settings.seed, number))
    _conclude(_run(lab, injector, "diverged/statements", injections))


@pytest.mark.requirement("FR5")
def test_damaged_events(lab: Lab) -> None:
    """One field changed at a time: the list of binlog-events 11.4 and generated damages, by BINLOG statements."""
    injector = _injector(lab, "diverged/damaged")
    if injector is None:
        return
    allowed = injector.server.hazards()
    injections = [item for item in damaged_events.listed() if item.hazard in allowed]
    made = (
        damaged_events.damaged(Stream("damaged", lab.settings.seed, n)) for n in range(_DAMAGED[lab.settings.profile])
    )
    injections += [item for item in made if item.hazard in allowed]
    _conclude(_run(lab, injector, "diverged/damaged", injections))
