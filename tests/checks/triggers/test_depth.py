"""The judge near the greatest depth: the known server is explained, a faultless one passes, others fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.observation import StatementOutcome
from conformance.cases.script import build_script
from conformance.checks.triggers import depth
from conformance.harness.updates.blocks import judge_block
from conformance.judge.replica import LoggedRow, Refusal, ReplicaModel, Stop, Transaction, judge_stop
from conformance.judge.updates.compare import too_deep
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import PartialJson
from generators.draw import Stream
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from conformance.cases.observation import ReadBackRow
    from conformance.cases.script import Script
    from conformance.judge.updates.mismatch import Mismatch

FAULTLESS = flipped(MYSQL, "nests_without_limit")
CASES = [depth.case(Stream("test", number)) for number in range(60)]


def found(script: Script, server: Script, **faults: object) -> list[Mismatch]:
    """The mismatches on a server that does what ``server`` predicts, but for the faults."""
    result = judge_block(script, observe(server, **faults), 0, 0.0)  # type: ignore[arg-type]
    return [*result.judgement.mismatches, *result.faults.found]


def deep(script: Script) -> bool:
    return any(too_deep(row.change.after["j"]) for row in script.predictions[0].rows)


def test_generated_cases_are_on_both_sides_of_the_limit_in_place_and_on_the_tree() -> None:
    kinds = set()
    for case in CASES:
        prediction = build_script(case).predictions[0]
        in_place = prediction.error is None and prediction.rows[0].change.columns["j"].in_place
        kinds.add((prediction.error is not None, in_place, deep(build_script(case))))
    assert kinds >= {(True, False, False), (False, True, True), (False, True, False)}


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_known_server_is_explained_and_a_faultless_one_passes(number: int) -> None:
    script = build_script(CASES[number])
    explained = {item.deviation for item in found(script, script)}
    assert explained == ({"nests_without_limit"} if deep(script) else set())
    assert found(script, build_script(CASES[number], dialect=FAULTLESS)) == []


def _lost(_: list[StatementOutcome], rows: list[list[ReadBackRow]]) -> None:
    for found_rows in rows:
        found_rows.clear()


def _refused(outcomes: list[StatementOutcome], _: list[list[ReadBackRow]]) -> None:
    outcomes[0] = StatementOutcome(0, 3157, "too deep")


def _other_error(outcomes: list[StatementOutcome], _: list[list[ReadBackRow]]) -> None:
    outcomes[0] = StatementOutcome(0, 3140, "invalid JSON text")


_RULE: Final = "Documents nest to a limit, in place too."  # partial-update 8.3, partial-update 6.2
FAULTS: Final = (
    Fault("a document of 100 levels cannot be read", "IP3", _RULE, _lost, at=False),
    Fault("100 levels are refused", "IP3", _RULE, _refused, at=False),
    Fault("101 levels are refused with another error", "IP3", _RULE, _other_error, at=True),
)  # fmt: skip


@each(FAULTS)
def test_a_planted_fault_is_found_and_not_explained(fault: Fault) -> None:
    scripts = [script for script in map(build_script, CASES) if script.predictions[0].error is None]
    for script in (item for item in scripts if deep(item) is fault.at):
        mismatches = found(script, script, client=fault.change)
        assert [item for item in mismatches if item.deviation is None]


def refusal() -> Refusal:
    """The refusal of the second update by a replica without the room for it."""
    case = next(
        case
        for case in (depth.without_room(Stream("test", number)) for number in range(20))
        if deep_after(build_script(case))
    )
    script = build_script(case)
    change = script.predictions[1].rows[0].change.columns["j"]
    before = script.predictions[0].rows[0].change.after["j"]
    assert isinstance(before, bytes)
    row = LoggedRow(1, 0, {"j": PartialJson(change.encoded)}, 100)
    refused = ReplicaModel([{"j": encode(decode(before))}], ["j"]).apply_row(row)
    assert ReplicaModel([{"j": before}], ["j"]).apply_row(row) is None
    assert refused is not None
    return refused


def deep_after(script: Script) -> bool:
    return too_deep(script.predictions[1].rows[0].change.after["j"])


@pytest.mark.planted("FR4")
@pytest.mark.parametrize(
    ("number", "message", "offset"),
    [(3648, "The JSON document exceeds the maximum depth.", 100), (3157, "another", 100), (3157, "maximum depth", 90)],
)
def test_only_the_stop_that_is_foretold_is_explained(number: int, message: str, offset: int) -> None:
    expected = refusal()
    assert (expected.number, expected.switch) == (3157, "nests_without_limit")
    transaction = Transaction(start=80, end=120, gtid=None, rows=())
    known = Stop(number=3157, message="... The JSON document exceeds the maximum depth. ...", offset=100)
    assert judge_stop(expected, transaction, known).deviation == "nests_without_limit"
    other = Stop(number=number, message=message, offset=offset)
    assert judge_stop(expected, transaction, other).deviation is None
