"""Every script for a bug report, run: what its own output shows. The fault of each listed deviation; of a sound Case
nothing; of a Case whose prediction was altered, that difference."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.topology import RebuiltRows, ReplicaSettings, Topology
from conformance.cases.update_case import Step
from conformance.harness.pairs.rebuilding import KINDS
from conformance.harness.scripts import update
from conformance.harness.scripts.of_case import script_of
from conformance.harness.scripts.of_deviation import script_of_deviation
from conformance.harness.scripts.relay_log import BY_CHANCE
from conformance.harness.updates.blocks import Limits, make_script
from conformance.reference.dialect import flipped
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment, Call, Column, Function
from conformance.requirements.crashes import PRINTING, TRANSACTION_CONTEXT
from conformance.requirements.deviations import load_deviations
from conformance.requirements.versions import applies
from tests.checks.replicas.test_rebuilding import CASE
from tests.harness.script_runs import run_script

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.update_case import UpdateCase
    from conformance.requirements.deviations import Deviation
    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live

_TIMES = 20  # that a script is run again, on fresh servers that die by chance
# Of each: the check that shows it, and a part of what its output says was got there.
SHOWN = {
    "unchanging-replace": ("the replica takes the log", "ERROR 3648"),
    "lookup-by-before-image": ("the applier of REPLICA: whether it runs, and its error", "No 1032"),
    "sql-log-bin-without-warning": ("the option is on, and loses its effect", "success, no warning"),
    "warning-1-text": ("SET SESSION binlog_row_value_options", "the option binlog_row_value_options=PARTIAL_JSON"),
    "invalid-text-in-diffs": ("the row", "a text that is NULL"),
    "full-values-unread": ("the event", "success"),
    "wide-decimal-in-diff": ("the event", "error "),
    "diffs-miss-triggers": ("the replica's row 1, column j", '"n": 5'),
    "storage-misses-triggers": ("row 1, column j, after statement 1", '"n": 5'),
    "rows-version-1-refused": ("an old source's UPDATE_ROWS_V1 is applied", "error 1730"),
    "nests-without-limit": ("statement 1", "success"),
    "unknown-field-read-inside": ("the same with field 14 in front, whose value is five bytes ff", "error 1105"),
}
CALL = Call(Function.JSON_REMOVE, Column("j"), (("$.a", None),))
SETTINGS = ReplicaSettings(image=RowImage.MINIMAL, partial_json=True, workers=1)
RETYPED = next(kind for kind in KINDS if kind.name == "retyped")


def removing() -> UpdateCase:
    """One row, one JSON_REMOVE that a source logs as a diff."""
    document = encode({"a": 1, "pad": "p" * 40})
    rows = ((1, 0, document),)
    steps = (Step((Assignment("j", CALL),), (0,)),)
    return replace(CASE, id="removing", session=Session(row_image=RowImage.MINIMAL), rows=rows, steps=steps)


def row_shown(deviation: Deviation) -> str:
    """The value in the one row that shows the deviation; empty for those that errors and warnings show."""
    case = json.loads(deviation.witness or "{}")
    found = [
        outcome["rows"][0][0]
        for statement in case.get("statements", ())
        for outcome in statement.get("outcomes", ())
        if outcome.get("deviation") == deviation.id and outcome.get("rows")
    ]
    return str(found[0]) if found else ""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("deviation", load_deviations(), ids=lambda deviation: deviation.id)
def test_the_script_of_each_deviation_shows_the_fault(
    installation: Installation, deviation: Deviation, tmp_path: Path
) -> None:
    if not applies(deviation.versions, installation.number):
        pytest.skip(f"needs a server of {deviation.versions}")
    script = script_of_deviation(deviation)
    told = run_script(installation, script, tmp_path)
    damage = "" if deviation.crash is None else deviation.crash.damage
    if damage in BY_CHANCE:
        for _ in range(_TIMES):
            if not told.lives or told.faults:
                break
            told = run_script(installation, script, tmp_path)
    if damage == TRANSACTION_CONTEXT and told.lives:
        # One in eight servers dies, as the check saw it; the applier of most of the others waits for ever.
        assert [(check.what, check.got) for check in told.faults] == [("the applier, told to stop", "waits for ever")]
        return
    if deviation.crash is None:
        assert told.lives, told.text
        if row := row_shown(deviation):  # a script prints rows for its reader to compare
            assert row in told.text
            return
        what, got = SHOWN.get(deviation.id, ("", ""))
        assert any(what in check.what and got in check.got for check in told.faults), told.text
    elif deviation.crash.during == PRINTING:
        (check,) = told.checks
        assert check.got == f"exit status {128 + deviation.crash.signal}", told.text
        assert check.verdict == "FAULT"
    else:
        assert not told.lives, told.text
        assert "lives" in told.text.partition("Lost connection")[0], told.text
        assert "Lost connection to MySQL server" in told.text


def test_scripts_of_sound_cases_show_no_fault(installation: Installation, tmp_path: Path) -> None:
    """With a replica that is given the log; among them statements that are refused, and columns of other types."""
    for number in range(2):
        case = replace(make_script("scripts", number, Limits(), updates=30).case, id="script")
        told = run_script(installation, script_of(case), tmp_path)
        assert told.checks
        assert not told.faults, told.text


@pytest.mark.parametrize("altered", ["prediction", "statement"])
def test_the_script_of_a_failing_case_shows_its_difference(
    installation: Installation, altered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prediction is wrong (JSON_REMOVE is never logged as a diff), or the statement removes another member."""
    case = removing()
    if altered == "prediction":
        monkeypatch.setattr(update, "RIGHT", flipped(update.RIGHT, "partial_remove"))
    script = script_of(case)
    if altered == "statement":
        wrong = script.replace("'$.a'", "'$.pad'")
        assert wrong != script
        script = wrong
    told = run_script(installation, script, tmp_path)
    shown = [check.what for check in told.faults]
    if altered == "prediction":
        assert "log of statement 1" in shown, told.text
    else:
        assert "row 1, column j, after statement 1" in shown, told.text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", ["retyped", "copied", "dumped"])
@pytest.mark.parametrize("gtid", [True, False])
def test_the_script_of_a_sound_case_on_a_pair_shows_no_fault(
    installation: Installation, make: str, gtid: bool, tmp_path: Path
) -> None:
    if make == "dumped" and not gtid:
        pytest.skip("a dump sets GTIDs")
    case = RETYPED.prepare(CASE, trap=False)
    rule = RebuiltRows(after=len(RETYPED.steps(CASE)), make=make)
    topology = Topology(gtid=gtid, replicas=(SETTINGS,), rebuild=rule)
    told = run_script(installation, script_of(replace(case, id="u-1", topology=topology)), tmp_path)
    assert len(told.checks) > 3
    assert not told.faults, told.text


def test_the_script_of_a_chain_follows_to_its_last_server(installation: Installation, tmp_path: Path) -> None:
    topology = Topology(gtid=True, replicas=(SETTINGS, replace(SETTINGS, partial_json=False)))
    told = run_script(
        installation, script_of(replace(RETYPED.prepare(CASE, trap=False), id="u-2", topology=topology)), tmp_path
    )
    whats = [check.what for check in told.checks]
    assert "the applier of LAST: whether it runs, and its error" in whats, told.text
    assert any(what.startswith("the replica's row 1") for what in whats)
    assert not told.faults, told.text
