"""A run on Spark gives what the loop gives: however it is cut, retried, broken off or tampered with."""

from __future__ import annotations

import json
import shutil
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from conformance.cli.main import run
from scenarios import plan, runs
from scenarios.budgets import judge
from scenarios.costs import from_data
from scenarios.digest import digest, tally
from scenarios.inline import SqliteStore, all_rows
from scenarios.manifest import MANIFEST
from scenarios.matrix import load_matrix
from scenarios.overview import as_data, overview
from scenarios.plan import Block, Group
from scenarios.runs import ROWS, run_matrix
from scenarios.spark import store as stores
from scenarios.spark.store import SparkStore
from tests.faults.spark.catalogue import BROKEN_BY
from tests.faults.spark.run import faulty_runs
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scenarios.matrix import Matrix

pytestmark = pytest.mark.spark

SCHEMA = json.loads((ROOT / "conformance/report/schemas/results.schema.json").read_text("utf-8"))


def quiet(_: str) -> None:
    """Nothing is said."""


@pytest.fixture(scope="module")
def finished(spark: Any, tiny: Matrix, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, runs.Ran]:
    """A whole run."""
    directory = tmp_path_factory.mktemp("finished") / "report"
    return directory, run_matrix(tiny, spark=spark, report=directory, narrate=quiet)


def test_a_run_has_the_rows_and_the_digest_of_the_loop(finished: tuple[Path, runs.Ran], tiny: Matrix) -> None:
    directory, ran = finished
    rows = list(all_rows(tiny, tiny.share(tiny.total)))
    assert ran.judgement.passed
    assert ran.judgement.rows == tiny.total
    assert ran.judgement.digest == digest(tiny.digest, tally(rows))
    content = json.loads((directory / "results.json").read_text("utf-8"))
    jsonschema.validate(content, SCHEMA)
    assert content["digest"] == ran.judgement.digest
    assert content["run"]["exit_code"] == 0
    assert [cell["rows"] for cell in content["cells"]] == [20] * 6


def test_spark_and_sqlite_answer_all_questions_alike(finished: tuple[Path, runs.Ran], tiny: Matrix) -> None:
    content = json.loads((finished[0] / "results.json").read_text("utf-8"))
    with closing(SqliteStore(tiny, all_rows(tiny, tiny.share(tiny.total)))) as store:
        assert content["overview"] == json.loads(json.dumps(as_data(overview(tiny, store))))
        found = judge(tiny, store, tiny.share(tiny.total))
    assert [(item.met, item.broken, item.offenders) for item in found.budgets] == [
        (item.met, item.broken, item.offenders) for item in finished[1].judgement.budgets
    ]


def test_a_run_says_what_it_took_outside_of_its_digest(finished: tuple[Path, runs.Ran], tiny: Matrix) -> None:
    took = json.loads((finished[0] / "results.json").read_text("utf-8"))["took"]
    found, memory = from_data(took)
    rows = list(all_rows(tiny, tiny.share(tiny.total)))
    document = tiny.columns.index("document")
    for one in found:
        mine = [row for row in rows if row[tiny.columns.index("size")] == one.size]
        assert (one.scenarios, one.documents) == (len(mine), sum(row[document] for row in mine))
        assert one.seconds > 0
        assert one.rate > 0 < one.throughput
    assert [one.size for one in found] == [100, 300]
    assert memory is not None
    assert memory.together > memory.jvm > 100_000_000
    assert memory.together > memory.workers >= memory.worker > 10_000_000
    assert memory.driver > 10_000_000


def test_the_page_is_one_file_that_asks_for_nothing(finished: tuple[Path, runs.Ran]) -> None:
    page = (finished[0] / "index.html").read_text("utf-8")
    assert "Within budget" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "model against model" in page
    summary = (finished[0] / "summary.md").read_text("utf-8")
    assert "| ✓ | FR12 | The event grows by 1 byte |" in summary


def test_neither_the_cut_nor_a_worker_that_is_killed_changes_the_digest(
    spark: Any, tiny: Matrix, finished: tuple[Path, runs.Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = [Block(cell, first, 4) for cell in range(6) for first in range(0, 20, 4)]
    group = Group(tuple(range(6)), tuple((block, blocks[number - 15]) for number, block in enumerate(blocks[:15])), 120)
    assert sorted(block for task in group.tasks for block in task) == sorted(blocks)
    marker = str(tmp_path / "killed")
    true = stores.__dict__["Blocks"]

    def killing(matrix: Matrix, tasks: tuple[plan.Task, ...]) -> Any:
        work = true(matrix, tasks)

        def run_(batches: Iterator[Any]) -> Iterator[Any]:
            import os
            import signal

            for number, batch in enumerate(work(batches)):
                yield batch
                if number == 0:
                    try:
                        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                    except FileExistsError:
                        continue
                    os.kill(os.getpid(), signal.SIGKILL)

        return run_

    monkeypatch.setattr(stores, "Blocks", killing)
    store = SparkStore(spark, tiny, str(tmp_path / "rows"))
    store.write(group)
    assert (tmp_path / "killed").exists()
    assert digest(tiny.digest, store.tallies()) == finished[1].judgement.digest


@pytest.mark.nightly
def test_a_run_that_was_broken_off_goes_on_where_it_was(
    spark: Any, tiny: Matrix, finished: tuple[Path, runs.Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "GROUP_SECONDS", 0.005)  # a group for every few cells
    written: list[tuple[int, ...]] = []
    write = SparkStore.write

    def counted(self: SparkStore, group: Group) -> None:
        if len(written) == 1:
            written.append(())
            raise KeyboardInterrupt
        write(self, group)
        written.append(group.cells)

    monkeypatch.setattr(SparkStore, "write", counted)
    with pytest.raises(KeyboardInterrupt):
        run_matrix(tiny, spark=spark, report=tmp_path, narrate=quiet)
    assert not (tmp_path / "results.json").exists()
    assert 0 < len(written[0]) < 6
    said: list[str] = []
    ran = run_matrix(tiny, spark=spark, report=tmp_path, narrate=said.append)
    assert said[0] == f"going on with {tmp_path}: {20 * len(written[0])} of 120 scenarios are there"
    assert sorted(cell for cells in written for cell in cells) == list(range(6))
    assert ran.facts.resumed == 20 * len(written[0])
    assert ran.judgement.passed
    assert ran.judgement.digest == finished[1].judgement.digest


@pytest.mark.nightly
def test_only_the_tasks_without_rows_are_run_again(
    spark: Any, tiny: Matrix, finished: tuple[Path, runs.Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that is killed in the middle of a job: the rows of the tasks that had ended are there, whole."""
    written: list[int] = []
    write = SparkStore.write

    def broken_off(self: SparkStore, group: Group) -> None:
        written.append(len(group.tasks))
        if len(written) == 1:
            write(self, group._replace(tasks=group.tasks[:2]))
            raise KeyboardInterrupt
        write(self, group)

    monkeypatch.setattr(SparkStore, "write", broken_off)
    with pytest.raises(KeyboardInterrupt):
        run_matrix(tiny, spark=spark, report=tmp_path, narrate=quiet)
    monkeypatch.setattr(runs, "cores_of", lambda _: 64)  # another machine: the cut stays that of the rows
    ran = run_matrix(tiny, spark=spark, report=tmp_path, narrate=quiet)
    assert written[1] == written[0] - 2
    assert 0 < ran.facts.resumed < tiny.total
    assert ran.judgement.digest == finished[1].judgement.digest
    assert ran.judgement.passed


@pytest.mark.sampled(2)
@pytest.mark.planted("FR11", "FR12")
@pytest.mark.parametrize("fault", ["a-cell-is-left-out", "a-row-is-counted-twice"])
def test_rows_that_were_tampered_with_are_no_result(
    fault: str, spark: Any, tiny: Matrix, finished: tuple[Path, runs.Ran], tmp_path: Path
) -> None:
    directory = tmp_path / "report"
    shutil.copytree(finished[0], directory)
    place = f"{directory / ROWS}/{tiny.name}-{tiny.digest}-{tiny.total}"
    head, *cells = (directory / MANIFEST).read_text("utf-8").splitlines()
    moved = json.loads(head) | {"rows": place}
    (directory / MANIFEST).write_text("\n".join([json.dumps(moved), *cells]) + "\n", "utf-8")
    (part, *_) = sorted((directory / ROWS).glob("*/cells=*/*.parquet"))
    if fault == "a-cell-is-left-out":
        part.unlink()
    else:
        shutil.copy(part, part.with_name("part-again.parquet"))
    ran = run_matrix(tiny, spark=spark, report=directory, narrate=quiet)
    assert ran.judgement.unsound
    assert ran.results["run"]["exit_code"] == 4
    assert not ran.results["run"]["complete"]


@pytest.mark.planted("FR5")
@pytest.mark.parametrize("fault", ["damage/any-operation", "null/stays-null"])
def test_workers_see_a_planted_fault_and_its_budget_fails(fault: str, spark: Any) -> None:
    """Two of many: ``python -m tests.faults --spark`` plants all."""
    matrix = load_matrix("safety")
    (outcome,) = faulty_runs(spark, matrix, [fault], 900).values()
    (budget,) = (budget for budget, faults in BROKEN_BY["safety"].items() if fault in faults)
    assert outcome.caught(budget, "FR5")


def test_the_command_says_what_came_out(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def mine(_: str) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr("scenarios.spark.session.session", mine)
    report = str(tmp_path / "report")
    assert run(["matrix", "run", "safety", "--scenarios", "400", "--report", report]) == 0
    captured = capsys.readouterr()
    content = json.loads((tmp_path / "report/results.json").read_text("utf-8"))
    assert captured.out == content["digest"] + "\n"
    assert "400 scenarios in 112 cells: 6 of 6 budgets hold, 0 unexplained rows." in captured.err
    assert content["run"]["command"].startswith("binlog-lab matrix run safety --scenarios 400 --master 'local[*]'")
