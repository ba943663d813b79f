"""The gate of hot paths: a path that needs a tenth more than is recorded is told, with both numbers."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import instructions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("count", "lines"), [(1_000_000, 0), (1_100_000, 0), (1_100_001, 1)])
def test_a_slower_path_is_told(
    count: int, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = tmp_path / "recorded.json"
    recorded.write_text(json.dumps({"3.99": {"decode, log": 1_000_000}}))
    monkeypatch.setattr(instructions, "RECORDED", recorded)
    monkeypatch.setattr(instructions, "counts", lambda _: {"decode, log": count})
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/valgrind")
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert instructions.main([]) == lines
    told = capsys.readouterr().err
    assert told.count("\n") == lines
    assert ("1,100,001 instructions a transaction, 1.10 times the 1,000,000 recorded" in told) == bool(lines)


def test_a_python_without_counts_is_not_called_equal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert instructions.main([]) == 3
    assert "not compared" in capsys.readouterr().err
