"""Which blocks a run has: with diffs and without, however many updates the first block happens to have."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.checks.lob_versions import check, run


@pytest.mark.parametrize(("updates", "expected"), [(65, [False, True]), (30, [False, True, False]), (0, [False])])
def test_a_run_has_blocks_of_both_kinds(updates: int, expected: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: list[bool] = []

    def run_block(*_: object, partial_json: bool, **_more: object) -> Any:
        kinds.append(partial_json)
        return SimpleNamespace(figures=Counter(updates=updates), cases={}, problems={})

    monkeypatch.setattr(run, "run_block", run_block)
    told: Any = SimpleNamespace(
        needs_own_server=lambda _: None,
        lab=SimpleNamespace(
            dialect=SimpleNamespace(server=SimpleNamespace(small_lob_changes="any")), listed=lambda name: None
        ),
        seed="1",
        quick=True,
        requirements=(),
        size=lambda: 64,
        progress=lambda *_: None,
        narrate=lambda _: None,
    )
    check.test_versions(told)
    assert kinds == expected
