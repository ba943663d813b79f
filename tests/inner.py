"""The inner loop: ``python -m tests.inner conformance/reference/partial`` runs a module's tests, the quickest first.

Tests mirror the packages: those of ``conformance/reference/partial/decision.py`` are in ``tests/reference/partial``.
First come the vectors, where the module is of the reference; then the tests of seconds in its folder that need no
server; then the slow ones, with ``--slow``. The first step with a failure ends the loop: each failing rule is one line,
with the section of the sheet that says it. Exit code: pytest's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKAGES: Final = ("conformance", "fuzz", "generators", "scenarios")
_VECTORS: Final = "tests/reference/test_vectors.py"
_WITH_VECTORS: Final = ("jsonb", "partial")  # parts of the reference
_QUICK: Final = "not live and not container and not spark and not nightly and not slow"
_SLOW: Final = "slow and not live and not container and not spark and not nightly"
_NO_TESTS: Final = 5  # pytest's exit code


class NoTestsError(Exception):
    """No tests mirror a place."""


def mirror(place: str) -> Path:
    """The file or folder of tests for a module or folder, the nearest that is there: a path below the root."""
    path = Path(place).resolve().relative_to(ROOT) if Path(place).is_absolute() else Path(place)
    if path.parts[:1] == ("tests",):
        return path
    if path.parts[:1] not in {(name,) for name in PACKAGES} or not (ROOT / path).exists():
        raise NoTestsError(f"{place}: expected a module or folder of {', '.join(PACKAGES)}, or of tests")
    inner = Path(*path.parts[1:]) if path.parts[0] == "conformance" else path
    test = Path("tests", inner.parent, f"test_{inner.name}")
    if path.suffix == ".py" and (ROOT / test).exists():
        return test
    inner = Path("tests") / (inner.parent if path.suffix else inner)
    while not (ROOT / inner).is_dir():
        inner = inner.parent
    if inner == Path("tests"):
        raise NoTestsError(f"{place}: no folder of tests mirrors it")
    return inner


def steps(places: Sequence[str], *, slow: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield what runs, in order: words for it, and pytest's arguments."""
    found = sorted({str(mirror(place)) for place in places})
    if any(Path(name).parts[1:3] in {("reference", part) for part in _WITH_VECTORS} for name in found):
        yield "vectors", [_VECTORS, "-m", _QUICK]
    yield f"tests of seconds in {', '.join(found)}", [*found, "-m", _QUICK]
    if slow:
        yield f"slow tests in {', '.join(found)}", [*found, "-m", _SLOW]


class OneLine:
    """Prints a line for each failure, and nothing else."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Take the place of pytest's own reporter."""
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name of a failing test and the end of its message."""
        if report.failed:
            name = report.nodeid.partition("[")[2].removesuffix("]") or report.nodeid.rpartition("::")[2]
            crash = getattr(report.longrepr, "reprcrash", None)
            said = crash.message.partition("\n")[0] if crash else str(report.longrepr).strip().rpartition("\n")[2]
            print(f"✗ {name.replace('_', ' ') if '[' not in report.nodeid else name}: {said}")  # noqa: T201

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Print why a file could not be read."""
        if report.failed:
            print(f"✗ {report.nodeid}: {str(report.longrepr).strip().rpartition(chr(10))[2]}")  # noqa: T201


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps up to the first with a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.inner", description=__doc__)
    parser.add_argument(
        "places", nargs="*", metavar="PLACE", help="a module or folder; default: what differs from HEAD"
    )
    parser.add_argument("--slow", action="store_true", help="the slow tests as well")
    asked = parser.parse_args(arguments)
    try:
        todo = list(steps(asked.places or _changed(), slow=asked.slow))
    except NoTestsError as error:
        parser.error(str(error))
    for words, options in todo:
        code = int(pytest.main([*options, "--tb=short", "-p", "no:cacheprovider"], plugins=[OneLine()]))
        if code not in (0, _NO_TESTS):
            return code
        print(f"✓ {words}" if code == 0 else f"- {words}: there are none")  # noqa: T201
    return 0


def _changed() -> list[str]:
    """Modules of the packages that differ from HEAD."""
    command = ["git", "diff", "--name-only", "HEAD", "--", *(f"{name}/*.py" for name in PACKAGES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in done.stdout.splitlines() if (ROOT / name).exists()]
    if not names:
        raise NoTestsError("no module differs from HEAD; name one")
    return names


if __name__ == "__main__":
    sys.exit(main())
