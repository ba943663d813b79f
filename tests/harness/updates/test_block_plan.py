"""Every block of a campaign is the plan's next, with as many updates as it says; and what was given up is told."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.updates.campaign import UpdateCampaign
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.updates.blocks import block_sizes, judge_block
from conformance.harness.updates.run import CampaignFailed
from conformance.report.results import Summary
from conformance.report.wording import headline
from tests.judge.doctoring import diffs, script
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.harness.updates.blocks import BlockResult
    from conformance.stream import AnyRecord


def block(number: int, size: int) -> BlockResult:
    result = judge_block(script(), observe(script()), number, 0.0)
    result.judgement.updates = size
    return result


def run(folder: Path, change: Callable[[list[BlockResult]], object]) -> list[AnyRecord]:
    """A run of 230 updates whose campaign gives other blocks than its plan has."""
    results = [block(number, size) for number, size in enumerate(block_sizes(230))]
    change(results)

    def answer() -> Iterator[BlockResult]:
        yield from results

    records: list[AnyRecord] = []
    made: Any = SimpleNamespace(results=answer, totals=SimpleNamespace(seconds=0.0))
    lab = Lab(Settings(cases=folder, updates=230, campaign=lambda *_, **__: made), records.append)
    server: Any = SimpleNamespace(number=(9, 7, 4), version="9.7.4", id="s")
    lab._server, lab._resolved = server, True
    UpdateCampaign(lab).run()
    return records


def twice(results: list[BlockResult]) -> None:
    results[1] = results[0]


def others_answer(results: list[BlockResult]) -> None:
    results[1] = replace(results[1], number=2)


def shorter(results: list[BlockResult]) -> None:
    results[1].judgement.updates = 0


def test_the_plan_is_kept(tmp_path: Path) -> None:
    assert Summary(run(tmp_path, lambda _: None)).counters["updates_compared"] == 230


@pytest.mark.planted("FR1")
@pytest.mark.parametrize(
    ("change", "words"),
    [(twice, "block 0 with 100 updates"), (others_answer, "block 2 with 100 updates"), (shorter, "block 1 with 0")],
)
def test_another_block_than_the_plans_next_ends_the_campaign(
    tmp_path: Path, change: Callable[[list[BlockResult]], object], words: str
) -> None:
    with pytest.raises(CampaignFailed, match=f"the plan has block 1 with 100 updates, and {words}"):
        run(tmp_path, change)


def test_a_headline_says_how_many_updates_were_given_up(tmp_path: Path) -> None:
    made = script()
    wrong = observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=6)]))
    result = judge_block(made, wrong, 0, 0.0)
    result.judgement.marked = 7
    records: list[AnyRecord] = []
    UpdateCampaign(Lab(Settings(server="none", cases=tmp_path), records.append)).record(result)
    assert "7 updates given up behind the first difference of a row." in headline(Summary(records))
