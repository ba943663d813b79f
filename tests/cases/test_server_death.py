"""The words of a death are read again as they were written."""

from __future__ import annotations

import pytest

from conformance.cases.server_death import Death, format_death, parse_death


@pytest.mark.parametrize(
    ("frames", "build", "addresses", "text"),
    [
        (("a::b", "c"), "cc8a18826385", "0a1", "signal 11 in a::b < c (build cc8a18826385)"),
        (("a",), "", "0a1", "signal 11 in a"),
        ((), "cc8a18826385", "0a1,b2c", "signal 11: 0a1,b2c (build cc8a18826385)"),
        ((), "", "0a1,b2c", "signal 11: 0a1,b2c"),
        ((), "cc8a18826385", "", "signal 11:  (build cc8a18826385)"),
    ],
)
def test_a_death_is_written_and_read(frames: tuple[str, ...], build: str, addresses: str, text: str) -> None:
    assert format_death("11", frames, build, addresses) == text
    assert parse_death(text) == Death(11, frames, build)


@pytest.mark.parametrize("text", ["", "no crash report", "signal SIGSEGV", "a signal 11: 0a1", "signal 11 (build x)"])
def test_other_words_tell_no_signal(text: str) -> None:
    assert parse_death(text) is None
