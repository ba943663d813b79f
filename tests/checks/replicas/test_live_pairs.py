"""The checks on pairs with faults in them, on real servers: a doctored replica fails, an unknown stop fails."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.files import load_case
from conformance.cases.row_images import RowImage
from conformance.checks.replicas import check as test_replicas
from conformance.checks.replicas import check_rebuilt as test_rebuilt_replicas
from conformance.harness import findings
from conformance.harness.pairs import appliers, rebuilding
from conformance.harness.pairs import run as pairs
from conformance.harness.pairs import shrinking as pair_shrinking
from conformance.harness.pairs import tables as pair_tables
from conformance.harness.pairs.run import REPLICAS, SOURCES
from conformance.harness.profiles import SIZES
from conformance.harness.updates.run import server_limits
from conformance.judge import replica
from conformance.stream import Block, CaseVerdict, Finding
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from conformance.judge.replica import Stop, Table
    from conformance.judge.updates.mismatch import Mismatch
    from conformance.servers.run.process import ProcessServer
    from tests.recorded import Recorded

pytestmark = pytest.mark.live
MINIMAL: Final = RowImage.MINIMAL


@pytest.fixture(autouse=True)
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["replicas/rows/settings"], "quick", 1)


def test_without_a_fault_the_check_passes_on_both_kinds_of_pairs(recorded: Recorded) -> None:
    for gtid in (True, False):
        run(test_replicas.test_replica_equals_source, recorded.lab, gtid=gtid)
    assert recorded.failing == set()
    assert {("FR2",), ("FR6",)} <= {item.requirements for item in recorded.of(Block)}


def test_before_images_of_a_sound_replica_pass(recorded: Recorded) -> None:
    run(test_replicas.test_before_images_of_the_replica, recorded.lab)
    assert recorded.failing == set()
    cases = sum(item.cases for item in recorded.of(Block) if item.requirements == ("A7",))
    assert cases >= 50


SET_OTHERWISE: Final = (
    Fault("replica-really-logs-full", "FR6", "images follow the replica's own image setting", RowImage.FULL,
          at="replicas/narrow/own-log"),
    Fault("before-image-of-noblob", "A7", "under MINIMAL the replica's own before-image is the key", RowImage.NOBLOB,
          at="replicas/narrow/own-log/before-images"),
)  # fmt: skip
"""The image that the replicas really have, and the check that must notice where MINIMAL is due."""


@each(SET_OTHERWISE)
def test_a_replica_that_logs_other_images_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    told = pairs.replica_binlog_settings
    monkeypatch.setattr(
        pairs, "replica_binlog_settings", lambda *asked: dataclasses.replace(told(*asked), image=MINIMAL)
    )
    others = tuple(dataclasses.replace(item, image=fault.change) for item in REPLICAS if item.image is MINIMAL)
    monkeypatch.setattr(test_replicas, "narrow_replicas", lambda: others)
    monkeypatch.setitem(SIZES["replicas/narrow"], "quick", 2)
    monkeypatch.setattr(findings, "SECONDS", 1.0)
    recorded.fails(test_replicas.test_before_images_of_the_replica, "failed: ")
    assert fault.at in recorded.failing
    assert fault.requirement in {item.requirement for item in recorded.of(CaseVerdict) if item.check == fault.at}
    assert "replicas/narrow" not in recorded.failing  # the rows themselves are right


def test_a_replica_with_another_row_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    original = pair_tables.probe

    def probe(*arguments: Any, revert: bool) -> Table:
        rows = original(*arguments, revert=revert)
        return rows[:-1] if revert else rows  # the replica's probe is undone, the source's is not

    monkeypatch.setattr(pair_tables, "probe", probe)
    recorded.fails(test_replicas.test_replica_equals_source, "failed: ", gtid=True)
    assert recorded.failing == {"replicas/rows/gtid"}
    shown = next(item for item in recorded.of(CaseVerdict) if item.verdict.failing)
    assert shown.field == "rows"
    assert shown.replay == f"binlog-lab replay {shown.case_file}"


@pytest.mark.nightly
def test_a_failure_on_a_pair_becomes_a_small_case_that_shows_it_again(
    recorded: Recorded, server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded.lab.deviations = ()  # as with --no-deviations
    recorded.lab.settings = dataclasses.replace(recorded.lab.settings, seed="5")  # its first block meets the trap
    kind = next(kind for kind in rebuilding.KINDS if kind.name == "retyped")
    monkeypatch.setattr(findings, "SECONDS", 60.0)  # a loaded machine needs more than the ten of a quiet one
    only = dataclasses.replace(kind, share=1)
    recorded.fails(test_rebuilt_replicas.test_rebuilt_replica, "failed: ", kind=only, met=Counter())
    (finding,) = recorded.of(Finding)
    assert finding.size_before
    assert finding.size_after
    assert finding.size_after < finding.size_before / 4
    assert finding.replay == f"binlog-lab replay {finding.case_file}"
    stored = load_case(json.loads(Path(finding.case_file or "").read_text("utf-8")))
    assert stored.topology is not None
    assert (stored.needs, stored.requirements, stored.id) == (("2S",), ("FR4",), finding.case)
    made = recorded.lab._pairs
    assert made is not None
    found = pair_shrinking.judge_on_pair(made, stored, server_limits(server))
    assert [(item.kind, item.deviation) for item in found] == [("stop", "refuse_unchanging_replace")]


def test_the_witness_stops_a_real_replica(recorded: Recorded) -> None:
    for requirement in ("FR2", "FR4"):
        run(test_replicas.test_witnesses_stop_a_replica, recorded.lab, requirement=requirement)
    blocks = recorded.of(Block)
    assert [item.deviations for item in blocks] == [{"unchanging-replace": 1}, {"lookup-by-before-image": 1}]


def test_a_stop_that_nobody_foretold_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    original = replica.judge_stop

    def elsewhere(expected: Any, transaction: Any, stop: Stop) -> Mismatch:
        return original(expected, transaction, replica.Stop(number=stop.number, message=stop.message, offset=1))

    monkeypatch.setattr(appliers, "judge_stop", elsewhere)
    recorded.fails(
        test_replicas.test_witnesses_stop_a_replica,
        r"unchanging-replace: the witness .* another difference",
        requirement="FR2",
    )
    (verdict,) = recorded.of(CaseVerdict)
    assert verdict.expected == "the deviation that the switch refuse_unchanging_replace explains"


def test_the_combinations_are_all_there() -> None:
    assert (len(set(REPLICAS)), len(set(SOURCES))) == (12, 24)
