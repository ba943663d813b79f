"""events Cases as files, and made smaller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.injection import Demand, Injection, full_image, partial_image
from conformance.cases.files import dump_case, load_any_case, validate
from conformance.cases.shrinking.events import shrink_injection, size
from conformance.judge.damage.crashes import damage_of
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import split_diffs
from generators import damaged_events, object_entries
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.jsonb.values import JsonValue

CASE = EventCase(
    id="keeps-its-shape",
    rev=2,
    requirements=("FR5",),
    seed="x 1",
    note="why",
    injection=Injection(
        name="n", stored=b"\x04\x00", image=full_image(encode(1)), demand=Demand.ERROR, number=3648,
        hazard="corrupts-row", row_exists=False,
    ),
)  # fmt: skip


def stored(case: EventCase = CASE) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(dump_case(case)))
    return data


def test_a_case_comes_back_as_it_was_and_fits_the_schema() -> None:
    assert load_any_case(stored()) == CASE
    validate(stored())
    null = EventCase(id="x", injection=Injection(name="", stored=None, image=b""))
    assert load_any_case(stored(null)) == null
    validate(stored(null))


@pytest.mark.parametrize(
    "change",
    [
        {"image": "0"}, {"image": 3}, {"stored": "00"}, {"demand": "none"}, {"number": "x"}, {"hazard": "fatal"},
        {"extra": 1}, {"rev": None},
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DecodeError, match=r"malformed|unknown keys"):
        load_any_case({**stored(), **change})


def shrunk(item: Injection, fails: Callable[[Injection], bool]) -> Injection:
    assert fails(item)
    small = shrink_injection(item, fails, seconds=60)
    assert fails(small)
    assert size(small) <= size(item)
    return small


@pytest.mark.parametrize("place", [object_entries.DIFF, object_entries.FULL])
@pytest.mark.parametrize("number", range(12))
def test_a_damaged_member_is_left_alone_with_its_damage(place: str, number: int) -> None:
    item = object_entries.injection(Stream("shrink", number), place, keys=True)
    damage = damage_of(item.image)
    small = shrunk(item, lambda other: damage_of(other.image) == damage)
    assert small.stored == encode({})
    frame = 6 if place == object_entries.FULL else 7 + len(split_diffs(small.image[7:])[0].path) + 3
    assert len(small.image) <= frame + 12  # one member whose value is a literal


def test_a_long_list_of_diffs_becomes_the_one_that_matters() -> None:
    good = damaged_events.diff(1, b"$.other", encode(["x" * 50]))
    bad = damaged_events.diff(0, b"$.n", b"\x04\x09")
    item = Injection(name="", stored=damaged_events.STORED, image=partial_image(good + bad + good))
    assert b"\x04\x09" in shrunk(item, lambda other: b"\x04\x09" in other.image).image
    small = shrunk(item, lambda other: any(diff.data == b"\x04\x09" for diff in _frames(other)))
    assert len(_frames(small)) == 1


def _frames(item: Injection) -> list[Any]:
    try:
        return list(split_diffs(item.image[7:]))
    except DecodeError:
        return []


def test_an_object_that_has_to_stay_inside_of_another_is_made_smaller_there() -> None:
    """As where a program ends at an object of two keys inside of another one only."""
    long = "x" * 120
    inner: dict[str, JsonValue] = {"k": 1, "l": long, "m": [long], "n": long}
    item = Injection(name="", stored=encode({}), image=full_image(encode({"a": long, "o": inner, "z": 2})))

    def fails(other: Injection) -> bool:
        value = decoded(other.image[6:])
        inside = value.values() if isinstance(value, dict) else []
        return any(isinstance(child, dict) and len(child) >= 2 for child in inside)

    small = shrunk(item, fails)
    smallest = encode({"o": {"k": None, "l": None}})
    assert len(small.image) <= len(full_image(smallest))


def decoded(document: bytes) -> JsonValue:
    try:
        return decode(document)
    except CodecError:
        return None


def test_a_failure_that_needs_everything_stays_as_it_is() -> None:
    item = next(iter(damaged_events.listed()))
    assert shrink_injection(item, lambda _: False) == item
