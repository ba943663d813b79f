"""Another distribution's packages of our names are met with a sentence, and not with a traceback."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli.installation import PACKAGES, require_own_packages
from conformance.user_errors import CouldNotRun
from tests.live import PATIENCE, environment

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The beginnings of our packages in a folder that stands first on the path."""
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / name / "__init__.py", tmp_path / name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def other(place: Path) -> None:
    """A distribution of somebody else, with a package of a name of ours."""
    metadata = place / "fuzz-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fuzz\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("fuzz/__init__.py,,\n")
    (place / "fuzz").mkdir(exist_ok=True)
    (place / "fuzz" / "__init__.py").write_text('"""Fuzz."""\n')


def test_our_own_packages_are_taken(installed: Path) -> None:
    require_own_packages(str(installed))


def test_an_overwritten_package_names_the_other_distribution(installed: Path) -> None:
    other(installed)
    with pytest.raises(
        CouldNotRun, match=r"fuzz of binlog-lab was overwritten: .*; it is also a package of fuzz 1\.0$"
    ):
        require_own_packages(str(installed))


def test_a_package_that_went_with_another_distribution_is_named(installed: Path) -> None:
    (installed / "generators" / "__init__.py").unlink()
    with pytest.raises(CouldNotRun, match="the package generators of binlog-lab is gone"):
        require_own_packages(str(installed))


def test_a_package_of_the_working_directory_is_named(tmp_path: Path) -> None:
    other(tmp_path)
    command = [sys.executable, "-m", "conformance", "--version"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 3
    assert "Python finds another package fuzz before that of binlog-lab" in done.stderr
    assert "environment of its own" in done.stderr
    assert "Traceback" not in done.stderr
