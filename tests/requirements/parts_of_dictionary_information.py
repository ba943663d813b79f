"""Faults of the parts of WL#7053's requirements: the model with a function that breaks one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi_design.calls import called
from conformance.checks.sdi_design.guarantee import GuaranteeBroken
from conformance.checks.sdi_design.life import Wrong, live
from generators.draw import Stream
from tests.checks.sdi_design.faults_of_sdi_design import CALL_PARTS, LIFE_PARTS
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable

_SEQUENCES, _CALLS, _LIVES, _STEPS = 12, 250, 4, 50


def _judge_calls() -> list[object]:
    return [problem for number in range(_SEQUENCES) for problem in called(Stream("parts", number), _CALLS)]


def _judge_lives() -> list[object]:
    try:
        for number in range(_LIVES):
            live(Stream("parts", number), _STEPS)
    except (GuaranteeBroken, Wrong) as error:
        return [error]
    return []


def _with_fault(plant: Plant, judge: Callable[[], list[object]]) -> Callable[[bool], object]:
    def judged(wrong: bool) -> object:
        with pytest.MonkeyPatch.context() as patch:
            if wrong:
                plant(patch)
            return judge()

    return judged


FAULTS: Final = [
    Fault(name, row, sentence, _with_fault(plant, judge))
    for parts, judge in ((CALL_PARTS, _judge_calls), (LIFE_PARTS, _judge_lives))
    for row, name, sentence, plant in parts
]
