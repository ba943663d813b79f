"""The census counts what the updates of a Case really are."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.cases.row_images import RowImage
from conformance.harness.updates.blocks import Limits, make_script
from conformance.judge.census import MIX, RULES, WHOLES, count, type_name
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import Opaque, UInt
from tests.judge.doctoring import NUMBERS, STEPS, script


def test_every_rule_of_the_hand_made_case_is_counted_where_it_is() -> None:
    made = script()
    census = count(made)
    visits = sum(len(step.rows) for step in made.case.steps)
    assert census["session/MINIMAL"] == visits
    assert census["session/FULL"] == census["session/compression"] == census["session/rows-query"] == 0
    assert census["table/two-json-columns"] == census["table/primary-key"] == visits
    assert census["row/refused"] == 1
    assert census["row/unchanged"] == len(STEPS["unchanged"].rows)
    assert census["statement/several-rows"] == 2
    assert census["statement/one-row"] == len(made.case.steps) - 2
    assert census["statement/two-columns"] == 1
    assert census["decision/border-full"] == census["decision/border-partial"] == 1
    assert census["decision/not-smaller"] == 1
    assert census["result/null"] == 1
    assert census["result/empty"] == 1
    assert census["eligible/no"] == 2
    assert census["value/DATETIME"] == 1
    assert census["diff/INSERT"] == 2
    assert census["diff/several"] == 2
    logged = sum(
        name in row.change.columns
        for prediction in made.predictions
        for row in prediction.rows
        if row.change.logged
        for name in row.change.columns
    )
    assert sum(census[rule] for rule in WHOLES["result"]) == logged
    assert NUMBERS["hole"] < NUMBERS["time zone"]


def test_sessions_are_counted_by_their_options() -> None:
    census = count(script(image=RowImage.FULL, compression=True, rows_query=True))
    assert census["session/FULL"] == census["session/compression"] == census["session/rows-query"] > 0


def test_only_listed_rules_are_counted_and_all_of_them_are_met_by_a_few_thousand_updates() -> None:
    census: Counter[str] = Counter()
    for number in range(40):
        census += count(make_script("census", number, Limits()))
    assert set(census) <= set(RULES)
    # The rest are rare, and belong to big documents and refused statements.
    missing = set(RULES) - set(census)
    assert len(missing) <= 8, missing
    for rule, share in MIX.items():
        whole = sum(census[part] for part in WHOLES[rule.partition("/")[0]])
        assert census[rule] / whole > share / 2


def test_wholes_are_made_of_listed_rules() -> None:
    assert {rule for parts in WHOLES.values() for rule in parts} <= set(RULES)
    assert set(MIX) <= set(RULES)


def test_types_have_the_names_of_the_rules() -> None:
    values: list[Any] = [
        None, True, 0, 32768, 2**31, UInt(0), UInt(65536), UInt(2**32), 1.5, "x", [], {}, opaque.decimal_from_text("1"),
        opaque.date(2024, 1, 1), opaque.time(1, 1, 1), opaque.datetime(2024, 1, 1), opaque.timestamp(2024, 1, 1),
        *[Opaque(kind, b"") for kind in (16, 249, 252, 250, 251, 254, 15)],
    ]  # fmt: skip
    names = [f"value/{type_name(value)}" for value in values]
    assert len(set(names)) == len(names)
    assert set(names) | {"value/from-column", "value/json-column"} == {
        rule for rule in RULES if rule.startswith("value/")
    }
    assert type_name(Opaque(99, b"")) == "opaque"
