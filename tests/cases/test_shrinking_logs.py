"""Smaller logs: the parts of a log give the same log again, every cut leaves a sound one, and the answer stays."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from conformance.cases.shrinking import logs
from conformance.cases.shrinking.logs import ENOUGH, join_log, shrink_log, split_log
from conformance.checks.decoders.suite import load_suite
from conformance.logs.row_change_lines import read_log
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable

SUITE = load_suite()
NOT_THE_SAME = {"payload/level-1", "payload/level-22", "files/open-and-cut"}  # other compression; the rest is missing
NAMES = ("diffs/three-in-one-column", "columns/all-types", "images/9-columns-minimal", "metadata/signedness-of-70",
         "payload/partial-inside", "gtid/tagged-partial", "metadata/members", "metadata/partitions")  # fmt: skip


def test_the_parts_of_each_sound_log_give_the_same_log_again() -> None:
    whole = 0
    for case in SUITE.cases:
        try:
            parts = split_log(case.log, case.sparse)
        except CodecError:
            continue
        whole += 1
        assert join_log(parts, case.sparse) == case.log or case.id in NOT_THE_SAME, case.id
    assert whole > 400


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_leaves_a_log_whose_lengths_positions_and_checksums_are_right(name: str) -> None:
    parts = split_log(SUITE.case(name).log)
    for smaller in logs._PASSES:
        sound = 0
        for candidate in islice(smaller(parts), 40):
            try:
                log = join_log(candidate)
            except CodecError:
                continue
            error = read_log(log, "log").error
            # What a cut may break is the log's sense, never its frames.
            assert error is None or error.code in ("no-table-map", "no-format-description"), (smaller, error)
            sound += error is None
        assert sound or not list(islice(smaller(parts), 1)), smaller


def keeps(text: str) -> Callable[[bytes, int], bool]:
    def fails(log: bytes, sparse: int) -> bool:
        reading = read_log(log, "log", sparse=sparse)
        return reading.error is None and any(text in line for line in reading.lines)

    return fails


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("diffs/three-in-one-column", '"operation": "REMOVE"'),
        ("columns/time-negative", '"-838:59:59'),
        ("payload/partial-inside", '"diffs"'),
        ("jsonb/large-array", '"json"'),
        ("files/many-small", '"insert"'),
    ],
)
def test_the_smallest_log_keeps_what_it_is_about_and_little_else(name: str, text: str) -> None:
    case = SUITE.case(name)
    fails = keeps(text)
    log, _ = shrink_log(case.log, fails, seconds=20)
    assert len(log) < min(ENOUGH, len(case.log))
    lines = read_log(log, "log").lines
    assert len(lines) == 1
    assert text in lines[0]
    assert shrink_log(case.log, fails, seconds=20)[0] == log


def test_the_zeros_of_a_sparse_log_go_if_they_are_not_needed() -> None:
    case = next(case for case in SUITE.cases if case.sparse)
    assert shrink_log(case.log, keeps('"'), seconds=10, sparse=case.sparse)[1] == 0

    def beyond(log: bytes, sparse: int) -> bool:
        lines = read_log(log, "log", sparse=sparse).lines
        return any(json.loads(line)["position"] > 1 << 32 for line in lines)

    log, sparse = shrink_log(case.log, beyond, seconds=10, sparse=case.sparse)
    assert sparse == case.sparse
    assert len(log) < len(case.log)


def test_a_damaged_log_loses_events_and_keeps_its_damage() -> None:
    case = SUITE.case("hostile/rows-cut")
    damage = read_log(case.log, "log").error
    assert damage is not None

    def fails(log: bytes, _: int) -> bool:
        error = read_log(log, "log").error
        return error is not None and error.code == damage.code

    log, _ = shrink_log(case.log, fails, seconds=10)
    assert fails(log, 0)
    assert len(log) < len(case.log)


def test_without_time_the_log_stays() -> None:
    case = SUITE.case("diffs/three-in-one-column")
    assert shrink_log(case.log, keeps("diffs"), seconds=0)[0] == case.log
