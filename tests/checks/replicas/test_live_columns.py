"""The check of columns beside the document passes on a real pair, and each planted fault makes A5 red alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.sql_case import REPLICA
from conformance.checks.replicas import check_columns
from conformance.checks.replicas.columns import cases
from conformance.harness import sql_cases
from conformance.servers.roles.sql_cases import run_sql
from conformance.stream import CaseVerdict
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.sql_case import SqlAnswer
    from tests.recorded import Recorded

Row = tuple[str | None, ...]
NAMES: Final = ("id", "i", "u", "d", "f", "b", "y", "da", "ti", "dt", "ts", "c", "v", "vb", "e", "s", "x", "lb")


def cell(name: str, value: str | None, row: int = 0) -> Callable[[tuple[Row, ...]], tuple[Row, ...]]:
    """Another value in one column of a row."""
    place = NAMES.index(name)

    def change(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        out = list(rows)
        out[row] = (*rows[row][:place], value, *rows[row][place + 1 :])
        return tuple(out)

    return change


FAULTS: Final = [
    Fault("source's-value", "A5", "A column outside keeps the replica's value.", cell("lb", "00FF")),
    Fault("null", "A5", "A column outside is not cleared.", cell("x", None)),
    Fault("not-stored", "A5", "A column inside gets the source's value.", cell("i", "-8")),
    Fault("another-row", "A5", "No other row is stored.", cell("v", "ours", row=1)),
]  # fmt: skip


def expected(name: str) -> dict[str, str | None]:
    case = next(case for case in cases() if case.id == name)
    rows = case.statements[-1].outcomes[0].rows
    assert rows is not None
    assert dict(zip(NAMES, rows[1], strict=True))["v"] == "theirs"
    return dict(zip(NAMES, rows[0], strict=True))


def test_what_is_due_follows_from_the_row_image() -> None:
    minimal, noblob, full = (expected(f"a5-{image}-on-document") for image in ("minimal", "noblob", "full"))
    assert (minimal["i"], minimal["d"], minimal["x"]) == ("-7", "-99.0625", "theirs")
    assert (noblob["i"], noblob["d"], noblob["x"], noblob["lb"]) == ("1", "1.5000", "theirs", "FF00FF")
    assert (full["i"], full["d"], full["x"], full["lb"]) == ("1", "1.5000", "ours", "00FF")
    assert expected("a5-minimal-off-number")["i"] == "9"
    assert expected("a5-noblob-off-text")["x"] == "new"


def test_every_image_statement_and_option_has_a_case() -> None:
    assert len({case.id for case in cases()}) == 24


@pytest.mark.live
def test_a_sound_pair_passes(recorded: Recorded) -> None:
    run(check_columns.test_columns_outside_the_image, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("replicas/columns") == 24


@pytest.mark.sampled(1)
@pytest.mark.live
@each(FAULTS)
def test_a_replica_that_stores_another_column_makes_a5_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    def altered(nodes: Any, case: Any, pair: Any) -> tuple[SqlAnswer, ...]:
        return tuple(
            replace(answer, rows=fault.change(answer.rows)) if item.node == REPLICA and item.judges else answer
            for item, answer in zip(case.statements, run_sql(nodes, case, pair), strict=True)
        )

    monkeypatch.setattr(sql_cases, "run_sql", altered)
    recorded.fails(check_columns.test_columns_outside_the_image, "expected")
    assert recorded.red == {"A5"}
