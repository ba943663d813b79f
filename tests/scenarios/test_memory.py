"""The memory sampler, on processes that look like those of a JVM."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import PATIENCE

SCRIPT = """
import subprocess, sys
from scenarios.spark.memory import Sampler

# The subshell is a copy of its parent that runs no program of its own, as a JVM's new child is for a moment.
java = subprocess.Popen([sys.argv[1], "-c", "exec 3<&0; (read line <&3) & echo started; wait"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
try:
    java.stdout.readline()
    sampler = Sampler()
    sampler.sample()
    print(sampler.peak.worker, sampler.peak.workers, sampler.peak.jvm)
    import psutil
    print(psutil.Process(java.pid).memory_info().rss, len(psutil.Process(java.pid).children()))
finally:
    java.kill()
    java.communicate()
"""


def test_a_child_that_runs_no_program_yet_counts_as_nothing(tmp_path: Path) -> None:
    pytest.importorskip("psutil")
    java = tmp_path / "java"
    shutil.copy(Path("/bin/sh").resolve(), java)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(java)], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    first, second = run.stdout.splitlines()
    resident, children = map(int, second.split())
    assert children == 1
    assert list(map(int, first.split())) == [0, 0, resident]
