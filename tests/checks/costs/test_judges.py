"""The judges of measured costs, with each planted fault: allocations (C1, FR14) and counted instructions (FR15)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from conformance.checks.costs.allocations import Growth, grown
from conformance.checks.costs.allocations_judge import StatementCounts, judge_applier, judge_capture
from conformance.checks.costs.throughput_judge import FEWEST, judge_ratios
from conformance.servers.errors import ServerError
from tests.checks.costs.faults_of_costs import APPLIER_FAULTS, CAPTURE_FAULTS, RATIO_FAULTS
from tests.faults.runner import each

if TYPE_CHECKING:
    from tests.faults.fault import Fault

PERFECT = {"off": 2, "no log": 2, "STATEMENT format": 2, "on": 4}


def capture(**counts: object) -> str:
    """Return the verdict on three statements: the middle one is doctored, the last collects nothing in any session."""
    measured = {**PERFECT, **{name: int(str(value)) for name, value in counts.items()}}
    alike = set(measured) - set(counts) == set()  # a fault that is in every statement
    rows = []
    for step in range(3):
        values = dict(measured if step == 1 or alike or "off" in counts else PERFECT)
        off, on = values.pop("off"), values.pop("on")
        if step == 2:
            on = off
        rows.append(StatementCounts(step, off, values, on, step != 2))
    return judge_capture(rows).verdict


def test_a_server_that_collects_only_under_all_conditions_passes() -> None:
    assert capture() == "pass"


@each(CAPTURE_FAULTS)
def test_diffs_collected_for_nothing_are_noticed(fault: Fault) -> None:
    assert capture(**fault.change) == fault.verdict, fault.sentence


def test_what_is_wrong_names_the_statement_and_the_condition() -> None:
    judged = judge_capture([StatementCounts(7, 2, {"no log": 3}, 4, True)])
    (wrong,) = judged.wrong
    assert (wrong.step, wrong.condition, wrong.expected, wrong.got) == (7, "no log", 2, 3)


def test_fewer_allocations_than_with_the_option_off_are_nobody_s_concern() -> None:
    assert judge_capture([StatementCounts(0, 2, {"no log": 1}, 4, True)]).verdict == "pass"


def test_an_applier_that_allocates_for_diffs_only_passes() -> None:
    assert judge_applier(off=0, on=250) == "pass"


@each(APPLIER_FAULTS)
def test_an_applier_that_allocates_for_documents_is_noticed(fault: Fault) -> None:
    counts = {"off": 0, "on": 250, **{name: int(str(value)) for name, value in fault.change.items()}}
    assert judge_applier(**counts) == fault.verdict, fault.sentence


def series(*, plus: float = 0.0, spread: float = 0.002, pairs: int = 9) -> list[float]:
    """Around ``1 + plus``, evenly to both sides."""
    return [1 + plus + spread * (2 * number / (pairs - 1) - 1) for number in range(pairs)]


def test_a_series_that_costs_nothing_passes() -> None:
    judged = judge_ratios(series(spread=0.004))
    assert judged.verdict == "pass"
    assert judged.median == pytest.approx(1.0)
    assert judged.low < judged.median < judged.high
    assert str(judged) == "median 1.000 (0.997 to 1.003, 9 pairs)"


def test_a_series_that_gains_passes_whatever_its_spread() -> None:
    assert judge_ratios(series(plus=-0.2, spread=0.1)).verdict == "pass"


@each(RATIO_FAULTS)
def test_a_series_that_does_not_show_the_bound_never_passes(fault: Fault) -> None:
    counts = {name: float(str(value)) for name, value in fault.change.items()}
    pairs = int(counts.pop("pairs", 9))
    assert judge_ratios(series(**counts, pairs=pairs)).verdict == fault.verdict, fault.sentence


def test_the_interval_is_that_of_the_sign_test() -> None:
    """Ranks from tables of the sign test at 5 %: none below six pairs, the ends up to eight, the second from nine."""
    for pairs, rank in ((FEWEST, 1), (8, 1), (9, 2), (11, 2), (12, 3)):
        ratios = [1 + number / 1000 for number in range(pairs)]
        judged = judge_ratios(ratios)
        assert (judged.low, judged.high) == (ratios[rank - 1], ratios[-rank])
    assert judge_ratios([1.0] * (FEWEST - 1)).verdict == "inconclusive"


@pytest.mark.parametrize("ratios", [[], [1.0, 0.0], [1.0, math.inf], [1.0, -1.0], [math.nan]])
def test_what_is_no_ratio_is_an_error(ratios: list[float]) -> None:
    with pytest.raises(ValueError, match="no ratios"):
        judge_ratios(ratios)


def test_counters_grow() -> None:
    assert [grown(7, 7), grown(7, 9)] == [0, 2]
    assert Growth(5, 700).since(Growth(2, 650)) == Growth(3, 50)


@pytest.mark.planted
@pytest.mark.parametrize("after", [Growth(1, 700), Growth(2, 649)])
def test_a_counter_that_goes_back_is_no_answer(after: Growth) -> None:
    with pytest.raises(ServerError, match=r"went back: expected [0-9]+ or more, got [0-9]+$"):
        after.since(Growth(2, 650))
