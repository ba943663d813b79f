"""A server that writes bytes which nobody can read: the rows about bytes are red, and every other check goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_DOCTORED = """
import sys
from dataclasses import replace
from conformance.cli.main import run
from conformance.harness.updates import captures
from conformance.reference.event_types import EventType

load = captures.load_capture

def doctored(data):
    script, observation = load(data)
    events = list(observation.events)
    for place, event in enumerate(events):
        if event[4] == EventType.PARTIAL_UPDATE_ROWS:
            events[place] = {form}
            break
    return script, replace(observation, events=tuple(events))

captures.load_capture = doctored
sys.exit(run(["conformance", "--server", "none", "-r", "FR1", "-r", "F3", "-r", "FR7", "--report", sys.argv[1]]))
"""


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize(
    "form",
    [
        # a table id without TABLE_MAP
        pytest.param("event[:19] + bytes(range(101, 107)) + event[25:]", id="no-table-map"),
        pytest.param("event[:40]", id="cut", marks=pytest.mark.nightly),
        # and the checksum of another type
        pytest.param("event[:4] + bytes((200,)) + event[5:]", id="unknown-type", marks=pytest.mark.nightly),
    ],
)
def test_unreadable_rows_are_red_and_end_no_run(form: str, tmp_path: Path) -> None:
    program = [sys.executable, "-c", _DOCTORED.format(form=form), str(tmp_path / "report")]
    end = subprocess.run(program, capture_output=True, text=True, check=False)
    assert end.returncode in (1, 3), end.stderr
    assert "the lab failed" not in end.stdout + end.stderr
    content = json.loads((tmp_path / "report" / "results.json").read_text("utf-8"))
    rows = content["requirements"]
    for name in ("FR1", "F3"):
        verdicts = [row["verdict"] for row in rows[name]["subjects"].values()]
        assert verdicts == ["fail", "fail"]
    assert rows["FR7"]["verdict"] == "not-run"
    assert {row["cases"] for row in rows["FR1"]["subjects"].values()} == {2000}
