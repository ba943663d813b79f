"""The page that adds an experiment, followed literally in a copy of the repository: its files, then its commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.docs.test_tutorials import COMMANDS, Step, matches, steps
from tests.live import PATIENCE

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "contributing" / "add-an-experiment.md").read_text("utf-8")
COPIED: Final = ("conformance", "generators", "tests", "pyproject.toml")
_FILE: Final = re.compile(
    r"^```\{code-block\} (?:python|toml)\n:caption: `(\S+)`\n\n(.*?)^```$\n", re.MULTILINE | re.DOTALL
)
FILES: Final = dict(_FILE.findall(PAGE))
STEPS: Final = steps(_FILE.sub("", PAGE))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The repository as it is before the page, and the files of the page."""
    ignored = shutil.ignore_patterns("__pycache__", ".*_cache", "data")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run(step: Step, directory: Path) -> str:
    """Run a block of the page; what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(directory), "COLUMNS": "120", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*COMMANDS[step.language], step.code], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, f"{step.code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_room_is_one_folder_with_one_manifest_of_less_than_85_lines() -> None:
    room = {name: text for name, text in FILES.items() if name.startswith("conformance/")}
    assert {str(Path(name).parent) for name in room} == {"conformance/checks/source_redo"}
    assert [name for name in room if name.endswith(".toml")] == ["conformance/checks/source_redo/experiment.toml"]
    assert sum(len(text.splitlines()) for text in room.values()) < 85


def test_the_page_changes_no_file() -> None:
    assert [name for name in FILES if (ROOT / name).exists()] == []
    assert [step.code for step in STEPS if ">" in step.code] == []


@pytest.mark.live
@pytest.mark.nightly
def test_every_block_of_the_page_runs(copy: Path, installation: Installation) -> None:
    assert len(STEPS) == 2
    for step in STEPS:
        printed = run(step, copy)
        if step.shown is not None:
            assert matches(printed, step.shown), f"{step.code}\nprinted:\n{printed}\nthe page shows:\n{step.shown}"
