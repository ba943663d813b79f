"""Readers of files and streams: where an error is, what is fed next, what is remembered and what is forgotten."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from conformance.reference.binlog.control_events import Opaque, Stop, Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import WINDOW, EventDecoder, FileReader, decode_file, read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import MAGIC, Checksum, Header
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.rows import PartitionInfo, RowsBody, encode_head
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import LONG, TINY, ColumnType
from conformance.reference.tables.metadata import Bits, Field, MetadataRules, Numbers
from conformance.reference.tables.table_map import TableMap
from tests.reference.refusals import refused, where

TABLE = TableMap(table_id=7, schema="d", table="t", columns=(ColumnType(LONG),), nullable=(True,))


def xids(*numbers: int, algorithm: int = Checksum.NONE) -> bytes:
    return b"".join(encode_event(Xid(xid=number), algorithm=algorithm) for number in numbers)


def payload(content: bytes) -> TransactionPayload:
    return TransactionPayload(payload=content, compression=UNCOMPRESSED)


def file_of(*bodies: Any, in_use: bool = False) -> tuple[bytes, int]:
    """A file, and where the first of these events starts."""
    writer = FileWriter()
    data = writer.start(in_use=in_use)
    start = writer.position
    return data + b"".join(map(writer.add, bodies)), start


def damaged(data: bytes, place: int) -> bytes:
    return data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]


# --- one event after the other


def test_a_stream_begins_with_the_checksums_that_it_is_told_of() -> None:
    assert EventDecoder().algorithm == Checksum.CRC32
    plain = EventDecoder(algorithm=Checksum.NONE)
    assert plain.algorithm == Checksum.NONE
    assert plain.decode(xids(5)).checksum is None
    event = plain.decode(encode_event(FormatDescription()), 4)
    assert (event.position, plain.algorithm, plain.format) == (4, Checksum.CRC32, event.body)
    assert plain.decode(xids(5, algorithm=Checksum.CRC32)).checksum is not None


def test_checksums_are_read_but_not_compared_if_nobody_asks() -> None:
    for raw in (encode_event(FormatDescription()), xids(5, algorithm=Checksum.CRC32)):
        wrong = damaged(raw, len(raw) - 1)
        error = refused(EventDecoder().decode, wrong)
        assert (error.code, error.got) == ("checksum", f"0x{int.from_bytes(wrong[-4:], 'little'):08x}")
        assert EventDecoder(verify=False).decode(wrong).checksum == int.from_bytes(wrong[-4:], "little")


def test_a_damaged_table_map_says_which_byte_is_wrong() -> None:
    raw = encode_event(Opaque(type=EventType.TABLE_MAP, data=TABLE.encode() + b"\1\1"))
    at = len(raw) - 4
    assert where(refused(EventDecoder().decode, raw)) == ("truncated", at, "TABLE_MAP_EVENT.metadata.SIGNEDNESS")


@pytest.mark.parametrize("kind", [23, 24, 25])
def test_rows_with_four_bytes_of_table_id_are_not_supported(kind: int) -> None:
    """Post-headers of six bytes, from before 5.1 was released (versions 5.6)."""
    raw = encode_event(Opaque(type=kind, data=bytes(20)))
    for length, ancient in ((6, True), (8, False)):
        decoder = EventDecoder()
        lengths = bytearray(FormatDescription().post_header_lengths)
        lengths[kind - 1] = length
        decoder.decode(encode_event(FormatDescription(post_header_lengths=bytes(lengths))))
        if ancient:
            with pytest.raises(Unsupported) as caught:
                decoder.decode(raw)
            assert caught.value.code == "table-id-size"
        else:
            assert decoder.decode(raw).header.type == kind
        assert decoder.decode(xids(1, algorithm=Checksum.CRC32)).body == Xid(xid=1)
    assert EventDecoder().decode(raw).header.type == kind


def test_of_the_tables_in_force_the_one_mapped_longest_ago_is_forgotten() -> None:
    decoder = EventDecoder()

    def open_table(number: int) -> None:
        decoder.decode(encode_event(replace(TABLE, table_id=number)))

    for number in range(4096):
        open_table(number)
    assert list(decoder.tables) == list(range(4096))
    open_table(7)
    assert list(decoder.tables) == [*range(7), *range(8, 4096), 7]
    open_table(5000)
    assert list(decoder.tables) == [*range(1, 7), *range(8, 4096), 7, 5000]


def test_each_format_description_brings_the_rules_of_its_writer() -> None:
    """The same bytes of a TABLE_MAP are read again, by the other rules."""
    old = MetadataRules(worklog_numbering=True)
    asked: list[str] = []

    def rules_for(version: str) -> MetadataRules:
        asked.append(version)
        return old if version == "8.0.1" else MetadataRules()

    raw = encode_event(replace(TABLE, metadata=(Numbers(Field.GEOMETRY_TYPE, (0,)),)))
    readings = (Field.SIMPLE_PRIMARY_KEY, Field.GEOMETRY_TYPE)
    decoder = EventDecoder(rules=old, rules_for=rules_for)
    assert decoder.rules == old
    assert decoder.decode(raw).body.metadata == (Numbers(readings[0], (0,)),)  # type: ignore[union-attr]
    for version, reading in (("9.7.4", readings[1]), ("8.0.1", readings[0]), ("9.7.4", readings[1])):
        decoder.decode(encode_event(FormatDescription(server_version=version)))
        assert decoder.decode(raw).body.metadata == (Numbers(reading, (0,)),)  # type: ignore[union-attr]
    assert asked == ["9.7.4", "8.0.1", "9.7.4"]
    writer = FileWriter(format=FormatDescription(server_version="8.0.1"))
    data = writer.start() + raw
    for reader, reading in (
        (FileReader(), readings[1]),
        (FileReader(rules=old), readings[0]),
        (FileReader(rules_for=rules_for), readings[0]),
    ):
        reader.feed(data)
        *_, last = reader.events()
        assert last.body.metadata == (Numbers(reading, (0,)),)  # type: ignore[union-attr]


def rows_events() -> list[bytes]:
    """Rows events of which each differs from the first in one field in front of its rows, or in the rows alone."""
    first = RowsBody(type=31, table_id=7, column_count=1, before_columns=1, after_columns=1, rows=())
    bodies = [
        first, replace(first, table_id=8), replace(first, flags=2), replace(first, extra=(PartitionInfo(3, 4),)),
        replace(first, column_count=2), replace(first, before_columns=0), replace(first, after_columns=0),
        replace(first, type=39), replace(first, type=24), replace(first, type=30, before_columns=None),
        replace(first, type=32, after_columns=None), replace(first, column_count=300, before_columns=1 << 299),
    ]  # fmt: skip
    heads = [(body.type, encode_head(body)) for body in bodies]
    return [
        encode_event(Opaque(type=kind, data=head + rows))
        for kind, head in heads
        for rows in (b"", b"\0\1\0\0\0\0\2\0\0\0", bytes(WINDOW if kind == 39 else 40))
    ]


def test_rows_after_other_rows_are_read_as_by_a_new_reader() -> None:
    """Readers remember what the last rows event had in front of its rows."""
    decoder, events = EventDecoder(), rows_events()
    for table_id in (7, 8):
        decoder.decode(encode_event(replace(TABLE, table_id=table_id)))
    tables = dict(decoder.tables)
    for one in events:
        for other in (one, *events):
            decoder.decode(one)
            fresh = EventDecoder()
            fresh.tables = tables
            assert decoder.decode(other) == fresh.decode(other)


def test_rows_that_end_too_early_are_refused_after_others_as_before_them() -> None:
    decoder = EventDecoder(algorithm=Checksum.NONE)
    whole = rows_events()[0][:-4]  # 19 bytes of header, 13 in front of the rows
    for length in range(19, 32):
        cut = whole[:9] + length.to_bytes(4, "little") + whole[13:length]
        before = refused(EventDecoder(algorithm=Checksum.NONE).decode, cut)
        decoder.decode(whole[:9] + len(whole).to_bytes(4, "little") + whole[13:])
        assert where(refused(decoder.decode, cut)) == where(before)


# --- inside of a compressed transaction


def test_inner_events_have_numbers_and_the_place_of_their_payload() -> None:
    content = xids(1, 2, 3) + encode_event(Stop(), algorithm=Checksum.NONE)
    data, start = file_of(payload(content), Xid(xid=9))
    events = decode_file(data, expand=True)[2:]
    assert [(event.name, event.position, event.inner) for event in events[:-1]] == [
        ("TRANSACTION_PAYLOAD_EVENT", start, None),
        ("XID_EVENT", start, 0),
        ("XID_EVENT", start, 1),
        ("XID_EVENT", start, 2),
        ("STOP_EVENT", start, 3),
    ]
    assert events[-1].inner is None
    for unexpanded in (decode_file(data), list(read_events(BytesIO(data)))):
        assert [event.name for event in unexpanded[2:]] == ["TRANSACTION_PAYLOAD_EVENT", "XID_EVENT"]
    reader = FileReader()
    reader.feed(data)
    assert len(list(reader.events())) == 4
    assert len(list(read_events(BytesIO(data), expand=True))) == 8


_LONG = Header(timestamp=0, type=3, server_id=1, length=20, log_pos=0, flags=0)


@pytest.mark.parametrize(
    ("second", "code", "offset"),
    [
        (b"x", "truncated", 0),
        (bytes(18), "truncated", 0),
        (_LONG.encode(), "bad-length", 9),
        (_LONG._replace(length=18).encode(), "bad-length", 9),
        (xids(1)[:-1], "bad-length", 9),
        (encode_event(payload(b""), algorithm=Checksum.NONE), "bad-nesting", 4),
        (encode_event(FormatDescription()), "bad-nesting", 4),
        (_LONG._replace(type=16).encode() + b"\0", "truncated", 19),
    ],
)
def test_a_damaged_inner_event_says_which_byte_is_wrong(second: bytes, code: str, offset: int) -> None:
    """Offsets count from the start of what was decompressed; in a file they mean nothing: there it is the event's."""
    content = xids(4) + second
    decoder = EventDecoder()
    event = decoder.decode(encode_event(payload(content)), 500)
    inner = decoder.inner_events(event)
    first = next(inner)
    assert (first.body, first.checksum, first.position, first.inner) == (Xid(xid=4), None, 500, 0)
    name = ".XID_EVENT.XID" if offset == 19 else ""
    assert where(refused(next, inner)) == (code, len(xids(4)) + offset, f"inner[1]{name}")
    data, start = file_of(payload(content))
    assert where(refused(decode_file, data, expand=True)) == (code, start, f"event@{start}.inner[1]{name}")


def test_a_reader_takes_no_more_of_a_payload_than_its_limit() -> None:
    pytest.importorskip("zstandard")
    content = xids(*range(100))
    data, start = file_of(TransactionPayload.compress(content))
    for limit, code in ((len(content), None), (len(content) - 1, "payload-too-large")):
        reader = FileReader(expand=True, limit=limit)
        reader.feed(data)
        if code is None:
            assert len(list(reader.events())) == 103
        else:
            found = refused(list, reader.events())
            assert (found.code, found.offset, found.path[0]) == (code, start, f"event@{start}")


# --- files in pieces


@pytest.mark.parametrize(
    ("data", "error", "code", "offset", "path"),
    [
        (b"", DecodeError, "not-a-binlog", 0, ""),
        (b"\xfebi", DecodeError, "not-a-binlog", 0, ""),
        (b"\xfebim", DecodeError, "not-a-binlog", 0, ""),
        (b"\xfdbin", Unsupported, "encrypted", 0, ""),
        (MAGIC + xids(1), DecodeError, "no-format-description", 8, "event@4"),
        (MAGIC + b"x", DecodeError, "truncated", 4, ""),
        (MAGIC + _LONG._replace(length=18).encode(), DecodeError, "bad-length", 13, "event@4"),
        (MAGIC + _LONG._replace(length=0, flags=1).encode(), DecodeError, "bad-length", 13, "event@4"),
    ],
)
def test_a_damaged_beginning_says_which_byte_is_wrong(
    data: bytes, error: type[Exception], code: str, offset: int, path: str
) -> None:
    found = refused(decode_file, data)
    assert (type(found), where(found)) == (error, (code, offset, path))


def test_a_damaged_event_says_which_byte_of_the_file_is_wrong() -> None:
    data, start = file_of(Opaque(type=EventType.XID, data=b"short"), Stop())
    assert where(refused(decode_file, data)) == ("truncated", start + 19, f"event@{start}.XID_EVENT.XID")
    data, start = file_of(Stop())
    assert where(refused(decode_file, damaged(data, start))) == ("checksum", start + 19, f"event@{start}")
    assert where(refused(decode_file, data[:-1])) == ("truncated", start, "")
    end = len(data)
    for more, offset, path in (
        (bytes(19) + b"\1", end, ""),
        (b"\1" + bytes(18), end + 9, f"event@{end}"),
        (bytes(9) + b"\x12" + bytes(9), end + 9, f"event@{end}"),
        (bytes(17) + b"\1\0", end + 9, f"event@{end}"),
    ):
        assert where(refused(decode_file, data + more)) == ("bad-length", offset, path)


def test_checksums_are_compared_unless_the_reader_is_told_otherwise() -> None:
    data, start = file_of(Stop())
    wrong = damaged(data, start)
    reader = FileReader()
    reader.feed(wrong)
    for read in (decode_file, lambda data: list(read_events(BytesIO(data))), lambda _: list(reader.events())):
        assert refused(read, wrong).code == "checksum"
    reader = FileReader(verify=False)
    reader.feed(wrong)
    for events in (
        decode_file(wrong, verify=False), list(read_events(BytesIO(wrong), verify=False)), list(reader.events()),
    ):  # fmt: skip
        assert [event.header.type for event in events] == [15, 35, 3]


def test_notes_name_the_place() -> None:
    def notes(data: bytes) -> list[tuple[str, int]]:
        reader = FileReader()
        reader.feed(data)
        list(reader.events())
        reader.finish()
        reader.finish()  # what was said is not said again
        assert all(note.message for note in reader.notes)
        assert reader.in_use is (data[21] == 1)
        return [(note.code, note.position) for note in reader.notes]

    data, start = file_of(Stop(), in_use=True)
    assert notes(data) == [("in-use", 4)]
    assert notes(data[:-1]) == [("in-use", 4), ("truncated", start)]
    closed, _ = file_of(Stop())
    assert notes(closed) == []
    assert notes(closed + bytes(19)) == [("zeros", len(closed))]
    assert notes(data + bytes(300)) == [("in-use", 4), ("zeros", len(data))]


def test_behind_zeros_a_single_byte_is_noticed() -> None:
    data, _ = file_of(Stop())
    reader = FileReader()
    reader.feed(data + bytes(19))
    assert len(list(reader.events())) == 3
    assert reader.wanted == 1
    reader.feed(b"\0")
    assert list(reader.events()) == []
    reader.feed(b"\1")
    assert where(refused(list, reader.events())) == ("bad-length", len(data), "")


def test_a_file_is_read_in_windows() -> None:
    data, _ = file_of(Opaque(type=99, data=bytes(2 * WINDOW)), Stop())
    asked: list[int | None] = []

    class Source(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            asked.append(size)
            return super().read(size)

    for window, events in ((WINDOW, read_events(Source(data))), (500_000, read_events(Source(data), window=500_000))):
        assert len(list(events)) == 4
        assert asked == [window] * (len(data) // window + 2)  # the last answers that there is no more
        asked.clear()


@pytest.mark.parametrize("size", [1000, WINDOW, WINDOW + 1, 2 * WINDOW])
def test_what_is_wanted_is_known_as_soon_as_a_header_is_there(size: int) -> None:
    """A large event and a small one are fed, so much at a time; bytes behind an event are not lost."""
    large = encode_event(Opaque(type=99, data=bytes(size - 23)))
    data, start = file_of()
    reader = FileReader()
    assert reader.wanted == 4
    reader.feed(data[:3])
    assert list(reader.events()) == []
    reader.feed(data[3:] + large[:18])
    assert len(list(reader.events())) == 2
    assert (reader.wanted, reader.position) == (19, start)
    reader.feed(large[18:19])
    assert list(reader.events()) == []
    assert (reader.wanted, reader.position) == (size, start)
    reader.feed(large[19:-1])
    assert list(reader.events()) == []
    reader.feed(large[-1:] + xids(1, algorithm=Checksum.CRC32)[:-1])
    (event,) = reader.events()
    assert (event.position, event.checksum) == (start, int.from_bytes(large[-4:], "little"))
    assert (event.header.length, event.encode()) == (size, large)
    assert (reader.wanted, reader.position) == (31, start + size)
    reader.feed(xids(1, algorithm=Checksum.CRC32)[-1:])
    assert [event.position for event in reader.events()] == [start + size]
    reader.finish()


def test_a_large_event_that_is_no_row_event_keeps_bytes_of_its_own() -> None:
    body = EventDecoder().decode(bytearray(encode_event(Opaque(type=99, data=bytes(WINDOW))))).body
    assert isinstance(body, Opaque)
    assert type(body.data) is bytes  # a view would change with the buffer that the caller feeds


@pytest.mark.parametrize("cut", [30, WINDOW + 9])
def test_more_of_a_large_event_may_be_fed_before_those_in_front_are_taken(cut: int) -> None:
    large = Opaque(type=99, data=bytes(2 * WINDOW))
    data, start = file_of(large, Stop())
    reader = FileReader()
    reader.feed(data[: start + cut])
    events = reader.events()
    found = [next(events)]
    reader.feed(data[start + cut : -23 - 5])
    found += events
    assert [event.header.type for event in found] == [15, 35]
    reader.feed(data[-23 - 5 :])
    assert [event.body for event in reader.events()] == [large, Stop()]
    reader.finish()


def test_more_may_be_fed_between_two_events() -> None:
    """And what is lacking is known however much of the next event has come."""
    data, start = file_of(*(Xid(xid=number) for number in range(5)))
    size = len(xids(1, algorithm=Checksum.CRC32))
    reader = FileReader()
    reader.feed(data[: start + size + 10])
    events = reader.events()
    found = [next(events) for _ in range(3)]
    reader.feed(data[start + size + 10 : start + 2 * size])
    reader.feed(data[start + 2 * size :])
    found += events
    assert list(reader.events()) == []
    assert [event.body for event in found[2:]] == [Xid(xid=number) for number in range(5)]
    reader.finish()


def test_a_reader_may_go_on_elsewhere_in_the_file() -> None:
    data, start = file_of(*(Xid(xid=number) for number in range(5)))
    size = len(xids(1, algorithm=Checksum.CRC32))
    reader = FileReader()
    reader.feed(data[:start])
    assert len(list(reader.events())) == 2
    reader.skip_to(start + 3 * size)
    reader.feed(data[start + 3 * size :])
    assert [(event.body, event.position) for event in reader.events()] == [
        (Xid(xid=3), start + 3 * size),
        (Xid(xid=4), start + 4 * size),
    ]


def test_a_table_map_that_is_kept_is_not_that_of_other_bytes() -> None:
    decoder = EventDecoder()
    first = encode_event(replace(TABLE, metadata=(Bits(1, (True,)),)))
    second = encode_event(replace(TABLE, columns=(ColumnType(TINY),)))
    bodies = [decoder.decode(raw).body for raw in (first, second, first)]
    assert bodies[0] == bodies[2] != bodies[1]
    assert decoder.tables == {7: bodies[2]}


def test_what_was_computed_from_many_columns_is_dropped_and_computed_again() -> None:
    # The columns of a table are some bytes of the log; what printers keep of one is up to a kilobyte.
    columns = (ColumnType(TINY),) * 4096
    decoder = EventDecoder()
    tables = []
    for number in range(1, 20):
        table = TableMap(table_id=number, schema="a", table="t", columns=columns, nullable=(True,) * 4096)
        read = decoder.decode(encode_event(table)).body
        assert isinstance(read, TableMap)
        assert len(read.column_names) == 4096
        read.plans["x"] = "y"
        tables.append(read)
    kept = [bool(table.plans) and "column_names" in vars(table) for table in tables]
    assert kept == [False] * 16 + [True] * 3
    assert list(decoder.tables) == [*range(1, 20)]
    assert decoder.tables[1].column_names[-1] == "@4096"
