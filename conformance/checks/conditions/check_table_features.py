"""FR2, D10 and D11 with something around the documents: generated columns, partitions, views, triggers, joins, columns
that one side lacks (``surroundings``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import pytest

from conformance.cases.row_images import RowImage
from conformance.checks.conditions.table_features import STOPS, SURROUNDINGS, Stop, Surrounding, stopped, surrounded
from conformance.harness.pairs.run import REPLICAS
from conformance.harness.sql_cases import run_cases
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.cases.sql_case import SqlCase
    from conformance.harness.lab import Lab
    from generators.draw import Draw

_Kind = TypeVar("_Kind", Surrounding, Stop)

_EACH: Final = {"quick": 1, "full": 30, "soak": 300}  # Cases of each surrounding
_STOPS: Final = {"quick": 1, "full": 20, "soak": 200}  # and of each reason to stop


@pytest.mark.requirement("FR2", "D10", "D11")
def test_surroundings(lab: Lab) -> None:
    """Each update is logged as without its surrounding, and both servers read alike after it."""
    _run(lab, "surroundings", SURROUNDINGS, surrounded, _EACH[lab.settings.profile])


@pytest.mark.requirement("FR5")
def test_stops_and_restarts(lab: Lab) -> None:
    """A replica that cannot follow stops with the row as it was; repaired and started again, it has everything."""
    _run(lab, "surroundings/stops", STOPS, stopped, _STOPS[lab.settings.profile])


def _run(
    lab: Lab, check: str, kinds: Iterable[_Kind], make: Callable[[Draw, _Kind, RowImage, str], SqlCase], each: int
) -> None:
    draw = Stream(check, lab.settings.seed)
    images = tuple(RowImage)
    cases = [
        make(draw.fork(kind.name, number), kind, images[number % len(images)], f"{kind.name}-{number}")
        for number in range(each)
        for kind in kinds
    ]
    with lab.pair(gtid=True) as pair:
        pair.configure(REPLICAS[0].variables())
        run_cases(lab, check, cases, {}, pair)
