"""The parts around a run that need no Spark: how work is cut, the manifest, Java, the zip, the report's parts."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli.main import run
from conformance.extras import to_install
from conformance.version import __version__
from scenarios import page, plan, results, runs, summary
from scenarios.budgets import judge
from scenarios.costs import Cost, Memory, as_data, from_data, words
from scenarios.digest import CellTally, digest, tally
from scenarios.figures import percent
from scenarios.inline import SqliteStore, all_rows
from scenarios.manifest import MANIFEST, Manifest, ManifestError
from scenarios.matrix import load_matrix
from scenarios.overview import as_data as overview_data
from scenarios.overview import from_data as from_overview
from scenarios.overview import overview, percentiles
from scenarios.plan import Block, spread
from scenarios.spark import session, ship
from scenarios.spark.interruptible import interruptible
from scenarios.spark.session import SparkUnavailable, adapted, java_home, with_retries
from scenarios.spark.ship import check_executors, prepare, write_zip
from scenarios.worker import run_block

if TYPE_CHECKING:
    from scenarios.matrix import Matrix


@pytest.mark.parametrize(("scenarios", "cores"), [(1000, 1), (100_000, 2), (10_000_000, 2), (3_000_000, 64)])
def test_every_scenario_is_in_exactly_one_block(scenarios: int, cores: int) -> None:
    matrix = load_matrix("size-budget")
    counts = matrix.share(scenarios)
    found: dict[int, list[Block]] = {}
    groups = plan.groups(matrix, counts, cores)
    for group in groups:
        for task in group.tasks:
            assert task
            for block in task:
                assert block.cell in group.cells
                found.setdefault(block.cell, []).append(block)
    assert sum(group.scenarios for group in groups) == scenarios
    for cell, count in enumerate(counts):
        at = 0
        for block in sorted(found[cell]):
            assert block.first == at
            at += block.length
        assert at == count


@pytest.mark.parametrize("scenarios", [1000, 100_000, 10_000_000, 1_000_000_000])
def test_where_groups_end_depends_on_the_scenarios_alone(scenarios: int) -> None:
    matrix = load_matrix("size-budget")
    counts = matrix.share(scenarios)
    cells = [group.cells for group in plan.groups(matrix, counts, 2)]
    assert [group.cells for group in plan.groups(matrix, counts, 64)] == cells
    assert len(cells) <= plan.MOST_GROUPS
    done = {cell for group in cells[:2] for cell in group}
    assert [group.cells for group in plan.groups(matrix, counts, 3, done)] == cells[2:]
    done.remove(0)  # part of a group is none: all of it is run again
    assert [group.cells for group in plan.groups(matrix, counts, 3, done)] == cells[:1] + cells[2:]


def test_tasks_of_a_large_run_take_seconds() -> None:
    matrix = load_matrix("size-budget")
    *most, _ = plan.groups(matrix, matrix.share(10_000_000), 2)  # what is left over may be little
    for group in most:
        for task in group.tasks:
            seconds = sum(block.length * plan.seconds_of(matrix, block.cell) for block in task)
            assert 1 < seconds < 2.5 * plan.TASK_SECONDS


def test_a_run_has_few_files_and_fine_steps() -> None:
    matrix = load_matrix("size-budget")
    tasks = {n: sum(len(g.tasks) for g in plan.groups(matrix, matrix.share(n), 2)) for n in (100_000, 10**6, 10**9)}
    assert 12 <= tasks[100_000] <= 40
    assert tasks[10**6] < 200
    assert tasks[10**9] < 1.1 * plan.MOST_TASKS


def test_the_costliest_blocks_come_first_and_loads_are_even() -> None:
    blocks = [(float(cost), Block(number, 0, 1)) for number, cost in enumerate([1, 9, 2, 5, 4, 3, 6])]
    assert spread(blocks, 3) == (
        (Block(1, 0, 1), Block(2, 0, 1)), (Block(0, 0, 1), Block(5, 0, 1), Block(6, 0, 1)),
        (Block(3, 0, 1), Block(4, 0, 1)),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ manifest


def test_a_manifest_is_taken_over_by_the_same_run_only(
    tiny: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = tiny.share(120)
    first = Manifest(tmp_path, tiny, counts, "place")
    assert not first.resumed
    first.start()
    assert Manifest(tmp_path, tiny, counts, "place", 64).cores == 1  # the rows that are there were cut so
    first.add({2: CellTally(20, 20, -5), 0: CellTally(20, 20, 7)})
    again = Manifest(tmp_path, tiny, counts, "place")
    assert again.resumed
    assert again.cells == {2: CellTally(20, 20, -5), 0: CellTally(20, 20, 7)}
    assert not Manifest(tmp_path, tiny, tiny.share(121), "place").resumed
    assert not Manifest(tmp_path, tiny, counts, "elsewhere").resumed
    assert not Manifest(tmp_path, load_matrix("images"), counts, "place").resumed
    monkeypatch.setattr(plan, "TASK_SECONDS", 2 * plan.TASK_SECONDS)  # another release: its files hold other scenarios
    assert not Manifest(tmp_path, tiny, counts, "place").resumed


def test_a_broken_manifest_is_said_with_its_file(tiny: Matrix, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{", "utf-8")
    with pytest.raises(ManifestError, match=r"manifest.jsonl: not a manifest"):
        Manifest(tmp_path, tiny, tiny.share(120), "place")


# --------------------------------------------------------------------------------------------------- session, executors


@pytest.mark.parametrize(
    ("master", "known_as"),
    [
        ("local", "local[1,4]"), ("local[2]", "local[2,4]"), ("local[*]", "local[*,4]"), ("local[3,1]", "local[3,1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"), ("spark://h:7077", "spark://h:7077"),
    ],
)  # fmt: skip
def test_a_local_master_tries_a_task_again(master: str, known_as: str) -> None:
    assert with_retries(master) == known_as


def _java(path: Path, version: str) -> Path:
    program = path / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program


def test_java_is_found_or_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(session, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    new = _java(tmp_path / "new", "21.0.2")
    old = _java(tmp_path / "old", "1.8.0_402")
    monkeypatch.setattr("shutil.which", lambda _: str(new))
    assert java_home() is None
    monkeypatch.setattr("shutil.which", lambda _: str(old))
    with pytest.raises(SparkUnavailable, match=r"expected Java 17 or newer, got only Java 8; to get it: pip install"):
        java_home()
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(SparkUnavailable, match="got no java"):
        java_home()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(SparkUnavailable, match=r"JAVA_HOME is .*old: expected Java 17 or newer, got 8"):
        java_home()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "new"))
    assert java_home() == str(tmp_path / "new")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    with pytest.raises(SparkUnavailable, match="there is no java that runs"):
        java_home()


@pytest.mark.parametrize("modules", ["java.base@25", "java.base@25\njdk.incubator.vector@25"])
def test_a_java_without_the_module_that_spark_asks_for_is_started_without_it(modules: str, tmp_path: Path) -> None:
    program = _java(tmp_path / "given", "25")
    program.write_text(f"#!/bin/sh\n[ \"$1\" = --list-modules ] && echo '{modules}' || printf '<%s>' \"$@\"\n")
    home = adapted(str(tmp_path / "given"), tmp_path)
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-modules=other", "$x"]
    done = subprocess.run([f"{home}/bin/java", *arguments], capture_output=True, text=True, check=True)
    kept = [argument for argument in arguments if "incubator" in modules or "incubator" not in argument]
    assert done.stdout == "".join(f"<{argument}>" for argument in kept)


def test_a_missing_package_is_said_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None if name == "pyarrow" else name)
    assert run(["matrix", "run", "images", "--report", str(tmp_path / "report")]) == 3
    assert f"missing for matrices on Spark: pyarrow; to get it: {to_install('spark')}" in capsys.readouterr().err


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_cluster_that_does_not_answer_is_said_at_once(
    scheme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        url = f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"  # bound, but nobody listens
        assert run(["matrix", "run", "images", "--master", url, "--report", str(tmp_path / "report")]) == 3
    assert f"nothing answers at {url}: " in capsys.readouterr().err


def test_a_master_of_no_kind_is_said_before_java_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "java_home", pytest.fail)
    assert run(["matrix", "run", "images", "--master", "locl[2]", "--report", str(tmp_path / "report")]) == 3
    assert "unknown master 'locl[2]'; expected local[N], spark://" in capsys.readouterr().err


def test_spark_connect_without_its_packages_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None if name == "grpc" else name)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"sc://127.0.0.1:{listening.getsockname()[1]}"
        assert run(["matrix", "run", "images", "--master", url, "--report", str(tmp_path / "report")]) == 3
    assert "missing for Spark Connect: grpc; to get it: pip install 'pyspark[connect]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no matrix 'nothing'"),
        (["images", "--scenarios", "5"], "matrix images has 360 cells: --scenarios is 360 or more, got 5"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_started(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["matrix", "run", *arguments]) == 2
    assert message in capsys.readouterr().err


class _FakeSpark:
    """As much of a session as the check of the executors asks."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def range(self, *_: int) -> _FakeSpark:
        return self

    def mapInArrow(self, *_: object) -> _FakeSpark:  # noqa: N802 - Spark's name
        return self

    def collect(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer]


@pytest.mark.parametrize("calls", [1, 2])
def test_ctrl_c_cancels_what_runs_until_the_work_has_ended(calls: int) -> None:
    """The first cancellation may meet the moment between two jobs."""
    cancelled: list[int] = []
    ended = threading.Event()

    class Context:
        def cancelAllJobs(self) -> None:  # noqa: N802 - Spark's name
            cancelled.append(1)

    class Session:
        sparkContext = Context()  # noqa: N815 - Spark's name

    def work() -> None:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        while len(cancelled) < calls:
            time.sleep(0.01)
        ended.set()
        raise RuntimeError("the job was cancelled")

    with pytest.raises(KeyboardInterrupt):
        interruptible(Session(), work)
    assert ended.is_set()
    assert len(cancelled) >= calls


def test_what_the_work_answers_or_raises_comes_out() -> None:
    assert interruptible(None, lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        interruptible(None, lambda: 1 // 0)


def test_executors_without_a_package_or_of_another_version_are_said() -> None:
    with pytest.raises(SparkUnavailable, match="the executors have no package 'pyarrow': pip install"):
        check_executors(_FakeSpark(RuntimeError("ModuleNotFoundError: No module named 'pyarrow'")))
    with pytest.raises(SparkUnavailable, match=r"the executors have Python 3.8.1 and binlog-lab 0.0; expected those"):
        check_executors(_FakeSpark(("3.8.1", "0.0", None)))
    with pytest.raises(ship.PackageMissing, match="the executors have no package 'generators'"):
        check_executors(_FakeSpark(("3.11.1", None, "generators")))
    with pytest.raises(ZeroDivisionError):
        check_executors(_FakeSpark(ZeroDivisionError("a fault of another kind")))


def test_executors_without_the_package_are_given_it_for_as_long_as_they_may_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Fake(_FakeSpark):
        given: Path | None = None

        def addArtifacts(self, path: str, *, pyfile: bool) -> None:  # noqa: N802 - Spark's name
            assert pyfile
            self.given = Path(path)
            self.answer = (platform.python_version(), __version__, None)

    monkeypatch.setattr(ship, "is_local", lambda _: False)
    fake = Fake((platform.python_version(), None, "scenarios"))
    prepare(fake)
    assert fake.given is not None
    assert fake.given.is_file()  # an executor that comes later fetches it then
    has_it = Fake((platform.python_version(), __version__, None))
    prepare(has_it)
    assert has_it.given is None


def test_the_worker_runs_from_a_zip_alone(tmp_path: Path) -> None:
    script = write_zip(tmp_path / "lab.zip")
    assert script.name == "lab.py"
    assert "from scenarios.submit import main" in script.read_text("utf-8")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from scenarios.matrix import load_matrix, matrix_names; from scenarios.worker import run_block\n"
        "from scenarios.digest import digest, tally\n"
        "matrix = load_matrix('equivalence')\n"
        "assert '.zip' in sys.modules['scenarios'].__file__, sys.modules['scenarios'].__file__\n"
        "print(matrix_names(), digest('', tally(run_block(matrix, 9, 0, 20))))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(tmp_path / "lab.zip")],
        cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == digest("", tally(run_block(load_matrix("equivalence"), 9, 0, 20)))


def test_the_zip_is_the_same_each_time(tmp_path: Path) -> None:
    write_zip(tmp_path / "a.zip")
    write_zip(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert run(["matrix", "zip", str(tmp_path / "c.tar")]) == 2


# -------------------------------------------------------------------------------------------------------------- report


def test_what_a_run_took_is_said_by_size_and_kept() -> None:
    found = [Cost(100, 5000, 500_000, 1.25), Cost(1 << 20, 50, 50 << 20, 4.0), Cost(None, 7, 0, 0.0)]
    memory = Memory(driver=150_000_000).or_more(Memory(1, 2_000_000, 3_000_000, 4_000_000, 5_000_000))
    lines = words(found, memory)
    assert [line.split() for line in lines[1:4]] == [
        ["100", "B", "5,000", "4,000", "0.40", "1.2"], ["1,048,576", "B", "50", "12", "13.11", "4.0"],
        ["all", "7", "0", "0.00", "0.0"],
    ]  # fmt: skip
    assert lines[4] == ("  peak memory: driver 150 MB, JVM 2 MB, largest worker 3 MB, workers 4 MB, all together 5 MB")
    assert from_data(json.loads(json.dumps(as_data(found, memory)))) == (found, memory)
    assert from_data(as_data([], None)) == ([], None)


@pytest.fixture(scope="module")
def judged() -> tuple[runs.Facts, Any, Any]:
    matrix = load_matrix("size-budget")
    counts = [4 if int(matrix.cell(cell)["size"]) <= 4096 else 0 for cell in range(matrix.cells)]
    facts = runs.Facts(matrix=matrix, started="2026-01-01", seconds=2.0, scenarios=sum(counts), resumed=0)
    with closing(SqliteStore(matrix, all_rows(matrix, counts))) as store:
        return facts, judge(matrix, store, counts), overview(matrix, store)


def test_percentiles_are_the_least_values_that_reach_them() -> None:
    assert percentiles([(10, 1), (20, 98), (30, 1)]) == (10, 20, 20, 20, 20)
    assert percentiles([(5, 1)]) == (5,) * 5


def test_what_a_page_shows_comes_back_from_the_results(judged: tuple[runs.Facts, Any, Any]) -> None:
    seen = judged[2]
    again = from_overview(json.loads(json.dumps(overview_data(seen))))
    assert again == replace(seen, cells={})


def test_a_share_is_said_in_per_cent_and_never_as_minus_nothing() -> None:
    shares = (0.994, 0.5, 0.01, 0.0004, 0, -0.0004, -0.0006, -0.004, -0.012, -1.5)
    assert [percent(share) for share in shares] == [
        "99 %", "50 %", "1 %", "0 %", "0 %", "0 %", "-0.1 %", "-0.4 %", "-1 %", "-150 %",
    ]  # fmt: skip


def test_the_page_shows_verdicts_figures_and_commands(judged: tuple[runs.Facts, Any, Any]) -> None:
    content = json.loads(json.dumps(results.results(*judged)))
    text = page.page(content)
    assert text.count('<svg class="figure"') == 9
    assert "row image MINIMAL, tables without a key" in text
    assert text.count("model against model") > 4
    assert "binlog-lab replay matrix:size-budget/" in text
    assert not re.search(r"<script|src=|https?://(?!www\.w3\.org)", text)
    assert "prefers-color-scheme: dark" in text
    assert "| size | saved |" in summary.summary(content)


def test_a_broken_budget_is_over_budget_everywhere(tiny: Matrix) -> None:
    counts = tiny.share(24)
    rows = [list(row) for row in all_rows(tiny, counts)]
    rows[0][tiny.columns.index("event_off")] += 1
    facts = runs.Facts(matrix=tiny, started="2026-01-01", seconds=2.0, scenarios=24, resumed=0)
    with closing(SqliteStore(tiny, rows)) as store:
        found = (facts, judge(tiny, store, counts), overview(tiny, store))
    content = results.results(*found)
    assert content["run"]["exit_code"] == 1
    assert content["requirements"]["FR13"]["verdict"] == "fail"
    assert content["failures"][0]["replay"] == "binlog-lab replay matrix:tiny/0/0"
    assert "Over budget" in page.page(content)
    assert "binlog-lab replay matrix:tiny/0/0" in summary.summary(content)
