"""Which requirements a run judged by too few Cases."""

from __future__ import annotations

from typing import Any

from tests.volume import thin


def results(profile: str, cases: int, **row: str) -> dict[str, Any]:
    judged = {"verdict": "pass", "cases": cases, **row}
    return {"run": {"profile": profile}, "requirements": {"FR1": judged, "FR16": {"verdict": "not-run", "cases": 0}}}


def test_a_requirement_needs_enough_cases_for_the_profile() -> None:
    assert thin(results("quick", 50)) == thin(results("full", 1000)) == []
    assert thin(results("quick", 49)) == ["FR1: 49 cases, expected 50 or a reason why it is finite"]
    assert thin(results("full", 999)) == ["FR1: 999 cases, expected 1000 or a reason why it is finite"]
    assert thin(results("quick", 1, verdict="differs")) != []


def test_a_finite_one_needs_no_more() -> None:
    assert thin(results("full", 3, finite="three statements are all there are")) == []
