"""A small sample of the bench: a run with a changed answer ends in order, and the bytes of the log are red."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.doctored.plan import KINDS
from tests.live import ROOT, environment, lab

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

pytestmark = [pytest.mark.live, pytest.mark.nightly]  # 136 changed runs take minutes

COUNT = 2 * len(KINDS)


@pytest.fixture(scope="module")
def sample(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Two changes of each kind of a small recording, and what became of them."""
    place = tmp_path_factory.mktemp("doctored")
    words = ("-r", "FR1", "-r", "IP1", "-r", "IP2", "-r", "S1", "--updates", "100", "--seed", "7", "--jobs", "1")
    end = lab("conformance", *words, "--record", "recording", cwd=place)
    assert end.code == 0, end.text
    program = [sys.executable, "-m", "tests.doctored", "--recording", str(place / "recording"), "--seed", "1"]
    results = place / "results.jsonl"
    command = [*program, "--count", str(COUNT), "--results", str(results)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in results.read_text("utf-8").splitlines()]


@pytest.mark.planted("FR1", "F3")
def test_no_changed_answer_ends_a_run(sample: list[dict[str, Any]]) -> None:
    assert len(sample) == COUNT
    assert [row for row in sample if row["outcome"] == "ended"] == []


@pytest.mark.planted("FR1", "F3")
def test_bytes_of_the_log_that_were_changed_are_red(sample: list[dict[str, Any]]) -> None:
    kinds = ("log: a bit, checksum left", "log: a bit of rows, checksum made", "log: an event cut", "log: a wrong type")
    rows = [row for row in sample if row["kind"] in kinds and row["tape"] == "updates.check.tape"]
    assert rows
    assert Counter(row["outcome"] for row in rows) == {"red": len(rows)}
    assert all(set(row["red"]) & {"FR1", "F3"} for row in rows)
