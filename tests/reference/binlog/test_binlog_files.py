"""Whole files: how they begin, how they may end, what a reader refuses."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.control_events import Opaque, Rotate, Stop, Xid
from conformance.reference.binlog.event import Event, encode_event
from conformance.reference.binlog.files import EventDecoder, FileReader, decode_file, read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import MAGIC, Checksum, Flag
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.rows import LazyRows, Row, RowsBody, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.metadata import MetadataRules
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from pathlib import Path


def _notes(data: bytes) -> list[str]:
    reader = FileReader()
    list(read_events(io.BytesIO(data), reader=reader))
    return [note.code for note in reader.notes]


@pytest.fixture
def closed(corpus: Path) -> bytes:
    return (corpus / "15-checksum-none.binlog").read_bytes()


@pytest.fixture
def left_open(corpus: Path) -> bytes:
    return (corpus / "18-not-closed.binlog").read_bytes()


def test_an_encrypted_file_is_refused_as_such() -> None:
    with pytest.raises(Unsupported) as caught:
        decode_file(b"\xfdbin" + bytes(100))
    assert caught.value.code == "encrypted"


@pytest.mark.parametrize("data", [b"", b"\xfe", b"\xfebi", b"hello, world", b"\x89PNG\r\n"])
def test_another_file_is_refused_as_such(data: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_file(data)
    assert caught.value.code == "not-a-binlog"


def test_the_first_event_must_describe_the_format() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_file(MAGIC + encode_event(Stop()))
    assert caught.value.code == "no-format-description"


def test_an_open_file_is_read_with_a_note(left_open: bytes) -> None:
    assert _notes(left_open) == ["in-use"]


def test_a_cut_off_event_of_an_open_file_is_a_note(left_open: bytes) -> None:
    whole = decode_file(left_open)
    assert whole[-1].position is not None
    for end in range(whole[-1].position + 1, len(left_open)):
        assert _notes(left_open[:end]) == ["in-use", "truncated"]
        assert decode_file(left_open[:end]) == whole[:-1]


def test_a_cut_off_event_of_a_closed_file_is_an_error_with_its_position(closed: bytes) -> None:
    last = decode_file(closed)[-1]
    with pytest.raises(DecodeError) as caught:
        decode_file(closed[:-1])
    assert caught.value.code == "truncated"
    assert caught.value.offset == last.position


def test_what_came_before_an_error_was_delivered(closed: bytes) -> None:
    found: list[Event] = []
    with pytest.raises(DecodeError):
        found.extend(event.typed() for event in read_events(io.BytesIO(closed[:-1]), window=64))
    assert found == decode_file(closed)[:-1]


@pytest.mark.parametrize("window", [1, 18, 64, 300, 1 << 20])
def test_every_window_gives_the_same_events(closed: bytes, window: int) -> None:
    found = [event.typed() for event in read_events(io.BytesIO(closed), window=window)]
    assert found == decode_file(closed)


def test_zeros_after_the_last_event_are_a_note(closed: bytes) -> None:
    assert _notes(closed + bytes(5000)) == ["zeros"]
    with pytest.raises(DecodeError):
        decode_file(closed + bytes(5000) + b"\1")


def test_a_wrong_checksum_is_an_error_unless_not_asked_for(corpus: Path) -> None:
    data = bytearray((corpus / "11-no-gtid.binlog").read_bytes())
    position = decode_file(bytes(data))[3].position
    assert position is not None
    data[position] ^= 1  # its timestamp
    with pytest.raises(DecodeError) as caught:
        decode_file(bytes(data))
    assert caught.value.code == "checksum"
    assert len(decode_file(bytes(data), verify=False)) == len(decode_file((corpus / "11-no-gtid.binlog").read_bytes()))


def test_the_checksum_algorithm_is_that_of_the_last_format_description() -> None:
    plain = FileWriter(format=FormatDescription(algorithm=Checksum.NONE))
    data = plain.start() + plain.add(Xid(xid=1))
    plain.format = FormatDescription(algorithm=Checksum.CRC32)
    data += plain.add(plain.format) + plain.add(Xid(xid=2))
    checksums = [event.checksum is not None for event in decode_file(data)]
    assert checksums == [True, False, False, True, True]


def test_a_format_description_before_5_6_1_has_no_checksum() -> None:
    old = FormatDescription(server_version="5.5.62-log", algorithm=Checksum.UNDEFINED, post_header_lengths=bytes(27))
    writer = FileWriter(format=old)
    writer.position = 4
    data = MAGIC + writer.add(old) + writer.add(Xid(xid=7))
    events = decode_file(data)
    assert [event.checksum for event in events] == [None, None]
    assert MAGIC + b"".join(event.encode() for event in events) == data


def test_a_relay_log_switches_between_its_own_and_the_sources_events(corpus: Path) -> None:
    events = decode_file((corpus / "20-relay-log.binlog").read_bytes())
    descriptions = [event for event in events if isinstance(event.body, FormatDescription)]
    assert len(descriptions) >= 2
    assert any(event.header.flags & Flag.RELAY_LOG for event in events)
    assert any(isinstance(event.body, Rotate) and event.header.flags & Flag.ARTIFICIAL for event in events)


def test_rows_without_their_table_map_say_so(corpus: Path) -> None:
    decoder = EventDecoder()
    for event in decode_file((corpus / "05-partial-multi-json-minimal.binlog").read_bytes()):
        if isinstance(event.body, RowsBody):
            again = decoder.decode(event.encode())
            assert isinstance(again.body, LazyRows)
            with pytest.raises(DecodeError) as caught:
                again.typed()
            assert caught.value.code == "no-table-map"
            return


def test_a_dump_stream_is_decoded_event_by_event(corpus: Path) -> None:
    data = (corpus / "05-partial-multi-json-minimal.binlog").read_bytes()
    stream = [encode_event(Rotate(name=b"binlog.000001"), flags=Flag.ARTIFICIAL)]
    stream += [event.encode() for event in decode_file(data)]
    decoder = EventDecoder(algorithm=Checksum.CRC32)
    events = [decoder.decode(raw).typed() for raw in stream]
    assert [event.encode() for event in events] == stream


def test_unknown_types_are_kept() -> None:
    writer = FileWriter()
    data = writer.start() + writer.add(Opaque(type=99, data=b"news"), flags=Flag.IGNORABLE)
    last = decode_file(data)[-1]
    assert last.body == Opaque(type=99, data=b"news")
    assert last.name == "UNKNOWN_EVENT(99)"
    assert last.encode() == data[-len(last.encode()) :]


def test_lazy_rows_cannot_be_encoded(corpus: Path) -> None:
    with (corpus / "05-partial-multi-json-minimal.binlog").open("rb") as file:
        lazy = next(event for event in read_events(file) if isinstance(event.body, LazyRows))
    with pytest.raises(EncodeError) as caught:
        lazy.encode()
    assert caught.value.code == "not-typed"


def _payload_file(content: bytes) -> bytes:
    writer = FileWriter()
    return writer.start() + writer.add(TransactionPayload(payload=content, compression=UNCOMPRESSED))


def test_an_uncompressed_payload_is_read_too() -> None:
    inner = encode_event(Xid(xid=5), algorithm=Checksum.NONE)
    events = decode_file(_payload_file(inner * 2), expand=True)
    assert [(event.name, event.inner, event.checksum) for event in events[3:]] == [
        ("XID_EVENT", 0, None),
        ("XID_EVENT", 1, None),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"short",
        encode_event(Xid(xid=5), algorithm=Checksum.NONE)[:-1],
        encode_event(FormatDescription()),
        encode_event(TransactionPayload(payload=b"", compression=UNCOMPRESSED), algorithm=Checksum.NONE),
    ],
)
def test_a_damaged_payload_names_the_position_of_its_event(content: bytes) -> None:
    with pytest.raises(CodecError) as caught:
        decode_file(_payload_file(content), expand=True)
    assert caught.value.path[1] == "inner[0]"
    assert caught.value.path[0] == f"event@{caught.value.offset}"


def test_damaged_rows_name_the_position_of_their_event(corpus: Path) -> None:
    events = decode_file((corpus / "05-partial-multi-json-minimal.binlog").read_bytes())
    table = next(event.body for event in events if isinstance(event.body, TableMap))
    rows = next(event.body for event in events if isinstance(event.body, RowsBody))
    writer = FileWriter()
    data = writer.start() + writer.add(table)
    where = writer.position
    data += writer.add(Opaque(type=rows.type, data=rows.encode()[:-1]))
    with pytest.raises(DecodeError) as caught:
        decode_file(data)
    assert caught.value.path[0] == f"event@{where}"
    assert caught.value.offset is not None
    assert where < caught.value.offset < len(data)


def test_a_frame_that_grows_too_large_is_refused() -> None:
    pytest.importorskip("zstandard")
    bomb = TransactionPayload.compress(bytes(10_000_000))
    assert len(bomb.payload) < 2000
    with pytest.raises(DecodeError) as caught:
        bomb.uncompressed(limit=100_000)
    assert caught.value.code == "payload-too-large"


@pytest.mark.parametrize("extra", [1, 300, 5000])
def test_bytes_after_the_frame_are_refused(extra: int) -> None:
    pytest.importorskip("zstandard")
    whole = TransactionPayload.compress(bytes(range(256)) * 8)
    with pytest.raises(DecodeError) as caught:
        TransactionPayload(payload=whole.payload + bytes(extra)).uncompressed()
    assert caught.value.code == "trailing-bytes"


def test_table_maps_in_force_are_bounded() -> None:
    table = table_map(Table(schema="d", name="t", columns=(Column(name="a", type="INT"),)))
    decoder = EventDecoder()
    for number in range(10_000):
        decoder.decode(encode_event(replace(table, table_id=number)))
    assert len(decoder.tables) < 5000
    assert 9_999 in decoder.tables


@pytest.mark.parametrize(
    ("payload", "code"), [(b"not zstd", "bad-compression"), (b"", "truncated"), (b"\x28\xb5\x2f\xfd", "truncated")]
)
def test_a_broken_frame_is_a_decode_error(payload: bytes, code: str) -> None:
    pytest.importorskip("zstandard")
    with pytest.raises(DecodeError) as caught:
        TransactionPayload(payload=payload).uncompressed()
    assert caught.value.code == code


def test_the_worklogs_metadata_numbers_can_be_read() -> None:
    table = Table(
        schema="d",
        name="t",
        columns=(Column(name="id", type="INT"), Column(name="g", type="POINT")),
        primary_key=((0, 0),),
    )
    shipped = table_map(table, "FULL")
    worklog = TableMap(
        **{name: getattr(shipped, name) for name in ("table_id", "schema", "table", "columns", "nullable", "metadata")},
        rules=MetadataRules(worklog_numbering=True),
    )
    raw = encode_event(worklog)
    decoder = EventDecoder(rules=MetadataRules(worklog_numbering=True))
    assert decoder.decode(raw).body == worklog
    assert worklog.encode() != shipped.encode()


def test_table_maps_of_the_same_bytes_are_decoded_once() -> None:
    table = table_map(Table(schema="d", name="t", columns=(Column(name="a", type="INT"),)))
    decoder = EventDecoder()
    assert decoder.decode(encode_event(table)).body is decoder.decode(encode_event(table, timestamp=9)).body


def test_an_insert_without_columns_is_one_row_without_bytes() -> None:
    # INSERT () VALUES () with MINIMAL images and constant defaults (observed on 9.7.4).
    table = table_map(Table(schema="d", name="t", columns=(Column(name="a", type="INT"),)))
    body = rows_body(table, EventType.WRITE_ROWS, [Row(None, ())], after=[])
    decoder = EventDecoder()
    decoder.decode(encode_event(table))
    assert decoder.decode(encode_event(body)).typed().body == body
