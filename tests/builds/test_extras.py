"""A module whose extra is not installed names the extra."""

from __future__ import annotations

import importlib.util
import runpy

import pytest

from tests.repository import ROOT


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("generators/strategies/__init__.py", "hypothesis", "strategies"),
        ("scenarios/spark/binlogs.py", "pyspark", "spark"),
    ],
)
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, module: str, library: str, extra: str) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == library else find(name, *more))
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'binlog-lab\[{extra}\]'"):
        runpy.run_path(str(ROOT / module))
