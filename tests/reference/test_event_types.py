"""Names of event types: MySQL's, those that other servers add, and numbers that nobody documents."""

from __future__ import annotations

import pytest

from conformance.reference.event_types import EventType, MariadbEventType, event_name, event_words, writer_of


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        (2, "QUERY_EVENT", "QUERY_EVENT"),
        (39, "PARTIAL_UPDATE_ROWS_EVENT", "PARTIAL_UPDATE_ROWS_EVENT"),
        (162, "GTID_EVENT", "MariaDB's GTID_EVENT (type 162)"),
        (164, "START_ENCRYPTION_EVENT", "MariaDB's START_ENCRYPTION_EVENT (type 164)"),
        (167, "UPDATE_ROWS_COMPRESSED_EVENT_V1", "MariaDB's UPDATE_ROWS_COMPRESSED_EVENT_V1 (type 167)"),
        (100, "UNKNOWN_EVENT(100)", "Aurora's event of type 100"),
        (121, "UNKNOWN_EVENT(121)", "UNKNOWN_EVENT(121)"),
    ],
)
def test_names_of_types(code: int, name: str, words: str) -> None:
    assert (event_name(code), event_words(code)) == (name, words)


def test_no_number_belongs_to_two_products() -> None:
    assert not set(map(int, EventType)) & set(map(int, MariadbEventType))
    assert {writer_of(code) for code in EventType} == {None}
    assert {writer_of(code) for code in MariadbEventType} == {"MariaDB"}
