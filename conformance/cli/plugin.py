"""The pytest plugin: options and the fixture ``binlog_lab`` for runs of ``conformance.checks``.

The ``pytest11`` entry point registers it, so ``pytest --pyargs conformance.checks`` works alone; the ``conformance``
command runs pytest with a :class:`LabRun` of its own, whose hooks make the run. pytest loads this module in every
project of the environment. Therefore it imports nothing heavy until pytest collects a check of the kit, and all names
here carry the project's name. The checks' short names (``lab``, the markers) are in their own ``conftest.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.runs.check_runs.lab_run import LabRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.harness.session import Lab
    from conformance.harness.settings import Settings


OPTIONS: Final = (
    ("server", "SPEC", "auto", "server under test (default: auto)"),
    ("subject", "SUBJECT", "", "subject under test, instead of a server"),
    ("updates", "N", 2_000, "generated updates (default: 2000)"),
    ("seed", "SEED", "1", "seed of the generated updates (default: 1)"),
    ("report", "DIR", None, "write a report there (default: none)"),
)
"""Each option behind ``--binlog-lab-``: name, metavariable, default, words."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options for running the checks with plain pytest."""
    group = parser.getgroup("binlog-lab", "conformance checks for MySQL's partial JSON row events")
    for name, metavar, default, words in OPTIONS:
        kind = int if isinstance(default, int) else str
        group.addoption(f"--binlog-lab-{name}", type=kind, default=default, metavar=metavar, help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Register a run for plain pytest, unless the command line has registered its own."""
    if _run_of(config) is None:
        _check_server(config.getoption("--binlog-lab-server"))
        report = config.getoption("--binlog-lab-report")
        kinds = frozenset({bool(config.getoption("--binlog-lab-subject"))})
        config.pluginmanager.register(
            LabRun(_plain_settings(config), report=None if report is None else Path(report), kinds=kinds)
        )


def _check_server(spec: str) -> None:
    """Raise a usage error for a text that names no server, before anything is collected."""
    if spec == "auto":
        return  # pytest loads this module everywhere
    from conformance.servers.errors import SpecError
    from conformance.servers.specs import parse_spec

    try:
        parse_spec(spec)
    except SpecError as error:
        raise pytest.UsageError(f"--binlog-lab-server: {error}") from None


def _run_of(config: pytest.Config) -> LabRun | None:
    return next((plugin for plugin in config.pluginmanager.get_plugins() if isinstance(plugin, LabRun)), None)


def _plain_settings(config: pytest.Config) -> Callable[[Path | None], Settings]:
    def make(cases: Path | None) -> Settings:
        from conformance.harness.settings import Settings

        return Settings(
            server=config.getoption("--binlog-lab-server"),
            subject=config.getoption("--binlog-lab-subject"),
            updates=config.getoption("--binlog-lab-updates"),
            seed=str(config.getoption("--binlog-lab-seed")),
            cases=cases,
        )

    return make


@pytest.fixture(scope="session")
def binlog_lab(pytestconfig: pytest.Config) -> Iterator[Lab]:
    """The server under test, and the objects that the checks share."""
    run = _run_of(pytestconfig)
    assert run is not None
    with run.open_lab() as opened:
        yield opened
