"""How much a matrix run does twice when its driver or an executor is killed: SIGKILL, in the middle of the run.

    python -m tests.scenarios.killed_runs [--matrix NAME] [--scenarios N] [--workers N]

There are three runs on standalone clusters of workers with one core. The first is calm. The second has its driver
killed, and the same command continues it. In the third an executor is killed. Each kill comes when half of the files
are there. Work done twice is the time of tasks that began and did not end well: a task's rows count when the task has
ended. Spark's event log tells these tasks. That of a killed driver lacks those which ran: there each worker has lost
the time since its last file. All runs must have the same digest, and verdicts. Exit status 1 if one has another.
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

_PAUSE_SECONDS: Final = 0.2


class Tasks(NamedTuple):
    """Tasks by how they ended, and their time. Those that ended well, and the others, which are done twice."""

    done: int
    done_seconds: float
    lost: int
    lost_seconds: float


def tasks_of(events: Path) -> Tasks:
    """The tasks in the event logs below a directory."""
    done: list[float] = []
    lost: list[float] = []
    for log in sorted(path for path in events.rglob("*") if path.is_file() and not path.name.startswith("appstatus")):
        for event in _events(log):
            if event["Event"] == "SparkListenerTaskEnd":
                info = event["Task Info"]
                well = event["Task End Reason"]["Reason"] == "Success"
                (done if well else lost).append((info["Finish Time"] - info["Launch Time"]) / 1000)
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

    def said(self) -> str:
        """The end of what the command wrote."""
        return (self.place / "run.log").read_text("utf-8", "replace")[-3000:]

    def results(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.place / "report/results.json").read_text("utf-8"))
        return found

    def ends(self) -> list[float]:
        """When tasks ended, in order: each file is in its place then."""
        found = (self.place / "report").rglob("*.parquet")
        return sorted(path.stat().st_mtime for path in found if "_temporary" not in path.parts)


def watched(run: Run, master: str, kill: Callable[[psutil.Process], None] | None = None, files: int = 0) -> float:
    """Wait for a run; its seconds. ``kill`` is called once, when this number of files is there."""
    process = run.start(master)
    begun = time.monotonic()
    try:
        while process.poll() is None:
            if kill is not None and len(run.ends()) >= files:
                kill(psutil.Process(process.pid))
                kill = None
            time.sleep(_PAUSE_SECONDS)
    finally:
        clusters.stop(process.pid)
        process.wait(timeout=60)
    if kill is not None:
        raise SystemExit(f"the run ended before {files} files were there: {run.said()}")
    return time.monotonic() - begun


def kill_driver(driver: psutil.Process) -> None:
    """The command and its JVM at once: nothing has time to tidy up."""
    for process in (driver, *driver.children(recursive=True)):
        process.kill()


def kill_executor(driver: psutil.Process) -> None:
    """The executor that has worked for the longest."""
    executors = clusters.executors_beside(driver.pid)
    max(executors, key=lambda executor: sum(executor.cpu_times()[:4])).kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrix", default="size-budget")
    parser.add_argument("--scenarios", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    said: list[tuple[Any, Any]] = []
    files = 0
    for name, kill in (("nothing", None), ("the driver", kill_driver), ("an executor", kill_executor)):
        with tempfile.TemporaryDirectory(prefix="killed-runs-") as place, \
                clusters.standalone(Path(place), workers=options.workers) as master:  # fmt: skip
            run = Run(options, Path(place) / "run")
            seconds = [watched(run, master, kill, files // 2)]
            since: list[float] = []
            if kill is kill_driver:
                killed = time.time()
                since = [killed - end for end in run.ends()[-options.workers :]]
                seconds.append(watched(run, master))
            files = files or len(run.ends())
            tasks = tasks_of(run.events)
            lost, lost_seconds = tasks.lost + len(since), tasks.lost_seconds + sum(since)
            results = run.results()
            said.append((results["digest"], results["totals"]["verdicts"]))
            there = f"; {results['run']['resumed']:,} scenarios were there" if kill is kill_driver else ""
            print(  # noqa: T201 - the answer of the command
                f"killed: {name}: {' and '.join(f'{each:.0f} s' for each in seconds)}, {len(run.ends())} files;"
                f" {tasks.done} tasks ended well in {tasks.done_seconds:.0f} s;"
                f" {lost} began and did not, {lost_seconds:.1f} s"
                f" ({lost_seconds / tasks.done_seconds:.1%}){there}; digest {results['digest']}",
                flush=True,
            )
    same = all(entry == said[0] for entry in said)
    print("holds  digests and verdicts are the same" if same else "BROKEN digests or verdicts differ")  # noqa: T201
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
