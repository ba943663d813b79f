"""Annotated hex of all events but TABLE_MAP and rows: each field's bytes, name and meaning
(docs/spec/binlog-events.md)."""

from __future__ import annotations

from time import tzset

import pytest

from conformance.reference.binlog.event import encode_event
from conformance.reference.event_types import EventType
from conformance.reference.text.annotated_hex import as_text, explain_event, moment, short
from tests.reference.text.explained_events import HEADER, Parts, body_of, compact, explained
from tests.reference.text.made_logs import Raw

UUID_BYTES = "11111111222233334444555555555555"
UUID_TEXT = "11111111-2222-3333-4444-555555555555"
UUID_VARINTS = ["22"] * 4 + ["44"] * 2 + ["66"] * 2 + ["88"] * 2 + ["aa"] * 6


QUERY_HEAD: Parts = [("07000000", "thread_id", "7"), ("09000000", "execution_time", "9")]
STATUS: list[Parts] = [
    [("00", "code", "FLAGS2"), ("0040000c", "value", "0xc004000")],
    [("01", "code", "SQL_MODE"), ("2000a04500000000", "value", "0x45a00020")],
    [("02", "code", "CATALOG"), ("03", "length", "3"), ("737464", "text", "'std'"), ("00", "end", "0")],
    [("03", "code", "AUTO_INCREMENT"), ("0200", "value", "2"), ("0100", "value", "1")],
    [("04", "code", "CHARSET"), ("ff00", "value", "255"), ("0800", "value", "8"), ("2d00", "value", "45")],
    [("05", "code", "TIME_ZONE"), ("03", "length", "3"), ("555443", "text", "'UTC'")],
    [("06", "code", "CATALOG_NZ"), ("03", "length", "3"), ("737464", "text", "'std'")],
    [("07", "code", "LC_TIME_NAMES"), ("0401", "value", "260")],
    [("08", "code", "CHARSET_DATABASE"), ("0801", "value", "264")],
    [("09", "code", "TABLE_MAP_FOR_UPDATE"), ("0100000000000080", "value", "9223372036854775809")],
    [("0a", "code", "MASTER_DATA_WRITTEN"), ("01000001", "value", "16777217")],
    [("0b", "code", "INVOKER"), ("01", "user_length", "1"), ("72", "user", "'r'"), ("02", "host_length", "2"),
     ("6868", "host", "'hh'")],
    [("0c", "code", "UPDATED_DB_NAMES"), ("02", "count", "2"), ("6100", "name", r"'a\x00'"),
     ("626300", "name", r"'bc\x00'")],
    [("0c", "code", "UPDATED_DB_NAMES"), ("fe", "count", "254")],
    [("0d", "code", "MICROSECONDS"), ("010002", "value", "131073")],
    [("10", "code", "EXPLICIT_DEFAULTS_FOR_TIMESTAMP"), ("01", "value", "1")],
    [("11", "code", "DDL_LOGGED_WITH_XID"), ("0900000000000001", "value", "72057594037927945")],
    [("12", "code", "DEFAULT_COLLATION_FOR_UTF8MB4"), ("ff00", "value", "255")],
    [("13", "code", "SQL_REQUIRE_PRIMARY_KEY"), ("01", "value", "1")],
    [("14", "code", "DEFAULT_TABLE_ENCRYPTION"), ("01", "value", "1")],
    [("15", "code", "ENABLE_CASCADE_TRIGGERS"), ("02", "value", "2")],
    [("16", "code", "22"), ("0102", "unknown", "0102")],
]  # fmt: skip
STATUS_PARTS: Parts = [
    (part, f"status[{number}].{field}", meaning)
    for number, parts in enumerate(STATUS)
    for part, field, meaning in parts
]
STATUS_LENGTH = len(body_of(STATUS_PARTS)).to_bytes(2, "little").hex()

EVENTS: list[tuple[int, Parts]] = [
    (EventType.QUERY, [
        *QUERY_HEAD, ("02", "schema_length", "2"), ("0105", "error_code", "1281"),
        (STATUS_LENGTH, "status_length", str(len(body_of(STATUS_PARTS)))), *STATUS_PARTS,
        ("6462", "schema", "'db'"), ("00", "schema_end", "0"), ("424547494e", "text", "'BEGIN'"),
    ]),
    (EventType.STOP, []),
    (EventType.ROTATE, [("0401000000000000", "position", "260"), ("622e32", "name", "'b.2'")]),
    (EventType.INTVAR, [("01", "kind", "LAST_INSERT_ID"), ("0201000000000000", "value", "258")]),
    (EventType.INTVAR, [("02", "kind", "INSERT_ID"), ("0201000000000000", "value", "258")]),
    (EventType.RAND, [("0100000000000001", "seed1", "72057594037927937"), ("0200000000000000", "seed2", "2")]),
    (EventType.USER_VAR, [
        ("01000000", "name_length", "1"), ("6e", "name", "'n'"), ("00", "is_null", "0"), ("00", "kind", "STRING"),
        ("ff000000", "collation", "255"), ("03000000", "value_length", "3"), ("616263", "value", "616263"),
        ("01", "flags", "1"),
    ]),
    (EventType.USER_VAR, [
        ("02000000", "name_length", "2"), ("6e6d", "name", "'nm'"), ("00", "is_null", "0"), ("01", "kind", "REAL"),
        ("3f000000", "collation", "63"), ("08000000", "value_length", "8"),
        ("000000000000f03f", "value", "000000000000f03f"),
    ]),
    (EventType.USER_VAR, [
        ("01000000", "name_length", "1"), ("6e", "name", "'n'"), ("00", "is_null", "0"), ("02", "kind", "INT"),
        ("3f000000", "collation", "63"), ("08000000", "value_length", "8"),
        ("0500000000000000", "value", "0500000000000000"), ("00", "flags", "0"),
    ]),
    (EventType.USER_VAR, [
        ("01000000", "name_length", "1"), ("6e", "name", "'n'"), ("00", "is_null", "0"), ("04", "kind", "DECIMAL"),
        ("3f000000", "collation", "63"), ("03000000", "value_length", "3"), ("020181", "value", "020181"),
        ("00", "flags", "0"),
    ]),
    (EventType.USER_VAR, [("01000000", "name_length", "1"), ("6e", "name", "'n'"), ("01", "is_null", "1")]),
    (EventType.XID, [("0100000000000001", "xid", "72057594037927937")]),
    (EventType.XA_PREPARE, [
        ("01", "one_phase", "1"), ("02010000", "format_id", "258"), ("01000000", "gtrid_length", "1"),
        ("02000000", "bqual_length", "2"), ("78", "gtrid", "'x'"), ("797a", "bqual", "'yz'"),
    ]),
    (EventType.ROWS_QUERY, [("05", "length_byte", "5 (means nothing)"), ("7570", "text", "'up'")]),
    (EventType.INCIDENT, [("0100", "number", "LOST_EVENTS"), ("04", "message_length", "4"),
                          ("676f6e65", "message", "'gone'")]),
    (EventType.BEGIN_LOAD_QUERY, [("01020000", "file_id", "513"), ("612c62", "data", "'a,b'")]),
    (EventType.APPEND_BLOCK, [("01020000", "file_id", "513"), ("63", "data", "'c'")]),
    (EventType.DELETE_FILE, [("01020000", "file_id", "513")]),
    (EventType.EXECUTE_LOAD_QUERY, [
        *QUERY_HEAD, ("01", "schema_length", "1"), ("0000", "error_code", "0"), ("0500", "status_length", "5"),
        ("01020000", "file_id", "513"), ("02000000", "name_start", "2"), ("03000000", "name_end", "3"),
        ("02", "duplicates", "replace"), ("00", "status[0].code", "FLAGS2"), ("0f000000", "status[0].value", "0xf"),
        ("64", "schema", "'d'"), ("00", "schema_end", "0"), ("4c4f4144", "text", "'LOAD'"),
    ]),
    (EventType.HEARTBEAT, [("622e31", "name", "'b.1'")]),
    (EventType.IGNORABLE, [("ff00", "data", r"'\\xff\x00'")]),
    (EventType.GTID, [
        ("01", "gtid_flags", "may have statements"), (UUID_BYTES, "uuid", UUID_TEXT),
        ("0901000000000000", "gno", "265"), ("02", "clock_type", "2"), ("0102000000000000", "last_committed", "513"),
        ("0202000000000000", "sequence_number", "514"),
        ("40420f00000080", "immediate_commit_timestamp", "1000000 (1970-01-01 00:00:01.000000 UTC)"),
        ("81841e00000000", "original_commit_timestamp", "2000001 (1970-01-01 00:00:02.000001 UTC)"),
        ("fc2c01", "transaction_length", "300"), ("50620180", "immediate_server_version", "90704"),
        ("f4380100", "original_server_version", "80116"), ("0301000000000000", "commit_group_ticket", "259"),
    ]),
    (EventType.ANONYMOUS_GTID, [
        ("00", "gtid_flags", "rows only"), ("00" * 16, "uuid", "00000000-0000-0000-0000-000000000000"),
        ("0000000000000000", "gno", "0"), ("02", "clock_type", "2"), ("0100000000000000", "last_committed", "1"),
        ("0200000000000000", "sequence_number", "2"),
        ("40420f00000000", "immediate_commit_timestamp", "1000000 (1970-01-01 00:00:01.000000 UTC)"),
        ("df", "transaction_length", "223"), ("50620100", "immediate_server_version", "90704"),
    ]),
    (EventType.PREVIOUS_GTIDS, [
        ("0200000000000000", "count", "2"),
        (UUID_BYTES, "entries[0].uuid", UUID_TEXT), ("0200000000000000", "entries[0].interval_count", "2"),
        ("0100000000000000", "entries[0].start[0]", "1"), ("0300000000000000", "entries[0].end[0]", "3 (not included)"),
        ("0501000000000000", "entries[0].start[1]", "261"),
        ("0601000000000000", "entries[0].end[1]", "262 (not included)"),
        ("2" + UUID_BYTES[1:], "entries[1].uuid", "2" + UUID_TEXT[1:]),
        ("0100000000000000", "entries[1].interval_count", "1"),
        ("0100000000000000", "entries[1].start[0]", "1"), ("0200000000000000", "entries[1].end[0]", "2 (not included)"),
    ]),
    (EventType.PREVIOUS_GTIDS, [
        ("0102000000000001", "count", "2, with tags"),
        (UUID_BYTES, "entries[0].uuid", UUID_TEXT), ("00", "entries[0].tag_length", "0"),
        ("0100000000000000", "entries[0].interval_count", "1"),
        ("0100000000000000", "entries[0].start[0]", "1"), ("0200000000000000", "entries[0].end[0]", "2 (not included)"),
        (UUID_BYTES, "entries[1].uuid", UUID_TEXT), ("06", "entries[1].tag_length", "3"),
        ("625f32", "entries[1].tag", "'b_2'"), ("0100000000000000", "entries[1].interval_count", "1"),
        ("0100000000000000", "entries[1].start[0]", "1"), ("0200000000000000", "entries[1].end[0]", "2 (not included)"),
    ]),
    (EventType.TRANSACTION_CONTEXT, [
        ("02", "uuid_length", "2"), ("01020000", "thread_id", "513"), ("01", "gtid_specified", "1"),
        ("02000000", "snapshot_length", "2"), ("02000000", "write_set_size", "2"), ("01000000", "read_set_size", "1"),
        ("7575", "server_uuid", "'uu'"), ("0fff", "snapshot", "0fff"),
        ("0100", "write_set_length[0]", "1"), ("61", "write_set[0]", "'a'"), ("0000", "write_set_length[1]", "0"),
        ("0200", "read_set_length[0]", "2"), ("6364", "read_set[0]", "'cd'"),
    ]),
    (EventType.VIEW_CHANGE, [
        ("7658" + "00" * 38, "view_id", "'vX'"), ("0102000000000000", "sequence_number", "513"),
        ("02000000", "certification_size", "2"), ("0100", "key_length[0]", "1"), ("6b", "key[0]", "'k'"),
        ("02000000", "value_length[0]", "2"), ("00ff", "value[0]", "00ff"), ("0200", "key_length[1]", "2"),
        ("6c6d", "key[1]", "'lm'"), ("00000000", "value_length[1]", "0"),
    ]),
    (EventType.TRANSACTION_PAYLOAD, [
        ("02", "field", "compression"), ("01", "length", "1"), ("00", "compression", "zstd"),
        ("03", "field", "uncompressed_size"), ("03", "length", "3"), ("fc2c01", "uncompressed_size", "300"),
        ("09", "field", "unknown (9)"), ("02", "length", "2"), ("0aff", "value", "0aff"),
        ("01", "field", "payload_size"), ("01", "length", "1"), ("03", "payload_size", "3"),
        ("00", "field", "end"), ("010203", "payload", "3 bytes"),
    ]),
    (EventType.TRANSACTION_PAYLOAD, [
        ("02", "field", "compression"), ("03", "length", "3"), ("fcff00", "compression", "none"),
        ("01", "field", "payload_size"), ("01", "length", "1"), ("00", "payload_size", "0"), ("00", "field", "end"),
    ]),
    (EventType.HEARTBEAT_V2, [
        ("01", "field", "name"), ("03", "length", "3"), ("622e31", "name", "'b.1'"),
        ("02", "field", "position"), ("03", "length", "3"), ("fc2c01", "position", "300"),
        ("09", "field", "unknown (9)"), ("02", "length", "2"), ("7879", "value", "'xy'"), ("00", "field", "end"),
    ]),
    (EventType.GTID_TAGGED, [
        ("02", "version", "1"), ("78", "message_size", "60"), ("00", "last_non_ignorable_field", "0"),
        ("00", "field", "gtid_flags"), ("02", "gtid_flags", "1"), ("02", "field", "uuid"),
        *[(part, f"uuid[{place}]", f"0x{UUID_BYTES[2 * place : 2 * place + 2]}")
          for place, part in enumerate(UUID_VARINTS)],
        ("04", "field", "gno"), ("24", "gno", "9"),
        ("06", "field", "tag"), ("12", "tag_length", "9"), ("6f746865725f746167", "tag", "'other_tag'"),
        ("08", "field", "last_committed"), ("04", "last_committed", "1"),
        ("0a", "field", "sequence_number"), ("08", "sequence_number", "2"),
        ("0c", "field", "immediate_commit_timestamp"),
        ("03127a", "immediate_commit_timestamp", "1000000 (1970-01-01 00:00:01.000000 UTC)"),
        ("0e", "field", "original_commit_timestamp"),
        ("0b24f4", "original_commit_timestamp", "2000001 (1970-01-01 00:00:02.000001 UTC)"),
        ("10", "field", "transaction_length"), ("7d03", "transaction_length", "223"),
        ("12", "field", "immediate_server_version"), ("83120b", "immediate_server_version", "90704"),
        ("14", "field", "original_server_version"), ("a3c709", "original_server_version", "80116"),
        ("16", "field", "commit_group_ticket"), ("06", "commit_group_ticket", "3"),
    ]),
]  # fmt: skip
NAMES = [f"{number}-{EventType(code).name}" for number, (code, _) in enumerate(EVENTS)]


@pytest.mark.parametrize(("code", "parts"), EVENTS, ids=NAMES)
def test_every_field_of_an_event_has_its_bytes_a_name_and_a_meaning(code: int, parts: Parts) -> None:
    assert explained(code, body_of(parts)) == (compact(parts), None)


# What an event can leave out at its end, and is sound: older writers stop there.
_OPTIONAL = {
    EventType.TRANSACTION_PAYLOAD,
    EventType.ROTATE,
    EventType.ROWS_QUERY,
    EventType.HEARTBEAT,
    EventType.IGNORABLE,
    EventType.APPEND_BLOCK,
    EventType.BEGIN_LOAD_QUERY,
    EventType.QUERY,
    EventType.EXECUTE_LOAD_QUERY,
}


@pytest.mark.parametrize(("code", "parts"), EVENTS, ids=NAMES)
def test_of_a_truncated_event_what_is_whole_is_explained_and_the_rest_shown(code: int, parts: Parts) -> None:
    """Cut inside of a field of fixed length: the fields before it are as they were, and the error names it."""
    body = body_of(parts)
    position = 0
    for number, (part, field, _) in enumerate(compact(parts)):
        size = len(part) // 2
        if (
            size > 1
            and not field.endswith((".unknown", "].name"))
            and not (code in _OPTIONAL and number == len(parts) - 1)
        ):
            spans, problem = explained(code, body[: position + size - 1])
            before = compact(parts)[:number]
            left = body[position : position + size - 1].hex()
            assert spans == [*before, (left, "rest", "not read")], field
            assert problem is not None
            assert problem.offset == HEADER + position, field
        position += size


def test_a_gtid_event_ends_behind_any_group_of_its_fields() -> None:
    """Older servers write fewer (binlog-events 6): after the GNO, the clock, the timestamps, the length, the
    versions."""
    (parts,) = [parts for code, parts in EVENTS if code == EventType.GTID]
    for count in (3, 6, 8, 9, 11):
        assert explained(EventType.GTID, body_of(parts[:count])) == (compact(parts[:count]), None)


MICROSECONDS = 1_000_000


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0, "0 (1970-01-01 00:00:00.000000 UTC)"),
        (1_700_000_000_000_042, "1700000000000042 (2023-11-14 22:13:20.000042 UTC)"),
        ((1 << 33) * MICROSECONDS - 1, "8589934591999999 (2242-03-16 12:56:31.999999 UTC)"),
        ((1 << 33) * MICROSECONDS, "8589934592000000"),
        ((1 << 55) - 1, "36028797018963967"),
    ],
)
def test_times_in_microseconds_have_a_date_as_long_as_they_can_be_one(time: int, text: str) -> None:
    (parts,) = [parts for code, parts in EVENTS if code == EventType.ANONYMOUS_GTID]
    body = body_of(parts[:6]) + time.to_bytes(7, "little")
    assert explained(EventType.ANONYMOUS_GTID, body) == (
        [*compact(parts[:6]), (time.to_bytes(7, "little").hex(), "immediate_commit_timestamp", text)],
        None,
    )


def test_seconds_are_shown_with_their_date_and_zero_is_none() -> None:
    assert [moment(seconds) for seconds in (0, 1, 0xFFFFFFFF)] == [
        "0", "1 (1970-01-01 00:00:01 UTC)", "4294967295 (2106-02-07 06:28:15 UTC)",
    ]  # fmt: skip


def test_text_beyond_sixty_characters_is_cut() -> None:
    assert short("a" * 60) == "a" * 60
    assert short("a" * 61) == "a" * 57 + "..."
    assert as_text(b"a" * 58) == "'" + "a" * 58 + "'"
    assert as_text(b"a" * 59) == "'" + "a" * 56 + "..."
    assert as_text(b"\xff\xc3\xa9") == "'\\\\xff\u00e9'"


EXECUTE_LOAD = "01000000 02000000 00 0000 0000 03000000 04000000 05000000"


@pytest.mark.parametrize(
    ("code", "start", "part", "field", "meaning"),
    [
        (EventType.INTVAR, "", "03", "kind", "3"),
        (EventType.INTVAR, "", "00", "kind", "0"),
        (EventType.USER_VAR, "01000000 6e 00", "03", "kind", "3"),
        (EventType.USER_VAR, "01000000 6e 00", "05", "kind", "5"),
        (EventType.INCIDENT, "", "0200", "number", "2"),
        (EventType.INCIDENT, "", "0000", "number", "0"),
        (EventType.EXECUTE_LOAD_QUERY, EXECUTE_LOAD, "00", "duplicates", "error"),
        (EventType.EXECUTE_LOAD_QUERY, EXECUTE_LOAD, "01", "duplicates", "ignore"),
        (EventType.EXECUTE_LOAD_QUERY, EXECUTE_LOAD, "03", "duplicates", "3"),
        (EventType.TRANSACTION_PAYLOAD, "02 01", "07", "compression", "7"),
        (EventType.GTID, "", "02", "gtid_flags", "rows only"),
        (EventType.GTID, "", "03", "gtid_flags", "may have statements"),
        (EventType.GTID_TAGGED, "02 08 00", "18", "field", "unknown (12)"),
        (EventType.PREVIOUS_GTIDS, "", "ffffffffffff0000", "count", "281474976710655"),
        (EventType.PREVIOUS_GTIDS, "", "01ffffffffffff01", "count", "281474976710655, with tags"),
    ],
)
def test_numbers_that_have_no_name_are_shown_as_numbers(
    code: int, start: str, part: str, field: str, meaning: str
) -> None:
    spans, _ = explained(code, bytes.fromhex(start + part))
    assert (part, field, meaning) in [(data, name.rpartition(".")[2], text) for data, name, text in spans]


def test_an_unknown_field_of_a_tagged_gtid_ends_what_can_be_read() -> None:
    spans, problem = explained(EventType.GTID_TAGGED, bytes.fromhex("02 10 00 00 02 18 aabb"))
    assert spans[-2:] == [("18", "field", "unknown (12)"), ("aabb", "unknown", "aabb")]
    assert problem is None  # a reader goes over it by the size of the message (binlog-events 7)


def test_bytes_behind_the_message_of_a_tagged_gtid_are_told_with_both_sizes() -> None:
    spans, problem = explained(EventType.GTID_TAGGED, bytes.fromhex("02 06 00 aabb"))
    assert spans[-1] == ("aabb", "rest", "not read")
    assert problem is not None
    assert (problem.code, problem.offset, problem.expected, problem.got) == ("trailing-bytes", HEADER + 3, 3, 5)


def test_a_column_whose_metadata_are_cut_off_is_shown_without() -> None:
    spans, problem = explained(EventType.TABLE_MAP, bytes.fromhex("010000000000 0100 01 74 00 01 75 00 01 0f"))
    assert spans[-1] == ("0f", "column_type[0]", "15 (VARBINARY(0))")
    assert problem is not None
    assert problem.code == "truncated"


def test_a_name_of_a_database_without_an_end_stops_with_the_status_block() -> None:
    head = bytes.fromhex("01000000 02000000 00 0000 0500")
    spans, problem = explained(EventType.QUERY, head + bytes.fromhex("0c 02 6100 62 00") + b"BEGIN")
    assert spans[5:10] == [
        ("0c", "status[0].code", "UPDATED_DB_NAMES"), ("02", "status[0].count", "2"),
        ("6100", "status[0].name", r"'a\x00'"), ("62", "status[0].name", "'b'"), ("00", "schema_end", "0"),
    ]  # fmt: skip
    assert problem is not None
    assert problem.code == "truncated"


def test_a_format_description_names_the_length_of_every_types_post_header() -> None:
    parts: Parts = [
        ("0400", "binlog_version", "4"), (b"9.7.4-X".hex().ljust(100, "0"), "server_version", "'9.7.4-X'"),
        ("01000000", "created", "1 (1970-01-01 00:00:01 UTC)"), ("13", "header_length", "19"),
        *[(f"{code + 100:02x}", f"post_header_length[{code}]", str(code + 100)) for code in range(1, 43)],
        ("01", "checksum_algorithm", "CRC32"),
    ]  # fmt: skip
    body = body_of(parts)
    data = encode_event(Raw(type=15, data=body), algorithm=1)  # type: ignore[arg-type]
    spans, problem = explain_event(data, {}, 0)
    assert problem is None
    assert [(span.data.hex(), span.field, span.meaning) for span in spans[6:]] == [
        *parts, (data[-4:].hex(), "checksum", "CRC-32, right"),
    ]  # fmt: skip


def test_a_format_description_can_say_that_there_are_no_checksums() -> None:
    body = b"\4\0" + b"9.7.4".ljust(50, b"\0") + bytes(4) + b"\x13" + bytes(42) + b"\0"
    spans, problem = explain_event(encode_event(Raw(type=15, data=body), algorithm=1), {}, 0)  # type: ignore[arg-type]
    assert problem is None
    assert [(span.data, span.field, span.meaning) for span in spans[-2:]] == [
        (b"\0", "checksum_algorithm", "none"), (spans[-1].data, "checksum", "CRC-32, right"),
    ]  # fmt: skip


def test_times_are_in_utc_wherever_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    (parts,) = [parts for code, parts in EVENTS if code == EventType.ANONYMOUS_GTID]
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        tzset()
        here = moment(1)
        spans, _ = explained(EventType.ANONYMOUS_GTID, body_of(parts))
    tzset()
    assert here == "1 (1970-01-01 00:00:01 UTC)"
    assert spans == compact(parts)
