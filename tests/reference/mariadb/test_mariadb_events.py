"""MariaDB's events: its real logs to the byte and back, its compression, and what is damaged or unknown in them."""

from __future__ import annotations

import zlib

import pytest

from conformance.reference.binlog.event import Event, decode_body, decode_event, encode_event
from conformance.reference.binlog.files import FileReader, decode_file
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.binlog.mariadb.compression import compressed, uncompressed
from conformance.reference.binlog.mariadb.events import (
    AnnotateRows,
    BinlogCheckpoint,
    GtidFlag,
    GtidList,
    ListedGtid,
    MariadbGtid,
    StartEncryption,
    Xid,
)
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import COMPRESSED_TYPES, RowsBody
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType, MariadbEventType
from conformance.reference.tables.table_map import TableMap
from tests.reference.kit import outcome
from tests.reference.mariadb.mariadb_logs import WHOLE, log_of

BODIES = (
    MariadbGtid(seq_no=(1 << 64) - 1, domain_id=(1 << 32) - 1, gtid_flags=GtidFlag.STANDALONE),
    MariadbGtid(seq_no=2, gtid_flags=GtidFlag.GROUP_COMMIT_ID | GtidFlag.TRANSACTIONAL, commit_id=77),
    MariadbGtid(seq_no=3, gtid_flags=GtidFlag.PREPARED_XA, xid=Xid(b"g", b"b", 9), rest=b"\1\2"),
    MariadbGtid(seq_no=4, gtid_flags=GtidFlag.COMPLETED_XA, xid=Xid(b"g" * 64, b"b" * 64, 9)),
    GtidList(),
    GtidList(entries=(ListedGtid(0, 1, 5), ListedGtid(3, 2, 1)), list_flags=1),
    AnnotateRows(text=b"UPDATE t SET a = 1"),
    BinlogCheckpoint(name=b"log.000001"),
    StartEncryption(key_version=1, nonce=b"0123456789ab"),
)

NAMES = [f"{number}-{type(body).__name__}" for number, body in enumerate(BODIES)]


@pytest.mark.parametrize("name", WHOLE)
def test_a_log_of_mariadb_is_written_back_to_the_byte(name: str) -> None:
    log = log_of(name)
    events = decode_file(log)
    for event in events:
        assert event.position is not None
        old = log[event.position : event.position + event.header.length]
        if event.header.type in COMPRESSED_TYPES:  # another zlib may write another stream
            assert _read_again(event, events) == event.body
        else:
            assert event.encode() == old, (event.position, event.name)


def _read_again(event: Event, events: list[Event]) -> object:
    tables = {each.body.table_id: each.body for each in events if isinstance(each.body, TableMap)}
    body = decode_event(event.encode(), algorithm=1 if event.checksum else 0, tables=tables).typed().body
    assert isinstance(body, RowsBody)
    return body


def test_what_the_logs_hold() -> None:
    kinds = {event.header.type for name in WHOLE for event in decode_file(log_of(name))}
    assert set(range(160, 169)) - {MariadbEventType.START_ENCRYPTION} <= kinds
    assert EventType.XA_PREPARE in kinds
    (compressed_ddl,) = [
        event.body
        for event in decode_file(log_of("compressed"))
        if isinstance(event.body, Query) and b"CREATE TABLE" in event.body.text
    ]
    assert compressed_ddl.text == b"CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(400), n BIGINT)"
    assert compressed_ddl.type == MariadbEventType.QUERY_COMPRESSED


@pytest.mark.parametrize("body", BODIES, ids=NAMES)
def test_every_event_is_written_and_read(body: MariadbGtid) -> None:
    event = decode_event(encode_event(body, server_id=4))
    assert event.body == body
    assert event.header.type == body.type


@pytest.mark.parametrize("body", BODIES, ids=NAMES)
def test_an_event_that_is_cut_off_is_read_as_shorter_or_refused(body: MariadbGtid) -> None:
    data = body.encode()
    for end in range(len(data)):
        found, error = outcome(decode_body, body.type, data[:end], {})
        if error is not None:
            assert (error.offset or 0) >= HEADER_SIZE
            continue
        assert found != body
        assert isinstance(body, MariadbGtid | AnnotateRows)  # their last field has no length


def test_names_of_gtids() -> None:
    assert MariadbGtid(seq_no=7, domain_id=2).text(95) == "2-95-7"
    assert str(ListedGtid(0, 95, 13)) == "0-95-13"
    assert not MariadbGtid(seq_no=1, gtid_flags=GtidFlag.STANDALONE | GtidFlag.DDL).begins
    with pytest.raises(EncodeError):
        MariadbGtid(seq_no=1, commit_id=5).encode()
    with pytest.raises(EncodeError):
        MariadbGtid(seq_no=1 << 64).encode()


def test_the_parts_of_a_log_of_an_encrypting_server_before_its_encryption_are_read() -> None:
    reader = FileReader()
    reader.feed(log_of("encrypted"))
    seen: list[str] = []
    with pytest.raises(Unsupported) as caught:
        seen.extend(event.name for event in reader.events())
    assert seen == ["FORMAT_DESCRIPTION_EVENT", "START_ENCRYPTION_EVENT"]
    assert caught.value.code == "encrypted-events"
    assert caught.value.offset == 296


@pytest.mark.parametrize(
    ("version", "footer"),
    [("5.2.14-MariaDB", False), ("5.3.12-MariaDB-log", True), ("10.0.1-MariaDB", True), ("5.5.62-log", False)],
)
def test_the_version_says_whether_there_are_checksums(version: str, *, footer: bool) -> None:
    algorithm = 1 if footer else 255
    data = encode_event(FormatDescription(server_version=version, algorithm=algorithm))
    body = decode_event(data).body
    assert isinstance(body, FormatDescription)
    assert body.has_footer is footer
    assert body.mariadb is ("MariaDB" in version)


# --- compression -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65535, 65536, 1 << 24])
def test_compressed_parts(size: int) -> None:
    content = b"ab" * (size // 2) + b"c" * (size % 2)
    part = compressed(content)
    assert part[0] & 7 == max(1, (size.bit_length() + 7) // 8)
    assert uncompressed(part) == content


_PART = compressed(b"INSERT INTO t VALUES (1)")


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (b"", "truncated"),
        (b"\x01" + _PART[1:], "bad-compression"),
        (b"\x89" + _PART[1:], "bad-compression"),
        (b"\x85" + _PART[1:], "bad-compression"),
        (b"\x91" + _PART[1:], "compression"),
        (_PART[:2] + b"\0" + _PART[3:], "bad-compression"),
        (_PART[:1] + bytes((_PART[1] - 1,)) + _PART[2:], "bad-length"),
        (_PART[:1] + bytes((_PART[1] + 1,)) + _PART[2:], "bad-length"),
        (_PART[:-1], "bad-length"),
        (_PART + b"x", "trailing-bytes"),
        (b"\x84\xff\xff\xff\xff" + zlib.compress(b"x"), "bad-length"),
    ],
)
def test_a_damaged_part_is_refused(part: bytes, code: str) -> None:
    with pytest.raises(CodecError) as caught:
        uncompressed(part)
    assert caught.value.code == code


def test_damage_inside_an_event_names_its_place() -> None:
    query = Query(text=b"SELECT 1", compressed=b"\x81\x08" + b"no zlib stream")
    with pytest.raises(DecodeError) as caught:
        decode_event(encode_event(query))
    assert caught.value.path == ("QUERY_COMPRESSED_EVENT", "text")
