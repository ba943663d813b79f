"""Which crash is a listed one: by its place on the builds that it was observed on, by its signature on others."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.cases.server_death import UPPER
from conformance.judge.damage.listed import about_place, explaining, is_known
from conformance.requirements.crashes import Crash
from conformance.requirements.deviations import Deviation, load_deviations
from tests.faults.fault import Fault
from tests.faults.runner import each

BUILD = "0123456789ab"
HERE, THERE = ("f", "g"), ("h", "g")
OBSERVED = (9, 7, 4)
CRASHES = [item for item in load_deviations() if item.crash is not None]


def entry(**changes: object) -> Deviation:
    values: dict[str, object] = {
        "id": "mine",
        "requirements": ("FR5",),
        "crash": Crash("applying", "member-in-diff", 6),
        "frames": {BUILD: (HERE, THERE)},
        "versions": "9.7.0..9.7.99",
        "reason": "why",
    }
    return Deviation(**{**values, **changes})  # type: ignore[arg-type]


def crash(frames: tuple[str, ...] = HERE, build: str = BUILD) -> Crash:
    return Crash("applying", "member-in-diff", 6, frames, build)


@pytest.mark.parametrize("item", CRASHES, ids=lambda item: item.id)
def test_every_listed_crash_is_known_by_each_of_its_own_places_or_says_why_it_has_none(item: Deviation) -> None:
    assert item.crash is not None
    assert bool(item.frames) != bool(item.no_frames)
    for build, places in item.frames.items():
        for frames in places:
            assert 0 < len(frames) <= UPPER
            seen = item.crash._replace(frames=frames, build=build)
            assert explaining(CRASHES, OBSERVED, crash=seen) is item
            assert about_place(CRASHES, OBSERVED, seen) == ""


_PLACE = "A listed crash is known by its place alone."
OTHER_FRAMES = (
    Fault("first", "FR5", _PLACE, lambda frames: ("other", *frames[1:])),
    Fault("last", "FR5", _PLACE, lambda frames: (*frames[:-1], "other")),
    Fault("one-more", "FR5", _PLACE, lambda frames: (*frames, "other")),
    Fault("one-less", "FR5", _PLACE, lambda frames: frames[:-1]),
    Fault("turned", "FR5", _PLACE, lambda frames: frames[::-1]),
    Fault("none", "FR5", _PLACE, lambda _: ()),
)  # fmt: skip


@pytest.mark.parametrize("item", [item for item in CRASHES if item.frames], ids=lambda item: item.id)
@each(OTHER_FRAMES)
def test_no_listed_crash_is_known_by_other_frames(item: Deviation, fault: Fault) -> None:
    assert item.crash is not None
    for build, places in item.frames.items():
        for frames in places:
            seen = item.crash._replace(frames=fault.change(frames), build=build)
            assert explaining(CRASHES, OBSERVED, crash=seen) is None
            assert item.id in about_place(CRASHES, OBSERVED, seen)


def test_a_place_is_any_of_those_of_its_build() -> None:
    for frames in (HERE, THERE):
        assert is_known(entry(), crash(frames))
    assert not is_known(entry(), crash(("f",)))
    assert about_place([entry()], OBSERVED, crash(("f",))) == "this is not the place of mine"


def test_without_a_stack_nothing_tells_it_from_a_listed_one_on_a_listed_build() -> None:
    assert explaining([entry()], OBSERVED, crash=crash(())) is None
    assert about_place([entry()], OBSERVED, crash(())) == "no stack to tell it from mine"


@pytest.mark.parametrize("build", ["ba9876543210", ""])
def test_on_another_build_the_signature_is_enough_and_the_place_unconfirmed(build: str) -> None:
    for frames in (HERE, ("other",), ()):
        assert explaining([entry()], OBSERVED, crash=crash(frames, build)) is not None
        words = f"its place is unconfirmed: mine lists no stack of build {build or 'unknown'}"
        assert about_place([entry()], OBSERVED, crash(frames, build)) == words
    assert explaining([entry()], (9, 8, 0), crash=crash(HERE, build)) is None  # out of its range it is a failure
    assert about_place([entry()], (9, 8, 0), crash(HERE, build)) == ""


def test_an_entry_without_places_is_known_by_its_signature() -> None:
    item = entry(frames={}, no_frames="it prints none")
    for frames in (HERE, ()):
        assert explaining([item], OBSERVED, crash=crash(frames)) is item
        assert about_place([item], OBSERVED, crash(frames)) == ""


@pytest.mark.parametrize("changes", [{"during": "reading"}, {"damage": ""}, {"signal": 11}], ids=str)
def test_the_place_alone_is_not_enough(changes: dict[str, Any]) -> None:
    other = crash()._replace(**changes)
    assert explaining([entry()], OBSERVED, crash=other) is None
    assert about_place([entry()], OBSERVED, other) == ""
    assert about_place([entry()], OBSERVED, None) == ""
