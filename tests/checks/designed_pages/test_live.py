"""A real server shows each difference, and so does each witness; a witness that shows none is an error."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.checks.designed_pages import check
from conformance.checks.designed_pages.cases import all_cases
from conformance.checks.deviations import check as witnesses
from conformance.requirements.deviations import load_deviations
from conformance.stream import Block
from tests.running import run

if TYPE_CHECKING:
    from tests.recorded import Recorded

pytestmark = pytest.mark.live

IDS = {deviation for case in all_cases() for deviation in case.statements[-1].deviations}


def counted(recorded: Recorded) -> Counter[str]:
    return sum((Counter(block.deviations) for block in recorded.of(Block)), Counter())


def test_each_difference_is_seen_and_is_a_listed_one(recorded: Recorded) -> None:
    recorded.lab.deviations = load_deviations()
    run(check.test_pages, recorded.lab)
    assert set(counted(recorded)) == IDS
    assert recorded.failing == set()


def test_without_the_list_each_is_a_failure(recorded: Recorded) -> None:
    recorded.lab.deviations = ()
    recorded.fails(check.test_pages)
    assert len(recorded.failing) == 8


def test_each_witness_shows_its_difference(recorded: Recorded) -> None:
    recorded.lab.deviations = tuple(entry for entry in load_deviations() if entry.id in IDS)
    run(witnesses.test_witnesses, recorded.lab)
    assert counted(recorded) == Counter(IDS)
    assert recorded.failing == set()


def test_a_difference_that_has_gone_is_an_error_of_the_list(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded.lab.deviations = tuple(entry for entry in load_deviations() if entry.id in IDS)
    monkeypatch.setattr(witnesses, "judge_live_sql", lambda *_: ())
    recorded.fails(witnesses.test_witnesses, "the list is in error")


def test_a_guest_keeps_its_global_variables(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded.lab.deviations = tuple(entry for entry in load_deviations() if entry.id == "sdi-not-flushed")
    server = recorded.lab.server
    assert server is not None
    monkeypatch.setattr(server, "started_by_us", False)
    monkeypatch.setattr(witnesses, "judge_live_sql", lambda *_: pytest.fail("the witness was run"))
    run(witnesses.test_witnesses, recorded.lab)
    assert [block.verdicts for block in recorded.of(Block)] == [{"not-applicable": 1}]
