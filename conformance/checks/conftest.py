"""Fixtures with short names, for the checks alone: pytest reads this file when it collects this directory.

The plugin of the package is loaded into every project of the environment, where ``lab``, ``check`` and ``profile`` may
be names of that project. So the plugin brings ``binlog_lab`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from conformance.harness.check import Check
    from conformance.harness.session import Lab


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of the checks."""
    config.addinivalue_line("markers", "check(name): a conformance check's name in the manifest of its experiment")
    config.addinivalue_line("markers", "judges(*requirements): those of the check's that one of its items judges")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """The checks of a room are in ``check.py``, or in several ``check_*.py``."""
    name = file_path.name
    if name == "check.py" or (name.startswith("check_") and name.endswith(".py")):
        from conformance.harness.experiments.items import CheckModule

        return CheckModule.from_parent(parent, path=file_path)
    return None


@pytest.fixture(scope="session")
def lab(binlog_lab: Lab) -> Lab:
    """The server under test and what the checks share."""
    return binlog_lab


@pytest.fixture
def check(request: pytest.FixtureRequest, lab: Lab) -> Check:
    """The running check, as the manifest of its experiment says."""
    from conformance.harness.check import Check
    from conformance.harness.experiments.items import FACTS, judged_by

    return Check(lab, request.node.stash[FACTS].id, judged_by(request.node))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A check fails once, at its end, for the failures that its blocks recorded."""
    from conformance.harness.check import Check, concluding

    check = pyfuncitem.funcargs.get("check")
    if not isinstance(check, Check):
        return (yield)
    result: object = True  # the function was called
    with concluding(check):
        result = yield
    return result
