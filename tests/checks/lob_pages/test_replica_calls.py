"""The updates that a replica replays change every document, each time."""

from __future__ import annotations

from conformance.checks.lob_pages.replica import call_of, predict
from conformance.reference.jsonb.encode import encode
from generators.draw import Stream


def test_updates_change_the_document_that_earlier_ones_left() -> None:
    """An update that changes nothing is not logged, so the replica keeps its pages (seeds 44 and 53 had one)."""
    first = encode({f"k{number:02}": "abcdef"[number % 6] * 2500 for number in range(12)})
    for number in range(300):
        draw = Stream("calls", number)
        second = predict(first, call_of(draw, "uvw")).document
        assert second != first
        assert predict(second, call_of(draw, "xyz")).document != second
