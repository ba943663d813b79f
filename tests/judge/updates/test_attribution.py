"""From a doctored observation to ``results.json``: the rows that turn red are those that are due, and no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.row_images import RowImage
from conformance.checks.updates.campaign import UpdateCampaign
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.updates.blocks import judge_block
from conformance.report.results import Summary, write_results
from tests.faults.runner import each
from tests.judge.doctoring import ONE_DIFF, diffs, row, script
from tests.judge.perfect_server import observe
from tests.judge.updates.planted_observations import FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script
    from conformance.reference.binlog.rows import Row
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault

JUDGED: Final = {"FR1", "D2", "D5", "D6", "D7", "F3", "FR2", "IP1", "IP2"}


def red(made: Script, observation: Observation, folder: Path, *, times: int = 1) -> set[str]:
    """The rows of ``results.json`` that are red."""
    records: list[AnyRecord] = []
    campaign = UpdateCampaign(Lab(Settings(server="none", cases=folder), records.append))
    for number in range(times):
        campaign.record(judge_block(made, observation, number, 0.0))
    write_results(Summary(records), folder / "results.json")
    rows = json.loads((folder / "results.json").read_text("utf-8"))["requirements"]
    assert set(rows) == JUDGED
    assert all((row["verdict"] not in ("pass", "deviates")) is bool(row["failed"]) for row in rows.values())
    return {name for name, row in rows.items() if row["failed"]}


def test_a_perfect_server_turns_nothing_red(tmp_path: Path) -> None:
    assert red(script(), observe(script()), tmp_path) == set()


@each(FAULTS)
def test_a_fault_turns_red_what_is_due_and_nothing_else(fault: Fault, tmp_path: Path) -> None:
    made = script(**fault.run)
    assert red(made, observe(made, **fault.change), tmp_path) == fault.due


@pytest.mark.planted("D7")
def test_diffs_in_a_before_image_are_the_seventh_condition(tmp_path: Path) -> None:
    made = script(image=RowImage.FULL)
    place = 2  # of the document that the statement changes

    def changed(old: Row) -> Row:
        assert old.before is not None
        return old._replace(before=(*old.before[:place], ONE_DIFF[4:], *old.before[place + 1 :]))

    assert red(made, observe(made, **row("one diff", changed)), tmp_path) == {"D7", "F3"}


def test_no_colour_depends_on_how_many_failures_there_were(tmp_path: Path) -> None:
    """Only the first fifty failures of a run have a record of their own."""
    made = script()
    wrong = observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=6)]))
    assert red(made, wrong, tmp_path, times=120) == {"F3", "FR2"}
