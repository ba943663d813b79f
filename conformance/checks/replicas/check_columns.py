"""A5: what a replica stores of an update is its after-image, and no column beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.replicas.columns import cases
from conformance.harness.pairs.run import REPLICAS
from conformance.harness.sql_cases import run_cases

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("columns")
def test_columns_outside_the_image(check: Check) -> None:
    """Columns of every type that an update does not store keep the values that the replica alone has."""
    with check.lab.pair(gtid=True) as pair:
        pair.configure(REPLICAS[0].variables())
        run_cases(check, cases(), {}, pair)
