"""An experiment that looks at less than it must makes a run incomplete, by name: silence is no pass."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conformance.requirements.volume import UPDATES, least_cases, shortfalls, unseen
from tests.live import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

CRASHES = "sdi_design/crashes"
_SILENT = """
import sys
import pytest
from conformance.cli import plugin
from conformance.cli.main import run
from conformance.harness.check import Check

class Silence:
    def pytest_collection_modifyitems(self, items):
        for item in items:
            if item.path.parent.name == "sdi_design" and "crash" in item.name:
                plant(item)

def plant(item): pass
{planted}
original = pytest.main
pytest.main = lambda arguments, plugins: original(arguments, plugins=[*plugins, Silence()])
sys.exit(run(["conformance", "-r", "SDI34", "-r", "S2", "--report", sys.argv[1], *sys.argv[2:]]))
"""
PLANTED = {
    "none": "",
    "deleted": """
known = plugin.LabRun.pytest_ignore_collect
plugin.LabRun.pytest_ignore_collect = lambda self, collection_path: (
    True if collection_path.parent.name == "sdi_design" else known(self, collection_path))
""",
    "deleted with its manifest": """
from conformance.harness.experiments import manifests
del manifests.experiments()["sdi_design"]
known = plugin.LabRun.pytest_ignore_collect
plugin.LabRun.pytest_ignore_collect = lambda self, collection_path: (
    True if collection_path.parent.name == "sdi_design" else known(self, collection_path))
""",
    "one function deleted": """
def pytest_itemcollected(self, item): pass
def modify(self, session, config, items):
    items[:] = [item for item in items if "after_a_crash" not in item.name]
Silence.pytest_collection_modifyitems = modify
""",
    "renamed": """
from conformance.runs.check_runs import lab_run
name = lab_run.check_name
lab_run.check_name = lambda item: name(item).replace("sdi_design", "sdi_drafts")
""",
    "returns at once": "def plant(item): item.obj = lambda check: None",
    "returns at once, and is too new for the list": """
from conformance.requirements import volume
del volume.least_cases()["sdi_design/crashes"]
def plant(item): item.obj = lambda check: None
""",
    "skipped": "def plant(item): item.add_marker(pytest.mark.skip(reason='later'))",
    "half of its list": """
size = Check.size
Check.size = lambda self, name="": size(self, name) // 2
""",
    "for no requirement": """
from conformance.harness.experiments import items
judged = items.judged_by
items.judged_by = lambda item: () if "after_a_crash" in item.name else judged(item)
""",
    "exits": """
from _pytest import python
importing = python.importtestmodule
def imported(path, config):
    if path.parent.name == "sdi_design":
        raise SystemExit(0)
    return importing(path, config)
python.importtestmodule = imported
""",
    "a worker that does nothing": "plugin.LabRun._work = lambda self, session, link: None",
}


_OFTEN = ("returns at once", "exits", "a worker that does nothing")


def silent(planted: str, folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    program = [sys.executable, "-c", _SILENT.format(planted=PLANTED[planted]), str(folder / "report"), *words]
    end = subprocess.run(program, capture_output=True, text=True, check=False, timeout=PATIENCE)
    path = folder / "report" / "results.json"
    return end.returncode, json.loads(path.read_text("utf-8")) if path.is_file() else {}, end.stdout + end.stderr


@pytest.mark.live
def test_a_run_that_is_not_silenced_is_complete(installation: Installation, tmp_path: Path) -> None:
    code, found, text = silent("none", tmp_path)
    assert (code, found["run"]["complete"]) == (0, True), text


@pytest.mark.live
@pytest.mark.parametrize(
    "planted",
    [name if name in _OFTEN else pytest.param(name, marks=pytest.mark.nightly) for name in PLANTED if name != "none"],
)
def test_silence_is_incomplete_and_named(installation: Installation, planted: str, tmp_path: Path) -> None:
    words = ("--jobs", "2") if planted == "a worker that does nothing" else ("--jobs", "1")
    code, found, text = silent(planted, tmp_path, *words)
    assert code in (3, 4), text
    assert "CONFORMANT" not in text
    assert found["run"]["complete"] is False if found else True
    named = {"exits": "SystemExit", "a worker that does nothing": "a worker process of the lab ended"}
    assert named.get(planted, "sdi_design") in text


def test_each_requirement_counts_by_itself() -> None:
    rows = least_cases()[CRASHES]
    sound = {(name, requirement): least for name, of in least_cases().items() for requirement, least in of.items()}
    assert not list(shortfalls({**sound, **_updates(100)}, (), updates=100))
    fewer = {**sound, **_updates(100), (CRASHES, "SDI34"): rows["SDI34"] - 1}
    (found,) = shortfalls(fewer, (), updates=100)
    assert str(found) == f"{CRASHES}: {rows['SDI34'] - 1:,} cases of SDI34, expected {rows['SDI34']:,} or more"
    assert not list(shortfalls(fewer, {(CRASHES, "SDI34")}, updates=100))
    assert not list(shortfalls(fewer, (), requirements={"FR1"}, updates=100))
    assert len(list(shortfalls({**sound, **_updates(99)}, (), updates=100))) == len(_updates(99))


def test_a_check_that_is_too_new_for_the_list_looks_at_something() -> None:
    listed = {CRASHES: ("SDI34",), "new/one": ("SDI34", "FR1")}
    told = {(CRASHES, "SDI34"), ("new/one[a]", "FR1")}
    (found,) = unseen(told, (), listed)
    assert str(found) == "new/one: 0 cases of SDI34, expected 1 or more"
    assert not list(unseen(told, {("new/one", "SDI34")}, listed))
    assert not list(unseen(told, (), listed, requirements={"FR1"}))
    assert not list(unseen(told, (), listed, decoders=True))


def _updates(number: int) -> dict[tuple[str, str], int]:
    return {(name, row): number for name, rows in least_cases().items() if name == UPDATES for row in rows}


def test_a_run_without_a_server_says_how_few_of_its_updates_it_looked_at(tmp_path: Path) -> None:
    """Recorded blocks are judged whole: of one update that is asked for, fifty are, and no share is above 100 %."""
    command = [sys.executable, "-m", "conformance", "conformance", "--server", "none", "-r", "FR2", "--updates", "1"]
    done = subprocess.run(
        [*command, "--report", str(tmp_path / "report")], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert "updates 50 of 50 (100 %)" in done.stdout + done.stderr
    words = "Only 100 of the 4,000 updates that were recorded were looked at."  # of two servers
    assert words in " ".join(done.stdout.split())
