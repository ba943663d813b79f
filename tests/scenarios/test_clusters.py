"""The same digest wherever a matrix runs: local masters, workers that are killed, clusters, Spark Connect.

Through the command line, as a user would, on clusters that are started for it. Too long for every change: nightly.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from scenarios.digest import digest, tally
from scenarios.inline import all_rows
from scenarios.matrix import load_matrix
from tests.live import ROOT
from tests.scenarios import clusters
from tests.scenarios.binlog_checks import NAMES, lines

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

NAME, SCENARIOS = "size-budget", 4000
COMMAND = (sys.executable, "-m", "conformance", "matrix", "run", NAME)


@pytest.fixture(scope="module")
def expected() -> str:
    """The digest of the loop, without Spark."""
    matrix = load_matrix(NAME)
    return digest(matrix.digest, tally(all_rows(matrix, matrix.share(SCENARIOS))))


def ran(
    master: str, tmp_path: Path, *, scenarios: int = SCENARIOS, env: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run the command; the content of its results."""
    done = subprocess.run(
        [*COMMAND, "--scenarios", str(scenarios), "--master", master, "--report", str(tmp_path / "report")],
        cwd=tmp_path, env=env or {**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    content: dict[str, Any] = json.loads((tmp_path / "report/results.json").read_text("utf-8"))
    assert done.stdout == content["digest"] + "\n"
    assert content["run"]["complete"]
    assert content["totals"]["cases"] == scenarios
    return content


@pytest.mark.parametrize("master", ["local[1]", "local[2]", "local-cluster[2,1,1024]"])
def test_a_master_of_this_machine_gives_the_digest_of_the_loop(master: str, expected: str, tmp_path: Path) -> None:
    content = ran(master, tmp_path)
    assert content["digest"] == expected
    assert content["environment"]["master"].startswith(master.rstrip("]"))


def test_workers_that_are_killed_from_outside_change_nothing(tmp_path: Path) -> None:
    """Three times, each the worker that computes most at the moment, in the middle of a run of some groups."""
    scenarios = 60_000
    (tmp_path / "calm").mkdir()
    calm = ran("local[2]", tmp_path / "calm", scenarios=scenarios)
    command = [*COMMAND, "--scenarios", str(scenarios), "--master", "local[2]", "--report", str(tmp_path / "report")]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
        )  # fmt: skip
        try:
            killed = _kill_workers(process, 3)
            assert process.wait(timeout=900) == 0, (tmp_path / "log").read_text("utf-8")[-3000:]
        finally:
            clusters.stop(process.pid)
            process.wait(timeout=30)
    assert killed == 3
    content = json.loads((tmp_path / "report/results.json").read_text("utf-8"))
    assert content["digest"] == calm["digest"]
    assert content["totals"]["verdicts"] == calm["totals"]["verdicts"]


def _kill_workers(process: subprocess.Popen[bytes], number: int) -> int:
    """SIGKILL for Python workers in the middle of a task: those that compute while they are looked at."""
    killed = 0
    me = psutil.Process(process.pid)
    while killed < number and process.poll() is None:
        before = {worker.pid: worker.cpu_times().user for worker in _workers(me)}
        time.sleep(0.5)
        spent = {
            worker.pid: worker.cpu_times().user - before[worker.pid] for worker in _workers(me) if worker.pid in before
        }
        busiest = max(spent, key=lambda pid: spent[pid], default=None)
        if busiest is not None and spent[busiest] > 0.1:
            os.kill(busiest, signal.SIGKILL)
            killed += 1
            time.sleep(2)
    return killed


def _workers(driver: psutil.Process) -> list[psutil.Process]:
    """Python processes that the JVM's Python daemon forked."""
    found = []
    for jvm in driver.children():
        for daemon in jvm.children():
            found += daemon.children()
    return found


def test_a_standalone_cluster_gives_the_digest_of_the_loop(expected: str, tmp_path: Path) -> None:
    with clusters.standalone(tmp_path) as url:
        content = ran(url, tmp_path, env=clusters.driver_environment(tmp_path))
    assert content["digest"] == expected
    assert content["environment"]["master"] == url


def test_spark_submit_with_the_zip_gives_the_digest_of_the_loop(expected: str, tmp_path: Path) -> None:
    """Neither driver nor executors have the lab: only the zip."""
    archive = tmp_path / "lab.zip"
    subprocess.run(
        [sys.executable, "-m", "conformance", "matrix", "zip", str(archive)], cwd=ROOT, check=True, capture_output=True
    )
    with clusters.standalone(tmp_path) as url:
        done = subprocess.run(
            [
                clusters.spark_program("spark-submit"), "--master", url, "--py-files", str(archive),
                str(tmp_path / "lab.py"), NAME, "--scenarios", str(SCENARIOS), "--report", str(tmp_path / "report"),
            ],
            cwd=tmp_path, env=clusters.environment(tmp_path),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-1] == expected


_QUERIES = """
import sys
from scenarios.spark.binlogs import register
from scenarios.spark.session import session
with session(sys.argv[1]) as spark:
    problems = register(spark)
    source = spark.read.format("mysql-binlog")
    print(source.option("mode", "dropmalformed").load(sys.argv[2]).where("operation = 'insert'").count())
    print(problems.count)
    try:
        source.option("mode", "failfast").load(sys.argv[2]).count()
    except Exception as error:
        print(str(error).splitlines()[0])
"""


def test_the_source_on_a_cluster_tells_its_driver_of_damage(tmp_path: Path) -> None:
    """Executors get the package from the driver, and warnings come back by Spark's accumulators."""
    log = tmp_path / "cut"
    log.write_bytes(NAMES["14-rotate-b"].read_bytes()[:-9])
    with clusters.standalone(tmp_path, workers=1) as url:
        found = clusters.environment(tmp_path)
        found["PYTHONPATH"] = f"{ROOT}{os.pathsep}{found['PYTHONPATH']}"
        done = subprocess.run(
            [sys.executable, "-c", _QUERIES, url, str(log)], cwd=tmp_path, env=found,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows, problems, error = done.stdout.splitlines()
    inserts = sum(line["operation"] == "insert" for line in lines(NAMES["14-rotate-b"]) if line["position"] < 1050)
    assert (int(rows), int(problems)) == (inserts, 1)
    assert error.endswith("the last event is cut off at offset 1050, expected 19, got 14 [truncated]")
    assert f"mode DROPMALFORMED: {log}: 1 problem dropped: " in done.stderr


def test_spark_connect_gives_the_digest_of_the_loop(expected: str, tmp_path: Path) -> None:
    if not os.environ.get("CI"):
        pytest.importorskip("grpc", reason="needs pyspark[connect]")
    with clusters.connect_server(tmp_path) as url:
        content = ran(url, tmp_path, env=clusters.driver_environment(tmp_path))
    assert content["digest"] == expected
    assert content["environment"]["connect"] is True
