"""docker/build.py says what is missing before it begins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docker" / "build.py"


def _run(*arguments: str, host: str = "unix:///no/such/engine") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DOCKER_HOST": host}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_an_image_that_it_does_not_know_is_a_usage_error() -> None:
    answer = _run("postgres")
    assert answer.returncode == 2
    assert "expected base, mysql, lab; got postgres" in answer.stderr


def test_without_an_engine_it_names_what_is_missing() -> None:
    answer = _run("mysql")
    assert (answer.returncode, answer.stdout) == (3, "")
    assert answer.stderr.startswith("no Docker engine answers: ")
    assert "set DOCKER_HOST to its socket" in answer.stderr
    assert "Traceback" not in answer.stderr
