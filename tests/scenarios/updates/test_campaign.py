"""The update campaign on Spark gives the blocks of the local one, and a server that fails is told, not tried again."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.harness.updates import blocks as made
from conformance.harness.updates.blocks import Limits
from conformance.harness.updates.run import Campaign, CampaignFailed, Totals
from conformance.servers.errors import ConnectionLost, ServerError
from scenarios.spark.session import cores_of
from scenarios.updates import campaign as on_spark
from scenarios.updates import worker
from scenarios.updates.campaign import SparkCampaign
from scenarios.updates.worker import Job, result_of, run_one
from tests.faults.fault import Fault
from tests.faults.runner import each

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer

pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")

JOB = Job(
    spec="process", options={}, wrapper="", version="9.7.4", seed=3, limits=Limits(), portable=False
)  # fmt: skip


def facts(result: Any) -> tuple[Any, ...]:
    """The facts that are the same for each server. Bytes are not: compressed transactions have their times in them."""
    judgement = result.judgement
    counts = (judgement.updates, judgement.events, judgement.texts, judgement.sizes)
    return result.number, result.digest, result.census, counts, judgement.mismatches, result.statements


@pytest.mark.nightly
@pytest.mark.live
@pytest.mark.spark
def test_blocks_are_those_of_the_local_campaign_though_a_worker_is_killed(
    spark: Any, server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each worker has a server of its own; one is killed in the middle of a task, and its server ends with it."""
    monkeypatch.setattr(on_spark, "TASK_BLOCKS", 2)
    marker = str(tmp_path / "killed")

    class Killing(worker.Blocks):
        def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
            for number, row in enumerate(super().__call__(batches)):
                yield row
                if number == 0:
                    try:
                        place = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                    except FileExistsError:
                        continue
                    os.write(place, str(vars(worker._kept[0].server)["pid"]).encode())
                    os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(on_spark, "Blocks", Killing)
    campaign = SparkCampaign(spark, server, spec="process", directory=tmp_path / "updates", seed=3, updates=730)
    found = list(campaign.results())
    local = list(Campaign(server, seed=3, updates=730, workers=1).results())
    assert list(map(facts, found)) == list(map(facts, local))
    assert campaign.totals.census == sum((result.census for result in local), type(local[0].census)())
    assert campaign.again > 0
    assert len(campaign.workers) <= cores_of(spark) + 1
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "killed").read_text("utf-8")), 0)
    rows = pq.read_table(tmp_path / "updates").to_pylist()
    assert [row["block"] for row in rows] == list(range(8))
    assert [facts(result_of(row)) for row in rows] == list(map(facts, local))
    assert sum(row["updates"] for row in rows) == campaign.totals.updates == 730


class _Server:
    def __init__(self, version: str) -> None:
        self.version = version

    def fate(self, error: ConnectionLost) -> ServerError:
        return ServerError(f"the server ended: {error}")


class _Session:
    """In the place of a worker's session: its blocks end as it is told."""

    ended = 0

    def __init__(self, outcome: Exception) -> None:
        self.outcome = outcome
        self.job = JOB
        self.server = _Server("9.7.4")

    def run(self, number: int, updates: int) -> Any:
        raise self.outcome

    def close(self) -> None:
        _Session.ended += 1


@pytest.mark.planted("FR1")
@pytest.mark.parametrize(
    ("outcome", "said", "ended"),
    [
        (ConnectionLost("gone"), "the server ended: gone", 1),
        (ServerError("refused"), "refused", 1),
        (ZeroDivisionError("x"), "the lab failed in block 7 of seed 3: ZeroDivisionError: x (test_campaign.py:", 0),
    ],
)
def test_a_block_that_fails_is_a_row_with_the_reason(
    outcome: Exception, said: str, ended: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception would make Spark run the task again, and a crash that happens once would be hidden."""
    monkeypatch.setattr(worker, "_kept", [_Session(outcome)])
    monkeypatch.setattr(_Session, "ended", 0)
    row = run_one(JOB, 7, 100)
    assert row["failure"].startswith(said)
    assert (row["block"], row["exit_code"]) == (7, 3)
    assert _Session.ended == ended
    assert len(worker._kept) == 1 - ended


@pytest.mark.live
def test_a_server_of_another_version_is_refused(server: ProcessServer, monkeypatch: pytest.MonkeyPatch) -> None:
    class Kept:
        def __enter__(self) -> ProcessServer:
            return server

        def __exit__(self, *_: object) -> None:
            """The session's server goes on."""

    monkeypatch.setattr(worker, "resolve", lambda *_: Kept())
    monkeypatch.setattr(worker, "_kept", [])
    assert "where the run is about 5.0.0" in run_one(replace(JOB, version="5.0.0"), 0, 100)["failure"]
    found = run_one(replace(JOB, version=server.version), 0, 10)
    worker.end_session()
    expected = made.digest(made.make_script(3, 0, Limits(), updates=10))
    assert (found["updates"], found["mismatches"], found["digest"]) == (10, 0, expected)


def _failing(rows: list[Any]) -> list[Any]:
    return [rows[0], rows[1] | {"failure": "the server ended", "exit_code": 1}, rows[2]]


HOLES = (
    Fault("a block fails", "FR1", "A campaign has all its blocks.", _failing, at=1, says="the server ended"),
    Fault("a block is missing", "FR1", "A campaign has all its blocks.", lambda rows: [rows[0], rows[2]], at=3,
          says="each once"),
    Fault("a block comes twice", "FR1", "A campaign has each block once.", lambda rows: [*rows, rows[1]], at=3,
          says="each once"),
)  # fmt: skip
"""``at``: the exit code."""


@each(HOLES)
def test_a_campaign_with_a_hole_is_no_result(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    rows = fault.change([{"block": number, "failure": None, "attempt": 0, "worker": "w"} for number in range(3)])
    columns = dict.fromkeys((*worker.COLUMNS,))
    table = pa.Table.from_pylist([columns | row for row in rows])
    monkeypatch.setattr(SparkCampaign, "groups", lambda _: [[(0, 100), (1, 100), (2, 100)]])
    monkeypatch.setattr(SparkCampaign, "_answer", lambda *_: table)
    monkeypatch.setattr(on_spark, "result_of", lambda _: made.judge_block)
    monkeypatch.setattr(Totals, "add", lambda *_: None)
    campaign = object.__new__(SparkCampaign)
    campaign.spark, campaign.directory, campaign.totals = None, tmp_path, Totals()
    campaign.again, campaign.workers = 0, set()
    with pytest.raises(CampaignFailed, match=fault.says) as failed:
        list(campaign.results())
    assert failed.value.exit_code == fault.at
