"""The judge near the greatest depth: the known server is explained, a faultless one passes, others fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.observation import StatementOutcome
from conformance.cases.script import build_script
from conformance.checks.blocks import judge_block
from conformance.judge.compare import too_deep
from conformance.reference.dialect import MYSQL, flipped
from generators import depth
from generators.draw import Stream
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.observation import ReadBackRow
    from conformance.cases.script import Script
    from conformance.judge.mismatch import Mismatch

FAULTLESS = flipped(MYSQL, "nests_without_limit")
CASES = [depth.case(Stream("test", number)) for number in range(60)]


def found(script: Script, server: Script, **faults: object) -> list[Mismatch]:
    """What is found of a server that does what ``server`` predicts, but for the faults."""
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


@dataclass(frozen=True)
class PlantedFault:
    """From the partial-update sheet, section 8, deviation 3, and section 6.2."""

    name: str
    client: Callable[[list[StatementOutcome], list[list[ReadBackRow]]], None]
    deep: bool
    requirement: str = "IP3"


def _lost(_: list[StatementOutcome], rows: list[list[ReadBackRow]]) -> None:
    for found_rows in rows:
        found_rows.clear()


def _refused(outcomes: list[StatementOutcome], _: list[list[ReadBackRow]]) -> None:
    outcomes[0] = StatementOutcome(0, 3157, "too deep")


def _other_error(outcomes: list[StatementOutcome], _: list[list[ReadBackRow]]) -> None:
    outcomes[0] = StatementOutcome(0, 3140, "invalid JSON text")


FAULTS: Final = (
    PlantedFault("a document of 100 levels cannot be read", _lost, deep=False),
    PlantedFault("100 levels are refused", _refused, deep=False),
    PlantedFault("101 levels are refused with another error", _other_error, deep=True),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_and_not_explained(fault: PlantedFault) -> None:
    scripts = [script for script in map(build_script, CASES) if script.predictions[0].error is None]
    for script in (item for item in scripts if deep(item) is fault.deep):
        mismatches = found(script, script, client=fault.client)
        assert [item for item in mismatches if item.deviation is None]
