"""Where no engine can be had, the reason is named, and the exit code is that of a skip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import engine

ROOT = Path(__file__).parents[2]


def test_without_root_the_reason_is_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(engine.NoEngineError, match="needs root"):
        engine.require_private()


def test_without_the_programs_the_reason_names_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("dockerd", "runc") else f"/usr/bin/{name}")
    with pytest.raises(engine.NoEngineError, match=r"no dockerd \(package docker.io\), runc \(package runc\)$"):
        engine.require_private()


def test_where_namespaces_are_forbidden_the_reason_is_what_the_kernel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    refused = subprocess.CompletedProcess([], 1, "", "unshare: unshare failed: Operation not permitted\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: refused)
    with pytest.raises(engine.NoEngineError, match=r"Operation not permitted$"):
        engine.require_private()


def test_a_command_is_not_run_without_an_engine_and_the_exit_code_is_that_of_a_skip(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    answer = subprocess.run(
        [sys.executable, "-m", "tests.engine", "--image", "mysql", sys.executable, "-c", "print('ran')"],
        env={"PATH": str(tmp_path / "bin"), "DOCKER_HOST": f"unix://{tmp_path}/none", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (engine.NO_ENGINE, "")
    assert answer.stderr.startswith("no container engine answers, and ")
