"""Files made by hand, and what the real mysqlbinlog reads in them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.header import Checksum, EventType
from conformance.reference.binlog.rows import STMT_END, Row, RowsBody, rows_body
from conformance.reference.binlog.small import Rotate, Stop
from conformance.reference.binlog.writer import FileWriter, begin, row_group
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables import Column, Table, table_map

if TYPE_CHECKING:
    from pathlib import Path

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
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("### INSERT INTO `d`.`t`") == _ROWS
    assert answer.stdout.count("###   @2=JSON_REPLACE(@2, '$.n', 2)") == 2
    assert f"SET @@SESSION.GTID_NEXT= '{_UUID}:b:3'" in answer.stdout
    assert "Start of compressed events" in answer.stdout
    assert "###   @3='v999'" in answer.stdout
