"""The texts at the borders reach a receiver in every state, and the streams give every warning that there is."""

from __future__ import annotations

from collections import Counter

from conformance.checks.boundaries import broken_streams, census
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.observed_event import observe
from conformance.reference.boundaries.shipped import ParserState, ShippedParser, classify
from generators import streams
from generators.draw import Stream


def test_every_text_comes_in_every_state() -> None:
    parser = ShippedParser()
    seen: Counter[tuple[bytes, ParserState]] = Counter()
    for item in streams.texts(Stream("texts")):
        *before, last = (observe(placed.data) for placed in streams.placed(item))
        for event in before:
            parser.feed(event)
        seen[last.text, parser.state] += 1
        parser.feed(last)
    states = set(ParserState) - {ParserState.ERROR}
    assert set(seen) == {(text, state) for text in (*streams.TEXTS, *streams.COMPLETED) for state in states}


def test_a_completed_text_ends_in_the_checksum_and_has_another_class_by_it() -> None:
    bodies = [body for item in streams.texts(Stream("texts")) for body in item]
    placed = zip(bodies, streams.placed(bodies)[2:], strict=True)
    completed = [(body.text, observe(event.data)) for body, event in placed if isinstance(body, streams.CompletedQuery)]
    assert {text for text, _ in completed} == set(streams.COMPLETED)
    assert len(completed) == len(streams.COMPLETED) * len(streams.PLACES)
    for text, event in completed:
        assert event.behind[:1] == streams.COMPLETED[text]
        assert classify(event) is not classify(event._replace(behind=b""))


def test_the_texts_alone_exercise_their_rules_and_most_warnings() -> None:
    bodies = [body for item in streams.texts(Stream("texts")) for body in item]
    stream = streams.placed(bodies)
    counts = census.of_receiver(bodies, {"event removed": 2}, broken_streams.expected_warnings(stream))
    assert set(counts) <= set(census.RECEIVER)
    assert all(counts[rule] for rule in census.RECEIVER if rule.startswith("boundary-text/"))
    assert counts["boundary-damage/event removed"] == 2
    assert counts["boundary-damage/shuffled"] == 0
    assert counts["boundary-warning/10444 in the middle of a DML"] > 0


def test_other_texts_are_not_counted() -> None:
    assert census.of_receiver([Query(text=b"BEGI N")], {}, []) == Counter()
