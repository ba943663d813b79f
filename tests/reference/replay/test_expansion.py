"""A log without events 39 and 40: the bytes that a server writes with the option off, on files of real servers."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import FileReader, decode_file, read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import MAGIC, Checksum, Flag
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import Row, RowsBody, one_statement, rows_body, split_rows
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.errors import ReplayError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.replay.expansion import Expansion
from conformance.reference.replay.full_rows import FullRows, needs_earlier_rows
from conformance.reference.tables.columns import PartialJson
from tests.expansion.naive_events import compare, frames
from tests.reference.text.made_logs import INT_AND_JSON, table_of

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body

CORPUS = Path(__file__).parents[2] / "data" / "binlogs"
TABLE = table_of(*INT_AND_JSON)
DIFFS = PartialJson(bytes.fromhex("0003242e6103050700"))  # REPLACE $.a by 7
BEFORE, AFTER = encode({"a": 1, "pad": "p" * 40}), encode({"a": 7, "pad": "p" * 40})
GTID = Gtid(immediate_commit_timestamp=5, transaction_length=0)


def expanded(data: bytes, *, size: int = 8192, follow: bool | None = None) -> bytes:
    """The expansion of a file in memory."""
    if follow is None:
        follow = any(map(needs_earlier_rows, read_events(io.BytesIO(data), expand=True)))
    expansion = Expansion(FullRows(follow=follow), row_event_max_size=size)
    out = b""
    for event in read_events(io.BytesIO(data), reader=FileReader(expand=True)):
        start = event.position or 0
        out += b"".join(expansion.event(event, data[start : start + event.header.length]))
    return out + b"".join(expansion.finish())


def corpus(name: str) -> bytes:
    return next(CORPUS.glob(f"{name}*.binlog")).read_bytes()


def partial(*keys: int) -> RowsBody:
    """An update of these rows with diffs and FULL images."""
    return rows_body(TABLE, EventType.PARTIAL_UPDATE_ROWS, [Row((key, BEFORE), (key, DIFFS)) for key in keys])


def full(*keys: int) -> RowsBody:
    return rows_body(TABLE, EventType.UPDATE_ROWS, [Row((key, BEFORE), (key, AFTER)) for key in keys])


def log(*bodies: Body, gtid: Gtid | GtidTagged | None = None, algorithm: int = Checksum.CRC32) -> bytes:
    """A file with one transaction."""
    writer = FileWriter(format=FormatDescription(algorithm=algorithm))
    head = writer.start()
    return head + writer.group(gtid or GTID, [begin(), TABLE, *bodies, Xid(xid=1)])


def test_a_log_of_the_same_sql_with_the_option_off_has_the_same_bytes() -> None:
    counts, problems = compare(expanded(corpus("01-partial-minimal")), corpus("02-partial-off"))
    assert counts["events with other layout"] == 0
    # The two were written in sessions of different numbers: QUERY events, and nothing else, tell.
    assert all(problem.startswith("type 2 at ") and "byte 19:" in problem for problem in problems)
    assert problems


@pytest.mark.parametrize("name", ["03", "04", "05", "06", "07", "09", "11", "12", "13", "16", "17", "19", "21"])
def test_positions_checksums_and_lengths_are_right_and_no_new_event_is_left(name: str) -> None:
    data = corpus(name)
    found = frames(expanded(data))
    assert not {39, 40} & {frame.type for frame in found}
    if not {39, 40} & {frame.type for frame in frames(data)}:
        assert expanded(data) == data


def test_a_compressed_transaction_is_the_same_without_compression() -> None:
    inner: list[Body] = [begin(), TABLE, full(1, 2), Xid(xid=1)]
    writer = FileWriter()
    head = writer.start()
    compressed = head + writer.group(GTID, [writer.compressed(inner)])
    assert any(isinstance(event.body, TransactionPayload) for event in decode_file(compressed))
    assert expanded(compressed) == log(full(1, 2))


@pytest.mark.parametrize("algorithm", [Checksum.NONE, Checksum.CRC32])
def test_diffs_become_documents_in_both_images(algorithm: int) -> None:
    assert expanded(log(partial(1, 2), algorithm=algorithm)) == log(full(1, 2), algorithm=algorithm)


def test_a_tagged_gtid_gets_the_new_length() -> None:
    gtid = GtidTagged(uuid=UUID(int=5), gno=3, tag="t", transaction_length=0)
    assert expanded(log(partial(1), gtid=gtid)) == log(full(1), gtid=gtid)


def test_a_gtid_without_a_length_gets_none() -> None:
    writer = FileWriter()
    gtid = Gtid(last_committed=None, sequence_number=None)
    bodies: list[Body] = [gtid, begin(), TABLE, partial(1), Xid(xid=1)]
    assert decode_file(expanded(writer.start() + b"".join(map(writer.add, bodies))))[2].body == gtid


def test_rows_are_split_where_the_server_would_split_them() -> None:
    keys = range(300)
    data = log(*split_rows(partial(*keys), 4000))
    assert expanded(data, size=5000) == log(*split_rows(full(*keys), 5000))


def test_rows_of_other_partitions_and_statements_stay_apart() -> None:
    two = (partial(1), partial(2))  # two statements: both end with STMT_END
    assert expanded(log(*two)) == log(full(1), full(2))
    joined = one_statement([partial(1), partial(2)])
    assert expanded(log(*joined)) == log(full(1, 2))


def minimal(table_is_known: bool) -> bytes:
    """An update under a MINIMAL image, with or without the INSERT of its row."""
    insert = rows_body(TABLE, EventType.WRITE_ROWS, [Row(None, (1, BEFORE))])
    update = rows_body(TABLE, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (DIFFS,))], before=[0], after=[1])
    return log(*([insert] if table_is_known else []), update)


def test_a_minimal_image_takes_the_document_from_an_earlier_event() -> None:
    data = expanded(minimal(True))
    update = rows_body(TABLE, EventType.UPDATE_ROWS, [Row((1,), (AFTER,))], before=[0], after=[1])
    assert data == log(rows_body(TABLE, EventType.WRITE_ROWS, [Row(None, (1, BEFORE))]), update)


@pytest.mark.parametrize("follow", [True, False])
def test_a_document_that_is_not_known_is_refused(follow: bool) -> None:
    with pytest.raises(ReplayError, match="before image of @1=1") as caught:
        expanded(minimal(False), follow=follow)
    assert caught.value.code == "no-base"
    assert caught.value.path == ("rows[0]", "d.t", "@2")


def test_a_relay_log_is_refused() -> None:
    writer = FileWriter()
    writer.position = len(MAGIC)
    with pytest.raises(Unsupported, match="relay log"):
        expanded(MAGIC + writer.add(writer.format, flags=Flag.RELAY_LOG))


def test_the_naive_reader_sees_each_planted_fault() -> None:
    data = expanded(log(partial(1)))
    assert compare(data, data)[1] == []
    starts = {frame.type: frame.start for frame in frames(data)}
    for place, error in (
        (starts[31] + 13, "ends at"),
        (starts[31] + 40, "checksum"),
        (starts[31] + 9, "ends at|cut off"),
    ):
        wrong = bytearray(data)
        wrong[place] ^= 1
        with pytest.raises(AssertionError, match=error):
            frames(bytes(wrong))
    gtid = replace(GTID, transaction_length=999)
    writer = FileWriter()
    bodies: list[Body] = [gtid, begin(), TABLE, full(1), Xid(xid=1)]
    unsized = writer.start() + b"".join(map(writer.add, bodies))
    with pytest.raises(AssertionError, match="says 999 bytes"):
        frames(unsized)
    counts, problems = compare(data, log(full(2)))
    assert (counts["events with other layout"], problems) == (1, [])
    assert compare(data, log(rows_body(TABLE, EventType.UPDATE_ROWS, full(1).rows, flags=1)))[1]
    assert encode_event(full(1)) != encode_event(full(2))
