"""A replica's file shows that diffs reach its engine as ranges; any other change of it is a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.lob_pages import replica
from conformance.harness.pairs.run import PairRun
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.checks.lob_pages.replica import Predicted, Replayed
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

ROWS = 6


@pytest.fixture(scope="module")
def replayed(server: ProcessServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayed]:
    """The replay of some updates on a replica of the tests' server."""
    cases: Path = tmp_path_factory.mktemp("cases")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.harness.session.resolve", lambda *_, **__: server)
        lab = Lab(Settings(cases=cases), lambda _: None)
        try:
            with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
                yield replica.replay(run, Stream("planted"), ROWS)
        finally:
            lab.pairs().close()


def test_a_replica_has_no_problem(replayed: Replayed) -> None:
    assert replica.told(replica.judge_diffs(replayed)) == []
    assert replica.told(replica.judge_whole(replayed)) == []
    assert replica.judge_bytes(replayed) == []


def documents_came_whole(replayed: Replayed) -> Replayed:
    """The first updates, if the replica had replayed them as whole documents: each is a new large object."""
    rows = {row: replayed.after_whole.rows[row]._replace(document=stored.document)
            for row, stored in replayed.after_diffs.rows.items()}  # fmt: skip
    return replayed._replace(after_diffs=replayed.after_diffs._replace(rows=rows))


def nothing_applied(replayed: Replayed) -> Replayed:
    return replayed._replace(after_diffs=replayed.before)


def another_document(replayed: Replayed) -> Replayed:
    row = replayed.after_diffs.rows[0]
    rows = {**replayed.after_diffs.rows, 0: row._replace(document=row.document[:-1] + b"?")}
    return replayed._replace(after_diffs=replayed.after_diffs._replace(rows=rows))


def _with_ranges(replayed: Replayed, change: Callable[[Predicted], Predicted]) -> Replayed:
    return replayed._replace(diffs={row: change(predicted) for row, predicted in replayed.diffs.items()})


def one_range_forgotten(replayed: Replayed) -> Replayed:
    return _with_ranges(replayed, lambda told: told._replace(ranges=told.ranges[1:]))


def ranges_moved(replayed: Replayed) -> Replayed:
    return _with_ranges(
        replayed, lambda told: told._replace(ranges=tuple((offset + 7, length) for offset, length in told.ranges))
    )


@pytest.mark.planted("FR6")
@pytest.mark.parametrize("plant", [documents_came_whole, nothing_applied, another_document, ranges_moved])
def test_another_change_of_the_file_is_a_problem(replayed: Replayed, plant: Callable[[Replayed], Replayed]) -> None:
    assert replica.told(replica.judge_diffs(plant(replayed)))


@pytest.mark.planted("FR6")
def test_a_document_that_comes_whole_and_keeps_its_pages_is_a_problem(replayed: Replayed) -> None:
    assert replica.told(replica.judge_whole(replayed._replace(after_whole=replayed.after_diffs)))


@pytest.mark.planted("FR6")
def test_a_new_large_object_with_another_version_is_a_problem(replayed: Replayed) -> None:
    row = replayed.after_whole.rows[0]
    assert row.lob is not None
    assert row.lob.reference is not None
    lob = replace(row.lob, reference=row.lob.reference._replace(version=2))
    rows = {**replayed.after_whole.rows, 0: row._replace(lob=lob)}
    changed = replayed._replace(after_whole=replayed.after_whole._replace(rows=rows))
    assert replica.told(replica.judge_whole(changed))


@pytest.mark.planted("LOB11")
@pytest.mark.parametrize("plant", [one_range_forgotten, ranges_moved])
def test_bytes_outside_of_the_ranges_are_a_problem(replayed: Replayed, plant: Callable[[Replayed], Replayed]) -> None:
    assert replica.judge_bytes(plant(replayed))
