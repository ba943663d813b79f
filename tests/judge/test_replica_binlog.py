"""A replica's own log and redo: every planted fault of FR6 and A7 is noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.row_images import RowImage
from conformance.cases.script import Script, build_script
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.judge.replica import transactions
from conformance.judge.replica_binlog import (
    LoggingReplica,
    ReplicaBinlog,
    ReplicaBinlogSettings,
    compare_replica_binlog,
    judge_redo,
)
from conformance.judge.updates.log_rules import judge_log
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import checksum_of
from conformance.reference.binlog.query import Query, Status, StatusInteger
from conformance.reference.binlog.rows import Row, RowsBody
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.expression import Assignment, Constant
from conformance.reference.partial.paths import parse_path
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.table_map import TableMap
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge.perfect_server import SCHEMA, groups_of, is_update, observe, write
from tests.judge.updates.faults_of_facts import FIELDS, altered_events, every, one, swapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.judge.replica import Transaction
    from tests.judge.perfect_server import Groups

COLUMNS: Final = (
    Column(name="id", type="INT", nullable=False),
    Column(name="j", type="JSON"),
    Column(name="c", type="TEXT"),
)
TABLE: Final = Table(schema="lab", name="t", columns=COLUMNS, primary_key=((0, 0),))
PARTIAL, WHOLE = "JSON_SET(j, '$.a', 2)", "JSON_OBJECT('a', 2, 'b', REPEAT('c', 60))"
DOCUMENT: Final = encode({"a": 1, "b": "b" * 60})
MINIMAL: Final = ReplicaBinlogSettings(image=RowImage.MINIMAL, partial_json=True)
FULL: Final = ReplicaBinlogSettings(image=RowImage.FULL, partial_json=True)
OFF: Final = ReplicaBinlogSettings(image=RowImage.MINIMAL, partial_json=False)


def script(image: RowImage = RowImage.MINIMAL) -> Script:
    """A diff, then a document that goes whole."""
    steps = tuple(Step((Assignment("j", parse_expression(text, "j")),), (0,)) for text in (PARTIAL, WHOLE))
    session = Session(row_image=image)
    case = UpdateCase(id="", table=TABLE, selector="id", session=session, rows=((1, DOCUMENT, b"x"),), steps=steps)
    return build_script(case)


def several(*, key: bool, order: tuple[int, ...] = (3, 2, 1)) -> Script:
    """Rows whose order in the table is not that of the selector, all updated at once; the second has no TEXT."""
    table = TABLE if key else replace(TABLE, primary_key=())
    rows = tuple((number, DOCUMENT, None if number == 2 else b"x") for number in order)
    step = Step((Assignment("j", parse_expression(PARTIAL, "j")),), (0, 1, 2))
    return build_script(
        UpdateCase(
            id="", table=table, selector="id", session=Session(row_image=RowImage.MINIMAL), rows=rows, steps=(step,)
        )
    )


def judged(
    made: Script,
    settings: ReplicaBinlogSettings,
    doctor: Callable[[Groups], None] = lambda _: None,
    *,
    really: ReplicaBinlogSettings | None = None,
) -> ReplicaBinlog:
    """The comparison with the log of a replica that has ``settings``, or ``really`` others, and a fault."""
    log = transactions(made, observe(made).events)
    logged = really or settings
    groups = groups_of(made, expected=list(LoggingReplica(made, logged, SCHEMA).groups(log)))
    doctor(groups)
    return compare_replica_binlog(made, log, write(groups, compression=logged.compression), settings, SCHEMA)


def log_of(made: Script) -> Sequence[Transaction]:
    return transactions(made, observe(made).events)


def updates(groups: Groups) -> Sequence[tuple[list[Any], int]]:
    return [(group, at) for group in groups for at, body in enumerate(group) if is_update(body)]


@pytest.mark.parametrize("image", list(RowImage))
@pytest.mark.parametrize("settings", [MINIMAL, FULL, OFF, replace(FULL, metadata="FULL", compression=True)])
def test_a_log_by_its_settings_passes(image: RowImage, settings: ReplicaBinlogSettings) -> None:
    found = judged(script(image), settings)
    assert (found.rows, found.found, found.gained) == (2, [], [])
    assert found.narrow == (1 if settings.image is RowImage.MINIMAL else 0)


def test_a_transaction_without_gtid_may_be_committed_a_second_later() -> None:
    """Its first event and its XID then have another second than the statement."""
    made = script()
    (group,) = groups_of(made, expected=list(LoggingReplica(made, MINIMAL, SCHEMA).groups(log_of(made))))[1:2]
    group[0] = replace(group[0], type=EventType.ANONYMOUS_GTID)
    events = write([group])
    for place in (0, -1):
        later = (int.from_bytes(events[place][:4], "little") + 1).to_bytes(4, "little") + events[place][4:-4]
        events[place] = later + checksum_of(later).to_bytes(4, "little")
    assert [item.field for item in judge_log(events, None, applied=True) if item.field == "header.timestamp"] == []


@pytest.mark.parametrize(("settings", "events"), [(MINIMAL, 2), (FULL, 1)])
def test_rows_with_other_assigned_columns_share_an_event_if_the_images_have_all(
    settings: ReplicaBinlogSettings, events: int
) -> None:
    """The source splits the rows, as it logs whole documents. The second event alone has a value of the last column,
    which then counts as assigned in a table without a key (observed on 9.7.4).
    """
    table = replace(TABLE, primary_key=(), columns=(*COLUMNS, Column(name="d", type="TEXT")))
    document = encode({"a": 1, "b": "b" * 3500})
    unchanged = Assignment("j", parse_expression("JSON_REMOVE(j, '$.z')", "j"))
    case = UpdateCase(
        id="", table=table, selector="id", session=Session(row_image=RowImage.MINIMAL, partial_json=False),
        rows=((1, document, b"x", None), (2, document, b"x", b"x")),
        steps=(Step((unchanged, Assignment("c", Constant(b"y"))), (0, 1)),),
    )  # fmt: skip
    made = build_script(case)
    *_, group = LoggingReplica(made, settings, SCHEMA).groups(log_of(made))
    assert sum(is_update(event.body) for event in group.events) == events


def test_definitions_in_front_are_passed_over() -> None:
    made = script()
    log = transactions(made, observe(made).events)
    groups = groups_of(made, expected=list(LoggingReplica(made, FULL, SCHEMA).groups(log)))
    definition = [groups[0][0], Query(text=b"CREATE TABLE t (id INT)", schema=b"lab")]
    found = compare_replica_binlog(made, log, write([definition, *groups]), FULL, SCHEMA)
    assert (found.rows, found.found) == (2, [])


def test_texts_of_statements_are_passed_on_where_they_came() -> None:
    made = script()
    talking = build_script(replace(made.case, session=replace(made.case.session, rows_query=True)))
    passing_on = replace(MINIMAL, rows_query=True)
    assert judged(talking, passing_on).found == []
    assert judged(talking, MINIMAL).found == []
    assert judged(made, passing_on, really=MINIMAL).found == []  # none came
    assert judged(talking, passing_on, really=MINIMAL).found
    # A server in between that does not log them: the Case's session says what the first server did.
    silent = transactions(talking, observe(made).events)
    events = write(groups_of(talking, expected=list(LoggingReplica(talking, MINIMAL, SCHEMA).groups(silent))))
    assert compare_replica_binlog(talking, silent, events, passing_on, SCHEMA).found == []


def test_images_and_options_of_the_replica_decide() -> None:
    """A FULL event under MINIMAL keeps all columns; a MINIMAL one under FULL gains them (requirements FR6.1)."""
    for source, settings, before, after in (
        (RowImage.FULL, MINIMAL, 0b001, 0b111),
        (RowImage.MINIMAL, FULL, 0xFF, 0xFF),
        (RowImage.MINIMAL, MINIMAL, 0b001, 0b010),
        (RowImage.NOBLOB, OFF, 0b001, 0b011),
    ):
        made = script(source)
        replica = LoggingReplica(made, settings, SCHEMA)
        last = list(replica.groups(transactions(made, observe(made).events)))[-1].events[-2].body
        assert isinstance(last, RowsBody)
        assert (last.before_columns, last.after_columns) == (before, after)
        assert last.type == (EventType.PARTIAL_UPDATE_ROWS if settings.partial_json else EventType.UPDATE_ROWS)


def test_without_a_key_the_order_is_that_of_the_table_and_read_columns_stay() -> None:
    """Observed on 9.7.4: all before-images of an event are read at first, and their BLOBs count as assigned."""
    made = several(key=False)
    groups = list(LoggingReplica(made, OFF, SCHEMA).groups(transactions(made, observe(made).events)))
    (body,) = [event.body for event in groups[1].events if is_update(event.body)]
    assert isinstance(body, RowsBody)
    assert body.after_columns == 0b110
    assert [row.before[0] for row in body.rows if row.before] == [3, 2, 1]
    keyed = several(key=True)
    assert judged(keyed, OFF).found == []
    assert judged(made, OFF).found == []


# --- faults ----------------------------------------------------------------------------------------------------------


def with_value(body: RowsBody, value: Any) -> RowsBody:
    """Another document in the after-image of MINIMAL."""
    bits = (1, 1) if isinstance(value, PartialJson) else (0, None)
    return replace(body, rows=(Row(body.rows[0].before, (value,), *bits),))


def changed(change: Callable[[RowsBody], RowsBody], place: int = 0) -> Callable[[Groups], None]:
    def doctor(groups: Groups) -> None:
        group, at = updates(groups)[place]
        group[at] = change(group[at])

    return doctor


def _old_event(body: RowsBody) -> RowsBody:
    return replace(body, type=EventType.UPDATE_ROWS, rows=(Row(body.rows[0].before, (DOCUMENT,)),))


def _other_before(body: RowsBody) -> RowsBody:
    row = body.rows[0]
    assert row.before is not None
    return replace(body, rows=(row._replace(before=(row.before[0], encode({"a": 7, "b": "b" * 60}), row.before[2])),))


def _without_a_column(body: RowsBody) -> RowsBody:
    row = body.rows[0]
    assert row.after is not None
    return replace(body, after_columns=0b011, rows=(row._replace(after=row.after[:2]),))


def _gaining(body: RowsBody) -> RowsBody:
    row = body.rows[0]
    assert row.before is not None
    return replace(body, before_columns=0b011, rows=(row._replace(before=(*row.before, DOCUMENT)),))


def _drop_row_event(groups: Groups) -> None:
    group, at = updates(groups)[0]
    del group[at]


def _drop_transaction(groups: Groups) -> None:
    del groups[-1]


def _repeat_row_event(groups: Groups) -> None:
    group, at = updates(groups)[0]
    group.insert(at, group[at])


def _more_metadata(groups: Groups) -> None:
    more = replace(table_map(TABLE, metadata="FULL"), schema=SCHEMA)
    for group in groups:
        group[:] = [replace(more, table_id=body.table_id) if isinstance(body, TableMap) else body for body in group]


def _other_number(groups: Groups) -> None:
    groups[1][0] = replace(groups[1][0], gno=groups[1][0].gno + 100)


def _other_checks(groups: Groups) -> None:
    begin = groups[1][1]
    assert isinstance(begin, Query)
    groups[1][1] = replace(begin, status=(StatusInteger(Status.FLAGS2, 0x4000000), *begin.status[1:]))


def _no_commit_time(groups: Groups) -> None:
    first = groups[1][0]
    assert isinstance(first, Gtid)
    groups[1][0] = replace(first, original_commit_timestamp=None)


DIFF: Final = PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 3)]))
INVENTED: Final = PartialJson(encode_diffs([Diff(Operation.INSERT, parse_path("$.z"), 3)]))
PLANTED: Final = (
    Fault("replica-follows-source", "FR6", "the replica writes event 39 iff its own option is on", changed(_old_event),
          at=MINIMAL, says="event types"),
    Fault("replica-drops-diffs", "FR6", "diff content is kept when the source sent a diff",
          changed(lambda body: with_value(body, DIFF)), at=MINIMAL, says="rows[0].after.j"),
    Fault("replica-invents-diffs", "FR6", "a document that came whole is logged whole",
          changed(lambda body: with_value(body, INVENTED), 1), at=MINIMAL, says="rows[0].value_options"),
    Fault("replica-other-before-image", "FR6", "the before-image holds the row as the replica had it",
          changed(_other_before), at=FULL, says="rows[0].before.j"),
    Fault("replica-other-bitmap", "FR6", "the after-image keeps the columns that came in", changed(_without_a_column),
          at=FULL, says="after_columns"),
    Fault("replica-event-missing", "FR6", "every transaction that came in is logged", _drop_row_event, at=MINIMAL,
          says="event types"),
    Fault("replica-event-twice", "FR6", "every transaction that came in is logged once", _repeat_row_event, at=MINIMAL,
          says="event types"),
    Fault("replica-transaction-missing", "FR6", "every transaction that came in is logged", _drop_transaction,
          at=MINIMAL, says="transactions"),
    Fault("replica-table-map", "FR6", "the metadata follow the replica's own setting", _more_metadata, at=MINIMAL,
          says="metadata"),
    Fault("replica-other-gtid", "FR6", "a transaction keeps its GTID", _other_number, at=MINIMAL, says="GTID"),
    Fault("replica-other-begin", "FR6", "BEGIN keeps the checks of the source's session", _other_checks, at=MINIMAL,
          says="status"),
    Fault("replica-commit-time", "FR6", "a transaction keeps the time of its first commit", _no_commit_time, at=MINIMAL,
          says="original_commit_timestamp"),
)  # fmt: skip


@each(PLANTED)
def test_a_doctored_log_is_noticed(fault: Fault) -> None:
    found = judged(script(), fault.at, fault.change)
    assert found.found
    assert any(item.field.endswith(fault.says) for item in found.found), [item.field for item in found.found]
    assert {item.kind for item in found.found} == {"own-log"}
    assert found.gained == []


@pytest.mark.planted("FR6")
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("header.timestamp", one),
        ("header.server_id", one),
        ("header.log_pos", one),
        ("GTID_LOG_EVENT.uuid", one),
        ("GTID_LOG_EVENT.last_committed", every),
        ("GTID_LOG_EVENT.sequence_number", swapped),
        ("GTID_LOG_EVENT.immediate_commit_timestamp", swapped),
        ("TABLE_MAP_EVENT.table_id", one),
        ("rows.table_id", every),
    ],
    ids=lambda item: item if isinstance(item, str) else item.__name__,
)
def test_altered_facts_of_a_replica_log_are_noticed(name: str, change: Callable[[list[int]], list[int]]) -> None:
    made = script()
    log = transactions(made, observe(made).events)
    written = write(groups_of(made, expected=list(LoggingReplica(made, FULL, SCHEMA).groups(log))))
    assert compare_replica_binlog(made, log, written, FULL, SCHEMA).found == []
    found = compare_replica_binlog(made, log, altered_events(written, FIELDS[name], change), FULL, SCHEMA).found
    assert name.rpartition(".")[2] in {item.field.rpartition(".")[2] for item in found}
    assert {item.kind for item in found} == {"own-log"}


@pytest.mark.planted("FR6")
@pytest.mark.parametrize(
    ("really", "field"),
    [
        (FULL, "PARTIAL_UPDATE_ROWS_EVENT.before_columns"),
        (OFF, "event types"),
        (replace(MINIMAL, metadata="FULL"), "TABLE_MAP_EVENT.metadata"),
        (replace(MINIMAL, compression=True), "event types"),
    ],
)
def test_a_replica_with_other_settings_is_noticed(really: ReplicaBinlogSettings, field: str) -> None:
    assert field in {item.field for item in judged(script(), MINIMAL, really=really).found}


@pytest.mark.planted("FR6")
def test_rows_in_another_order_are_noticed() -> None:
    turned = changed(lambda body: replace(body, rows=tuple(reversed(body.rows))))
    assert judged(several(key=False), OFF, turned).found
    assert judged(several(key=True), OFF, turned).found


@pytest.mark.planted("A7")
def test_a_before_image_that_gains_the_document_is_noticed() -> None:
    found = judged(script(), MINIMAL, changed(_gaining))
    (gained,) = found.gained
    assert (gained.kind, gained.expected, gained.got) == ("own-before-image", "id", "id, j")
    assert [item.field for item in found.found] == ["PARTIAL_UPDATE_ROWS_EVENT.before_columns"]


def test_a_broken_event_is_a_difference() -> None:
    made = script()
    log = transactions(made, observe(made).events)
    events = write(groups_of(made, expected=list(LoggingReplica(made, MINIMAL, SCHEMA).groups(log))))
    place = next(place for place, event in enumerate(events) if event[4] == EventType.PARTIAL_UPDATE_ROWS)
    events[place] = events[place][:30] + b"\xff" * (len(events[place]) - 30)
    assert compare_replica_binlog(made, log, events, MINIMAL, SCHEMA).found


def test_redo_of_whole_documents_fails_and_noise_decides_nothing() -> None:
    assert judge_redo(24_000, 0, 12, 400_000) == "pass"
    assert judge_redo(12 * 450_000, 0, 12, 400_000) == "fail"
    assert judge_redo(12 * 20_000, 0, 12, 400_000) == "fail"
    assert judge_redo(24_000, 60_000, 12, 400_000) == "inconclusive"
