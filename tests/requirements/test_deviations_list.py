"""The list of deviations: what it may say, what is refused, and which versions an entry is for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cases.files import load_any_case
from conformance.harness.witnesses import check_witnesses
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.crashes import Crash
from conformance.requirements.deviations import Deviation, DeviationError, load_deviations
from conformance.requirements.versions import (
    applies,
    dialect_name,
    dialect_of,
    in_observed_range,
    parse_range,
    parse_version,
)

if TYPE_CHECKING:
    from pathlib import Path

CRASH = '{ during = "applying", damage = "member-in-diff", signal = 6 }'
BUILD = "9.7.4-2 cc8a18826385"
GOOD = {
    "id": '"mine"',
    "requirements": '["FR2"]',
    "switch": '"partial_remove"',
    "versions": '"8.0.3.."',
    "reason": '"why"',
}


def entry(**changes: str | None) -> str:
    lines = {**GOOD, **changes}
    return "[[deviation]]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items() if value is not None)


def load(path: Path, text: str) -> tuple[Deviation, ...]:
    (path / "list.toml").write_text(text, encoding="utf-8")
    return load_deviations(path / "list.toml")


def test_every_entry_of_the_kit_has_a_witness_that_is_a_case_of_its_requirements() -> None:
    entries = load_deviations()
    assert entries
    check_witnesses(entries)
    for item in entries:
        assert set(item.requirements) <= set(REQUIREMENTS)
        assert item.reason
        if item.witness is None:  # what crashes a server stands in no file of the kit
            assert item.crash is not None
            continue
        case = load_any_case(json.loads(item.witness))
        assert set(case.requirements) <= set(item.requirements)


def test_an_entry_of_a_file_is_read_with_its_witness(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("{}", encoding="utf-8")
    (item,) = load(tmp_path, entry(witness='"w.json"'))
    assert item == Deviation(
        id="mine", requirements=("FR2",), switch="partial_remove", versions="8.0.3..", reason="why", witness="{}"
    )


def test_a_crash_is_an_entry_by_its_signature(tmp_path: Path) -> None:
    (item,) = load(tmp_path, entry(switch=None, crash=CRASH))
    assert item.crash == Crash("applying", "member-in-diff", 6)
    assert item.switch is None
    assert (item.frames, item.no_frames) == ({}, "")


def test_a_crash_has_the_upper_frames_of_each_place_on_each_build_or_says_why_there_are_none(tmp_path: Path) -> None:
    frames = f'{{ "{BUILD}" = [["a", "b"], ["c"]], "x 0123456789ab" = [["d"]] }}'
    (item,) = load(tmp_path, entry(switch=None, crash=CRASH, frames=frames))
    assert item.frames == {"cc8a18826385": (("a", "b"), ("c",)), "0123456789ab": (("d",),)}
    (item,) = load(tmp_path, entry(switch=None, crash=CRASH, no_frames='"it prints none"'))
    assert (item.frames, item.no_frames) == ({}, "it prints none")


def test_a_crash_is_listed_for_no_version_on_which_it_was_not_observed() -> None:
    entries = [item for item in load_deviations() if item.crash is not None]
    assert entries
    for item in entries:
        series = {parse_version(seen)[:2] for seen in item.observed}
        for version in ((8, 0, 3), (8, 0, 99), (8, 4, 5), (9, 6, 0), (9, 7, 4), (9, 8, 0)):
            assert applies(item.versions, version) is (version[:2] in series)


def test_every_entry_of_the_kit_says_where_it_was_seen() -> None:
    """8.0.45 and 9.7.4 were there; where else an entry is expected, nobody has seen it."""
    for item in load_deviations():
        assert item.observed
        assert set(item.observed) <= {"8.0.45", "9.7.4"}
        assert "Observed on 9.7.4." not in item.reason


def test_an_entry_has_the_versions_on_which_it_was_seen(tmp_path: Path) -> None:
    (item,) = load(tmp_path, entry(versions='"8.0.3..8.0.99, 9.7.0.."', observed='["8.0.45", "9.7.4-2"]'))
    assert item.observed == ("8.0.45", "9.7.4-2")
    assert [applies(item.versions, version) for version in ((8, 0, 45), (8, 4, 0), (9, 7, 0), (26, 7, 0))] == [
        True, False, True, True,
    ]  # fmt: skip


def test_an_empty_list_is_a_list(tmp_path: Path) -> None:
    assert load(tmp_path, "") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[deviation]", "not TOML"),
        ("deviation = 1", r"expected \[\[deviation\]\]"),
        ("deviation = [1]", r"expected \[\[deviation\]\]"),
        ("[deviation]\nid = 'x'", r"expected \[\[deviation\]\]"),
        ("[[deviations]]", "unknown keys"),
        (entry(id=None), "id missing"),
        (entry(switch=None, reason=None), "reason, switch, crash or witness missing"),
        (entry(extra="1"), "unknown keys"),
        (entry(requirements='"FR2"'), "requirements is no list of texts"),
        (entry(requirements="[]"), "requirements is no list of texts"),
        (entry(requirements='["FR99"]'), "no requirement 'FR99'"),
        (entry(reason="3"), "reason is no text"),
        (entry(observed='"9.7.4"'), "observed is no list of texts"),
        (entry(observed='["9.7"]', versions='"9.7.4"'), "observed: 9.7 is not in 9.7.4"),
        (entry(observed='["new"]'), "observed: not a version: 'new'"),
        (entry(switch='"nonsense"'), "no dialect switch 'nonsense'"),
        (entry(switch=None, crash=CRASH, witness='"w.json"'), "a crash has no witness"),
        (entry(switch=None, crash='"signal 6"'), "crash needs during, damage, signal"),
        (entry(switch=None, crash="{ signal = 6 }"), "crash needs during, damage, signal"),
        (entry(switch=None, crash=CRASH.replace("applying", "sleeping")), "during 'sleeping' is none of applying"),
        (entry(switch=None, crash=CRASH.replace("member-in-diff", "")), "damage '' is none of member-in-diff"),
        (entry(switch=None, crash=CRASH.replace("6", "true")), "signal True is no number"),
        (entry(switch=None, crash=CRASH.replace("6", "0")), "signal 0 is no number"),
        (entry(frames=f'{{ "{BUILD}" = [["a"]] }}'), "frames are those of a crash"),
        (entry(no_frames='"why"'), "frames are those of a crash"),
        (entry(switch=None, crash=CRASH, no_frames="1"), "no_frames is no text"),
        (entry(switch=None, crash=CRASH, frames="[]"), "frames is no table of builds"),
        (entry(switch=None, crash=CRASH, frames='{ "9.7.4" = [["a"]] }'), "'9.7.4' does not end with the first twelve"),
        (entry(switch=None, crash=CRASH, frames=f'{{ "{BUILD}" = [] }}'), "no list of places"),
        (entry(switch=None, crash=CRASH, frames=f'{{ "{BUILD}" = ["a"] }}'), "no list of places"),
        (entry(switch=None, crash=CRASH, frames=f'{{ "{BUILD}" = [[]] }}'), "no list of places"),
        (
            entry(switch=None, crash=CRASH, frames=f'{{ "{BUILD}" = [["a"]] }}', no_frames='"why"'),
            "frames and no_frames exclude each other",
        ),
        (entry(versions='"8"'), "versions: not a version: '8'"),
        (entry(versions='"..8.0.3"'), "not a version: ''"),
        (entry(witness='"nowhere.json"'), "nowhere.json: No such file"),
        (entry() + entry(), "mine is listed twice"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DeviationError, match=message) as caught:
        load(tmp_path, text)
    assert "list.toml" in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviationError, match="No such file"):
        load_deviations(tmp_path / "none.toml")
    with pytest.raises(DeviationError, match="Is a directory"):
        load_deviations(tmp_path)
    (tmp_path / "list.toml").write_bytes(b"\xff")
    with pytest.raises(DeviationError, match="not TOML"):
        load_deviations(tmp_path / "list.toml")
    (tmp_path / "w.json").write_bytes(b"\xff")
    with pytest.raises(DeviationError, match="not a text file"):
        load(tmp_path, entry(witness='"w.json"'))


# --- versions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("versions", "inside", "outside"),
    [
        ("8.0.3..", [(8, 0, 3), (8, 4, 0), (99, 0, 0)], [(8, 0, 2), (5, 7, 44)]),
        ("8.0.3..8.4.99", [(8, 0, 3), (8, 4, 99)], [(8, 0, 2), (9, 0, 0)]),
        ("9.7.4", [(9, 7, 4)], [(9, 7, 3), (9, 7, 5)]),
        ("10.0.0..", [(10, 0, 0)], [(9, 99, 0)]),
    ],
)
def test_a_range_has_both_its_ends(
    versions: str, inside: list[tuple[int, int, int]], outside: list[tuple[int, int, int]]
) -> None:
    assert all(applies(versions, version) for version in inside)
    assert not any(applies(versions, version) for version in outside)


@pytest.mark.parametrize("text", ["", "..", "8.0", "8.0.3...9.0.0", "a.b.c", "8.0.3..x"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        parse_range(text)


def test_partial_updates_begin_with_8_0_3() -> None:
    assert dialect_of((8, 0, 3)).behaviour == dialect_of((9, 7, 4)).behaviour
    assert dialect_of((8, 0, 3)).log.has_event39
    assert not dialect_of((8, 0, 2)).log.has_event39
    assert dialect_name((8, 0, 2)) == "mysql-8.0.2"
    assert dialect_name((5, 5, 62)) == "none"


def test_differences_count_only_where_the_behaviour_was_observed() -> None:
    assert in_observed_range((9, 7, 4))
    assert not in_observed_range((8, 0, 2))
    assert not in_observed_range((10, 0, 0))


# --- witnesses -------------------------------------------------------------------------------------------------------


def sql_witness(deviation: str) -> str:
    outcomes = [{"warnings": [3645]}, {"warnings": [], "verdict": "fail", "deviation": deviation}]
    statement = {"sql": "SET SESSION sql_log_bin=0", "judges": "W1b", "outcomes": outcomes}
    return json.dumps({"format": 1, "kind": "sql", "id": "x", "requirements": ["W1b"], "statements": [statement]})


def test_an_entry_without_a_switch_stands_as_an_outcome_in_its_witness() -> None:
    item = Deviation(id="mine", requirements=("W1b",), versions="9.7.4", reason="why", witness=sql_witness("mine"))
    check_witnesses([item])


@pytest.mark.parametrize(
    ("switch", "named", "message"),
    [
        (None, "other", "not a sql Case with an outcome of 'mine'"),
        ("partial_remove", "mine", "not an update or events Case"),
    ],
)
def test_a_witness_of_the_wrong_kind_is_refused(switch: str | None, named: str, message: str) -> None:
    item = Deviation(
        id="mine", requirements=("W1b",), switch=switch, versions="9.7.4", reason="why", witness=sql_witness(named)
    )
    with pytest.raises(DeviationError, match=message):
        check_witnesses([item])
