"""A chain of three with a fault in it: a doctored last table or own log fails under FR6."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.replicas import check_chains as test_chains
from conformance.harness.pairs import chains
from conformance.harness.pairs import tables as pair_tables
from conformance.judge.replica_binlog import compare_replica_binlog
from conformance.stream import Block
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.script import Script
    from conformance.judge.replica import Texts
    from conformance.judge.replica_binlog import ReplicaBinlog, ReplicaBinlogSettings
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


@pytest.fixture
def first_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_chains, "OPTIONS", ((True, False, True), (False, True, False)))


def another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last server is asked first; what it prints is another document."""
    original = pair_tables._texts
    asked: list[int] = []

    def texts(*arguments: Any) -> Texts:
        rows = original(*arguments)
        asked.append(1)
        return tuple(tuple(b'"x"' for _ in row) for row in rows) if len(asked) % 2 else rows

    monkeypatch.setattr(pair_tables, "_texts", texts)


def judged_by_another_option(place: int) -> Callable[[pytest.MonkeyPatch], None]:
    """Plant another option of the middle server (``place`` 0) or of the last one, where the server's own log is judged.
    The log then has the events that a server with the wrong option writes."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[int] = []

        def compare(
            script: Script, log: Any, events: Any, settings: ReplicaBinlogSettings, schema: str, **more: Any
        ) -> ReplicaBinlog:
            asked.append(1)
            wrong = place == 0 or len(asked) % 2 == 0
            told = replace(settings, partial_json=settings.partial_json is not wrong)
            return compare_replica_binlog(script, log, events, told, schema, **more)

        monkeypatch.setattr(chains, "compare_replica_binlog", compare)

    return plant


DOCTORED: Final = (
    Fault("chain-last-row", "FR6", "the last server of a chain has the documents of the first", another_text,
          at="replicas/chains/gtid"),
    Fault("chain-middle-invents-diffs", "FR6", "a document that came whole is logged whole, on the middle server too",
          judged_by_another_option(0), at="replicas/chains/gtid/middle-log"),
    Fault("chain-last-follows-middle", "FR6", "each server of a chain writes event 39 iff its own option is on",
          judged_by_another_option(1), at="replicas/chains/gtid/last-log"),
)  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("first_options")
@each(DOCTORED)
def test_a_chain_with_a_fault_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault.change(monkeypatch)
    recorded.fails(test_chains.test_chain, "failed: ", gtid=True)
    assert recorded.failing == {fault.at}


@pytest.mark.usefixtures("first_options")
@pytest.mark.parametrize("gtid", [True, False])
def test_a_chain_without_a_fault_passes(recorded: Recorded, gtid: bool) -> None:
    run(test_chains.test_chain, recorded.lab, gtid=gtid)
    assert recorded.failing == set()
    counted = {item.check.rpartition("/")[2]: 0 for item in recorded.of(Block)}
    assert {"middle-log", "last-log"} < set(counted)


def test_every_combination_of_the_option_is_there() -> None:
    assert len(set(test_chains.OPTIONS)) == 8
    assert (True, False, True) in test_chains.OPTIONS
