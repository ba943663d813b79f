"""How much a matrix run does twice when its driver or an executor is killed: SIGKILL, in the middle of the run.

    python -m tests.scenarios.killed_runs [--matrix NAME] [--scenarios N] [--workers N]

Three runs on standalone clusters of workers with one core: a calm one, one whose driver is killed and which the same
command continues, and one of which an executor is killed. Work done twice is the time of tasks that began and did not
end well, from Spark's own event log: a task's rows count when the task has ended. All runs must have the same digest,
and verdicts. Exit status 1 if one has another.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psutil

from tests.scenarios import clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SHARE: Final = 0.5  # of the calm run's time at work, after which something is killed
_PAUSE_SECONDS: Final = 0.5


class Tasks(NamedTuple):
    """Tasks by how they ended, and their time. Those that ended well, and the others, which are done twice."""

    done: int
    done_seconds: float
    lost: int
    lost_seconds: float


def tasks_of(events: Path) -> Tasks:
    """The tasks in the event logs below a directory. A log of a killed driver has no end of its last tasks."""
    done: list[float] = []
    lost: list[float] = []
    for log in sorted(path for path in events.rglob("*") if path.is_file() and not path.name.startswith("appstatus")):
        running: dict[int, int] = {}
        last = 0
        for event in _events(log):
            if event["Event"] == "SparkListenerTaskStart":
                last = event["Task Info"]["Launch Time"]
                running[event["Task Info"]["Task ID"]] = last
            elif event["Event"] == "SparkListenerTaskEnd":
                last = event["Task Info"]["Finish Time"]
                seconds = (last - running.pop(event["Task Info"]["Task ID"])) / 1000
                (done if event["Task End Reason"]["Reason"] == "Success" else lost).append(seconds)
        ended = max(last, int(log.stat().st_mtime * 1000))
        lost += [(ended - begun) / 1000 for begun in running.values()]
    return Tasks(len(done), sum(done), len(lost), sum(lost))


def _events(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text("utf-8", "replace").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:  # the last line of a killed driver
            return


class Run:
    """One command, with an event log of its own for each time it runs."""

    def __init__(self, options: argparse.Namespace, place: Path) -> None:
        self.place = place
        self.events = place / "events"
        self.events.mkdir(parents=True)
        self._command = [sys.executable, "-m", "conformance", "matrix", "run", options.matrix]
        self._command += ["--scenarios", str(options.scenarios), "--report", str(place / "report")]

    def start(self, master: str) -> subprocess.Popen[bytes]:
        settings = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": self.events.as_uri(),
                    "spark.eventLog.compress": "false"}  # fmt: skip
        given = " ".join(f"--conf {name}={value}" for name, value in settings.items())
        environment = clusters.driver_environment(self.place)
        with (self.place / "run.log").open("ab") as log:
            return subprocess.Popen(
                [*self._command, "--master", master], cwd=self.place, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**environment, "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell"},
            )  # fmt: skip

    def results(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.place / "report/results.json").read_text("utf-8"))
        return found

    def begun(self) -> bool:
        """Whether rows are being written."""
        return any((self.place / "report").rglob("*.parquet")) or any((self.place / "report").rglob("_temporary"))


def watched(run: Run, master: str, kill: Callable[[psutil.Process], None] | None, after: float) -> float:
    """Wait for a run; its seconds at work. ``kill`` is called once, ``after`` seconds of work."""
    process = run.start(master)
    begun = None
    try:
        while process.poll() is None:
            begun = begun or (time.monotonic() if run.begun() else None)
            if kill is not None and begun is not None and time.monotonic() - begun >= after:
                kill(psutil.Process(process.pid))
                kill = None
            time.sleep(_PAUSE_SECONDS)
    finally:
        clusters.stop(process.pid)
        process.wait(timeout=60)
    if kill is not None:
        raise SystemExit("the run ended before anything was killed: more scenarios are needed")
    return time.monotonic() - (begun or time.monotonic())


def kill_driver(driver: psutil.Process) -> None:
    """The command and its JVM at once: nothing has time to tidy up."""
    for process in (driver, *driver.children(recursive=True)):
        process.kill()


def kill_executor(driver: psutil.Process) -> None:
    """The executor that has worked for the longest."""
    executors = [
        executor
        for child in psutil.Process().children()
        if child.pid != driver.pid
        for executor in clusters.executors_of(child)
    ]
    max(executors, key=lambda executor: sum(executor.cpu_times()[:4])).kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrix", default="size-budget")
    parser.add_argument("--scenarios", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    said: list[tuple[Any, Any]] = []
    seconds = 0.0
    for name, kill in (("nothing", None), ("the driver", kill_driver), ("an executor", kill_executor)):
        with tempfile.TemporaryDirectory(prefix="killed-runs-") as place, \
                clusters.standalone(Path(place), workers=options.workers) as master:  # fmt: skip
            run = Run(options, Path(place) / "run")
            took = watched(run, master, kill, _SHARE * seconds)
            again = 0.0
            if kill is kill_driver:
                again = watched(run, master, None, 0)
            seconds = seconds or took
            tasks = tasks_of(run.events)
            results = run.results()
            said.append((results["digest"], results["totals"]["verdicts"]))
            share = tasks.lost_seconds / tasks.done_seconds
            continued = f" and {again:.0f} s" if again else ""
            there = f"; {results['run']['resumed']:,} scenarios were there" if again else ""
            print(  # noqa: T201 - the answer of the command
                f"killed: {name}: {took:.0f} s{continued} at work, {tasks.done} tasks ended well; {tasks.lost} began"
                f" and did not, {tasks.lost_seconds:.1f} s of {tasks.done_seconds:.0f} s ({share:.1%}){there};"
                f" digest {results['digest']}",
                flush=True,
            )
    same = all(entry == said[0] for entry in said)
    print("holds  digests and verdicts are the same" if same else "BROKEN digests or verdicts differ")  # noqa: T201
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
