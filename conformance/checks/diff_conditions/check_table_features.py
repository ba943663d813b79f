"""FR2, D10 and D11 for tables with generated columns, partitions, views, triggers, joins, or columns missing on one
side."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from conformance.cases.row_images import RowImage
from conformance.checks.diff_conditions.table_features import (
    STOPS,
    TABLE_FEATURES,
    Stop,
    TableFeature,
    stopped,
    with_feature,
)
from conformance.harness.pairs.run import REPLICAS
from conformance.harness.sql_cases import run_cases
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.cases.sql_case import SqlCase
    from conformance.harness.check import Check
    from generators.draw import Draw

_Kind = TypeVar("_Kind", TableFeature, Stop)


@pytest.mark.check("table-features")
def test_table_features(check: Check) -> None:
    """A feature of the table does not change how the server logs an update, and both servers then read the same."""
    _run(check, Stream("surroundings", check.seed), TABLE_FEATURES, with_feature)


@pytest.mark.check("stops")
def test_stops_and_restarts(check: Check) -> None:
    """A replica that cannot apply an update stops and keeps the row; repaired and started again, it has everything."""
    _run(check, Stream("surroundings/stops", check.seed), STOPS, stopped)


def _run(
    check: Check, draw: Draw, kinds: Iterable[_Kind], make: Callable[[Draw, _Kind, RowImage, str], SqlCase]
) -> None:
    images = tuple(RowImage)
    cases = [
        make(draw.fork(kind.name, number), kind, images[number % len(images)], f"{kind.name}-{number}")
        for number in check.blocks()
        for kind in kinds
    ]
    with check.lab.pair(gtid=True) as pair:
        pair.configure(REPLICAS[0].variables())
        run_cases(check, cases, {}, pair)
