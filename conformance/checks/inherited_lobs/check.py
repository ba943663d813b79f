"""Rollbacks behind a change of the primary key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.inherited_lobs.cases import all_cases
from conformance.harness.sql_cases import run_cases

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("rollback")
def test_a_rollback_brings_the_document_back(check: Check) -> None:
    """A document is as before its change was taken back, whoever took it back."""
    run_cases(check, all_cases(), {"source": check.needs_server("a server: changes are taken back there")})
