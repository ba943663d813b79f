"""The checks of WL#7053's model: the model passes, and each planted fault fails the check of its requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.sdi_design import check as checks
from conformance.checks.sdi_design.life import Life
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.stream import Block
from tests import running
from tests.checks.sdi_design.faults_of_sdi_design import CALL_FAULTS, GUARANTEE_FAULTS, PURGE_FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.stream import AnyRecord
    from tests.checks.fault import Fault

SMALL = {"sdi_design/calls": 3_000, "sdi_design/crashes": 500, "sdi_design/purge": 50}


@pytest.fixture
def records() -> list[AnyRecord]:
    return []


@pytest.fixture
def lab(records: list[AnyRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    for name, size in SMALL.items():
        monkeypatch.setitem(SIZES[name], "quick", size)
    return Lab(Settings(server="none", cases=tmp_path, seed="1"), records.append)


def test_the_model_passes_without_a_server(lab: Lab, records: list[AnyRecord]) -> None:
    running.run(checks.test_calls_of_the_interface, lab)
    running.run(checks.test_a_copy_is_readable_after_a_crash_at_any_moment, lab)
    running.run(checks.test_two_purge_threads_can_leave_no_copy, lab)
    blocks = [record for record in records if isinstance(record, Block)]
    assert sum(block.cases for block in blocks) == sum(SMALL.values())
    assert {name for block in blocks for name in block.requirements} == {"SDI24", "SDI34", "SDI42", "SDI62"}


@pytest.mark.parametrize("fault", GUARANTEE_FAULTS, ids=lambda fault: fault.id)
def test_the_guarantee_is_broken_by(lab: Lab, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """At a crash, and not only at the comparison behind each change."""
    fault.change(monkeypatch)
    monkeypatch.setattr(Life, "settle", lambda _: None)
    with pytest.raises(pytest.fail.Exception, match="a crash leaves no copy"):
        running.run(checks.test_a_copy_is_readable_after_a_crash_at_any_moment, lab)


@pytest.mark.parametrize("fault", CALL_FAULTS, ids=lambda fault: fault.id)
def test_a_wrong_call_is_noticed(lab: Lab, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault.change(monkeypatch)
    with pytest.raises(pytest.fail.Exception, match="gives another answer"):
        running.run(checks.test_calls_of_the_interface, lab)


@pytest.mark.parametrize("fault", PURGE_FAULTS, ids=lambda fault: fault.id)
def test_a_purge_that_does_no_harm_is_noticed(lab: Lab, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault.change(monkeypatch)
    with pytest.raises(pytest.fail.Exception, match="two purge threads do no harm"):
        running.run(checks.test_two_purge_threads_can_leave_no_copy, lab)
