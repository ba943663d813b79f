"""Objects with one wrong number: repeatable, of every kind, and damaged nowhere else."""

from __future__ import annotations

import pytest

from conformance.cases.by_hand.injection import predict
from conformance.judge.damage.crashes import damage_of
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.requirements.crashes import MEMBER_IN_DIFF, TWICE_IN_DIFF
from generators import applier_transactions, object_entries
from generators.draw import Stream


def test_the_same_seed_makes_the_same_events() -> None:
    first, again = (
        [object_entries.injection(Stream("m", n), object_entries.DIFF, keys=n % 2 == 0) for n in range(50)]
        for _ in range(2)
    )
    assert first == again
    assert len({item.id for item in first}) == 50


@pytest.mark.parametrize("what", sorted({*object_entries._KEYS, *object_entries._OTHERS}))
def test_every_damage_makes_a_value_that_cannot_be_read(what: str) -> None:
    for number in range(100):
        found = object_entries.damage(Stream(what, number), what)
        assert found.what == what
        with pytest.raises(CodecError):
            decode(found.document)


def test_transactions_for_an_applier_hold_them_between_sound_ones() -> None:
    cases = [applier_transactions.damaged_object(Stream("f", number), number) for number in range(12)]
    assert all(case.hazard == "may-crash" and case.repaired is None for case in cases)
    assert {damage_of(case.rows[0].image) for case in cases} == {"", MEMBER_IN_DIFF, TWICE_IN_DIFF}


def test_a_key_that_comes_twice_counts_with_its_last_value() -> None:
    for number in range(100):
        item = object_entries.twice(Stream("twice", number))
        assert damage_of(item.image) == TWICE_IN_DIFF
        assert item.hazard == "may-crash"
        assert not predict(item).error


def test_they_may_crash_a_server_and_the_reference_refuses_them_in_diffs() -> None:
    for number in range(100):
        item = object_entries.injection(Stream("r", number), object_entries.DIFF, keys=number % 2 == 0)
        assert item.hazard == "may-crash"
        assert predict(item).error in (3142, 3648, 3649)
