"""Each switch of what a version writes and reads, one at a time: the rest of an event stays as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.reference.binlog.control_events import Stop, Xid
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.format_description import POST_HEADER_LENGTHS, FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.header import MAGIC, Flag
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query, StatusInteger
from conformance.reference.binlog.rows import NdbInfo, PartitionInfo, Row, rows_body
from conformance.reference.binlog.versions import known_types, post_header_lengths, reads, version_rules, written
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.dialect import MYSQL, Dialect, JsonForms, LogForms
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.definitions import Column, Table, definable
from conformance.reference.tables.metadata import WORKLOG, Bits, Field, MetadataRules, Numbers
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap
from tests.reference.refusals import refused
from tests.written_logs import log_file

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body

# What 5.6 writes (versions 5).
OLD: Final = LogForms(
    has_event39=False,
    reads_v1_rows=True,
    fde_types=35,
    fde_v1_header_len=8,
    gtid_post_header=25,
    gtid_extra=0,
    tagged_gtid=False,
    previous_gtids_always=False,
    anonymous_gtid=False,
    tlv_max=0,
    signedness_counts_year=None,
    null_bitmap_padding=1,
    reader_skips_unknown_tlv=None,
    partition_chunk=False,
    gipk_flag=False,
    rows_flags_mask=0x0F,
    query_status_max=16,
    payload_event=False,
    vector_type=False,
)


def dialect(**changes: Any) -> Dialect:
    """Today's, with switches of what is written set otherwise."""
    return replace(MYSQL, log=replace(LogForms(), **changes))


# --- the table of post-headers and the types -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "table"),
    [
        (OLD, "380d0008001200040404041200005c00041a08000000080808020000000a0a0a191900"),
        (
            replace(OLD, fde_types=38, gtid_post_header=42),
            "380d0008001200040404041200005f00041a08000000080808020000000a0a0a2a2a00123400",
        ),
        (
            LogForms(fde_types=39, fde_v1_header_len=8),
            "000d0008000000000400040000006000041a08000000080808020000000a0a0a2a2a001234000a",
        ),
        (LogForms(), "000d0008000000000400040000006300041a08000000000000020000000a0a0a2a2a001234000a280000"),
    ],
)
def test_the_table_of_post_headers_is_that_of_the_version(log: LogForms, table: str) -> None:
    assert post_header_lengths(log).hex() == table


_TODAY: Final = {2, 3, 4, 5, 7, 9, 11, *range(13, 20), *range(26, 41), 42}


@pytest.mark.parametrize(
    ("log", "known"),
    [
        (LogForms(), _TODAY),
        (LogForms(reads_v1_rows=True), _TODAY | {23, 24, 25}),
        (LogForms(has_event39=False), _TODAY - {39}),
        (LogForms(payload_event=False), _TODAY - {40}),
        (LogForms(tagged_gtid=False), _TODAY - {42}),
        (LogForms(fde_types=39, payload_event=False, tagged_gtid=False), _TODAY - {40, 42}),
        (OLD, set(range(1, 36))),
        (replace(OLD, fde_types=38), set(range(1, 39))),
        (replace(OLD, fde_types=33), set(range(1, 35))),  # anonymous GTIDs are read before they are written
    ],
)
def test_a_version_reads_the_types_that_it_has(log: LogForms, known: set[int]) -> None:
    assert known_types(log) == known
    assert [code for code in range(256) if reads(log, code)] == sorted(known)
    assert not reads(log, 200, 0xFFFF & ~Flag.IGNORABLE)
    assert all(reads(log, code, Flag.IGNORABLE) for code in range(256))


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "rules", "own"),
    [
        ({}, MetadataRules(), MetadataRules(highest=13, skips_unknown=False)),
        (
            {"reader_skips_unknown_tlv": True, "tlv_max": 11},
            MetadataRules(),
            MetadataRules(highest=11, skips_unknown=True),
        ),
        (
            {"reader_skips_unknown_tlv": None, "tlv_max": 0},
            MetadataRules(),
            MetadataRules(highest=0, skips_unknown=True),
        ),
        (
            {"signedness_counts_year": False},
            MetadataRules(year_counted=False),
            MetadataRules(year_counted=False, highest=13, skips_unknown=False),
        ),
        ({"signedness_counts_year": None}, MetadataRules(), MetadataRules(highest=13, skips_unknown=False)),
    ],
)
def test_metadata_is_read_as_it_should_be_or_as_the_version_does(
    changes: dict[str, Any], rules: MetadataRules, own: MetadataRules
) -> None:
    log = replace(LogForms(), **changes)
    assert version_rules(log) == version_rules(log, lenient=True) == rules
    assert version_rules(log, lenient=False) == own


_PLAIN: Final = Column(name="a", type="INT")


@pytest.mark.parametrize(
    ("columns", "generated", "switch"),
    [
        ((_PLAIN, Column(name="v", type="VECTOR")), False, {"vector_type": False}),
        ((_PLAIN, Column(name="i", type="INT", invisible=True)), False, {"tlv_max": 11}),
        ((_PLAIN,), True, {"gipk_flag": False}),
    ],
)
def test_what_came_late_is_in_no_earlier_table(
    columns: tuple[Column, ...], generated: bool, switch: dict[str, Any]
) -> None:
    table = Table(schema="d", name="t", columns=columns, generated_primary_key=generated)
    assert definable(table, LogForms())
    assert definable(table, LogForms(tlv_max=12))
    assert not definable(table, replace(LogForms(), **switch))
    plain = Table(schema="d", name="t", columns=(_PLAIN,))
    assert definable(plain, OLD)


INT, YEAR = ColumnType(types.LONG), ColumnType(types.YEAR)


def table_map(*columns: ColumnType, **changes: Any) -> TableMap:
    return TableMap(table_id=1, schema="d", table="t", columns=columns, nullable=(True,) * len(columns), **changes)


def test_tables_with_types_of_later_versions_are_refused() -> None:
    vector = table_map(INT, ColumnType(types.VECTOR, 4))
    document = table_map(INT, ColumnType(types.JSON, 4))
    no_json = replace(MYSQL, json=JsonForms(exists=False))
    assert written(vector, MYSQL) == vector
    assert written(vector, no_json) == vector
    assert written(document, MYSQL) == document
    assert written(document, dialect(vector_type=False)) == document
    assert written(table_map(INT), replace(no_json, log=OLD)) == table_map(INT)
    for body, form, got in ((vector, dialect(vector_type=False), "VECTOR"), (document, no_json, "JSON")):
        error = refused(written, body, form)
        assert (error.code, error.got) == ("not-in-version", f"{got} columns")


_SIGNS: Final = (False, True, True, False)
_FIELDS: Final = (
    Numbers(Field.SIMPLE_PRIMARY_KEY, (0,)),
    Bits(Field.COLUMN_VISIBILITY, (True, False, True, True)),
    Bits(Field.SIGNEDNESS, _SIGNS),
    Numbers(Field.VECTOR_DIMENSIONALITY, ()),
    Numbers(Field.COLUMN_CHARSET, ()),
)


def test_fields_that_the_version_does_not_have_are_left_out() -> None:
    table = table_map(INT, YEAR, INT, INT, metadata=_FIELDS)
    for last in range(14):
        form: Any = written(table, dialect(tlv_max=last))
        assert form == replace(table, metadata=tuple(field for field in _FIELDS if field.field <= last))


@pytest.mark.parametrize(
    ("counts", "rules", "signs"),
    [
        (True, MetadataRules(), _SIGNS),
        (None, MetadataRules(), _SIGNS),
        (False, MetadataRules(), (False, True, False)),
        (False, WORKLOG, _SIGNS),  # YEAR was not among them before
        (True, WORKLOG, _SIGNS),
    ],
)
def test_the_sign_of_a_year_is_left_out_where_it_is_not_counted(
    counts: bool | None, rules: MetadataRules, signs: tuple[bool, ...]
) -> None:
    """INT, YEAR UNSIGNED, INT UNSIGNED, INT; where YEAR is not counted, it never had a bit."""
    columns = (INT, ColumnType(types.VARCHAR, 9), *((YEAR,) if rules.year_counted else (INT,)), INT, INT)
    table = table_map(*columns, metadata=_FIELDS, rules=rules)
    form: Any = written(table, dialect(signedness_counts_year=counts))
    fields = tuple(Bits(1, signs) if field.field == 1 else field for field in _FIELDS)
    year_counted = rules.year_counted and counts is not False
    assert form == replace(table, metadata=fields, rules=rules._replace(year_counted=year_counted))
    assert form.rules.year_counted is year_counted


def test_the_flag_of_a_generated_key_is_left_out() -> None:
    table = table_map(INT, flags=0xFFFF)
    assert written(table, MYSQL) == table
    assert written(table, dialect(gipk_flag=False)) == replace(table, flags=0xFFFF & ~GENERATED_INVISIBLE_PK)
    assert written(table_map(INT, flags=1), MYSQL) == table_map(INT, flags=1)


# --- rows, statements, transactions ----------------------------------------------------------------------------------

_TABLE: Final = table_map(INT)


def insert(kind: int = EventType.WRITE_ROWS, **changes: Any) -> Any:
    return replace(rows_body(_TABLE, kind, [Row(None, (1,))], extra=(PartitionInfo(3), NdbInfo(1, b"x"))), **changes)


def test_rows_have_the_flags_the_extra_data_and_the_padding_of_the_version() -> None:
    body = insert(flags=0xFFFF)
    assert written(body, MYSQL) == replace(body, flags=0x1F)
    assert written(body, dialect(rows_flags_mask=0x0F)) == replace(body, flags=0x0F)
    assert written(body, dialect(partition_chunk=False)) == replace(body, flags=0x1F, extra=(NdbInfo(1, b"x"),))
    padded: Any = written(body, dialect(null_bitmap_padding=1))
    assert padded == replace(body, flags=0x1F, null_fill=True)
    assert padded.null_fill is True
    plain: Any = written(padded, MYSQL)
    assert plain.null_fill is False


def test_rows_events_that_the_version_does_not_have_are_refused() -> None:
    """Type 39 before 8.0.3, types 23 to 25 where readers do not take them any more."""
    first, today, partial = (
        insert(kind, flags=1, extra=()) for kind in (EventType.WRITE_ROWS_V1, EventType.WRITE_ROWS, 39)
    )
    assert written(today, dialect(has_event39=False)) == today
    assert written(today, dialect(reads_v1_rows=True)) == today
    assert written(partial, MYSQL) == partial
    assert written(first, dialect(reads_v1_rows=True, has_event39=False)) == first
    assert refused(written, partial, dialect(has_event39=False)).got == "PARTIAL_UPDATE_ROWS_EVENT"
    assert refused(written, first, MYSQL).got == "row events of version 1"


def test_statements_have_the_variables_of_the_version() -> None:
    body = Query(text=b"BEGIN", schema=b"d", status=tuple(StatusInteger(code, 1) for code in (0, 21, 16, 17)))
    for last, codes in ((21, [0, 21, 16, 17]), (20, [0, 16, 17]), (17, [0, 16, 17]), (16, [0, 16]), (15, [0])):
        form = written(body, dialect(query_status_max=last))
        assert form == replace(body, status=tuple(StatusInteger(code, 1) for code in codes))


_FULL: Final = Gtid(
    gno=5,
    last_committed=3,
    sequence_number=4,
    immediate_commit_timestamp=10,
    original_commit_timestamp=9,
    transaction_length=300,
    immediate_server_version=90704,
    original_server_version=80030,
    commit_group_ticket=7,
)


def test_a_gtid_ends_where_the_versions_ends() -> None:
    """5.7, then what 8.0.1, 8.0.2, 8.0.14 and 8.0.39 added; 5.6 has no logical clock either."""
    ends = [42, 42 + 14, 42 + 14 + 3, 42 + 14 + 3 + 8, 42 + 14 + 3 + 8 + 8]
    for extra, end in enumerate(ends):
        form: Any = written(_FULL, dialect(gtid_extra=extra))
        assert form.encode() == _FULL.encode()[:end]
    form = written(_FULL, dialect(gtid_extra=0, gtid_post_header=25))
    assert form.encode() == _FULL.encode()[:25]
    assert written(_FULL, MYSQL) == _FULL
    assert written(_FULL, dialect(gtid_post_header=41, gtid_extra=0)) == form


def test_groups_without_a_gtid_begin_with_an_anonymous_one_or_with_none() -> None:
    anonymous = replace(_FULL, type=EventType.ANONYMOUS_GTID)
    assert written(anonymous, MYSQL) == anonymous
    assert written(anonymous, dialect(anonymous_gtid=False)) is None
    assert written(_FULL, dialect(anonymous_gtid=False)) == _FULL


def test_tags_and_compressed_transactions_are_refused_where_there_are_none() -> None:
    tagged = GtidTagged(tag="a")
    entry = GtidEntry(tagged.uuid or _FULL.uuid, "", ((1, 2),))
    sets = [PreviousGtids(entries=entries) for entries in ((), (entry,), (entry, entry._replace(tag="a")))]
    form = replace(sets[1], tagged=True)  # the form with tags, and none in it
    without = dialect(tagged_gtid=False)
    bodies: list[Body] = [tagged, *sets, form]
    for body in bodies:
        assert written(body, MYSQL) == body
    for body in sets[:2]:
        assert written(body, without) == body
    for body in (tagged, sets[2], form):
        assert refused(written, body, without).got == "tagged GTIDs"
    payload = TransactionPayload(payload=b"x", compression=255)
    assert written(payload, MYSQL) == payload
    assert refused(written, payload, dialect(payload_event=False)).got == "compressed transactions"


def test_previous_gtids_are_written_always_or_if_there_are_any() -> None:
    one = PreviousGtids(entries=(GtidEntry(_FULL.uuid, "", ((1, 2),)),))
    for always in (True, False):
        assert written(one, dialect(previous_gtids_always=always)) == one
    assert written(PreviousGtids(), MYSQL) == PreviousGtids()
    assert written(PreviousGtids(), dialect(previous_gtids_always=False)) is None


def test_other_events_are_the_same_in_every_version() -> None:
    bodies: list[Body] = [Stop(), Xid(xid=1), FormatDescription()]
    for body in bodies:
        assert written(body, replace(MYSQL, log=OLD)) is body


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_begins_with_the_description_of_its_version() -> None:
    bodies: list[Body] = [Gtid(type=EventType.ANONYMOUS_GTID), Query(text=b"BEGIN"), Xid(xid=3)]
    for log, kinds in ((LogForms(), [15, 35, 34, 2, 16]), (OLD, [15, 2, 16])):
        data = log_file("5.7.1-x", replace(MYSQL, log=log), bodies)
        events = decode_file(data)
        assert [event.header.type for event in events] == kinds
        assert data == MAGIC + b"".join(event.encode() for event in events)
        assert events[0].body == FormatDescription(
            server_version="5.7.1-x", post_header_lengths=post_header_lengths(log)
        )
        assert [event.header.log_pos for event in events[:-1]] == [event.position for event in events[1:]]


def test_a_file_can_have_the_server_and_the_clock_of_a_writer() -> None:
    writer = FileWriter(timestamp=99, server_id=7, position=1000)
    data = log_file("9.7.4", MYSQL, [Stop()], writer=writer)
    assert [(event.header.timestamp, event.header.server_id) for event in decode_file(data)] == [(99, 7)] * 3
    assert writer.position == len(data)
    assert writer.format == FormatDescription(post_header_lengths=POST_HEADER_LENGTHS)
