"""Headers, checksums, QUERY and the events of a few fields."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import pytest

from conformance.reference.binlog.control_events import (
    Heartbeat,
    HeartbeatV2,
    Ignorable,
    Incident,
    Opaque,
    Rotate,
    Stop,
    XaPrepare,
    Xid,
)
from conformance.reference.binlog.event import Body, decode_body, decode_event, encode_event
from conformance.reference.binlog.format_description import POST_HEADER_LENGTHS, FormatDescription
from conformance.reference.binlog.group_replication import TransactionContext, ViewChange
from conformance.reference.binlog.header import Checksum, Flag, Header, checksum_of, decode_header, encode_header
from conformance.reference.binlog.load import DeleteFile, ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import (
    DEFAULT_STATUS,
    Query,
    Status,
    StatusDatabases,
    StatusInteger,
    StatusIntegers,
    StatusInvoker,
    StatusText,
    StatusUnknown,
    decode_status,
    encode_status,
)
from conformance.reference.binlog.statement_events import Intvar, Rand, RowsQuery, UserVar
from conformance.reference.errors import DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType, event_name

# (body, bytes of docs/spec/binlog-events.md or a capture; None: only the way back counts)
_BODIES: list[tuple[Body, str | None]] = [
    (Stop(), ""),
    (Rotate(name=b"binlog.000002"), "0400000000000000" + b"binlog.000002".hex()),
    (Intvar(kind=2, value=7), "020700000000000000"),
    (Rand(seed1=1, seed2=2), "01000000000000000200000000000000"),
    (UserVar(name=b"v"), "010000007601"),
    (
        UserVar(name=b"d", value=bytes.fromhex("03028119"), kind=4, collation=8),
        "01000000640004080000000400000003028119",
    ),
    (UserVar(name=b"i", value=bytes(8), kind=2, collation=8, flags=1), None),
    (RowsQuery(text=b"update t"), "00" + b"update t".hex()),
    (RowsQuery(text=b"x" * 300, length_byte=44), None),
    (Incident(message=b"lost"), "010004" + b"lost".hex()),
    (Ignorable(data=b"any"), b"any".hex()),
    (Xid(xid=24), "1800000000000000"),
    (XaPrepare(gtrid=b"x", bqual=b"y", format_id=7), "000700000001000000010000007879"),
    (XaPrepare(gtrid=b"g" * 64, bqual=b"b" * 64, one_phase=1), None),
    (Heartbeat(name=b"binlog.000001"), b"binlog.000001".hex()),
    (HeartbeatV2(name=b"binlog.000001", position=995), "010d" + b"binlog.000001".hex() + "0203fce30300"),
    (HeartbeatV2(name=b"b", position=5, unknown=((9, b"new"),)), None),
    (LoadBlock(type=EventType.BEGIN_LOAD_QUERY, file_id=3, data=b"1,2"), "03000000312c32"),
    (LoadBlock(type=EventType.APPEND_BLOCK, file_id=3, data=b""), "03000000"),
    (DeleteFile(file_id=9), "09000000"),
    (ExecuteLoadQuery(text=b"LOAD", file_id=3, start=1, end=2, duplicates=2, schema=b"d"), None),
    (
        ExecuteLoadQuery(
            text=b"LO", file_id=3, start=1, end=2, duplicates=1, schema=b"d", thread_id=4, execution_time=5,
            error_code=6, status=(StatusInteger(Status.LC_TIME_NAMES, 7),),
        ),
        "0400000005000000010600030003000000010000000200000001" + "070700" + "6400" + "4c4f",
    ),
    (
        TransactionContext(
            server_uuid=b"u" * 36,
            thread_id=5,
            gtid_specified=1,
            snapshot=b"snap",
            write_set=(b"w1", b""),
            read_set=(b"r",),
        ),
        None,
    ),
    (
        TransactionContext(server_uuid=b"u", thread_id=5, gtid_specified=1, snapshot=b"sn", write_set=(b"",)),
        "0105000000010200000001000000000000007573" + "6e0000",
    ),
    (ViewChange(view_id=b"1:2", sequence_number=4, certification=((b"k", b"value"), (b"", b""))), None),
    (
        ViewChange(view_id=b"\0" + b"X" * 39, sequence_number=4, certification=((b"", b""),)),
        "00" + "58" * 39 + "0400000000000000" + "01000000" + "000000000000",
    ),
    (ViewChange(view_id=b""), "00" * 52),
    (Query(text=b"BEGIN", schema=b"d", thread_id=8), None),
    (TransactionPayload(payload=b"zz", uncompressed_size=3409), "0201000303fc510d010102007a7a"),
    (TransactionPayload(payload=b"zz", compression=255), "0203fcff00010102007a7a"),
    (TransactionPayload(payload=b"", uncompressed_size=0, unknown=((77, b"?"),)), None),
    (Opaque(type=43, data=b"\1\2"), "0102"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "stored"), _BODIES)
def test_a_body_is_these_bytes(body: Any, stored: str | None) -> None:
    raw = body.encode()
    if stored is not None:
        assert raw.hex() == stored
    assert decode_body(body.type, raw, {}) == body


@pytest.mark.parametrize(("body", "stored"), _BODIES)
@pytest.mark.parametrize("algorithm", [Checksum.NONE, Checksum.CRC32])
def test_an_event_survives_with_and_without_checksum(body: Any, stored: str | None, algorithm: int) -> None:
    raw = encode_event(body, timestamp=1, server_id=2, log_pos=3, flags=4, algorithm=algorithm)
    event = decode_event(raw, algorithm=algorithm)
    assert event.body == body
    assert event.header == Header(1, body.type, 2, len(raw), 3, 4)
    assert event.encode() == raw
    assert (event.checksum is None) == (algorithm == Checksum.NONE)
    if algorithm:
        assert event.checksum == crc32(raw[:-4])


def test_the_header_of_a_capture() -> None:
    raw = bytes.fromhex("07eeff6a0f008200007b0000007f0000000000")
    header = decode_header(raw)
    assert header == Header(0x6AFFEE07, 15, 0x8200, 123, 127, 0)
    assert header.name == "FORMAT_DESCRIPTION_EVENT"
    assert encode_header(header) == raw
    with pytest.raises(DecodeError):
        decode_header(raw[:-1])


@pytest.mark.parametrize(
    ("field", "value"),
    [("timestamp", 1 << 32), ("type", 256), ("flags", 65536), ("server_id", -1), ("log_pos", 1 << 32)],
)
def test_a_header_field_that_does_not_fit_is_an_encode_error(field: str, value: int) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_header(Header(0, 0, 0, 0, 0, 0)._replace(**{field: value}))
    assert caught.value.path == (field,)


def test_the_position_after_an_event_is_kept_modulo_4_gib() -> None:
    raw = encode_event(Stop(), log_pos=None, start=(1 << 32) - 10)
    assert decode_header(raw).log_pos == len(raw) - 10


def test_the_checksum_of_format_description_ignores_in_use() -> None:
    closed = encode_event(FormatDescription())
    opened = encode_event(FormatDescription(), flags=Flag.IN_USE)
    assert opened[-4:] == closed[-4:]
    assert opened[17] == 1
    assert crc32(opened[:-4]) != checksum_of(opened[:-4])
    assert decode_event(opened).encode() == opened
    # Only FORMAT_DESCRIPTION: in any other event the flag is summed as it stands.
    assert encode_event(Stop(), flags=Flag.IN_USE)[-4:] != encode_event(Stop())[-4:]


def test_format_description_has_a_checksum_whatever_it_says() -> None:
    for algorithm in (Checksum.NONE, Checksum.CRC32):
        raw = encode_event(FormatDescription(algorithm=algorithm), algorithm=Checksum.NONE)
        assert len(raw) == 123
        assert raw[-5] == algorithm


@pytest.mark.parametrize(
    ("version", "algorithm"),
    [
        ("5.6.0", Checksum.UNDEFINED),
        ("5.5.62-X", Checksum.UNDEFINED),
        ("5.6.1", Checksum.CRC32),
        ("5.7.0", Checksum.NONE),
        ("10.0.0", Checksum.CRC32),
        ("of our own 1.2.3", Checksum.CRC32),  # not a number in front: as a server of today
        ("9.7.4-\udcff\u00fc", Checksum.CRC32),
        ("9.7.4-" + "x" * 44, Checksum.CRC32),
    ],
)
def test_the_text_of_the_version_says_whether_there_are_checksums(version: str, algorithm: int) -> None:
    """Even without a table of post-headers: then there are 57 bytes and, from 5.6.1 on, the algorithm."""
    body = FormatDescription(server_version=version, created=0x01020304, algorithm=algorithm, post_header_lengths=b"")
    raw = version.encode("utf-8", "surrogateescape").ljust(50, b"\0")
    has = algorithm != Checksum.UNDEFINED
    assert body.encode() == b"\4\0" + raw + b"\4\3\2\1\x13" + (bytes((algorithm,)) if has else b"")
    event = encode_event(body)
    assert len(event) == 19 + 57 + 5 * has
    assert decode_event(event).body == FormatDescription.decode(event[19:]) == body


@pytest.mark.parametrize("count", [27, 35, 38, 39, 40, 41, 42, 43])
def test_the_number_of_types_follows_from_the_length(count: int) -> None:
    description = FormatDescription(post_header_lengths=(POST_HEADER_LENGTHS + b"\7")[:count])
    event = decode_event(encode_event(description))
    assert event.body == description
    assert event.header.length == 81 + count
    assert description.post_header_length(count + 1) is None
    assert description.post_header_length(2) == 13


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (FormatDescription(binlog_version=3), "binlog-version"),
        (FormatDescription(header_length=13), "header-length"),
        (FormatDescription(algorithm=2), "checksum-algorithm"),
    ],
)
def test_a_format_that_is_not_known_is_unsupported(body: FormatDescription, code: str) -> None:
    with pytest.raises(Unsupported) as caught:
        decode_event(encode_event(body))
    assert caught.value.code == code


def test_every_type_has_one_name() -> None:
    names = [event_name(code) for code in range(256)]
    assert len(set(names)) == 256
    assert event_name(39) == "PARTIAL_UPDATE_ROWS_EVENT"
    assert event_name(23) == "WRITE_ROWS_EVENT_V1"


_STATUS = (
    StatusInteger(Status.FLAGS2, 0xC004000),
    StatusInteger(Status.SQL_MODE, 0x45A00020),
    StatusText(Status.CATALOG_NZ, b"std"),
    StatusIntegers(Status.AUTO_INCREMENT, (5, 2)),
    StatusIntegers(Status.CHARSET, (255, 255, 8)),
    StatusText(Status.TIME_ZONE, b"+00:00"),
    StatusText(Status.CATALOG, b"old"),
    StatusInteger(Status.LC_TIME_NAMES, 1),
    StatusInteger(Status.CHARSET_DATABASE, 2),
    StatusInteger(Status.TABLE_MAP_FOR_UPDATE, 1 << 63),
    StatusInteger(Status.MASTER_DATA_WRITTEN, 3),
    StatusInvoker(b"root", b"localhost"),
    StatusDatabases((b"a", b"", "ü".encode())),
    StatusDatabases(None),
    StatusInteger(Status.MICROSECONDS, 999999),
    StatusInteger(Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP, 1),
    StatusInteger(Status.DDL_LOGGED_WITH_XID, 77),
    StatusInteger(Status.DEFAULT_COLLATION_FOR_UTF8MB4, 255),
    StatusInteger(Status.SQL_REQUIRE_PRIMARY_KEY, 0),
    StatusInteger(Status.DEFAULT_TABLE_ENCRYPTION, 1),
    StatusInteger(Status.ENABLE_CASCADE_TRIGGERS, 1),
    StatusUnknown(200, b"whatever"),
)


def test_the_default_status_block_is_the_captured_one() -> None:
    assert encode_status(DEFAULT_STATUS).hex() == "0000000000012000a04500000000060373746404ff00ff00ff0012ff00"


def test_status_variables_keep_their_order_and_type() -> None:
    assert decode_status(encode_status(_STATUS)) == _STATUS
    query = Query(text="SELECT 'ü'".encode(), schema=b"d", status=_STATUS, thread_id=9, execution_time=3, error_code=1)
    assert Query.decode(query.encode()) == query


def test_a_cut_off_status_block_is_refused_or_shorter() -> None:
    raw = encode_status(_STATUS[:-1])
    whole = decode_status(raw)
    shorter = 0
    for end in range(len(raw)):
        try:
            found = decode_status(raw[:end])
        except DecodeError:
            continue
        assert found == whole[: len(found)]
        shorter += 1
    assert shorter == len(whole)  # only between two variables


@pytest.mark.parametrize(
    "variable",
    [
        StatusInteger(Status.FLAGS2, 1 << 32),
        StatusInteger(Status.CHARSET, 1),
        StatusIntegers(Status.CHARSET, (1, 2)),
        StatusText(Status.TIME_ZONE, b"x" * 256),
        StatusDatabases((b"a\0b",)),
        StatusDatabases((b"a",) * 254),
        StatusInvoker(b"u" * 256, b""),
        StatusUnknown(256, b""),
    ],
)
def test_a_status_variable_that_does_not_fit_is_an_encode_error(variable: Any) -> None:
    with pytest.raises(EncodeError):
        encode_status((variable,))


@pytest.mark.parametrize(
    ("text", "flags"),
    [(b"BEGIN", 8), (b"COMMIT", 8), (b"XA START X'78',X'',1", 8), (b"SAVEPOINT `s`", 8), (b"CREATE TABLE t(a int)", 0)],
)
def test_statements_without_a_database_suppress_use(text: bytes, flags: int) -> None:
    assert decode_header(encode_event(Query(text=text))).flags == flags


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (XaPrepare(gtrid=b"x" * 65), "too-long"),
        (Incident(message=b"x" * 256), "too-long"),
        (ViewChange(view_id=b"x" * 41), "too-long"),
        (FormatDescription(server_version="x" * 51), "too-long"),
        (FormatDescription(created=1 << 32), "out-of-range"),
        (FormatDescription(binlog_version=1 << 16), "out-of-range"),
        (FormatDescription(header_length=256), "out-of-range"),
        (FormatDescription(algorithm=256), "out-of-range"),
        (Intvar(kind=256, value=0), "out-of-range"),
        (Xid(xid=1 << 64), "out-of-range"),
        (Query(text=b"", schema=b"x" * 256), "out-of-range"),
        (Query(text=b"", thread_id=1 << 32), "out-of-range"),
    ],
)
def test_a_field_that_does_not_fit_is_an_encode_error(body: Any, code: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_event(body)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("code", "raw", "error"),
    [
        (EventType.STOP, "00", "trailing-bytes"),
        (EventType.XID, "00" * 9, "trailing-bytes"),
        (EventType.XID, "00" * 7, "truncated"),
        (EventType.XA_PREPARE, "00000000004100000000000000" + "00" * 65, "too-long"),
        (EventType.HEARTBEAT_V2, "01016100", "missing-field"),
        (EventType.HEARTBEAT_V2, "0202fb00", "bad-packed-integer"),
        (EventType.TRANSACTION_PAYLOAD, "02010000", "missing-field"),
        (EventType.TRANSACTION_PAYLOAD, "020100010105007a", "truncated"),
        (EventType.TRANSACTION_PAYLOAD, "020100010100007a", "trailing-bytes"),
        (EventType.TRANSACTION_CONTEXT, "00000000000000000000ffffffffffffffff", "truncated"),
        (EventType.VIEW_CHANGE, "00" * 48 + "ffffffff", "truncated"),
        (EventType.QUERY, "00" * 8 + "000000ffff", "truncated"),
    ],
)  # fmt: skip
def test_a_damaged_body_is_refused_with_the_name_of_its_event(code: EventType, raw: str, error: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_body(code, bytes.fromhex(raw), {})
    assert caught.value.code == error
    assert caught.value.path[0] == event_name(code)
    assert caught.value.offset is not None
    assert caught.value.offset >= 19
