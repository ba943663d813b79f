"""A whole run on a faulty installation: the fault is found, shrunk, and shown by client programs alone."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.explore.explorer import PROOFS, Explorer, Plan
from conformance.explore.oracles.problem import Problem
from conformance.explore.results import lines
from conformance.explore.steps import Step
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


TRIGGERED = tuple(
    Step(text, "any")
    for text in (
        "CREATE TABLE t0 (id INT PRIMARY KEY, j JSON)",
        "CREATE TRIGGER g1 BEFORE UPDATE ON t0 FOR EACH ROW SET NEW.j = JSON_INSERT(NEW.j, '$.t', 1)",
        """INSERT INTO t0 VALUES (1, '{"a": 1}')""",
        "UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 2)⟧",
    )
)


def forget(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant the forgetful program."""
    (folder / "forgetful.py").write_text(FORGETFUL)
    true = ProcessServer.program

    def program(server: ProcessServer, name: str) -> list[str]:
        words = true(server, name)
        return [sys.executable, str(folder / "forgetful.py"), *words] if name == "mysqlbinlog" else words

    monkeypatch.setattr(ProcessServer, "program", program)


@pytest.mark.nightly
@pytest.mark.live
@pytest.mark.planted
def test_a_faulty_program_is_found_shrunk_and_shown(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(tmp_path, monkeypatch)
    plan = Plan(topology="single", seed=3, steps=10, episode_steps=30, shrink_seconds=5)
    told: list[str] = []
    explorer = Explorer(ProcessMaker(installation), plan, told.append, tmp_path / "cases")
    explorer.run()
    (finding,) = explorer.findings
    assert finding.problem.key == ("mysqlbinlog", "rows: rows"), told
    assert (finding.shown, finding.tries, finding.known) == (PROOFS, PROOFS, "")
    assert 0 < len(finding.script) < explorer.steps
    assert finding.text == (tmp_path / "cases" / "mysqlbinlog-1.sh").read_text("utf-8")
    stored = json.loads((tmp_path / "cases" / "mysqlbinlog-1.json").read_text("utf-8"))
    assert stored["statements"] == len(finding.script)
    assert next(lines(explorer)).startswith("mysqlbinlog-1: rows: rows: ")


def found(installation: Installation, kind: str, times: int) -> Explorer:
    """A run that meets a problem of mysqlbinlog in the script with a trigger."""
    plan = Plan(topology="single", seed=3, steps=1, shrink_seconds=5)
    explorer = Explorer(ProcessMaker(installation), plan, lambda _: None)
    for number in range(times):
        explorer._found(Problem("mysqlbinlog", kind, ""), TRIGGERED, number)
    return explorer


@pytest.mark.live
@pytest.mark.planted
@pytest.mark.nightly
def test_a_fault_is_not_taken_for_a_listed_one_whose_traits_stand_beside_it(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(tmp_path, monkeypatch)
    (finding,) = found(installation, "rows: rows", 1).findings
    assert (finding.known, finding.hits) == ("", 1)
    assert TRIGGERED[1] not in finding.script


@pytest.mark.live
@pytest.mark.nightly
def test_a_listed_fault_is_shown_once_and_then_counted(installation: Installation) -> None:
    (finding,) = found(installation, "rows: json", 2).findings
    assert (finding.known, finding.hits) == ("diffs-miss-triggers", 2)
    assert any("TRIGGER" in step.text for step in finding.script)
