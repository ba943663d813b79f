"""Differences of what was shipped from WL#7053 and the article, as pages of real files show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.designed_pages.cases import all_cases
from conformance.harness.sql_cases import run_cases

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("pages")
def test_pages(check: Check) -> None:
    """Pages of new files are as the document says, or as the listed difference from it says."""
    run_cases(check, all_cases(), {"source": check.needs_server("a server: pages of its data files are looked at")})
