"""``decode`` with options that leave events out, against what mysqlbinlog 9.7.4 printed with the same options."""

from __future__ import annotations

import json
from typing import Any, Final
from uuid import UUID

import pytest

from conformance.reference.binlog.control_events import Stop, XaPrepare, Xid
from conformance.reference.binlog.event import Event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import LONG, ColumnType
from conformance.reference.text.event_filter import Choice, EventFilter, Selection
from conformance.reference.text.mysqlbinlog import LogText
from tests.reference.text.filtered_output import RECORDED, digest, ours, timed_log
from tests.reference.text.made_logs import table_of

CASES: Final[list[dict[str, Any]]] = json.loads(RECORDED.read_text("utf-8"))
UUIDS: Final = UUID("11111111-2222-3333-4444-555555555555")


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["words"]))
def test_the_text_is_the_clients(case: dict[str, Any]) -> None:
    answer = ours(case["words"])
    assert (digest(answer), answer.failed) == (case["digest"], case["failed"])


def test_the_recorded_options_leave_out_much_and_not_all() -> None:
    """A filter that does nothing, and one that leaves out everything, are noticed."""
    for option in ("--start-position", "--stop-position", "--database", "--include-gtids", "--exclude-gtids",
                   "--start-datetime", "--stop-datetime"):  # fmt: skip
        digests = {case["digest"] for case in CASES if any(word.startswith(option) for word in case["words"])}
        assert len(digests) >= 5, option


def event(body: Any, *, when: int = 0, place: int = 4, inner: int | None = None) -> Event:
    return Event(Header(when, body.type, 1, 50, 0, 0), body, None, place, inner)


def chosen(selection: Selection, *bodies: Any) -> list[Choice]:
    events = EventFilter(selection)
    events.start_file(last=True)
    return [events.choose(event(body)) for body in bodies]


@pytest.mark.parametrize(
    ("number", "tag", "inside"), [(1, "", False), (2, "", True), (4, "", True), (5, "", False), (9, "", True),
                                  (10, "", False), (2, "t", False), (7, "t", True), (7, "", False)]
)  # fmt: skip
def test_a_set_has_intervals_of_a_source_and_a_tag(number: int, tag: str, *, inside: bool) -> None:
    gtids = PreviousGtids.parse(f"{UUIDS}:2-4:9:t:7")
    gtid = GtidTagged(uuid=UUIDS, tag=tag, gno=number) if tag else Gtid(uuid=UUIDS, gno=number)
    other = Gtid(uuid=UUID(int=5), gno=number)
    included = chosen(Selection(include_gtids=gtids), gtid, other)
    excluded = chosen(Selection(exclude_gtids=gtids), gtid, other)
    assert included == [Choice.PRINTED if inside else Choice.OTHER_TRANSACTION, Choice.OTHER_TRANSACTION]
    assert excluded == [Choice.OTHER_TRANSACTION if inside else Choice.PRINTED, Choice.PRINTED]


@pytest.mark.parametrize(
    "end", [Xid(xid=1), Query(text=b"COMMIT"), Query(text=b"ROLLBACK"), Query(text=b"XA ROLLBACK x")]
)
def test_a_transaction_is_left_out_up_to_its_end(end: Any) -> None:
    gtids = PreviousGtids.parse(f"{UUIDS}:1-5")
    bodies = (Gtid(uuid=UUIDS, gno=2), Query(text=b"ROLLBACK TO `a`"), Query(text=b"x"), end, Query(text=b"y"))
    assert chosen(Selection(exclude_gtids=gtids), *bodies) == [*[Choice.OTHER_TRANSACTION] * 4, Choice.PRINTED]


def test_a_transaction_without_a_gtid_is_in_no_set() -> None:
    nobody = Gtid(type=EventType.ANONYMOUS_GTID, uuid=UUIDS, gno=2)
    gtids = PreviousGtids.parse(f"{UUIDS}:1-5")
    assert chosen(Selection(include_gtids=gtids), nobody) == [Choice.OTHER_TRANSACTION]
    assert chosen(Selection(exclude_gtids=gtids), nobody) == [Choice.PRINTED]


def test_a_table_leaves_out_rows_and_no_statements() -> None:
    wanted, other = table_of(ColumnType(LONG)), table_of(ColumnType(LONG))
    object.__setattr__(other, "table", "u")
    object.__setattr__(other, "table_id", 7)
    rows = [rows_body(table, EventType.WRITE_ROWS, [Row(None, (1,))]) for table in (wanted, other)]
    choices = chosen(Selection(table=wanted.table), Query(text=b"CREATE TABLE u (a INT)"), wanted, other, *rows)
    assert choices == [Choice.PRINTED, Choice.PRINTED, Choice.OTHER_TABLE, Choice.PRINTED, Choice.PRINTED]
    again = chosen(Selection(table=wanted.table), other, rows[1], rows[1])
    # The end of the statement ends what is known of its tables.
    assert again == [Choice.OTHER_TABLE, Choice.OTHER_TABLE, Choice.PRINTED]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"BEGIN", True), (b"B", True), (b"begin", False), (b"BEGINx", False), (b"COMMIT", True), (b"COMM", True),
        (b"commit", False), (b"savepoint `a`", True), (b"SAVEPOIN", False), (b"rollback to `a`", True),
        (b"ROLLBACK", True), (b"XA START X'00'", True), (b"xa end x", True), (b"XA PREPARE x", True),
        (b"xa commit x", True), (b"XA ROLLBACK x", True), (b"XA RECOVER", False), (b"XA BEGIN x", False),
        (b"START TRANSACTION", False), (b"RELEASE SAVEPOINT `a`", False), (b"DELETE FROM t", False),
    ],
)  # fmt: skip
def test_words_of_transactions_are_in_no_schema(text: bytes, *, word: bool) -> None:
    """As observed with mysqlbinlog 9.7.4 on a log made by hand."""
    assert chosen(Selection(database="d"), Query(text=text, schema=b"e")) == [
        Choice.PRINTED if word else Choice.OTHER_TABLE
    ]
    assert chosen(Selection(database="e"), Query(text=text, schema=b"e")) == [Choice.PRINTED]


def test_the_position_of_the_end_is_one_in_the_last_file() -> None:
    events = EventFilter(Selection(stop_position=100))
    events.start_file(last=False)
    assert events.choose(event(Query(text=b"a"), place=100)) is Choice.PRINTED
    events.start_file(last=True)
    assert events.choose(event(Query(text=b"a"), place=99)) is Choice.PRINTED
    assert events.choose(event(Query(text=b"a"), place=100, inner=0)) is Choice.PRINTED
    assert events.choose(event(Query(text=b"a"), place=100)) is Choice.STOP


def test_the_log_of_times_is_made_as_it_was() -> None:
    """But for its compressed parts, which another version of zstd may write otherwise."""
    from tests.reference.text.filtered_output import TIMES

    made, kept = timed_log(), TIMES.read_bytes()
    assert made[:200] == kept[:200]


def added(*bodies: Any) -> list[str]:
    """The lines "added by mysqlbinlog", and the names of the events between them; ``other.*`` is left out."""
    choices = EventFilter(Selection(database="d", exclude_gtids=PreviousGtids.parse(f"{UUIDS}:9")))
    text, out = LogText(), [b""]
    choices.start_file(last=True)
    for body in bodies:
        one = event(body)
        choice = choices.choose(one)
        if choice is Choice.PRINTED:
            out += [*text.event(one), b"%b\n" % type(body).__name__.encode()]
        else:
            out += [*text.left_out(one, partial=choice is Choice.OTHER_TABLE), b"-\n"]
    lines = b"".join([*out, *text.end()]).decode().splitlines()
    names = {type(body).__name__ for body in bodies} | {"-"}
    return [line.split(" /*")[0] for line in lines if "added by" in line or line in names]


_GTID: Final = Gtid(uuid=UUIDS, gno=1)
_DDL: Final = Query(text=b"CREATE TABLE t (a INT)", schema=b"other")
_FRAME: Final = (FormatDescription(), PreviousGtids())


def test_ddl_that_is_left_out_is_committed_at_once() -> None:
    end = "SET @@SESSION.GTID_NEXT= 'AUTOMATIC'"
    assert added(_GTID, _DDL, Stop()) == ["Gtid", "COMMIT", "-", "Stop", end]
    assert added(_GTID, Query(text=b"BEGIN"), _DDL, Xid(xid=1)) == ["Gtid", "Query", "-", "Xid", end]
    assert added(_GTID, Query(text=b"BEGIN"), Xid(xid=1), _DDL, Stop()) == [
        "Gtid", "Query", "Xid", "-", "Stop", "COMMIT", end,
    ]  # fmt: skip


def test_a_commit_that_is_added_waits_for_the_next_file() -> None:
    end = "SET @@SESSION.GTID_NEXT= 'AUTOMATIC'"
    whole = (_GTID, Query(text=b"XA START X'78',X'',1"), _DDL, XaPrepare(gtrid=b"x"))
    file = ["Gtid", "Query", "-", "XaPrepare"]
    assert added(*_FRAME, *whole, *_FRAME, *whole) == [
        "FormatDescription", "PreviousGtids", *file, "ROLLBACK", end,
        "FormatDescription", "PreviousGtids", "COMMIT", *file, "COMMIT", "ROLLBACK", end,
    ]  # fmt: skip


def test_a_transaction_that_is_left_out_says_nothing_of_the_one_before() -> None:
    end = "SET @@SESSION.GTID_NEXT= 'AUTOMATIC'"
    other = (Gtid(uuid=UUIDS, gno=9), _DDL, Xid(xid=1))
    assert added(_GTID, *other) == ["Gtid", "-", "-", "-", "BEGIN", "ROLLBACK", end]
    assert added(_GTID, Query(text=b"BEGIN"), _DDL, *other, _GTID) == [
        "Gtid", "Query", "-", "-", "-", "-", "COMMIT", "Gtid", "ROLLBACK", end,
    ]  # fmt: skip
