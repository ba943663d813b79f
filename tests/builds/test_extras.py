"""A module whose extra is not installed names the command that installs it."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from conformance.extras import to_install
from tests.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path


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
    with pytest.raises(ModuleNotFoundError, match=re.escape(to_install(extra))):
        runpy.run_path(str(ROOT / module))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, "pip install 'binlog-lab[fuzz]'"),  # of an index
        ({"url": "file://{clone}", "dir_info": {}}, "pip install '{clone}[fuzz]'"),
        ({"url": "file://{clone}", "dir_info": {"editable": True}}, "pip install --editable '{clone}[fuzz]'"),
        ({"url": "file://{clone}/gone", "dir_info": {}}, "pip install 'binlog-lab[fuzz]'"),
        ({"url": "file:///some.whl", "archive_info": {}}, "pip install 'binlog-lab[fuzz]'"),
    ],
)
def test_the_command_fits_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: object, expected: str
) -> None:
    installed = tmp_path / "binlog_lab-1.dist-info"
    installed.mkdir()
    if told is not None:
        (installed / "direct_url.json").write_text(json.dumps(told).replace("{clone}", str(tmp_path)), "utf-8")
    monkeypatch.setattr(metadata, "distribution", lambda _: metadata.PathDistribution(installed))
    assert to_install("fuzz") == expected.replace("{clone}", str(tmp_path))


def test_a_clone_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "distribution", fail)
    assert to_install("spark") == f"pip install '{ROOT}[spark]'"
