"""Update Cases: the same for ever, whatever the number of steps, and only refused when that was asked for."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.cases.predict import Model
from conformance.reference.partial.expression import Constant, Increment
from generators import cases
from generators.draw import Draw, Stream
from generators.tables import SELECTOR
from tests.cases.modelled import taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.update_case import UpdateCase
    from generators.cases import Row


def case(number: int, steps: int) -> UpdateCase:
    return cases.update_case(Stream("cases", "cell", number), case_id="x", steps=steps, advance=taken)


def test_cases_are_the_same_for_ever() -> None:
    """Fields that a table can have since, and that these tables do not use, are no change of the Cases."""
    digest = hashlib.sha256()
    for number in range(40):
        made = case(number, 8)
        text = repr((made.table, made.selector, made.session, made.rows, made.steps))
        for said_by_none in (", spelled=None", ", other_keys=()", ", partitions=None"):
            text = text.replace(said_by_none, "")
        digest.update(text.encode())
    assert digest.hexdigest()[:16] == "61fc998e687d68de"


def test_the_first_steps_do_not_depend_on_how_many_follow() -> None:
    for number in range(10):
        short, long = case(number, 3), case(number, 12)
        assert (short.table, short.session, short.rows) == (long.table, long.session, long.rows)
        assert [step.assignments for step in short.steps] == [step.assignments for step in long.steps[:3]]
        assert [step.rows for step in short.steps] == [step.rows for step in long.steps[:3]]
        assert short.steps[-1].commit
        assert long.steps[-1].commit


@pytest.mark.nightly
def test_the_server_refuses_no_usual_step() -> None:
    """``taken`` asserts it; and no two rows ever get the same selector."""
    seen: Counter[str] = Counter()
    for number in range(100):
        made = case(number, 15)
        names = [column.name for column in made.table.columns]
        rows: Sequence[Row] = [dict(zip(names, row, strict=True)) for row in made.rows]
        for step in made.steps:
            rows = taken(made.table, made.session, rows, step)
            assert len({row[SELECTOR] for row in rows}) == len(rows)
            seen["rows"] += len(step.rows) > 1
            seen["open"] += not step.commit
            seen["key"] += any(item.column in (SELECTOR, "k2", "vkey") for item in step.assignments)
            seen["other"] += any(isinstance(item.expression, (Constant, Increment)) for item in step.assignments)
            targets = [item.column for item in step.assignments if made.table.columns[names.index(item.column)].is_json]
            assert targets
            seen["several columns"] += len(set(targets)) > 1
            seen["twice"] += len(set(targets)) < len(targets)
    assert min(seen[what] for what in ("rows", "open", "other")) > 300
    assert min(seen[what] for what in ("key", "several columns", "twice")) > 20, seen


def test_refused_steps_are_refused() -> None:
    for number in range(80):
        begun = cases.start(Stream("refused", number))
        names = [column.name for column in begun.table.columns]
        rows = [dict(zip(names, row, strict=True)) for row in begun.rows]
        step = cases.next_step(Stream("refused step", number), begun.table, rows, refused=True)
        prediction = Model(begun.table, SELECTOR, begun.session, list(rows)).predict(step)
        assert prediction.error is not None


def test_rows_are_often_alike() -> None:
    alike = total = 0
    for number in range(200):
        begun = cases.start(Stream("alike", number), rows=3)
        position = begun.table.json_columns[0]
        total += 1
        alike += len({row[position] for row in begun.rows}) == 1
    assert 0.2 < alike / total < 0.6


@pytest.mark.parametrize("call", ["rows", "steps"])
def test_arguments_are_checked(call: str) -> None:
    draw: Draw = Stream("x")
    shape = cases.start(draw).table
    with pytest.raises(ValueError, match=r"^0 (rows|steps)"):
        _ = (
            cases.start_rows(draw, shape, 0)
            if call == "rows"
            else cases.update_case(draw, case_id="x", steps=0, advance=taken)
        )
