"""Which listed deviation is said to be nearest to a failure, and what is said to be missing."""

from __future__ import annotations

from conformance.cases.by_hand.injection import Demand, Injection, full_image
from conformance.judge.damage.nearest import nearest_crash, nearest_injection, nearest_listed
from conformance.reference.dialect import MYSQL
from conformance.reference.jsonb.encode import encode
from conformance.requirements.crashes import (
    APPLYING,
    MEMBER_IN_DIFF,
    PRINTING,
    READING,
    VARIABLE_LENGTH,
    Crash,
)
from conformance.requirements.deviations import load_deviations

LISTED = load_deviations()
SPOILING = Injection(
    name="cut", stored=encode({"n": 1}), image=full_image(b"\x0c\x30abc"), demand=Demand.ERROR, hazard="corrupts-row"
)


def test_a_crash_with_another_signal_names_the_listed_one_and_both_signals() -> None:
    said = nearest_crash(LISTED, Crash(APPLYING, MEMBER_IN_DIFF, 11))
    assert said == "abort-at-member-in-diff: needs signal 6, got 11"


def test_the_moment_counts_more_than_damage_and_signal() -> None:
    said = nearest_crash(LISTED, Crash(READING, MEMBER_IN_DIFF, 6))
    assert said.startswith(
        "read-crash-at-member: needs damage member-in-document, got member-in-diff; signal 11, got 6"
    )
    said = nearest_crash(LISTED, Crash(PRINTING, VARIABLE_LENGTH, 6))
    assert said == "printer-crash-at-user-variable: needs signal 11, got 6"


def test_a_crash_that_is_like_none_names_none() -> None:
    assert nearest_crash(LISTED, None) == ""
    assert nearest_crash([], Crash(APPLYING, MEMBER_IN_DIFF, 6)) == ""
    only = [entry for entry in LISTED if entry.id == "printer-crash-at-vector"]
    assert nearest_crash(only, Crash(APPLYING, MEMBER_IN_DIFF, 11)) == ""  # the signal alone is no likeness


def test_of_an_event_the_switch_that_matters_is_named_with_what_it_needs() -> None:
    said = nearest_injection(LISTED, "FR5", SPOILING, "error 1032", MYSQL)
    assert said == "full-values-unread: needs reading gives error 3142, got error 1032"


def test_without_such_a_switch_those_of_the_requirement_are_named() -> None:
    assert nearest_listed(LISTED, "FR1") == ""
    assert nearest_listed(LISTED, "X1") == "rows-version-1-refused: needs exactly the outcome that its Case writes out"
    said = nearest_listed(LISTED, "FR2")
    assert said.startswith("unchanging-replace, diffs-miss-triggers: tried")
