"""A machine without semaphores between processes (no /dev/shm): the same updates in one process."""

from __future__ import annotations

import multiprocessing.context
from typing import TYPE_CHECKING, Any

import pytest

from conformance.harness.updates import run
from conformance.harness.updates.blocks import UPDATES_PER_BLOCK
from conformance.servers.run.presence import has_semaphores

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer


def without_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def lock(_: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")  # what a semaphore says without /dev/shm

    monkeypatch.setattr(multiprocessing.context.BaseContext, "Lock", lock)


def schemas(server: ProcessServer) -> int:
    """How many schemas of labs there are."""
    with server.connect() as session:
        sql = r"SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'binlog\_lab\_%'"
        return int(session.execute(sql).scalar() or 0)


def test_semaphores_are_found_by_making_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_semaphores()
    without_shared_memory(monkeypatch)
    assert not has_semaphores()


@pytest.mark.live
def test_the_updates_of_one_process_are_those_of_several(
    server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def campaign() -> list[tuple[int, str]]:
        wanted = run.Campaign(server, seed=3, updates=UPDATES_PER_BLOCK + 20, workers=2)
        return [(result.number, result.digest) for result in wanted.results()]

    before = schemas(server)
    expected = campaign()
    assert [number for number, _ in expected] == [0, 1]
    without_shared_memory(monkeypatch)
    assert campaign() == expected
    assert run._worker == {}
    assert schemas(server) == before


@pytest.mark.live
def test_an_error_of_the_one_process_ends_the_campaign_and_its_session(
    server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("planted")

    without_shared_memory(monkeypatch)
    monkeypatch.setattr(run, "run_block", fail)
    with pytest.raises(run.CampaignFailed, match=r"in block 0 of seed 3: ValueError: planted"):
        list(run.Campaign(server, seed=3, updates=10).results())
    assert run._worker == {}
