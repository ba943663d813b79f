"""The rows of the dialect table, exercised: events and texts of every version, with values written down from
docs/spec/versions.md and not from the table. ``ROWS``: row -> the functions that judge a table (``at``: version ->
dialect).

A span is the first version with a value; the version just before the next span has it as well. So a value or a boundary
that is wrong in the table is found (:mod:`tests.requirements.faults_of_dialects`). Beside the spans, the rows are held
against the answers of real servers (``tests/data/answers``). They are also held against the rows events of version 1
and 2 that 5.6.24 wrote.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.by_hand.injection import Demand, Injection, InjectionOutcome, state_of
from conformance.cases.predict import Model
from conformance.cases.session import Session
from conformance.checks.sql_interface.warning_cases import v1_cases
from conformance.judge.damage.diverged import judge_injection
from conformance.judge.probes import Undecided, probe
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusUnknown, decode_status, encode_status
from conformance.reference.binlog.rows import PartitionInfo, RowsBody, rows_body
from conformance.reference.binlog.statement_events import RowsQuery, UserVar, UserVarType
from conformance.reference.binlog.versions import known_types, post_header_lengths, reads, version_rules, written
from conformance.reference.errors import MysqlError, Unsupported, replica_corrupt_event
from conformance.reference.event_types import EventType
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.expression import Assignment, Call, Column, Function, Literal
from conformance.reference.partial.update import eligible_columns
from conformance.reference.sql.as_read import argument_as_read, document_as_read
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.definitions import Column as Definition
from conformance.reference.tables.definitions import Table
from conformance.reference.tables.metadata import Bits, Field, Numbers, UnknownField, decode_metadata, encode_metadata
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap
from conformance.reference.tables.temporal import Time
from conformance.reference.text.mysqlbinlog import LogText
from conformance.requirements.deviations import load_deviations
from conformance.requirements.versions import OBSERVED, SWITCHES, applies, parse_version
from conformance.servers.run.options import default_options
from conformance.verdict import Verdict
from tests.live import ROOT
from tests.requirements.version_forms import INT, JSON, STEPS, YEAR, form, insert, refuses, spans, table
from tests.written_logs import log_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.dialect import Dialect
    from conformance.requirements.versions import Version

    At = Callable[[Version], Dialect]
    Check = Callable[[At], None]

ROWS: Final[dict[str, list[Check]]] = defaultdict(list)
DATA: Final = ROOT / "tests" / "data"


def row(*names: str) -> Callable[[Check], Check]:
    """The function exercises these rows."""

    def register(check: Check) -> Check:
        for name in names:
            ROWS[name].append(check)
        return check

    return register


# --- events ----------------------------------------------------------------------------------------------------------

_5_6: Final = "380d0008001200040404041200005c00041a08000000080808020000000a0a0a191900"
_5_7: Final = "380d0008001200040404041200005f00041a08000000080808020000000a0a0a2a2a00123400"
_8_0_15: Final = "000d0008000000000400040000006000041a08000000080808020000000a0a0a2a2a001234000a"
_8_0_20: Final = "000d0008000000000400040000006100041a08000000080808020000000a0a0a2a2a001234000a28"
_8_0_30: Final = "000d0008000000000400040000006200041a08000000080808020000000a0a0a2a2a001234000a2800"
_8_3: Final = "000d0008000000000400040000006300041a08000000080808020000000a0a0a2a2a001234000a280000"
_8_4: Final = "000d0008000000000400040000006300041a08000000000000020000000a0a0a2a2a001234000a280000"


@row("fde_types", "fde_v1_header_len", "gtid_post_header")
def description_has_the_bytes_of_the_version(at: At) -> None:
    """The post-header table of each version, byte for byte, in a description that is encoded and decoded again."""
    for version, expected in spans(
        ("5.6.0", _5_6), ("5.7.0", _5_7), ("8.0.0", _8_0_15), ("8.0.3", _8_0_15), ("8.0.20", _8_0_20),
        ("8.0.30", _8_0_30), ("8.1.0", _8_0_30), ("8.3.0", _8_3), ("8.4.0", _8_4), ("9.7.0", _8_4),
    ):  # fmt: skip
        lengths = post_header_lengths(at(version).log)
        assert lengths.hex() == expected
        data = encode_event(FormatDescription(server_version="x", post_header_lengths=lengths))
        assert len(data) == 81 + len(lengths)  # an event with its checksum, without the algorithm's and table's bytes
        assert decode_event(data).encode() == data


@row("fde_types", "fde_v1_header_len", "gtid_post_header")
def description_equals_that_of_real_servers(at: At) -> None:
    """5.6.24's and 9.7.4's own, captured."""
    captured = bytes.fromhex(
        json.loads((DATA / "vectors" / "rows-v1.json").read_text("utf-8"))["format_description_hex"]
    )
    with (DATA / "binlogs" / "01-partial-minimal.binlog").open("rb") as file:
        newest = next(iter(read_events(file))).body
    for version, body in (((5, 6, 24), decode_event(captured, verify=False).body), ((9, 7, 4), newest)):
        assert isinstance(body, FormatDescription)
        assert post_header_lengths(at(version).log) == body.post_header_lengths


@row("gtid_post_header", "gtid_extra")
def gtid_stops_where_the_version_stops(at: At) -> None:
    """The size of a GTID event whose source knows everything, by version."""
    for version, size in spans(
        ("5.6.0", 25), ("5.7.0", 42), ("8.0.1", 49), ("8.0.2", 52), ("8.0.14", 56), ("8.0.31", 56), ("8.0.37", 56),
        ("8.0.39", 64), ("8.1.0", 56), ("8.4.0", 64), ("9.7.0", 64),
    ):  # fmt: skip
        made = form(Gtid(gno=5, **STEPS), at(version))
        assert len(made.encode()) == size
        assert 0 <= at(version).log.gtid_extra <= len(STEPS)
        assert made.gno == 5


@row("tagged_gtid")
def tags_are_refused_where_there_are_none(at: At) -> None:
    entry = GtidEntry(GtidTagged().uuid, "tag", ((1, 2),))  # type: ignore[arg-type]
    for version, there in spans(("5.6.0", False), ("8.3.0", True), ("9.7.0", True)):
        dialect = at(version)
        assert refuses(GtidTagged(tag="tag"), dialect) is refuses(PreviousGtids(entries=(entry,)), dialect) is not there
        assert reads(dialect.log, EventType.GTID_TAGGED) is there


@row("previous_gtids_always")
def file_begins_as_the_versions_files_do(at: At) -> None:
    """A file without GTIDs: its second event is PREVIOUS_GTIDS, or the first one of a statement."""
    for version, there in spans(("5.6.0", False), ("5.7.6", True), ("9.7.0", True)):
        data = log_file("x", at(version), [Query(text=b"BEGIN")])
        kinds = [event.header.type for event in _events(data)]
        assert kinds == [EventType.FORMAT_DESCRIPTION, *([EventType.PREVIOUS_GTIDS] if there else []), EventType.QUERY]


def _events(data: bytes) -> list[Any]:
    return list(read_events(BytesIO(data)))


@row("anonymous_gtid")
def groups_begin_as_the_versions_groups_do(at: At) -> None:
    anonymous = Gtid(type=EventType.ANONYMOUS_GTID)
    for version, there in spans(("5.6.0", False), ("5.7.6", True), ("9.7.0", True)):
        assert (form(anonymous, at(version)) is not None) is there
        assert form(Gtid(), at(version)) is not None


_FIELDS: Final = (
    Numbers(Field.GEOMETRY_TYPE, ()),
    Bits(Field.SIGNEDNESS, (False,)),
    Numbers(Field.ENUM_AND_SET_COLUMN_CHARSET, ()),
    Bits(Field.COLUMN_VISIBILITY, (True,)),
    Numbers(Field.VECTOR_DIMENSIONALITY, ()),
)


@row("tlv_max")
def table_maps_have_the_fields_of_the_version(at: At) -> None:
    """Writers leave out the fields that are not there yet; readers of the version do not know them."""
    for version, last in spans(
        ("5.6.0", 0), ("8.0.1", 11), ("8.0.23", 12), ("8.0.30", 12), ("9.0.0", 13), ("9.7.0", 13)
    ):
        made = form(table(INT, metadata=_FIELDS), at(version))
        assert max((field.field for field in made.metadata), default=0) == at(version).log.tlv_max == last
        rules = version_rules(at(version).log, lenient=False)._replace(skips_unknown=True)
        data = encode_metadata(_FIELDS)
        unknown = [field.field for field in decode_metadata(data, (INT,), rules) if isinstance(field, UnknownField)]
        assert unknown == [number for number in (7, 1, 11, 12, 13) if number > last]


@row("signedness_counts_year")
def year_shifts_the_signs_or_does_not(at: At) -> None:
    """INT, YEAR, INT UNSIGNED: three bits, or two; and read back by the rules of the writer, the same signs."""
    full = table(INT, YEAR, INT, metadata=(Bits(Field.SIGNEDNESS, (False, True, True)),))
    for version, byte in spans(
        ("5.6.0", None), ("8.0.1", 0x40), ("8.0.15", 0x40), ("8.0.16", 0x60), ("8.0.30", 0x60), ("9.7.0", 0x60)
    ):
        log = at(version).log
        made = written(full, at(version))
        assert isinstance(made, TableMap)
        if byte is None:
            assert made.metadata == ()
            assert log.signedness_counts_year is None
            continue
        data = made.encode()
        assert data[-1] == byte
        again = TableMap.decode(data, version_rules(log))
        assert (again.unsigned[0], again.unsigned[2]) == (False, True)


@row("null_bitmap_padding")
def null_bitmaps_are_filled_as_the_version_fills_them(at: At) -> None:
    """Three columns, the second NULL: ``fa`` or ``02`` in front of the values."""
    for version, byte in spans(("5.6.0", 0xFA), ("8.0.0", 0x02), ("8.0.15", 0x02), ("9.7.0", 0x02)):
        made = form(insert(), at(version))
        assert made.encode()[-9] == byte
        assert made.null_fill is (byte == 0xFA)


@row("null_bitmap_padding", "reads_v1_rows")
def rows_of_5_6_24_are_made_again(at: At) -> None:
    """Both forms of every row event that 5.6.24 wrote, from values, in the form of that version."""
    dialect = at((5, 6, 24))
    for vector in json.loads((DATA / "vectors" / "rows-v1.json").read_text("utf-8"))["vectors"]:
        for name in ("v1", "v2"):
            map_event, rows_event = (bytes.fromhex(vector[name][key]) for key in ("table_map_hex", "event_hex"))
            kept = decode_event(map_event).body
            assert isinstance(kept, TableMap)
            event = decode_event(rows_event, tables={kept.table_id: kept}).typed()
            assert isinstance(event.body, RowsBody)
            newest = replace(event.body, null_fill=False)
            body = written(newest, dialect)
            assert body is not None
            assert event._replace(body=body).encode() == rows_event


@row("reader_skips_unknown_tlv")
def unknown_fields_are_skipped_or_entered(at: At) -> None:
    """Field 200 whose value looks like a SIGNEDNESS: an 8.0.30 reader goes on inside it."""
    data = bytes.fromhex("c8030101ff")
    for version, skips in spans(
        ("5.6.0", None), ("8.0.1", True), ("8.0.15", True), ("8.0.16", False), ("8.0.30", False), ("9.7.0", False)
    ):
        log = at(version).log
        assert log.reader_skips_unknown_tlv is skips
        if skips is not None:
            (field,) = decode_metadata(data, (INT,), version_rules(log, lenient=False))
            assert field == (UnknownField(200, b"\1\1\xff") if skips else Bits(Field.SIGNEDNESS, (True,)))
        assert decode_metadata(data, (INT,), version_rules(log)) == (UnknownField(200, b"\1\1\xff"),)


@row("partition_chunk")
def partitions_are_named_or_not(at: At) -> None:
    for version, there in spans(("5.6.0", False), ("8.0.16", True), ("9.7.0", True)):
        assert form(insert(partition=True), at(version)).extra == ((PartitionInfo(3),) if there else ())


@row("gipk_flag")
def generated_keys_are_flagged_or_not(at: At) -> None:
    for version, there in spans(("5.6.0", False), ("8.0.30", True), ("9.7.0", True)):
        made = form(table(INT, flags=1 | GENERATED_INVISIBLE_PK), at(version))
        assert made.flags == (1 | GENERATED_INVISIBLE_PK if there else 1)


@row("rows_flags_mask")
def rows_events_have_the_flags_of_the_version(at: At) -> None:
    for version, flags in spans(("5.6.0", 0x0F), ("9.6.0", 0x1F), ("9.7.0", 0x1F)):
        assert form(insert(flags=0xFFFF), at(version)).flags == flags


@row("row_end_check")
def rows_that_go_beyond_their_event_are_1610_or_any_error(at: At) -> None:
    cut = Injection(name="cut", stored=encode({"a": 1}), image=b"\x01", demand=Demand.ERROR, number=1610)
    before = state_of(cut.stored)
    for version, checked in spans(("5.6.0", False), ("8.0.0", False), ("8.1.0", False), ("9.7.0", True)):
        for error in (1030, 3649):
            outcome = InjectionOutcome(error=error, before=before, after=before)
            judged = judge_injection(cut, outcome, at(version))
            assert (judged.verdict is Verdict.PASS) is not checked
        changed = InjectionOutcome(error=1030, before=before, after=state_of(encode(1)))
        assert judge_injection(cut, changed, at(version)).verdict is not Verdict.PASS


@row("rows_query_length")
def statements_stand_behind_their_length_or_a_zero(at: At) -> None:
    """The low byte alone of a length of 300."""
    for version, byte in spans(("5.6.0", 44), ("8.0.0", 44), ("8.1.0", 44), ("9.7.0", 0)):
        made = form(RowsQuery(text=b"x" * 300), at(version))
        assert made.encode() == bytes((byte,)) + b"x" * 300


@row("query_status_max")
def statements_have_the_variables_of_the_version(at: At) -> None:
    """Writers leave newer variables out, and a reader stops at the first that it does not know."""
    status = tuple(StatusInteger(code, 1) for code in (0, 16, 17, 18, 19, 20, 21))
    for version, last in spans(
        ("5.6.0", 16), ("8.0.0", 19), ("8.0.16", 20), ("8.0.30", 20), ("9.6.0", 20), ("9.7.0", 21)
    ):
        dialect = at(version)
        made = form(Query(text=b"BEGIN", status=status), dialect)
        assert max(item.code for item in made.status) == last
        found = decode_status(encode_status((*status, StatusUnknown(22, b"x"))), dialect.log.query_status_max)
        assert isinstance(found[-1], StatusUnknown)
        assert found[-1].code == last + 1
        assert Status(last) in {item.code for item in found[:-1]}


@row("has_event39")
def event_39_is_written_and_read_or_not(at: At) -> None:
    empty = rows_body(table(INT, INT, INT), EventType.PARTIAL_UPDATE_ROWS, [])
    for version, there in spans(("5.6.0", False), ("8.0.3", True), ("9.7.0", True)):
        dialect = at(version)
        assert refuses(empty, dialect) is not there
        assert reads(dialect.log, EventType.PARTIAL_UPDATE_ROWS) is there
        assert reads(dialect.log, EventType.PARTIAL_UPDATE_ROWS, Flag.IGNORABLE)
        assert (eligible_columns([_SET], ["j"], dialect) == {"j"}) is there


_SET: Final = Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.a", Literal(2)),)))


@row("partial_through_view")
def views_are_looked_through_or_not(at: At) -> None:
    for version, partial in spans(
        ("5.6.0", None), ("8.0.3", False), ("8.0.16", True), ("8.0.30", True), ("9.7.0", True)
    ):
        assert at(version).log.partial_through_view is partial
        assert eligible_columns([_SET], ["j"], at(version), through_view=True) == ({"j"} if partial else set())


@row("reads_v1_rows")
def version_1_is_read_until_8_4(at: At) -> None:
    for version, there in spans(("5.6.0", True), ("8.3.0", True), ("8.4.0", False), ("9.7.0", False)):
        for kind in (EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1):
            assert reads(at(version).log, kind) is there
        assert refuses(insert(kind=EventType.WRITE_ROWS_V1), at(version)) is not there


@row("payload_event")
def transactions_are_compressed_or_not(at: At) -> None:
    payload = TransactionPayload(payload=b"x", uncompressed_size=1)
    for version, there in spans(("5.6.0", False), ("8.0.20", True), ("9.7.0", True)):
        assert refuses(payload, at(version)) is not there
        assert (EventType.TRANSACTION_PAYLOAD in known_types(at(version).log)) is there


@row("vector_type")
def vectors_are_there_or_not(at: At) -> None:
    vector = table(ColumnType(types.VECTOR, 4))
    for version, there in spans(("5.6.0", False), ("9.0.0", True), ("9.7.0", True)):
        assert refuses(vector, at(version)) is not there


# --- JSON ------------------------------------------------------------------------------------------------------------


@row("has_json")
def json_columns_are_there_or_not(at: At) -> None:
    for version, there in spans(("5.6.0", False), ("5.7.8", True)):
        assert refuses(table(JSON), at(version)) is not there


@row("json_text_double")
def numbers_are_read_fast_or_exactly(at: At) -> None:
    """The number that a public report names, and one of 15 digits that both ways read alike."""
    for version, text in spans(
        ("5.6.0", None), ("5.7.8", -1.103016166330539), ("8.1.0", -1.103016166330539), ("9.7.0", -1.1030161663305387)
    ):
        forms = at(version).json
        assert forms.text_double in ((None,) if text is None else ("fast", "exact"))
        if text is not None:
            assert parse_text("[-1.1030161663305387]", forms) == [text]
            assert parse_text("1.03016166330538e-7", forms) == 1.03016166330538e-7


@row("json_time_hours")
def hours_of_a_time_are_all_kept_or_those_of_a_datetime(at: At) -> None:
    """A literal, as an argument and in a document, and a column's value: of 838 hours 630 are left, of 31 all."""
    columns_of_table = (Definition(name="id", type="INT"), Definition(name="t", type="TIME", length=6))
    times = Table(schema="s", name="t", columns=columns_of_table)
    for version, hours in spans(("5.6.0", None), ("5.7.8", 630), ("8.0.0", 630), ("8.1.0", 630), ("9.7.0", 838)):
        forms = at(version).json
        assert (forms.time_hours is None) is (hours is None)
        if hours is None:
            continue
        for negative in (False, True):
            whole, left = (opaque.time(hour, 59, 59, 1, negative=negative) for hour in (838, hours))
            small = opaque.time(31, negative=negative)
            assert argument_as_read([whole, {"a": small}], forms) == [left, {"a": small}]
            assert document_as_read(whole, forms) == left
            columns = Model(times, "id", Session(), [], dialect=at(version)).columns
            assert columns.as_json("t", Time(negative, 838, 59, 59, 1)) == left
            assert columns.argument([whole]) == [left]


@row("json_double_text")
def whole_doubles_are_printed_with_a_fraction_or_without(at: At) -> None:
    for version, text in spans(("5.6.0", None), ("5.7.8", "1"), ("8.0.0", "1.0"), ("9.7.0", "1.0")):
        forms = at(version).json
        assert (forms.double_text is None) is (text is None)
        if text is not None:
            assert (
                format_text({"a": [1.0, -2.0, 1.5, 1]}, forms)
                == f'{{"a": [{text}, -{text.replace("1", "2", 1)}, 1.5, 1]}}'
            )


# --- words -----------------------------------------------------------------------------------------------------------


@row("corrupt_event_symbol")
def error_1610_has_the_symbol_of_the_version(at: At) -> None:
    old, new = "ER_SLAVE_CORRUPT_EVENT", "ER_REPLICA_CORRUPT_EVENT"
    for version, symbol in spans(("5.6.0", old), ("8.0.31", old), ("8.0.39", new), ("8.1.0", new), ("8.4.0", new)):
        terms = at(version).terms
        assert replica_corrupt_event("x").symbol_in(terms) == symbol
        assert MysqlError(3648, "ER_COULD_NOT_APPLY_JSON_DIFF", "x").symbol_in(terms) == "ER_COULD_NOT_APPLY_JSON_DIFF"


@row("change_source_syntax")
def replicas_are_pointed_at_a_source_in_the_words_of_the_version(at: At) -> None:
    old, new = ("CHANGE MASTER TO", "MASTER"), ("CHANGE REPLICATION SOURCE TO", "SOURCE")
    for version, said in spans(("5.6.0", old), ("8.0.23", new), ("9.7.0", new)):
        assert (at(version).terms.change, at(version).terms.change_source) == said


@row("replica_syntax")
def replicas_are_called_by_the_word_of_the_version(at: At) -> None:
    old, new = "SHOW SLAVE STATUS", "SHOW REPLICA STATUS"
    for version, said in spans(("5.6.0", old), ("8.0.22", new), ("9.7.0", new)):
        assert at(version).terms.replica_status == said


@row("log_status_syntax")
def logs_are_asked_for_in_the_words_of_the_version(at: At) -> None:
    old, new = "SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"
    for version, said in spans(("5.6.0", old), ("8.4.0", new), ("9.7.0", new)):
        assert at(version).terms.show_log == said


@row("reset_syntax")
def logs_are_removed_in_the_words_of_the_version(at: At) -> None:
    old, new = "RESET MASTER", "RESET BINARY LOGS AND GTIDS"
    for version, said in spans(("5.6.0", old), ("8.4.0", new), ("9.7.0", new)):
        assert at(version).terms.reset == said


@row("replica_var_names")
def variables_of_replicas_have_the_names_of_the_version(at: At) -> None:
    old = ("slave_parallel_workers", "skip-slave-start", "log-slave-updates", "sql_slave_skip_counter")
    new = ("replica_parallel_workers", "skip-replica-start", "log-replica-updates", "sql_replica_skip_counter")
    for version, said in spans(("5.6.0", old), ("8.0.26", new), ("9.7.0", new)):
        assert tuple(map(at(version).terms.named, new)) == said


# --- what a server has and does --------------------------------------------------------------------------------------


@row("has_v1_option")
def warning_2_can_come_or_not(at: At) -> None:
    """The Cases of warning 2: with the variable they want the warning, without it nothing is left of it."""
    for version, there, warns in (
        *(
            (version, True, version >= (8, 0, 3))
            for version in ((5, 6, 0), (5, 6, 24), (8, 0, 2), (8, 0, 3), (8, 2, 99))
        ),
        *((version, False, False) for version in ((8, 3, 0), (9, 6, 99), (9, 7, 0), (9, 7, 4))),
    ):
        server = at(version).server
        assert server.has_v1_option is there
        assert (server.has_v1_option and server.deviations is not None and at(version).log.has_event39) is warns
        outcomes = [item.outcomes for case in v1_cases(present=server.has_v1_option) for item in case.statements]
        assert any(each.text for found in outcomes for each in found) is there


def _fact(name: str, *parts: tuple[str, Any]) -> Check:
    """Rows that only a server shows: what versions 11 says of each version (real answers are held against them
    below)."""

    def check(at: At) -> None:
        for version, value in spans(*parts):
            assert getattr(at(version).server, name) == value
            assert (getattr(at(version).server, name) is None) is (value is None)

    check.__doc__ = f"{name} by version"
    return check


_FACTS: Final[dict[str, tuple[str, tuple[tuple[str, Any], ...]]]] = {
    "v1_option_deprecated": (
        "v1_option_deprecated", (("5.6.0", False), ("8.0.16", False), ("8.0.30", True), ("8.3.0", None))
    ),
    "gtid_mode_default": ("gtid_mode", (("5.6.0", "OFF"), ("8.1.0", "OFF"), ("9.0.0", "OFF"), ("9.7.0", "ON"))),
    "log_bin_default": ("log_bin", (("5.6.0", False), ("8.0.3", True), ("9.7.0", True))),
    "server_id_default": ("server_id", (("5.6.0", 0), ("8.0.0", 1), ("8.0.15", 1), ("9.7.0", 1))),
    "binlog_format_deprecated": ("binlog_format_deprecated", (("5.6.0", False), ("8.0.34", True), ("9.7.0", True))),
    "applier_workers_default": ("applier_workers", (("5.6.0", 0), ("8.0.27", 4), ("8.0.30", 4), ("9.7.0", 4))),
    "auth_default": (
        "authentication",
        (("5.6.0", "mysql_native_password"), ("8.0.4", "caching_sha2_password"), ("9.7.0", "caching_sha2_password")),
    ),
    "native_password": ("native_password", (("5.6.0", "on"), ("8.4.0", "off"), ("9.0.0", "gone"), ("9.7.0", "gone"))),
    "persist": ("persist", (("5.6.0", False), ("8.0.0", True), ("9.7.0", True))),
    "lob_format": ("lob_format", (("5.6.0", "old"), ("8.0.0", "new"), ("9.7.0", "new"))),
    "small_lob_changes": (
        "small_lob_changes",
        (("5.6.0", None), ("8.0.0", None), ("8.0.12", "any"), ("8.1.0", "any"), ("9.7.0", "first")),
    ),
    "sdi": ("sdi", (("5.6.0", False), ("8.0.0", True), ("9.7.0", True))),
    "max_row_versions": ("max_row_versions", (("5.6.0", None), ("8.0.29", 64), ("9.1.0", 255), ("9.7.0", 255))),
}  # fmt: skip
for _name, (_field, _parts) in _FACTS.items():
    ROWS[_name].append(_fact(_field, *_parts))


@row("mysqlbinlog_flag_list")
def flags_are_printed_as_the_versions_client_prints_them(at: At) -> None:
    old, new = b" flags: STMT_END_F", b" flags: STMT_END_F RELAXED_UNIQUE_CHECKS_F"
    for version, words in spans(("5.6.0", old), ("8.1.0", old), ("9.0.0", new), ("9.6.0", new), ("9.7.0", new)):
        server = at(version).server
        event = decode_event(encode_event(insert(flags=0x5)), tables={1: table(INT, INT, INT)})
        text = b"".join(LogText(server=server).event(event))
        assert text.split(b"\n")[1].endswith(b"table id 1" + words)
        bare = decode_event(encode_event(insert(flags=0x4)), tables={1: table(INT, INT, INT)})
        line = b"".join(LogText(server=server).event(bare)).split(b"\n")[1]
        assert line.endswith(b"table id 1" if words == old else b" flags: RELAXED_UNIQUE_CHECKS_F")


@row("mysqlbinlog_variable_charset")
def user_variables_stand_alone_or_between_character_sets(at: At) -> None:
    variable = UserVar(name=b"v", kind=UserVarType.INT, collation=8, value=(5).to_bytes(8, "little"))
    events = [decode_event(encode_event(body)) for body in (variable, Query(text=b"x"))]
    for version, there in spans(("5.6.0", False), ("8.0.0", False), ("8.1.0", False), ("9.7.0", True)):
        text = LogText(server=at(version).server)
        lines = b"".join(piece for event in events for piece in text.event(event)).split(b"\n")
        assert b"SET @`v`:=5/*!*/;" in lines
        assert any(b"character_set_client=33" in line for line in lines) is there


@row("mysqlbinlog_json_text")
def documents_are_printed_as_text_or_refused(at: At) -> None:
    """Where the client prints the bytes of a document, nothing is said to be its text."""
    documents = table(JSON)
    body = rows_body(documents, EventType.WRITE_ROWS, [Row(None, (encode({"a": 7}),))])
    event = decode_event(encode_event(body), tables={1: documents})
    for version, printed in spans(("5.6.0", None), ("5.7.8", "bytes"), ("8.0.0", "text"), ("9.7.0", "text")):
        server = at(version).server
        assert server.mysqlbinlog_json == printed
        try:
            text = b"".join(LogText(server=server).event(event))
            text += b"".join(LogText(server=server).failed())
        except Unsupported:
            assert printed != "text"
        else:
            assert printed == "text"


@row("expected_deviations")
def deviations_are_observed_expected_or_senseless(at: At) -> None:
    """Where they are expected, every entry that is modelled reaches back to 8.0.3; a crash only where it was seen."""
    for version, state in spans(("5.6.0", None), ("8.0.3", "expected"), ("9.7.0", "observed")):
        assert at(version).server.deviations == state
        for entry in load_deviations():
            listed = applies(entry.versions, version)
            if state is None:
                assert not listed
            elif state == "observed":
                assert listed is (OBSERVED in entry.observed)
            elif entry.crash is not None:
                assert listed is any(parse_version(seen)[:2] == version[:2] for seen in entry.observed)
            else:
                # Version 1 rows were read until 8.4; readers go on inside of unknown fields since 8.0.30 at least.
                # Small changes in place came with 8.0.12.
                first = {"rows-version-1-refused": (8, 4, 0), "unknown-field-read-inside": (8, 0, 30),
                             "small-change-not-rolled-back": (8, 0, 12),
                             "small-changes-of-copied-lobs": (8, 0, 12)}  # fmt: skip
                # 9.7 mended the one, nobody knows since when; the variable of the other was gone with 8.3.
                last = {"small-changes-of-copied-lobs": (8, 0, 99), "partial-rows-without-head": (8, 2, 99)}
                if version > last.get(entry.id, version):
                    assert not listed
                    continue
                assert listed is (version >= first.get(entry.id, (8, 0, 3)))
    assert at(parse_version(OBSERVED)).server.deviations == "observed"


# --- real servers ----------------------------------------------------------------------------------------------------

ANSWERED: Final = "the answers of MySQL "
RECORDED: Final = ("5.6.24", "8.0.45", "9.7.4", "9.7.4-without-gtids")


@cache
def answers_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "answers" / f"{name}.json").read_text("utf-8"))
    return found


def _answers(name: str, switch: str, part: str, field: str) -> Check:
    def check(at: At) -> None:
        found = probe(switch, answers_of(name))
        predicted = getattr(getattr(at(parse_version(name.partition("-")[0])), part), field)
        assert found == predicted or (switch == "gtid_extra" and (found, predicted) == (3, 4))

    check.__doc__ = f"{ANSWERED}{name.replace('-', ' ')}"
    return check


def _register_answers() -> None:
    for name in RECORDED:
        for switch in SWITCHES.values():
            try:
                probe(switch.id, answers_of(name))
            except Undecided:
                continue
            ROWS[switch.id].append(_answers(name, switch.id, switch.part, switch.name))


_register_answers()


@row("utf8mb4_is_safe", "secure_file_priv_empty", "initialises_itself")
def servers_start_with_what_the_version_can_be_given(at: At) -> None:
    """Character set and file privilege among the options; who makes the data directory."""
    for version, charset in spans(("5.6.0", "latin1"), ("5.7.0", "utf8mb4"), ("9.7.0", "utf8mb4")):
        assert at(version).server.utf8mb4_is_safe is (charset == "utf8mb4")
        assert default_options(version, performance_schema=False)["character-set-server"] == charset
    for version, given in spans(("5.6.0", False), ("5.6.34", True), ("9.7.0", True)):
        assert at(version).server.secure_file_priv_empty is given
        assert ("secure-file-priv" in default_options(version, performance_schema=False)) is given
    for version, itself in spans(("5.6.0", False), ("5.7.6", True), ("9.7.0", True)):
        assert at(version).server.initialises_itself is itself


@row("binlog_format_deprecated", "replica_var_names")
def servers_are_started_with_options_that_the_version_has(at: At) -> None:
    """The options of the lab's own servers: no old name where there is a new one."""
    for version in ((5, 6, 24), (8, 0, 25), (8, 0, 26), (9, 7, 4)):
        options = default_options(version, performance_schema=False)
        assert at(version).terms.named("skip-replica-start") in options
