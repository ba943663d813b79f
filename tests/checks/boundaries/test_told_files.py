"""A file with many broken markers: ``decode`` names the first twenty events, and counts the others."""

from __future__ import annotations

import pytest

from conformance.checks.boundaries import check_told_files
from conformance.checks.boundaries.check_told_files import Told, judge, marked_file, told, wanted
from generators.draw import Stream

REST = "1 more events do not fit their transactions"
FILES = [marked_file(Stream("told", "653018594", number)) for number in (6, 7)]  # the first has 21 such events


def test_events_behind_the_twentieth_are_counted() -> None:
    expected = wanted(FILES)
    assert [item.words for item in expected if item.file == 0][20:] == [REST]
    assert len([item for item in expected if item.file == 0]) == 21
    assert judge(expected, told(FILES)) == []


@pytest.mark.planted("TI3")
@pytest.mark.parametrize("words", ["", "2 more events do not fit their transactions"])
def test_a_wrong_count_of_the_others_is_noticed(words: str) -> None:
    expected = wanted(FILES)
    got = [item._replace(words=words) if item.words == REST else item for item in expected]
    (problem,) = judge(expected, [item for item in got if item.words])
    assert (problem.field, problem.expected, problem.got) == ("file 0, the others", REST, words or "no warning")


def test_a_file_with_twenty_has_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_told_files, "_NAMED", 21)
    assert Told(0, check_told_files._BEHIND, REST) not in wanted(FILES)
    assert len([item for item in wanted(FILES) if item.file == 0]) == 21
