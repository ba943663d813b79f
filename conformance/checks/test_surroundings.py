"""FR2, D10 and D11 with something around the documents: generated columns, partitions, views, triggers, joins, columns
that one side lacks (``surroundings``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.images import RowImage
from conformance.checks.pairs import REPLICAS
from conformance.checks.sql_runs import run_cases
from conformance.checks.surroundings import STOPS, SURROUNDINGS, stopped, surrounded
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.checks.lab import Lab

_EACH: Final = {"quick": 1, "full": 30, "soak": 300}  # Cases of each surrounding
_STOPS: Final = {"quick": 1, "full": 20, "soak": 200}  # and of each reason to stop


@pytest.mark.requirement("FR2", "D10", "D11")
def test_surroundings(lab: Lab) -> None:
    """Each update is logged as without its surrounding, and both servers read alike after it."""
    draw = Stream("surroundings", lab.settings.seed)
    images = tuple(RowImage)
    cases = [
        surrounded(draw.fork(item.name, number), item, images[number % len(images)], f"{item.name}-{number}")
        for number in range(_EACH[lab.settings.profile])
        for item in SURROUNDINGS
    ]
    with lab.pair(gtid=True) as pair:
        pair.configure(REPLICAS[0].variables())
        run_cases(lab, "surroundings", cases, {}, pair)


@pytest.mark.requirement("FR5")
def test_stops_and_restarts(lab: Lab) -> None:
    """A replica that cannot follow stops with the row as it was; repaired and started again, it has everything."""
    draw = Stream("stops", lab.settings.seed)
    images = tuple(RowImage)
    cases = [
        stopped(draw.fork(item.name, number), item, images[number % len(images)], f"{item.name}-{number}")
        for number in range(_STOPS[lab.settings.profile])
        for item in STOPS
    ]
    with lab.pair(gtid=True) as pair:
        pair.configure(REPLICAS[0].variables())
        run_cases(lab, "surroundings/stops", cases, {}, pair)
