"""The progress lines of a matrix: said when something has changed, and then not too often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.spark.watch import EVERY, Watch

if TYPE_CHECKING:
    import pytest


def test_a_line_is_not_said_again_while_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    told: list[str] = []
    watch = Watch(None, 2_000, 0, told.append)
    for step in range(60):
        now[0] += EVERY / 2
        watch._progress(0 if step < 40 else step - 39, 100, 1_000)
    counts = [line.split(" of ")[0] for line in told]
    assert counts == list(dict.fromkeys(counts))
    assert counts[0] == "  0"
    assert 8 <= len(counts) <= 12
