"""The census of hand-made events knows the outcome of each, and has every rule that a check meets on purpose."""

from __future__ import annotations

import pytest

from conformance.judge.damage.census import APPLIED, DIVERGED, FIELDS, REFUSED, Channel
from generators import applier_transactions, damaged_events, diverged
from generators.draw import Stream

NAME = "damage/applier STRICT"


def test_events_are_counted_by_their_outcome_and_by_the_damaged_field() -> None:
    channel = Channel(NAME, (APPLIED, *REFUSED), FIELDS)
    named = {event.name: event for event in damaged_events.listed()}
    counts = channel.counts(named[name] for name in ("no-diffs", "operation-3", "row-cut-at-1", "replace-root"))
    assert +counts == {f"{NAME}/0": 1, f"{NAME}/3649": 1, f"{NAME}/1610": 1, f"{NAME}/3648": 1}
    generated = [damaged_events.damaged(Stream("census", number)) for number in range(40)]
    cut = [event for event in generated if event.name == "generated-cut"]
    assert channel.counts(cut)[f"{NAME}/cut"] == len(cut) > 0


def test_outcomes_of_another_check_are_not_counted() -> None:
    counts = Channel(NAME, DIVERGED).counts(e for e in damaged_events.listed() if e.name == "operation-3")
    assert counts.total() == 0


@pytest.mark.parametrize(
    ("channel", "events"),
    [
        (Channel(NAME, (APPLIED, *REFUSED)), damaged_events.listed()),
        (Channel(NAME, DIVERGED), diverged.matrix()),
        (
            Channel(NAME, REFUSED),
            (row for case in applier_transactions.refused_damage(Stream("refused"), 2) for row in case.rows),
        ),
        (
            Channel(NAME, DIVERGED),
            (row for case in applier_transactions.ignorable(Stream("ignorable"), 20) for row in case.rows),
        ),
        (Channel(NAME, (), FIELDS), (damaged_events.damaged(Stream("all", number)) for number in range(300))),
    ],
    ids=["listed", "matrix", "refused", "ignorable", "generated"],
)
def test_every_rule_of_a_check_is_met(channel: Channel, events: object) -> None:
    counts = channel.counts(events)  # type: ignore[arg-type]
    assert set(channel.rules) == {rule for rule, count in counts.items() if count}
