"""The parser that shipped: classes of events and texts, its table, and what it notices late."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.reference.binlog.header import Flag
from conformance.reference.boundaries.diagrams import page
from conformance.reference.boundaries.observed_event import ObservedEvent, observe
from conformance.reference.boundaries.shipped import (
    Complaint,
    EventClass,
    Message,
    ParserState,
    ShippedParser,
    classify,
    classify_query,
)
from conformance.reference.event_types import EventType
from tests.reference.boundaries.streams import FILES, events_of

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "BEGIN_TRX") for text in ("BEGIN", "B", "BEGI", "XA START X'78'", "XA START")),
        *((text, "END_TRX") for text in ("COMMIT", "C", "COMMI", "ROLLBACK", "rollback", "RollBack x", "ROLLBACK TO")),
        *((text, "END_XA_TRX") for text in ("XA ROLLBACK X'78'", "xa rollback")),
        *(
            (text, "STATEMENT")
            for text in (
                "BEGIN ", "begin", "Bx", "COMMIT ", "commit", "ROLLBACK TO `s`", "rollback to s", "XA COMMIT X'78'",
                "XA END X'78'", "xa start x", "SAVEPOINT `s`", "create table t (a int)", "X", "ROLLBAC",
            )
        ),
        ("", "UNREADABLE"),
    ],
)  # fmt: skip
def test_query_texts_have_these_classes(text: str, kind: str) -> None:
    assert classify_query(text.encode()) is EventClass[kind]


@pytest.mark.parametrize(
    ("text", "checksum", "kind"),
    [
        ("XA STAR", b"T123", "BEGIN_TRX"),
        ("XA STAR", b"t123", "STATEMENT"),
        ("XA STA", b"RT12", "BEGIN_TRX"),
        ("ROLLBAC", b"k123", "END_TRX"),
        ("ROLLBACK TO", b" 123", "STATEMENT"),
        ("ROLLBACK TO", b"x123", "END_TRX"),
        ("XA ROLLBAC", b"K123", "END_XA_TRX"),
        ("BEGI", b"N123", "BEGIN_TRX"),
        ("COMMI", b"x123", "END_TRX"),
        ("", b"BEGI", "UNREADABLE"),
    ],
)
def test_short_texts_are_read_on_into_the_checksum(text: str, checksum: bytes, kind: str) -> None:
    assert classify(ObservedEvent(EventType.QUERY, 0, 0, text.encode(), checksum)) is EventClass[kind]


def test_what_no_table_names_is_ignored_if_it_may_be_and_an_error_if_not() -> None:
    for code in (0, 1, 6, 23, 24, 25, 28, 43, 255):
        assert classify(ObservedEvent(code)) is EventClass.ERROR
        assert classify(ObservedEvent(code, Flag.IGNORABLE)) is EventClass.IGNORE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_captured_file_is_accepted(path: object) -> None:
    parser = ShippedParser()
    assert not any(parser.feed(observe(event, footer)) for event, footer in events_of(path))
    assert parser.state is ParserState.NONE


def test_a_cut_in_the_middle_is_noticed_at_the_end_of_the_group_only() -> None:
    parser = ShippedParser()
    codes = (EventType.TABLE_MAP, EventType.WRITE_ROWS, EventType.XID, EventType.GTID)
    complaints = [parser.feed(ObservedEvent(code)) for code in codes]
    assert [item is not None for item in complaints] == [False, False, True, False]
    assert complaints[2] == Complaint(EventClass.END_TRX, ParserState.NONE, Message(10445, "outside a transaction"))
    assert parser.inside


def test_an_applier_takes_a_gtid_anywhere_but_after_an_error() -> None:
    events = (
        ObservedEvent(EventType.GTID),
        ObservedEvent(EventType.GTID),
        ObservedEvent(1),
        ObservedEvent(EventType.GTID),
    )
    for receiver, wanted in ((True, [False, True, True, True]), (False, [False, False, True, True])):
        parser = ShippedParser(receiver=receiver)
        assert [parser.feed(event) is not None for event in events] == wanted


def test_a_reset_forgets_the_open_group() -> None:
    parser = ShippedParser()
    parser.feed(ObservedEvent(EventType.GTID))
    parser.reset()
    assert parser.state is ParserState.NONE


def test_the_page_is_drawn_from_the_tables() -> None:
    assert (ROOT / "docs/transaction-boundaries.md").read_text("utf-8") == page()
    command = [sys.executable, "-m", "conformance.reference.boundaries.diagrams"]
    assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout == page()
