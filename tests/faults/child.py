"""One tool against one fault, in a process of its own: ``python -m tests.faults.child FAULT TOOL ARG...``.

The last line of the output is JSON: what noticed the fault first, or null. ``FAULT`` is ``-`` for the sound reference,
which every tool must let live.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from contextlib import contextmanager
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from tests.faults import live
from tests.faults.catalogue import FAULTS, LIVE_FAULTS, ORACLE_FAULTS, PACKAGE, ROOT
from tests.faults.plant import plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from tests.faults.fault import Fault

_MEMORY: Final = 3 << 29  # address space: a fault that makes a loop grow is to fail, not to take the machine along


def run_pytest(arguments: list[str]) -> str | None:
    """The first test that fails; ``None`` if all pass."""
    import pytest

    class First:
        found: str | None = None

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed and self.found is None:
                self.found = report.nodeid

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed and self.found is None:
                self.found = f"import of {report.nodeid}"

    first = First()
    # A faulty copy may warn where the sound one does not: only failures count.
    options = ["-q", "-x", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-W", "default", f"--rootdir={ROOT}"]
    code = pytest.main([*options, "-m", "not live and not container and not spark", *arguments], plugins=[first])
    # All tests of a file may be for a server alone.
    if first.found is None and code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest ended with {code!r} and no test failed: {arguments}")
    return first.found


def run_replay(arguments: list[str]) -> str | None:
    """Stored inputs through the targets' ``check``: ``FOLDER`` has one of inputs for each target that is named."""
    from fuzz.targets import load

    folder, *names = arguments
    for name in names:
        try:
            target = load(name)
        except Exception as error:  # noqa: BLE001 - whatever a faulty copy raises kills it
            return f"{name}: import ({type(error).__name__})"
        for path in sorted(Path(folder, name).iterdir()):
            try:
                target.check(path.read_bytes())
            except Exception as error:  # noqa: BLE001
                return f"{name}: {path.name} ({type(error).__name__}: {str(error)[:80]})"
    return None


def run_map(arguments: list[str]) -> str | None:
    """Which modules of the reference each target runs: one line of JSON, ``FOLDER`` as for a replay."""
    from fuzz.targets import load, target_names

    folder = arguments[0]
    found: dict[str, list[str]] = {}
    for name in target_names():
        target = load(name)
        with _noted() as modules:
            for path in sorted(Path(folder, name).iterdir()):
                target.check(path.read_bytes())
        found[name] = sorted(modules)
    return json.dumps(found)


@contextmanager
def _noted() -> Iterator[set[str]]:
    """The modules of the reference that are run meanwhile."""
    beginning = str(ROOT / "conformance" / "reference") + os.sep
    files: set[str] = set()
    modules: set[str] = set()

    def note(frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_code.co_flags & CO_OPTIMIZED:  # not the body of a module or class, which an import runs
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        yield modules
    finally:
        sys.setprofile(None)
    places = (file.removeprefix(beginning) for file in files if file.startswith(beginning))
    modules.update(place.removesuffix(".py").replace(os.sep, ".") for place in places)


def run_reach(files: list[str]) -> str | None:
    """Which modules of the reference the test files run: one line of JSON."""
    with _noted() as modules:
        found = run_pytest(files)
    if found is not None:
        raise SystemExit(f"{found} fails with the sound reference")
    return json.dumps(sorted(modules))


def run_fuzz(arguments: list[str]) -> str | None:
    """Atheris on one target: ``NAME MODULES SCRATCH SEEDS RUNS RNG SECONDS``. Does not return: the process ends with
    status 0 if nothing was found. ``MODULES``, parted by commas, are instrumented. ``SECONDS`` of CPU; 0: no limit."""
    import atheris

    from fuzz.runner.child import mixed, not_instrumented

    name, modules, scratch, seeds, runs, rng, seconds = arguments
    names = set(modules.split(","))
    roots = sorted({item.split(".")[0] for item in names})
    with atheris.instrument_imports(include=roots, exclude=not_instrumented(roots, names)):
        from fuzz.targets import load

        target = load(name)
    flags = [
        "target", scratch, seeds, f"-runs={runs}", f"-seed={rng}", "-entropic=0", f"-max_len={target.MAX_LEN}",
        "-timeout=20", f"-artifact_prefix={scratch}/found-", "-rss_limit_mb=2048",
    ]  # fmt: skip
    mutate = getattr(target, "mutate", None)
    options: dict[str, Any] = {} if mutate is None else {"custom_mutator": mixed(mutate)}
    atheris.Setup(flags, _limited(target.check, float(seconds)), **options)
    atheris.Fuzz()
    return None


def _limited(check: Callable[[bytes], None], seconds: float) -> Callable[[bytes], None]:
    """The check, which ends the process when its time is over."""
    if not seconds:
        return check
    end = process_time() + seconds

    def limited(data: bytes) -> None:
        if process_time() > end:
            os._exit(0)
        check(data)

    return limited


TOOLS: Final[dict[str, Callable[[list[str]], str | None]]] = {
    "pytest": run_pytest,
    "replay": run_replay,
    "map": run_map,
    "reach": run_reach,
    "fuzz": run_fuzz,
    "live": live.run,
}
OF_WORKERS: Final = "BINLOG_LAB_TESTS_FAULT"  # in the environment: the fault that worker processes plant as well


def _fault(name: str) -> Iterator[Fault]:
    return (fault for fault in (*FAULTS, *ORACLE_FAULTS, *LIVE_FAULTS) if fault.id == name)


def _imported(fault: Fault) -> str | None:
    """Import the faulty module before pytest begins, whose own importer of plugins would read the sound text."""
    try:
        import_module(f"{PACKAGE}.{fault.at}")
    except Exception as error:  # noqa: BLE001 - whatever a faulty copy raises kills it
        return f"import ({type(error).__name__})"
    return None


def main(arguments: list[str]) -> None:
    """Run it."""
    name, tool, *rest = arguments
    if tool not in ("fuzz", "live"):  # a fuzzer limits itself; a server needs more
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    fault = next(_fault(name)) if name != "-" else None
    if fault is not None:
        plant(fault)
    if fault is not None and tool == "live":
        os.environ[OF_WORKERS] = name
    by = _imported(fault) if fault is not None and tool in ("pytest", "live") else None
    by = by or TOOLS[tool](rest)
    sys.stdout.write(f"\n{json.dumps(by)}\n")
    sys.stdout.flush()
    os._exit(0)  # nothing that a faulty copy left behind is of interest


if __name__ == "__main__":
    main(sys.argv[1:])
elif __name__ == "__mp_main__" and OF_WORKERS in os.environ:  # a worker of a run imports this module first
    plant(next(_fault(os.environ[OF_WORKERS])))
