"""The short names that the checks use, for the checks alone: pytest reads this when it collects this directory.

The plugin of the package is loaded into every project of the environment, where ``lab``, ``requirement`` and
``profile`` may be names of that project. So the plugin brings ``binlog_lab`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.harness.lab import Lab


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of the checks."""
    config.addinivalue_line("markers", "requirement(*ids): the requirements that a conformance check judges")
    config.addinivalue_line("markers", "profile(*names): the profiles that a conformance check runs in; else all")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """The checks of a room are in ``check.py``, or in several ``check_*.py``."""
    name = file_path.name
    if name == "check.py" or (name.startswith("check_") and name.endswith(".py")):
        return pytest.Module.from_parent(parent, path=file_path)
    return None


@pytest.fixture(scope="session")
def lab(binlog_lab: Lab) -> Lab:
    """The server under test and what the checks share."""
    return binlog_lab
