"""Listed faults of released servers, met by a script of a few statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.explore.episode import run_script
from conformance.explore.findings import load_known
from conformance.explore.steps import Step
from conformance.explore.topologies import TOPOLOGIES
from conformance.explore.traits import traits_of
from conformance.servers.run.process import ProcessMaker

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

REFERENCE = "parent_id INT, FOREIGN KEY (parent_id) REFERENCES t0 (id) ON DELETE"


@pytest.mark.live
@pytest.mark.nightly
@pytest.mark.parametrize("action", ["CASCADE", "SET NULL", "RESTRICT"])
def test_a_replica_cascades_a_replace_that_its_source_does_not(installation: Installation, action: str) -> None:
    if installation.number < (9, 6):
        pytest.skip("the engine cascades, before 9.6")
    statements = (
        "CREATE TABLE t0 (id INT PRIMARY KEY, v INT)",
        f"CREATE TABLE t1 (id INT PRIMARY KEY, {REFERENCE} {action})",
        "INSERT INTO t0 VALUES (2, 9)",
        "INSERT INTO t1 VALUES (1, 2)",
        "REPLACE INTO t0 VALUES (2, 1)",
    )
    script = [Step(text, "any") for text in statements]
    with TOPOLOGIES["pair"](ProcessMaker(installation), print) as world:
        found = run_script(world, script)
    (known,) = (one for one in load_known() if one.id == "replace-of-a-referenced-row")
    assert found
    assert all(known.fits(one.oracle, one.kind, traits_of(script)) for one in found), found
