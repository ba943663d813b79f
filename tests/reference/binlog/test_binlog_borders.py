"""Borders of the events' fields: the last value that is well, and the first that is not, in exact bytes."""

from __future__ import annotations

from io import BytesIO
from random import Random
from struct import pack
from typing import Any
from uuid import UUID

import pytest

from conformance.reference.binlog.control_events import Heartbeat, Incident, Rotate, Stop, XaPrepare, Xid
from conformance.reference.binlog.event import decode_body, decode_event, encode_event
from conformance.reference.binlog.files import EventDecoder, FileReader, decode_file, read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import GtidTagged
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.header import HEADER_SIZE, Checksum, Header, decode_header, footer_size
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import StatusDatabases, StatusUnknown, decode_status, encode_status
from conformance.reference.binlog.rows import NdbInfo, PartitionInfo, Row, rows_body
from conformance.reference.binlog.statement_events import Intvar, RowsQuery, UserVar
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.errors import CodecError, DecodeError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import TINY, ColumnType
from conformance.reference.tables.table_map import TableMap

_TABLE = TableMap(
    table_id=0x0102_0304_0506,
    schema="a",
    table="b",
    columns=(ColumnType(TINY), ColumnType(TINY)),
    nullable=(True, False),
)


def refused(call: Any, *arguments: Any, **options: Any) -> str:
    """The code of the declared error."""
    with pytest.raises(CodecError) as error:
        call(*arguments, **options)
    return error.value.code


# --- header, checksum, length


def test_a_header_at_the_end_of_the_bytes_is_cut_off() -> None:
    assert decode_header(bytes(25), 6) == Header(0, 0, 0, 0, 0, 0)
    assert refused(decode_header, bytes(25), 7) == "truncated"


@pytest.mark.parametrize("place", range(1, 5))
def test_every_byte_of_a_checksum_counts(place: int) -> None:
    event = bytearray(encode_event(Xid(xid=7)))
    event[-place] ^= 0x10
    assert refused(decode_event, bytes(event)) == "checksum"
    assert refused(EventDecoder().decode, bytes(event)) == "checksum"


def test_no_checksum_but_the_one_is_well() -> None:
    """Among so many wrong ones are some that agree in any one byte of what is compared."""
    event = encode_event(Xid(xid=7))
    decoder = EventDecoder()
    assert decoder.decode(event).checksum == int.from_bytes(event[-4:], "little")
    for number in range(2_000):
        assert refused(decoder.decode, event[:-4] + number.to_bytes(4, "little")) == "checksum"


def test_an_event_has_the_length_that_its_header_says_and_room_for_its_checksum() -> None:
    event = encode_event(Stop())
    assert decode_event(event).body == Stop()
    for wrong in (event + b"\0", event[:-1]):
        assert refused(decode_event, wrong) == refused(EventDecoder().decode, wrong) == "bad-length"
    for size in range(HEADER_SIZE, HEADER_SIZE + 4):
        short = pack("<IBIIIH", 0, EventType.STOP, 1, size, 0, 0) + bytes(size - HEADER_SIZE)
        assert refused(decode_event, short) == refused(EventDecoder().decode, short) == "truncated"


def test_positions_count_modulo_four_gigabytes() -> None:
    event = encode_event(Stop(), log_pos=None, start=(1 << 32) - 5)
    assert decode_event(event).header.log_pos == len(event) - 5


def test_checksums_by_algorithm_and_version() -> None:
    assert [footer_size(algorithm) for algorithm in (Checksum.NONE, Checksum.CRC32, Checksum.UNDEFINED)] == [0, 4, 0]
    for version, algorithm in (("5.6.0", Checksum.UNDEFINED), ("5.6.1", Checksum.CRC32), ("5.6.2", Checksum.CRC32)):
        body = FormatDescription(server_version=version, algorithm=algorithm)
        event = encode_event(body)
        assert decode_event(event).body == body
    data = bytearray(encode_event(FormatDescription())[HEADER_SIZE:])
    data[-5] = 2
    assert refused(FormatDescription.decode, bytes(data)) == "checksum-algorithm"


def test_the_first_post_header_length_is_that_of_type_1() -> None:
    body = FormatDescription(post_header_lengths=bytes((7, 8, 9)))
    assert [body.post_header_length(code) for code in range(5)] == [None, 7, 8, 9, None]


# --- QUERY


def test_unknown_status_variables_end_the_block() -> None:
    data = b"\x08\x21\x00" + b"\xc8\x08\x21\x00"
    assert decode_status(data)[1:] == (StatusUnknown(200, b"\x08\x21\x00"),)
    assert decode_status(b"\x08\x21\x00", 7) == (StatusUnknown(8, b"\x21\x00"),)
    assert decode_status(b"\x0e\x08\x21\x00") == (StatusUnknown(14, b"\x08\x21\x00"),)  # a number, and no form known


def test_more_databases_than_are_listed() -> None:
    assert decode_status(b"\x0c\xfe") == (StatusDatabases(None),)
    assert encode_status((StatusDatabases(None),)) == b"\x0c\xfe"
    names = tuple(bytes((65 + number % 26,)) for number in range(253))
    assert decode_status(encode_status((StatusDatabases(names),))) == (StatusDatabases(names),)


def test_a_zero_byte_stands_behind_the_schema() -> None:
    head = pack("<IIBHH", 1, 0, 1, 0, 0)
    assert decode_body(EventType.QUERY, head + b"d\0", {}).text == b""  # type: ignore[union-attr]
    assert refused(decode_body, EventType.QUERY, head + b"d", {}) == "truncated"
    assert refused(decode_body, EventType.QUERY, head + b"d\1", {}) == "bad-name"


# --- GTIDs


def test_the_logical_timestamp_is_of_type_2() -> None:
    data = bytes(25) + b"\2" + pack("<QQ", 1, 2)
    assert decode_body(EventType.GTID, data, {}).sequence_number == 2  # type: ignore[union-attr]
    for kind in (0, 1, 3, 255):
        wrong = bytes(25) + bytes((kind,)) + pack("<QQ", 1, 2)
        assert refused(decode_body, EventType.GTID, wrong, {}) == "logical-clock"


def test_nothing_follows_the_commit_group_ticket() -> None:
    data = bytes(25) + b"\2" + bytes(16) + bytes(7) + b"\x30" + bytes(4) + pack("<Q", 9)
    assert decode_body(EventType.GTID, data, {}).commit_group_ticket == 9  # type: ignore[union-attr]
    assert refused(decode_body, EventType.GTID, data + b"\0", {}) == "trailing-bytes"


def test_top_bits_say_that_the_original_timestamp_and_version_follow() -> None:
    head = bytes(25) + b"\2" + bytes(16)
    data = (
        head
        + pack("<Q", 5 | 1 << 55)[:7]
        + pack("<Q", 6)[:7]
        + b"\x30"
        + pack("<I", 90704 | 1 << 31)
        + pack("<I", 80030)
    )
    body: Any = decode_body(EventType.GTID, data, {})
    assert (body.immediate_commit_timestamp, body.original_commit_timestamp) == (5, 6)
    assert (body.immediate_server_version, body.original_server_version) == (90704, 80030)
    assert body.encode() == data
    large = head + pack("<Q", (1 << 55) - 1)[:7] + b"\x30" + pack("<I", (1 << 31) - 1)
    body = decode_body(EventType.GTID, large, {})
    assert (body.immediate_commit_timestamp, body.original_commit_timestamp) == ((1 << 55) - 1, None)
    assert (body.immediate_server_version, body.original_server_version) == ((1 << 31) - 1, None)
    assert body.encode() == large


def tagged(fields: bytes) -> bytes:
    return b"\2" + bytes(((len(fields) + 3) * 2,)) + b"\0" + fields


def test_fields_of_a_tagged_gtid_are_in_order_and_fit() -> None:
    assert GtidTagged.decode(tagged(b"\0\2")).gtid_flags == 1
    assert GtidTagged.decode(tagged(b"\x08\x04")).last_committed == 1  # 2 is the zigzag of 1
    assert GtidTagged.decode(tagged(b"\x08\x06")).last_committed == -2  # 3 is the zigzag of -2
    assert refused(GtidTagged.decode, tagged(b"\0\2\0\2")) == "field-order"
    wide = b"\2" + b"\1\4" + bytes(30)  # 256, in two bytes, and fifteen zeros
    assert refused(GtidTagged.decode, tagged(wide[:18])) == "out-of-range"
    assert refused(GtidTagged.decode, tagged(b"\0\2") + b"\0") == "trailing-bytes"


def test_sets_of_hundreds_of_tagged_gtids() -> None:
    entries = tuple(GtidEntry(UUID(int=number), "t", ((1, 2),)) for number in range(300))
    data = PreviousGtids(entries=entries, tagged=True).encode()
    assert data[:8] == bytes((1, 300 & 0xFF, 300 >> 8, 0, 0, 0, 0, 1))
    assert PreviousGtids.decode(data).entries == entries


def test_tags_have_32_characters_and_intervals_do_not_touch() -> None:
    for length, good in ((32, True), (33, False)):
        data = PreviousGtids(entries=(GtidEntry(UUID(int=1), "a" * length, ((1, 2),)),)).encode()
        if good:
            assert PreviousGtids.decode(data).entries[0].tag == "a" * 32
        else:
            assert refused(PreviousGtids.decode, data) == "gtid-tag"
    touching = PreviousGtids(entries=(GtidEntry(UUID(int=1), "", ((1, 3), (3, 5))),)).encode()
    assert refused(PreviousGtids.decode, touching) == "gtid-interval"
    assert str(PreviousGtids.parse("00000000-0000-0000-0000-000000000001:1-2:3-4:6")).endswith(":1-4:6")


# --- the small ones


@pytest.mark.parametrize("position", [4, (1 << 32) - 1, 1 << 32, (1 << 64) - 1])
def test_the_position_of_a_rotate_has_eight_bytes(position: int) -> None:
    body = Rotate(name=b"x", position=position)
    assert body.encode() == pack("<Q", position) + b"x"
    assert Rotate.decode(body.encode()) == body


@pytest.mark.parametrize("sizes", [(65, 1), (1, 65), (65, 65)])
def test_each_part_of_an_xid_has_64_bytes(sizes: tuple[int, int]) -> None:
    assert XaPrepare.decode(XaPrepare(gtrid=b"g" * 64, bqual=b"b" * 64).encode()).bqual == b"b" * 64
    data = pack("<BIII", 0, 1, *sizes) + bytes(sum(sizes))
    assert refused(XaPrepare.decode, data) == "too-long"


def test_flags_of_user_variables_and_what_ends_events() -> None:
    for flags in (None, 0, 1):
        variable = UserVar(name=b"v", value=bytes(8), kind=2, collation=8, flags=flags)
        assert UserVar.decode(variable.encode()) == variable
    assert Heartbeat.decode(b"x").name == b"x"
    for code, data in (
        (EventType.INCIDENT, b"\1\0\2ab"),
        (EventType.VIEW_CHANGE, pack("<40sQI", b"v", 1, 1) + b"\1\0k\2\0\0\0vv"),
        (EventType.TRANSACTION_CONTEXT, pack("<BIBIII", 1, 1, 0, 0, 1, 2) + b"u" + b"\1\0a\1\0b\1\0c"),
        (EventType.TRANSACTION_PAYLOAD, b"\2\1\xfb"[:0] + b"\2\1\0\1\1\2\0pp"),
    ):
        body: Any = decode_body(code, data, {})
        assert body.encode() == data
        assert refused(decode_body, code, data + b"\0", {}) == "trailing-bytes"
    context: Any = decode_body(
        EventType.TRANSACTION_CONTEXT, pack("<BIBIII", 0, 1, 0, 0, 1, 2) + b"\1\0a\1\0b\1\0c", {}
    )
    assert (context.write_set, context.read_set) == ((b"a",), (b"b", b"c"))
    assert refused(decode_body, EventType.HEARTBEAT_V2, b"\1\1x\0", {}) == "missing-field"
    assert refused(decode_body, EventType.HEARTBEAT_V2, b"\2\1\4\0", {}) == "missing-field"


def test_a_payload_is_what_its_fields_say() -> None:
    assert refused(TransactionPayload.decode, b"\2\2\0\0\1\1\0\0") == "trailing-bytes"
    whole = TransactionPayload.compress(bytes(range(256)) * 40)
    assert whole.uncompressed(10_240) == bytes(range(256)) * 40
    assert refused(whole.uncompressed, 10_239) == "payload-too-large"
    blocks = TransactionPayload.compress(Random(1).randbytes(300_000)).payload  # a frame of three blocks
    for end in (len(whole.payload) - 3, 10, 0):
        assert refused(TransactionPayload(payload=whole.payload[:end]).uncompressed) == "truncated"
    for end in (len(blocks) - 1, 200_000):
        assert refused(TransactionPayload(payload=blocks[:end]).uncompressed) == "truncated"


def test_the_fields_of_a_loading_statement_in_their_order() -> None:
    head = pack("<IIBHHIIIB", 7, 6, 1, 5, 0, 4, 0x0102, 0x010203, 2)
    text = b"x" * 0x010203
    body: Any = decode_body(EventType.EXECUTE_LOAD_QUERY, head + b"d\0" + text, {})
    assert (body.thread_id, body.execution_time, body.error_code, body.file_id) == (7, 6, 5, 4)
    assert (body.start, body.end, body.duplicates, body.schema, body.text) == (0x0102, 0x010203, 2, b"d", text)
    assert body.encode() == head + b"d\0" + text


@pytest.mark.parametrize(
    ("field", "offset", "load"),
    [("start", 17, (5, 4, 2)), ("end", 21, (4, 5, 2)), ("duplicates", 25, (4, 4, 3)), (None, 0, (4, 4, 2))],
)
def test_a_loading_statement_points_into_its_text(field: str | None, offset: int, load: tuple[int, int, int]) -> None:
    data = pack("<IIBHHIIIB", 7, 6, 1, 5, 0, 4, *load) + b"d\0LOAD"
    if field is None:
        body: Any = decode_body(EventType.EXECUTE_LOAD_QUERY, data, {})
        assert body.encode() == data
        return
    with pytest.raises(DecodeError) as caught:
        decode_body(EventType.EXECUTE_LOAD_QUERY, data, {})
    error = caught.value
    assert (error.code, error.offset, error.path[-1]) == ("out-of-range", 19 + offset, field)


# --- rows


def test_table_ids_and_extra_data_of_rows() -> None:
    body = rows_body(
        _TABLE, EventType.UPDATE_ROWS, [Row((1, 2), (3, 4))], extra=(PartitionInfo(1, 2), NdbInfo(3, b"xy"))
    )
    data = body.encode()
    assert data[:6].hex() == "060504030201"
    assert data[8:19].hex() == "0c00" + "0101000200" + "00040378"
    decoded: Any = decode_body(EventType.UPDATE_ROWS, data, {_TABLE.table_id: _TABLE})
    assert decoded.table_id == _TABLE.table_id
    assert decoded.extra == (PartitionInfo(1, 2), NdbInfo(3, b"xy"))
    assert decoded.typed() == body


def test_an_update_has_two_bitmaps_and_the_columns_of_its_table() -> None:
    head = bytes(6) + b"\1\0\2\0"
    assert refused(decode_body, EventType.UPDATE_ROWS, head + b"\2\3", {}) == "truncated"
    for count in (1, 3):
        lazy: Any = decode_body(EventType.WRITE_ROWS, head + bytes((count,)) + b"\1\0\5", {0: _TABLE})
        assert refused(lazy.typed) == "column-count"


# --- files


def test_what_may_stand_behind_the_last_event() -> None:
    writer = FileWriter()
    data = writer.start() + writer.add(Stop())
    assert len(decode_file(data + bytes(100))) == len(decode_file(data))
    assert refused(decode_file, data + bytes(30) + b"\1") == "bad-length"
    assert refused(decode_file, data + bytes(30) + b"\1" * 5) == "bad-length"
    assert refused(decode_file, data + b"\1" + bytes(30)) == "bad-length"
    assert refused(decode_file, data[:-1]) == "truncated"
    reader = FileReader()
    assert refused(list, read_events(BytesIO(data + b"\1" + bytes(30)), reader=reader)) == "bad-length"
    assert reader.notes == []  # what has no length and is not zero is no end


def test_positions_of_many_events_in_small_pieces() -> None:
    writer = FileWriter()
    data = writer.start() + b"".join(writer.add(Xid(xid=number)) for number in range(50))
    for window in (1, 7, 100, 1 << 20):
        events = list(read_events(BytesIO(data), window=window))
        ends = [event.position + event.header.length for event in events if event.position is not None]
        assert ends == [event.header.log_pos for event in events]
        assert ends[-1] == len(data)


def test_tables_mean_nothing_behind_another_format_description() -> None:
    decoder = EventDecoder()
    decoder.decode(encode_event(_TABLE))
    assert decoder.tables
    decoder.decode(encode_event(FormatDescription()))
    assert not decoder.tables


@pytest.mark.parametrize("kind", [EventType.TRANSACTION_PAYLOAD, EventType.FORMAT_DESCRIPTION])
def test_payloads_do_not_nest(kind: int) -> None:
    body = TransactionPayload.compress(b"") if kind == EventType.TRANSACTION_PAYLOAD else FormatDescription()
    inner = encode_event(body, algorithm=Checksum.NONE)
    outer = TransactionPayload.compress(inner)
    writer = FileWriter()
    data = writer.start() + writer.add(outer)
    assert refused(decode_file, data, expand=True) == "bad-nesting"


def test_an_inner_event_ends_inside_its_payload() -> None:
    first = encode_event(RowsQuery(text=b"a"), algorithm=Checksum.NONE)
    second = bytearray(encode_event(RowsQuery(text=b"b"), algorithm=Checksum.NONE))
    second[9:13] = pack("<I", len(second) + len(first))  # inside the bytes, if they are counted from their beginning
    writer = FileWriter()
    data = writer.start() + writer.add(TransactionPayload.compress(first + bytes(second)))
    assert refused(decode_file, data, expand=True) == "bad-length"


def test_events_inside_payloads_have_no_checksums_and_copies_their_own_place() -> None:
    writer = FileWriter()
    payload = writer.compressed([begin("d"), Xid(xid=1)])
    inner = payload.uncompressed()
    assert inner == b"".join(encode_event(body, algorithm=Checksum.NONE) for body in (begin("d"), Xid(xid=1)))
    copier = FileWriter()
    head = copier.start()
    copied = copier.copy(encode_event(Xid(xid=1), log_pos=5))
    assert decode_event(copied).header.log_pos == len(head) + len(copied) == copier.position
    assert begin("d", update=True).status != begin("d").status


def test_only_an_open_file_may_be_cut_off() -> None:
    writer = FileWriter()
    data = writer.start(in_use=True) + writer.add(Xid(xid=1))
    reader = FileReader()
    assert len(list(read_events(BytesIO(data[:-1]), reader=reader))) == 2
    assert [note.code for note in reader.notes] == ["in-use", "truncated"]


def test_unknown_bodies_are_errors_of_their_own_kind() -> None:
    with pytest.raises(Unsupported):
        FormatDescription.decode(pack("<H", 3) + bytes(80))
    with pytest.raises(DecodeError):
        PreviousGtids.decode(b"\2" + bytes(6) + b"\1")


def test_kinds_and_numbers_of_small_events_both_ways() -> None:
    bodies: list[Any] = [Intvar(kind=1, value=5), Intvar(kind=2, value=5), Incident(message=b"x" * 255)]
    for body in bodies:
        assert decode_body(body.type, body.encode(), {}) == body
