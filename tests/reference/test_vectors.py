"""Every vector holds in the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reference.jsonb import jsonb_vectors
from tests.reference.kit import original, outcome
from tests.reference.partial import update_vectors
from tests.reference.vectors import vectors

if TYPE_CHECKING:
    from tests.reference.vectors import Vector


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector.id)
def test_vector(vector: Vector) -> None:
    vector.run(original())


def test_hand_made_trees_stand_for_what_the_grammar_leaves_out_and_nothing_else() -> None:
    left_out = {
        vector["name"]
        for vector in update_vectors.load("partial-updates.json")
        if update_vectors.outside(vector["name"], vector["update_sql"])
    }
    assert left_out == set(update_vectors.BY_HAND)


def test_every_rule_of_the_evaluation_tables_has_a_vector() -> None:
    from conformance.judge.census import RULES

    wanted = {rule for rule in RULES if rule.startswith(("in-place/", "tree/", "remove/", "strip/"))}
    assert {rule for row in update_vectors.EVALUATION for rule in row.rules} == wanted


def test_every_decision_has_a_vector() -> None:
    from conformance.judge.census import RULES

    wanted = {rule.removeprefix("decision/") for rule in RULES if rule.startswith("decision/")}
    assert {row[-1][2] for row in update_vectors.DECISIONS} == wanted - {"border-partial", "border-full"}


def test_every_truncation_of_every_encoding_is_refused() -> None:
    kit = original()
    for _rule, _value, data in jsonb_vectors.ENCODINGS:
        cuts = range(1, len(data)) if len(data) < 300 else [*range(1, 60), len(data) // 2, len(data) - 1]
        for cut in cuts:
            for read in (kit.decode.decode, kit.layout.decode_strict):
                _, error = outcome(read, data[:cut])
                assert error is not None, data[:cut].hex()
                assert error.code in ("truncated", "bad-size", "bad-count"), error
