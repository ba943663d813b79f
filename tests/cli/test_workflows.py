"""The workflow of the subjects: its steps call commands of this version and end as the exit codes say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from conformance.cli import main as frame

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")}
STEPS = {step.get("name"): step for step in WORKFLOWS["subjects"]["jobs"]["matrix"]["steps"]}
STUB = """#!/bin/sh
echo "$*" >>called
mkdir -p report && echo '{}' >report/results.json && echo '## a summary' >report/summary.md
echo "### what changed"
exit $CODE
"""
LINES = sorted(
    {
        found.strip()
        for workflow in WORKFLOWS.values()
        for job in workflow["jobs"].values()
        for step in job["steps"]
        for found in re.findall(r"^ *binlog-lab ([^|>&\n]+)", step.get("run", ""), re.MULTILINE)
    }
)


def run(tmp_path: Path, name: str, code: int) -> subprocess.CompletedProcess[str]:
    (tmp_path / "bin").mkdir(exist_ok=True)
    program = tmp_path / "bin" / "binlog-lab"
    program.write_text(STUB, "utf-8")
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", STEPS[name]["run"]], cwd=tmp_path, check=False, capture_output=True, text=True,
        env={"PATH": path, "CODE": str(code), "GITHUB_STEP_SUMMARY": str(tmp_path / "step")},
    )  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_commands_of_the_workflows_are_commands(line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    called: list[dict[str, Any]] = []
    monkeypatch.setattr(click.Command, "invoke", lambda self, context: called.append(dict(context.params)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report").mkdir()
    (tmp_path / "previous.json").touch()
    assert frame.run(re.sub(r'"\$\w+"', "1", line).split()) == 0
    assert called


@pytest.mark.parametrize(("code", "passes"), [(0, True), (1, True), (2, False), (3, True), (4, False)])
def test_defects_of_subjects_pass_and_trouble_of_the_lab_does_not(tmp_path: Path, code: int, passes: bool) -> None:
    assert (run(tmp_path, "Judge them", code).returncode == 0) is passes
    assert (tmp_path / "step").read_text("utf-8") == "## a summary\n"


@pytest.mark.parametrize(("code", "passes"), [(0, True), (1, False), (3, True)])
def test_a_subject_that_cannot_be_had_is_no_failure(tmp_path: Path, code: int, passes: bool) -> None:
    assert (run(tmp_path, "Fetch the subjects", code).returncode == 0) is passes


@pytest.mark.parametrize(("code", "passes"), [(0, True), (1, True), (2, False)])
def test_what_changed_is_said_where_there_is_an_earlier_week(tmp_path: Path, code: int, passes: bool) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "results.json").write_text("new", "utf-8")
    assert run(tmp_path, "Say what changed", code).returncode == 0
    assert (tmp_path / "previous.json").read_text("utf-8") == "new"
    assert not (tmp_path / "called").exists()
    assert (run(tmp_path, "Say what changed", code).returncode == 0) is passes
    assert (tmp_path / "called").read_text("utf-8") == "diff previous.json report --format markdown\n"
    if passes:
        assert (tmp_path / "step").read_text("utf-8") == "### what changed\n"


def test_stored_inputs_are_not_published() -> None:
    assert "!report/cases" in STEPS["Keep the report"]["with"]["path"]
    assert "cases" not in STEPS["Choose what is published"]["run"]
