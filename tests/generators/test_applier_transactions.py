"""Transactions for an applier: their shares, their repairs, and that they follow from their seed alone."""

from __future__ import annotations

from conformance.cases.by_hand.applier_transaction import repair_of
from conformance.cases.by_hand.injection import Injection, partial_image, predict
from conformance.reference.jsonb.encode import encode
from generators import applier_transactions, damaged_events, diverged
from generators.draw import Stream


def test_a_group_follows_from_its_seed_and_has_company_of_both_kinds() -> None:
    first = applier_transactions.group(Stream("f", 1))
    assert first == applier_transactions.group(Stream("f", 1))
    assert first != applier_transactions.group(Stream("f", 2))
    many = [case for number in range(6) for case in applier_transactions.group(Stream("f", number))]
    assert len(many) > 500
    assert {case.beside for case in many} == {0, 1, 3, 6}
    several = [case for case in many if len(case.rows) > 1]
    assert len(several) > len(many) // 10
    failing = {
        number for case in several for number, row in enumerate(case.rows) if predict(row).error and len(case.rows) == 4
    }
    assert failing == {0, 1, 2, 3}


def test_a_repair_fits_and_its_absence_means_that_nothing_fits() -> None:
    for number in range(3):
        for case in applier_transactions.group(Stream("r", number)):
            errors = [bool(predict(row).error) for row in case.rows]
            if case.repaired is not None and any(errors):
                assert not any(predict(row).error for row in case.after_repair())


def test_nothing_fits_an_event_in_a_bad_format() -> None:
    documents = diverged.MATRIX_DOCUMENTS.values()
    cut = Injection(name="", stored=damaged_events.STORED, image=partial_image(b"\x00"))
    assert repair_of(cut, documents) is None
    empty = Injection(name="", stored=encode([]), image=partial_image(b""))
    assert repair_of(empty, [None, encode([]), encode(1)]) == encode(1)  # not what is there already, and not NULL


def test_a_part_of_the_matrix_is_drawn() -> None:
    whole = list(applier_transactions.matrix(Stream("m", 1), 1))
    part = list(applier_transactions.matrix(Stream("m", 1), 6))
    assert len(whole) == len(list(diverged.matrix()))
    assert len(whole) / 9 < len(part) < len(whole) / 4
    assert part != list(applier_transactions.matrix(Stream("m", 2), 6))


def test_an_id_follows_from_content_alone() -> None:
    first, second = applier_transactions.group(Stream("f", 1))[:2]
    assert first.id.startswith("feed-")
    assert first.id != second.id
