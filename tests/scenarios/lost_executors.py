"""``conformance --master`` on a standalone cluster of which an executor is killed, beside the local run of the seed.

    python -m tests.scenarios.lost_executors [--updates N] [--workers N] [--seed N] [--kills N]

Executors do not have the lab: the driver gives it to them. A kill takes the executor that has worked for the longest;
the cluster starts another. Both runs must have the same totals, census and verdicts, and each block the same digest as
a block made here. No server may be left. Exit status 1 if one of these does not hold.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from conformance.harness.updates.blocks import Limits, digest, make_script
from conformance.report.results import RATE
from tests.live import ROOT
from tests.scenarios import clusters


def command(updates: int, seed: int, report: Path, master: str | None) -> list[str]:
    """The main job, with the checks of the update campaign alone."""
    words = [sys.executable, "-m", "conformance", "conformance", "--updates", str(updates), "--seed", str(seed)]
    return [*words, "-r", "FR1", "--report", str(report), *(["--master", master] if master else [])]


def servers() -> dict[int, float]:
    """Servers below this process, by id, with the moment at which each began."""
    found = {}
    for process in psutil.process_iter(["pid", "cmdline", "create_time"]):
        if any("mysqld" in word for word in process.info["cmdline"] or ()):
            with suppress(psutil.NoSuchProcess):
                if any(parent.pid == psutil.Process().pid for parent in process.parents()):
                    found[process.pid] = process.info["create_time"]
    return found


def on_a_cluster(options: argparse.Namespace, scratch: Path) -> tuple[dict[str, Any], str, int, set[int]]:
    """The results of the run on the cluster, what it said, the executors killed, and the servers seen."""
    killed, seen = 0, set[int]()
    with clusters.standalone(scratch, workers=options.workers) as master:
        with (scratch / "run.log").open("wb") as log:
            run = subprocess.Popen(
                command(options.updates, options.seed, scratch / "spark", master), cwd=scratch,
                env=clusters.driver_environment(scratch), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
            try:
                begun = None
                while run.poll() is None:
                    seen |= set(servers())
                    executors = clusters.executors_beside(run.pid)
                    rows = (scratch / "spark/updates").exists()
                    begun = begun or (time.monotonic() if rows and len(executors) >= options.workers else None)
                    if begun and killed < options.kills and time.monotonic() - begun > options.after * (killed + 1):
                        max(executors, key=lambda item: item.cpu_times().user).kill()
                        killed += 1
                    time.sleep(1)
            finally:
                clusters.stop(run.pid)
                run.wait(timeout=60)
        said = (scratch / "run.log").read_text("utf-8", "replace")
        if run.returncode != 0:
            raise SystemExit(f"the run on the cluster: exit code {run.returncode}, in {scratch}: {said[-3000:]}")
    return json.loads((scratch / "spark/results.json").read_text("utf-8")), said, killed, seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--after", type=float, default=20.0, help="Seconds between kills.")
    options = parser.parse_args()
    import pyarrow.parquet as pq

    scratch = Path(tempfile.mkdtemp(prefix="lost-executors-"))  # stays where a run fails or something is broken
    found, said, killed, seen = on_a_cluster(options, scratch)
    left = [pid for pid in seen if psutil.pid_exists(pid)]
    subprocess.run(
        command(options.updates, options.seed, scratch / "local", None), cwd=ROOT, check=True, capture_output=True
    )
    local = json.loads((scratch / "local/results.json").read_text("utf-8"))
    rows = pq.read_table(scratch / "spark/updates").sort_by("block").to_pylist()
    wrong = [
        row["block"]
        for row in rows[:: max(1, len(rows) // 50)]
        if row["digest"] != digest(make_script(str(options.seed), row["block"], Limits(), updates=row["updates"]))
    ]
    # Compressed transactions have times and numbers of their server in them, and so other lengths.
    totals, expected = (
        {name: value for name, value in run["totals"].items() if "bytes" not in name and name != RATE}
        for run in (found, local)
    )
    others = sorted(name for name in {*totals, *expected} if totals.get(name) != expected.get(name))
    told = f"totals: {totals['updates_compared']:,} updates, {totals['mismatches']} mismatches"
    checks = {
        f"{told}{', others than the local run in ' + ', '.join(others) if others else ''}": not others,
        "the census is that of the local run": found["census"] == local["census"],
        "the verdicts are those of the local run": {n: r["verdict"] for n, r in found["requirements"].items()}
        == {n: r["verdict"] for n, r in local["requirements"].items()},
        f"{len(rows)} blocks, digests as made here": not wrong,
        f"{killed} of {options.kills} executors killed": killed == options.kills,
        f"{len(seen)} servers seen, {len(left)} left": bool(seen) and not left,
    }
    for text, holds in checks.items():
        print("holds " if holds else "BROKEN", text)  # noqa: T201 - the answer of the command
    print(*(line for line in said.splitlines() if "begun again" in line))  # noqa: T201
    if not all(checks.values()):
        print(f"reports: {scratch}")  # noqa: T201
        return 1
    shutil.rmtree(scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
