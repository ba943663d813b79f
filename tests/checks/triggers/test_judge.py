"""The judge on updates of tables with triggers: the known server is explained, a faultless one passes, others fail."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from conformance.cases.case_sql import trigger_statement
from conformance.cases.files import load_case
from conformance.cases.script import TRIGGER_SWITCHES, build_script
from conformance.cases.shrinking.update_cases import candidates
from conformance.checks.triggers import generate as triggers
from conformance.harness.updates.blocks import judge_block
from conformance.harness.updates.events import check_events
from conformance.judge.updates.compare import judge, unreadable
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.jsonb.decode import decode
from conformance.reference.partial.expression import Assignment, Literal
from generators.draw import Stream
from tests.checks.triggers.faults_of_triggers import FAULTS
from tests.faults.runner import each
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.judge.updates.mismatch import Mismatch
    from tests.faults.fault import Fault

FAULTLESS = flipped(MYSQL, *TRIGGER_SWITCHES)


def witness(name: str) -> UpdateCase:
    text = resources.files("conformance.requirements").joinpath("witnesses", f"{name}.json").read_text("utf-8")
    return load_case(json.loads(text))


def found(script: Script, server: Script, **faults: object) -> list[Mismatch]:
    """The mismatches on a server that does what ``server`` predicts, but for the faults."""
    result = judge_block(script, observe(server, **faults), 0, 0.0)  # type: ignore[arg-type]
    return [*result.judgement.mismatches, *result.faults.found]


@pytest.mark.parametrize("name", ["diffs-miss-triggers", "storage-misses-triggers"])
def test_the_known_server_is_explained_by_the_switch_of_its_entry_alone(name: str) -> None:
    script = build_script(witness(name))
    assert {item.deviation for item in found(script, script)} == {name.replace("-", "_")}


@pytest.mark.parametrize("name", ["diffs-miss-triggers", "storage-misses-triggers"])
def test_a_faultless_server_has_no_mismatch(name: str) -> None:
    case = witness(name)
    assert found(build_script(case), build_script(case, dialect=FAULTLESS)) == []


def test_a_document_too_deep_is_refused_in_a_table_with_a_trigger_too() -> None:
    case = triggers.case(Stream("test", 0))
    value: object = 1
    for _ in range(101):
        value = [value]
    first, *rest = case.steps
    deep = replace(first, assignments=(Assignment(first.assignments[0].column, Literal(value)),))  # type: ignore[arg-type]  # a document
    script = build_script(replace(case, steps=(deep, *rest)))
    assert script.predictions[0].rows == ()
    assert {item.deviation for item in found(script, script)} <= set(TRIGGER_SWITCHES)


@pytest.mark.parametrize("seed", range(30))
def test_generated_cases_on_the_known_server_and_on_a_faultless_one(seed: int) -> None:
    case = triggers.case(Stream("test", seed))
    script = build_script(case)
    assert {item.deviation for item in found(script, script)} <= {"diffs_miss_triggers"}
    assert found(script, build_script(case, dialect=FAULTLESS)) == []


def test_generated_documents_outside_their_row_are_lost_in_ways_that_can_be_read_and_that_cannot() -> None:
    ways = set()
    for number in range(120):
        script = build_script(triggers.off_page(Stream("test", number)))
        for row in script.predictions[0].rows:
            ways |= {unreadable(stored) == "" for stored in row.change.stored_wrongly.values()}
            assert not row.change.stored_wrongly or row.change.logged
    assert ways == {True, False}


@each(FAULTS)
def test_a_planted_fault_is_found_and_not_explained(fault: Fault) -> None:
    case = witness(fault.at)
    server = build_script(case, dialect=MYSQL if fault.run else FAULTLESS)
    mismatches = found(build_script(case), server, **fault.change)
    assert [item for item in mismatches if item.deviation is None]


@pytest.mark.planted("D13", "FR2")
def test_diffs_that_miss_a_change_without_a_trigger_are_not_explained() -> None:
    from dataclasses import replace

    case = witness("diffs-miss-triggers")
    known = observe(build_script(case))
    script = build_script(replace(case, trigger=()))
    rows = [[(b"88", b"0", None)]]
    observation = replace(known, read_backs=tuple(map(tuple, rows)))
    assert all(item.deviation is None for item in judge(script, observation).mismatches)
    assert judge(script, observation).mismatches or check_events(script, observation).found


def test_what_is_stored_is_the_old_document_with_the_ranges_of_the_set_clause() -> None:
    (prediction,) = build_script(witness("storage-misses-triggers")).predictions
    (row,) = prediction.rows
    after, stored = row.change.after["j"], row.change.stored["j"]
    assert isinstance(after, bytes)
    assert isinstance(stored, bytes)
    assert {name: decode(after)[name] for name in "an"} == {"a": 2, "n": 77}  # type: ignore[index,call-overload]
    assert {name: decode(stored)[name] for name in "an"} == {"a": 2, "n": 5}  # type: ignore[index,call-overload]


def test_a_trigger_is_written_with_new_and_old() -> None:
    from conformance.reference.partial.expression import Assignment, Increment, Old

    trigger = (*witness("diffs-miss-triggers").trigger, Assignment("j", Old("j")), Assignment("n", Increment("n", 1)))
    assert trigger_statement(triggers.TABLE, trigger) == (
        "CREATE TRIGGER before_update BEFORE UPDATE ON `t` FOR EACH ROW "
        "SET NEW.`j`=JSON_SET(NEW.`j`, '$.n', 77), NEW.`j`=OLD.`j`, NEW.`n`=NEW.`n` + 1"
    )


def test_shrinking_also_makes_the_trigger_smaller() -> None:
    case = witness("diffs-miss-triggers")
    assert any(item.trigger != case.trigger and item.trigger for item in candidates(triggers.case(Stream("test", 3))))
    assert all(item.trigger for item in candidates(case))


def test_a_column_that_the_trigger_assigns_is_compared_with_its_old_value() -> None:
    """Observed on 9.7.4 with MINIMAL images: 1 over 1 of another type, copied by the trigger, is no change."""
    from conformance.cases.row_images import RowImage
    from conformance.cases.session import Session
    from conformance.cases.update_case import Step, UpdateCase
    from conformance.reference.jsonb.encode import encode
    from conformance.reference.jsonb.values import UInt
    from conformance.reference.partial.expression import Assignment, Call, Column, Function, Literal

    assignment = Assignment("j", Call(Function.JSON_REPLACE, Column("j"), (("$.z", Literal(UInt(1))),)))
    case = UpdateCase(
        id="",
        table=triggers.TABLE,
        selector="id",
        session=Session(row_image=RowImage.MINIMAL),
        rows=((1, 1, encode({"z": 1}), encode({"z": 1})),),
        trigger=(Assignment("k", Column("j")),),
        steps=(Step((assignment,), (0,)),),
    )
    assert build_script(case).predictions[0].changed == 0
