"""Files made by hand, and what the real mysqlbinlog reads in them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from conformance.reference.binlog.control_events import Rotate, Stop, Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import FileReader, decode_file
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.header import Checksum, Flag, Header, decode_header
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query, encode_status
from conformance.reference.binlog.rows import STMT_END, Row, RowsBody, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.cursor import Cursor
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map
from tests.live import PATIENCE
from tests.written_logs import row_group

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.binlog.event import Body

_UUID = UUID("6d31aba5-e4a6-11f1-9d7e-02fc00000001")
_TABLE = table_map(
    Table(
        schema="d",
        name="t",
        columns=(
            Column(name="id", type="INT"),
            Column(name="j", type="JSON"),
            Column(name="v", type="VARCHAR", length=20),
        ),
        primary_key=((0, 0),),
    ),
    "FULL",
    table_id=99,
)
_ROWS = 1000
_TWO: list[Body] = [begin(), Stop()]


def _gtid(number: int) -> Gtid:
    return Gtid(
        uuid=_UUID,
        gno=number,
        last_committed=number - 1,
        sequence_number=number,
        immediate_commit_timestamp=1795154439830779,
        immediate_server_version=90704,
    )


def _file(algorithm: int = Checksum.CRC32, *, compressed: bool = False) -> bytes:
    writer = FileWriter(format=FormatDescription(algorithm=algorithm), timestamp=1795154439, server_id=7)
    insert = rows_body(
        _TABLE, EventType.WRITE_ROWS, [Row(None, (i, encode({"n": i}), b"v%d" % i)) for i in range(_ROWS)]
    )
    diff = PartialJson(bytes.fromhex("0003242e6e03050200"))
    update = rows_body(_TABLE, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (diff,))], before=[0], after=[1])
    data = writer.start(PreviousGtids(entries=(GtidEntry(_UUID, "b", ((1, 3),)),)))
    data += writer.group(_gtid(1), row_group(_TABLE, insert))
    tagged = GtidTagged(
        uuid=_UUID,
        gno=3,
        tag="b",
        last_committed=1,
        sequence_number=2,
        immediate_commit_timestamp=1795154439830779,
        immediate_server_version=90704,
    )
    data += writer.group(tagged, row_group(_TABLE, update, update=True))
    if compressed:
        data += writer.group(_gtid(3), [writer.compressed(row_group(_TABLE, update, update=True))])
    return data + writer.add(Stop())


def test_positions_lengths_and_checksums_fit() -> None:
    data = _file()
    events = decode_file(data)
    assert [event.header.log_pos for event in events] == [
        (event.position or 0) + event.header.length for event in events
    ]
    start = next(event for event in events if isinstance(event.body, Gtid))
    end = next(event for event in events if event.name == "XID_EVENT")
    assert isinstance(start.body, Gtid)
    assert start.body.transaction_length == end.header.log_pos - (start.position or 0)


def test_rows_of_a_group_are_split_and_end_once() -> None:
    events = [event.body for event in decode_file(_file()) if isinstance(event.body, RowsBody)]
    inserts = [event for event in events if event.type == EventType.WRITE_ROWS]
    assert len(inserts) > 1
    assert [bool(event.flags & STMT_END) for event in inserts] == [False] * (len(inserts) - 1) + [True]
    assert sum(len(event.rows) for event in inserts) == _ROWS


def test_a_compressed_group_holds_the_same_events() -> None:
    pytest.importorskip("zstandard")
    plain = [event.body for event in decode_file(_file(compressed=True), expand=True)]
    assert [type(body).__name__ for body in plain[-5:-1]] == ["Query", "TableMap", "RowsBody", "Xid"]


def test_the_length_of_a_group_is_known_before_its_position() -> None:
    near, far = FileWriter(), FileWriter(position=1 << 40)
    near.start()
    assert len(near.group(_gtid(1), [begin()])) == len(far.group(_gtid(1), [begin()]))


def test_a_rotate_leads_to_the_next_file() -> None:
    writer = FileWriter()
    data = writer.start() + writer.add(Rotate(name=b"binlog.000002"))
    assert decode_file(data)[-1].body == Rotate(name=b"binlog.000002", position=4)


@pytest.mark.parametrize("algorithm", [Checksum.NONE, Checksum.CRC32])
def test_copied_events_get_positions_of_their_own_and_keep_all_else(algorithm: int) -> None:
    first = decode_file(_file(algorithm))[2:]
    raw = [_file(algorithm)[event.position or 0 :][: event.header.length] for event in first]
    writer = FileWriter(format=FormatDescription(algorithm=algorithm), position=0)
    head = writer.start() + writer.add(Stop())
    copies = decode_file(head + b"".join(map(writer.copy, raw)))[3:]
    assert [copy.body for copy in copies] == [event.body for event in first]
    for copy in copies:
        assert copy.header.log_pos == (copy.position or 0) + copy.header.length
        assert copy.header.timestamp == 1795154439
    assert writer.position == len(head) + sum(map(len, raw))


def test_a_file_starts_closed_or_in_use_with_the_gtids_before_it() -> None:
    known = PreviousGtids(entries=(GtidEntry(_UUID, "", ((1, 3),)),))
    for previous, in_use in ((None, False), (known, False), (known, True)):
        writer = FileWriter(timestamp=5, server_id=6, position=999)
        data = writer.start(previous, in_use=in_use)
        reader = FileReader()
        reader.feed(data)
        first, second = reader.events()
        assert first.header._replace(length=0) == Header(5, 15, 6, 0, 4 + first.header.length, int(in_use))
        assert (second.body, second.header.log_pos) == (previous or PreviousGtids(), len(data))
        assert second.header.flags == Flag.IGNORABLE
        assert writer.position == len(data)
    assert decode_file(FileWriter().start())[0].header.flags == 0


def test_flags_may_be_given() -> None:
    writer = FileWriter(position=4)
    assert decode_header(writer.add(Stop(), flags=Flag.MTS_ISOLATE)).flags == Flag.MTS_ISOLATE
    assert decode_header(writer.add(begin())).flags == Flag.SUPPRESS_USE
    assert decode_header(writer.add(begin(), flags=0)).flags == 0


def test_positions_of_copies_are_kept_modulo_4_gib() -> None:
    writer = FileWriter(position=(1 << 32) - 5)
    copy = writer.copy(encode_event(Stop(), timestamp=0x01020304, flags=0x0506))
    assert copy == encode_event(Stop(), timestamp=0x01020304, flags=0x0506, log_pos=len(copy) - 5)
    assert writer.position == (1 << 32) - 5 + len(copy)


@pytest.mark.parametrize("algorithm", [Checksum.NONE, Checksum.CRC32])
def test_the_length_of_a_group_counts_its_checksums(algorithm: int) -> None:
    writer = FileWriter(format=FormatDescription(algorithm=algorithm))
    data = writer.group(_gtid(1), (body for body in _TWO))
    gtid = Gtid.read(Cursor(data[19 : decode_header(data).length - 4 * algorithm]), EventType.GTID)
    assert gtid.transaction_length == len(data) == writer.position


def test_a_compressed_group_has_the_clock_and_the_server_of_the_file() -> None:
    """Inside there are neither positions nor checksums; the level is the server's default, or another one."""
    pytest.importorskip("zstandard")
    writer = FileWriter(timestamp=5, server_id=6)
    insert = rows_body(_TABLE, EventType.WRITE_ROWS, [Row(None, (i * i, None, b"%d" % (i % 97))) for i in range(4000)])
    bodies: list[Body] = [begin(), insert]
    inner = b"".join(encode_event(body, timestamp=5, server_id=6, algorithm=Checksum.NONE) for body in bodies)
    payloads = [writer.compressed(bodies, level) for level in (1, 3, 19)]
    assert [payload.uncompressed() for payload in payloads] == [inner] * 3
    assert payloads == [TransactionPayload.compress(inner, level) for level in (1, 3, 19)]
    assert len({payload.payload for payload in payloads}) == 3
    assert writer.compressed(bodies) == payloads[1]
    assert writer.position == 0


def test_the_begin_of_an_update_says_which_table() -> None:
    """One variable more, between the catalog and the character sets (binlog-events 8)."""
    for update, more in ((False, ""), (True, "090100000000000000")):
        query = begin("d", update=update, thread_id=3)
        assert (query.text, query.schema, query.thread_id) == (b"BEGIN", b"d", 3)
        status = encode_status(query.status).hex()
        assert status == "0000000000012000a04500000000060373746404ff00ff00ff00" + more + "12ff00"
    assert begin() == Query(text=b"BEGIN", schema=b"", thread_id=8)


def test_a_group_of_rows_is_split_at_eight_kilobytes() -> None:
    """12 bytes and 3 for each row: 2726 of them are 8190 bytes, one more is too much."""
    small = table_map(Table(schema="d", name="t", columns=(Column(name="n", type="SMALLINT"),)))
    inserts = {count: rows_body(small, EventType.WRITE_ROWS, [Row(None, (1,))] * count) for count in (2726, 2727)}
    for count, sizes in ((2726, [2726]), (2727, [2726, 1])):
        group = row_group(small, inserts[count])
        assert group[:2] == [begin("d"), small]
        assert [len(body.rows) for body in group[2:-1] if isinstance(body, RowsBody)] == sizes
        assert group[-1] == Xid(xid=1)
    update = rows_body(small, EventType.UPDATE_ROWS, [Row((1,), (2,))] * 3)
    again = row_group(small, inserts[2727], update, xid=7, limit=1 << 20, update=True)
    assert again == [begin("d", update=True), small, inserts[2727], update, Xid(xid=7)]


@pytest.mark.parametrize("algorithm", [Checksum.NONE, Checksum.CRC32])
def test_the_real_mysqlbinlog_reads_a_file_made_by_hand(mysqlbinlog: list[str], tmp_path: Path, algorithm: int) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(_file(algorithm, compressed=True))
    command = [
        *mysqlbinlog,
        "--no-defaults",
        "-v",
        "--base64-output=DECODE-ROWS",
        "--verify-binlog-checksum",
        str(path),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("### INSERT INTO `d`.`t`") == _ROWS
    assert answer.stdout.count("###   @2=JSON_REPLACE(@2, '$.n', 2)") == 2
    assert f"SET @@SESSION.GTID_NEXT= '{_UUID}:b:3'" in answer.stdout
    assert "Start of compressed events" in answer.stdout
    assert "###   @3='v999'" in answer.stdout
