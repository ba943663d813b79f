"""Injected events as values: what the reference says of the listed damages (requirements FR5), and how stored bytes
read."""

from __future__ import annotations

import pytest

from conformance.cases.by_hand.injection import (
    Injection,
    RowState,
    full_image,
    partial_image,
    predict,
    row_of,
    state_of,
)
from conformance.reference.dialect import MYSQL, WORKLOG, flipped
from conformance.reference.jsonb.encode import encode
from generators import damaged_events, diverged
from generators.draw import Stream

LISTED = {item.name: item for item in damaged_events.listed()}


@pytest.mark.parametrize("name", [name for name, item in LISTED.items() if item.number])
def test_the_reference_has_the_number_that_was_observed(name: str) -> None:
    assert predict(LISTED[name]).error == LISTED[name].number


@pytest.mark.parametrize("name", [name for name, item in LISTED.items() if item.number is None])
def test_what_is_accepted_is_applied(name: str) -> None:
    assert predict(LISTED[name]).error == 0


def test_what_spoils_a_row_is_refused_without_its_switch_and_by_the_worklog() -> None:
    spoiling = [item for item in LISTED.values() if item.hazard == "corrupts-row"]
    assert len(spoiling) >= 9
    for item in spoiling:
        predicted = predict(item).state
        assert predicted is not None
        assert not predicted.sound
        switch = "copies_full_values" if item.image[0] == 0 else "stores_invalid_text"
        assert predict(item, flipped(MYSQL, switch)).error == 3649
        assert predict(item, WORKLOG).error == 3649


def test_a_row_that_is_not_there_is_1032() -> None:
    image = partial_image(b"")
    assert predict(Injection(name="", stored=None, image=image, row_exists=False)).error == 1032


def test_images_have_the_layout_of_events() -> None:
    assert partial_image(b"\x02\x03$.a").hex() == "010100050000000203242e61"
    assert full_image(encode(2)).hex() == "000003000000050200"
    assert row_of(7, b"\x01") == b"\x00\x07\x00\x00\x00\x01"


def test_stored_bytes_read_as_sql_reads_them() -> None:
    assert state_of(None) == RowState(is_null=True)
    assert state_of(encode({"a": 1})) == RowState(valid=True, text=b'{"a": 1}', size=13, free=0)
    assert state_of(b"\x0c\x01\xff").text is None
    assert state_of(b"\x55\x00").error == 3142
    assert [state_of(data).sound for data in (None, encode(1), b"\x0c\x01\xff", b"\x55")] == [True, True, False, False]


def test_an_id_follows_from_content_alone() -> None:
    one = Injection(name="x", stored=None, image=b"\x01")
    assert one.id == Injection(name="y", stored=None, image=b"\x01").id
    assert one.id != Injection(name="x", stored=b"", image=b"\x01").id
    assert one.id.startswith("inject-")


def test_groups_are_the_same_for_the_same_seed_and_meet_every_shape() -> None:
    first = diverged.group(Stream("g", 1))
    assert first == diverged.group(Stream("g", 1))
    assert first != diverged.group(Stream("g", 2))
    stored = {item.stored for item in first}
    assert {None, encode({}), encode([]), encode(None)} <= stored
    many = [item for number in range(20) for item in diverged.group(Stream("g", number))]
    applied = sum(not predict(item).error for item in many)
    assert len(many) > 1000
    assert 0.1 < applied / len(many) < 0.6  # both outcomes are common


def test_generated_damage_makes_no_object() -> None:
    made = [damaged_events.damaged(Stream("d", number)) for number in range(2000)]
    assert made == [damaged_events.damaged(Stream("d", number)) for number in range(2000)]
    assert {item.name for item in made} == {
        f"generated-{field}"
        for field in ("operation", "options", "cut", "row", "path", "lengths", "type", "after", "text", "full")
    }
    for item in made:
        if item.name in ("generated-full", "generated-text"):
            assert item.hazard == "corrupts-row"
        if item.name == "generated-full":
            assert item.image[6] not in (0, 1)  # the type byte of an object


# The table of requirements FR5, row by row: where a diff succeeds, and where it is 3648.
@pytest.mark.parametrize(
    ("diff", "succeeds", "refused"),
    [
        ("replace-a", "source b-empty no-c hole-for-e", "no-a array integer json-null sql-null empty-object"),
        ("insert-z", "source empty-object no-a", "z-present array empty-array integer json-null sql-null"),
        ("replace-c-d", "source", "no-c c-scalar c-array c-without-d"),
        ("insert-c-k", "source", "no-c c-scalar c-array c-without-d"),
        ("replace-b-1", "source b-long", "b-short b-empty b-scalar b-object hole-for-e"),
        ("remove-b-2", "source b-long", "b-short b-empty b-scalar b-object hole-in-b"),
        ("replace-b-last", "source b-short b-long", "b-empty b-scalar b-object"),
        ("insert-b-3", "source b-short b-empty b-long", "b-scalar b-object hole-for-e"),
        ("insert-b-7", "source b-short b-empty b-long", "b-scalar b-object hole-for-e"),
        ("empty", "source empty-object json-null sql-null array", ""),
        ("unchanging-in-place", "a-double", "source b-short"),
        ("unchanging-after-insert", "source b-short", "z-present"),
        ("no-auto-wrap", "a-array", "source a-object"),
        ("root-replace", "", "source array integer sql-null"),
    ],
)
def test_the_matrix_of_diverged_documents(diff: str, succeeds: str, refused: str) -> None:
    cases = {item.name: item for item in diverged.matrix()}
    assert {name: predict(cases[f"{diff}/{name}"]).error for name in succeeds.split()} == dict.fromkeys(
        succeeds.split(), 0
    )
    assert {name: predict(cases[f"{diff}/{name}"]).error for name in refused.split()} == dict.fromkeys(
        refused.split(), 3648
    )
