"""A whole run on a faulty installation: the fault is found, shrunk, and shown by client programs alone."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.explore.explorer import PROOFS, Explorer, Plan
from conformance.explore.results import lines
from conformance.servers.run.process import ProcessMaker, ProcessServer

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

# A mysqlbinlog that forgets the rows of the log: it prints everything but BINLOG statements.
FORGETFUL = """
import re, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
sys.stderr.buffer.write(done.stderr)
sys.stdout.buffer.write(re.sub(rb"(?m)^BINLOG '\\n(?s:.*?)'/\\*!\\*/;$", b"", done.stdout))
sys.exit(done.returncode)
"""


@pytest.mark.live
@pytest.mark.planted
def test_a_faulty_program_is_found_shrunk_and_shown(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    true = ProcessServer.program

    def program(server: ProcessServer, name: str) -> list[str]:
        words = true(server, name)
        return [sys.executable, str(tmp_path / "forgetful.py"), *words] if name == "mysqlbinlog" else words

    monkeypatch.setattr(ProcessServer, "program", program)
    plan = Plan(topology="single", seed=3, steps=10, episode_steps=30, shrink_seconds=5)
    told: list[str] = []
    explorer = Explorer(ProcessMaker(installation), plan, told.append, tmp_path / "cases")
    explorer.run()
    (finding,) = explorer.findings.values()
    assert finding.problem.key == ("mysqlbinlog", "rows: rows"), told
    assert (finding.shown, finding.tries, finding.known) == (PROOFS, PROOFS, "")
    assert 0 < len(finding.script) < explorer.steps
    assert finding.text == (tmp_path / "cases" / "mysqlbinlog-1.sh").read_text("utf-8")
    stored = json.loads((tmp_path / "cases" / "mysqlbinlog-1.json").read_text("utf-8"))
    assert stored["statements"] == len(finding.script)
    assert next(lines(explorer)).startswith("mysqlbinlog-1: rows: rows: ")
