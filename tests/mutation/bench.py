"""The tests that mutants meet, collected once in one process; each mutant gets a fork of it.

First every test is run with the sound reference, and written down which lines of it it runs, and how long it takes. A
mutant then meets the tests that run its statement, the quickest first, until one fails or they are over their time.
mutmut's own runner starts pytest once for each mutant: that is 20 times what the tests take.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
from importlib import import_module
from time import process_time
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
from coverage import Coverage

from tests.mutation.mutants import PACKAGE, REFERENCE, ROOT, path_of, plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.mutation.mutants import Mutant

TESTS: Final = ("tests/reference",)
# Work and memory of inputs made to hurt; a change of every byte: neither says what exactly is expected.
_NOT_THESE: Final = ("test_hostile_inputs.py", "test_binlog_hostile.py")
_MEMORY: Final = 4 << 30
_NOT_PLANTED: Final = 99
_PATIENCE: Final = 10  # CPU seconds on top of what the sound tests take: beyond it a mutant hangs
_WAITING: Final = 1800  # seconds on the clock, for a mutant that waits for something; a full machine must not reach it


class Verdict(NamedTuple):
    """``by``: the test that failed, or how the process ended; ``None``: it lives. ``tests``: how many run it;
    ``left``: how many of these were not tried for want of time."""

    by: str | None
    tests: int
    left: int


class Bench:
    """A plugin of pytest: when the tests are collected, they are run once, and then ``work`` is called with this."""

    def __init__(self, work: Callable[[Bench], None], *, seconds: float) -> None:
        self._work = work
        self._seconds = seconds
        self._items: dict[str, pytest.Item] = {}
        self._duration: dict[str, float] = {}
        self._running: dict[int, tuple[Mutant, int, int, int]] = {}
        self._lines: dict[str, dict[int, list[str]]] = {}
        self._failed: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running the tests once."""
        session.config.pluginmanager.unregister(name="terminalreporter")
        self._items = {item.nodeid: item for item in session.items if item.path.name not in _NOT_THESE}
        self._trace()
        self._work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first failure is enough."""
        if report.failed and self._failed is None:
            self._failed = report.nodeid

    def _run(self, names: Sequence[str]) -> Iterator[str]:
        """Run tests one after another; answers each before it runs."""
        for name, after in zip(names, [*names[1:], None], strict=True):
            yield name
            item = self._items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=self._items[after] if after else None)

    def _trace(self) -> None:
        """Which lines of the reference each test runs."""
        coverage = Coverage(data_file=None, include=[f"{REFERENCE}/*"], config_file=False)
        coverage.start()
        last, start = "", 0.0
        for name in self._run(list(self._items)):
            if last:
                self._duration[last] = process_time() - start
            _forget()  # what an earlier test left in a cache would be run by this one, and not be seen
            coverage.switch_context(name)
            last, start = name, process_time()
        self._duration[last] = process_time() - start
        coverage.stop()
        if self._failed is not None:
            raise SystemExit(f"{self._failed} fails with the sound reference")
        data = coverage.get_data()
        self._lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        gc.collect()
        gc.freeze()

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant's statement, the quickest first."""
        first, last = mutant.lines
        lines = self._lines.get(str(path_of(mutant.module)), {})
        names = {name for line in range(first, last + 1) for name in lines.get(line, ()) if name}
        return sorted(names, key=lambda name: self._duration[name])

    def judge(self, mutants: Sequence[Mutant], jobs: int) -> Iterator[tuple[Mutant, Verdict]]:
        """Give each mutant its tests, so many at a time; those that no test runs live."""
        for mutant in mutants:
            import_module(f"{PACKAGE}.{mutant.module}")
            names = self.tests_of(mutant)
            chosen: list[str] = []
            seconds = 0.0
            for name in names:
                seconds += self._duration[name]
                if chosen and seconds > self._seconds:
                    break
                chosen.append(name)
            if not chosen:
                yield mutant, Verdict(None, 0, 0)
                continue
            while len(self._running) >= jobs:
                yield self._wait()
            self._start(mutant, chosen, len(names), min(seconds, self._seconds))
        while self._running:
            yield self._wait()

    def _start(self, mutant: Mutant, chosen: Sequence[str], count: int, seconds: float) -> None:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            self._running[pid] = mutant, reading, count, count - len(chosen)
            return
        status = _NOT_PLANTED
        try:
            os.close(reading)
            plant(mutant, sys.modules[f"{PACKAGE}.{mutant.module}"])
            status = 1
            by = self._try(mutant, chosen, seconds)
            os.write(writing, json.dumps(by and by[:500]).encode())
            status = 0
        finally:
            os._exit(status)

    def _try(self, mutant: Mutant, chosen: Sequence[str], seconds: float) -> str | None:
        """In a process of its own: the first test that fails."""
        silent = os.open(os.devnull, os.O_RDWR)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        limit = int(process_time() + 3 * seconds + _PATIENCE)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_WAITING)
        _forget()
        for _ in self._run(chosen):
            if self._failed is not None:
                break
        return self._failed

    def _wait(self) -> tuple[Mutant, Verdict]:
        pid, status = os.wait()
        mutant, reading, count, left = self._running.pop(pid)
        with os.fdopen(reading, "rb") as pipe:
            text = pipe.read()
        code = os.waitstatus_to_exitcode(status)
        if code == _NOT_PLANTED:
            raise SystemExit(f"{mutant.module}: cannot be planted: {mutant.key}")
        if code == 0:
            return mutant, Verdict(json.loads(text), count, left)
        if code < 0:
            return mutant, Verdict(f"signal {signal.Signals(-code).name}", count, left)
        return mutant, Verdict("an error outside of the tests", count, left)


def _forget() -> None:
    """Empty the caches that sound functions filled: cached functions, and variables of a module that are dicts."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(("conformance.", "generators.", "fuzz.")):
            continue
        for variable, found in list(vars(module).items()):
            if hasattr(found, "cache_clear"):
                found.cache_clear()
            elif isinstance(found, dict) and variable.islower() and not variable.startswith("__"):
                found.clear()


def run(work: Callable[[Bench], None], *, tests: Sequence[str], seconds: float) -> None:
    """Collect the tests, run them, and call ``work`` with the bench. ``seconds``: time of tests for one mutant."""
    os.environ.update(HYPOTHESIS_PROFILE="mutation", COVERAGE_CORE="ctrace")
    options = ["-qq", "--capture=no", "--tb=no", "--assert=plain", "--no-header", "-p", "no:cacheprovider",
               "-W", "default", f"--rootdir={ROOT}"]  # fmt: skip
    marks = "not live and not container and not spark and not nightly"
    places: list[str | Path] = [ROOT / test for test in tests]
    code = pytest.main([*options, "-m", marks, *map(str, places)], plugins=[Bench(work, seconds=seconds)])
    if code != pytest.ExitCode.OK:
        raise SystemExit(f"pytest ended with {code!r}")
