"""Variations that the worklog leaves free are differences in the stream: failures inside the observed versions only."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.checks.updates.campaign import UpdateCampaign
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.updates.blocks import judge_block
from conformance.stream import Block, CaseVerdict
from conformance.verdict import Verdict
from tests.faults.runner import each
from tests.judge.doctoring import script
from tests.judge.perfect_server import observe
from tests.judge.updates.test_permitted_variation import FAULTS, VARIATIONS

if TYPE_CHECKING:
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault


def recorded(twin: Fault, version: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> tuple[set[Verdict], int]:
    """The verdicts on the events of a doctored block, and how many of its cases count as failures."""
    monkeypatch.setattr(Lab, "version", version)
    records: list[AnyRecord] = []
    made = script()
    result = judge_block(made, observe(made, **twin.change), 0, time.perf_counter())
    UpdateCampaign(Lab(Settings(server="none"), records.append)).record(result)
    check = "updates/event-bytes"
    verdicts = {item.verdict for item in records if isinstance(item, CaseVerdict) and item.check == check}
    (block,) = (item for item in records if isinstance(item, Block) and item.check == check)
    return verdicts, block.failures


@pytest.mark.parametrize("twin", VARIATIONS, ids=lambda twin: twin.id)
def test_a_permitted_variation_is_no_failure_of_a_server_that_nobody_observed(
    twin: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recorded(twin, (9, 7, 4), monkeypatch) == ({Verdict.DIFFERS}, 1)
    assert recorded(twin, (99, 0, 0), monkeypatch) == ({Verdict.DIFFERS}, 0)


@each(FAULTS)
def test_what_goes_beyond_fails_every_server(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ((9, 7, 4), (99, 0, 0)):
        verdicts, failures = recorded(fault, version, monkeypatch)
        assert Verdict.FAIL in verdicts
        assert failures
