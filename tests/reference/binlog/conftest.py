"""Captured files and vectors for the tests of the binary log codec."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

_DATA = Path(__file__).parents[2] / "data"
CORPUS = sorted((_DATA / "binlogs").glob("*.binlog"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``captured``: every file of the corpus in turn."""
    if "captured" in metafunc.fixturenames:
        metafunc.parametrize("captured", CORPUS, ids=lambda path: path.stem)


@pytest.fixture(scope="session")
def corpus() -> Path:
    return _DATA / "binlogs"


@pytest.fixture(scope="session")
def manifest(corpus: Path) -> dict[str, Any]:
    fixtures = json.loads((corpus / "manifest.json").read_text())["fixtures"]
    return {fixture["file"]: fixture for fixture in fixtures}


@pytest.fixture(scope="session")
def vectors() -> Any:
    def load(name: str) -> Any:
        return json.loads((_DATA / "vectors" / name).read_text())

    return load


@pytest.fixture(scope="session")
def mysqlbinlog() -> list[str]:
    """Command words of a real mysqlbinlog: MYSQLBINLOG, PATH, or one that an earlier run fetched."""
    if command := os.environ.get("MYSQLBINLOG"):
        return shlex.split(command)
    if path := shutil.which("mysqlbinlog"):
        return [path]
    bundle = pytest.importorskip("conformance.servers.install.bundle")
    for found in bundle.cached():
        words: list[str] = found.installation().program("mysqlbinlog")
        return words
    pytest.skip("no mysqlbinlog: set MYSQLBINLOG, put it on PATH, or run 'binlog-lab servers install'")
