"""Annotated hex of a whole event: header, body, checksum, and the error that is told beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog.header import checksum_of
from conformance.reference.cursor import Cursor, Layout, Recorder
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.text.annotated_hex import explain_event
from tests.reference.refusals import refused, where
from tests.reference.text.explained_events import HEADER, explained
from tests.reference.text.made_logs import INT_AND_JSON, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.errors import CodecError


def event(code: int, body: bytes, *, flags: int = 0) -> bytes:
    """Header and body, with room for a checksum in its length."""
    length = HEADER + len(body) + 4
    fields = ((1, 4), (code, 1), (7, 4), (length, 4), (300, 4), (flags, 2))
    return b"".join(value.to_bytes(size, "little") for value, size in fields) + body


def summed(data: bytes) -> bytes:
    return data + checksum_of(data).to_bytes(4, "little")


XID = event(EventType.XID, bytes(range(8)))
XID_SPANS = [
    (0, 4, "header.timestamp", "1 (1970-01-01 00:00:01 UTC)"),
    (4, 1, "header.type", "16 (XID_EVENT)"),
    (5, 4, "header.server_id", "7"),
    (9, 4, "header.length", "31"),
    (13, 4, "header.log_pos", "300"),
    (17, 2, "header.flags", "none"),
    (19, 8, "xid", "506097522914230528"),
]
# An interval that ends before it begins; a row with options that nobody knows.
INTERVAL = event(EventType.PREVIOUS_GTIDS, bytes.fromhex("01" + "00" * 7 + "11" * 16 + "01" + "00" * 7)
                 + (5).to_bytes(8, "little") + (3).to_bytes(8, "little"))  # fmt: skip
OPTIONS = event(EventType.PARTIAL_UPDATE_ROWS, bytes.fromhex("640000000000 1100 0200 02 01 02 01 03 00 01"))


def told(data: bytes, footer: int) -> tuple[list[tuple[int, int, str, str]], CodecError | None]:
    spans, problem = explain_event(data, {100: table_of(*INT_AND_JSON)}, footer)
    assert b"".join(span.data for span in spans) == data
    return [(span.offset, len(span.data), span.field, span.meaning) for span in spans], problem


def test_a_sound_event_is_header_body_and_checksum() -> None:
    assert told(summed(XID), 4) == ([*XID_SPANS, (27, 4, "checksum", "CRC-32, right")], None)
    assert told(XID, 0) == (XID_SPANS, None)


def test_a_wrong_checksum_is_told_with_the_right_one() -> None:
    right = f"{checksum_of(XID):#010x}"
    spans, problem = told(XID + bytes(4), 4)
    assert spans == [*XID_SPANS, (27, 4, "checksum", f"CRC-32, wrong: {right} is right")]
    assert problem is not None
    assert (*where(problem), problem.expected) == ("checksum", 27, "", right)


def test_damage_in_the_body_comes_before_a_wrong_checksum() -> None:
    _, alone = told(summed(XID[:-1]), 4)
    _, problem = told(XID[:-1] + bytes(4), 4)
    assert alone is not None
    assert problem is not None
    assert where(alone) == where(problem) == ("truncated", 19, "xid")
    assert problem.message == f"{alone.message}; the checksum is wrong too"


@pytest.mark.parametrize(
    ("data", "footer", "last", "error"),
    [
        # The header itself, cut off inside of a field; a checksum for which there is no room is none.
        (XID[:18], 0, [(17, 1, "rest", "not read")], ("truncated", 17, "flags")),
        (XID[:2], 0, [(0, 2, "rest", "not read")], ("truncated", 0, "timestamp")),
        (b"", 0, [], ("truncated", 0, "timestamp")),
        (XID[:19], 0, [(17, 2, "header.flags", "none")], ("truncated", 19, "xid")),
        (XID[:21], 4, [(17, 2, "header.flags", "none"), (19, 2, "checksum", None)], ("truncated", 19, "xid")),
        # Bytes that no field has.
        (XID + b"\x09", 0, [XID_SPANS[-1], (27, 1, "rest", "not read")], ("trailing-bytes", 27, "")),
        (summed(XID + b"\x09\x08"), 4, [(27, 2, "rest", "not read"), (29, 4, "checksum", "CRC-32, right")],
         ("trailing-bytes", 27, "")),
        # Values that cannot be: all bytes have a meaning, and the reader of the event refuses it.
        (INTERVAL, 0, [(59, 8, "entries[0].end[0]", "3 (not included)")],
         ("gtid-interval", 51, "PREVIOUS_GTIDS_LOG_EVENT.entries[0]")),
        (summed(INTERVAL), 4, [(67, 4, "checksum", "CRC-32, right")],
         ("gtid-interval", 51, "PREVIOUS_GTIDS_LOG_EVENT.entries[0]")),
        (OPTIONS, 0, [(35, 1, "rows[0].after.null_bitmap", "NULL: @2")],
         ("value-options", 33, "PARTIAL_UPDATE_ROWS_EVENT.rows[0].shared_image.value_options")),
    ],
)  # fmt: skip
def test_where_the_reading_ends(
    data: bytes, footer: int, last: list[tuple[int, int, str, str | None]], error: tuple[str, int, str]
) -> None:
    spans, problem = told(data, footer)
    if last and last[-1][3] is None:
        spans[-1] = (*spans[-1][:3], None)  # type: ignore[assignment]
    assert spans[len(spans) - len(last) :] == last
    assert problem is not None
    assert where(problem) == error


def test_an_event_of_an_unknown_type_is_one_piece() -> None:
    assert explained(99, b"\x01\x02") == ([("0102", "data", "an event of an unknown type")], None)
    assert explained(99, b"") == ([], None)


@pytest.mark.parametrize(
    ("flags", "meaning"),
    [
        (0, "none"),
        (0x0001, "IN_USE"),
        (0x03ED, "IN_USE THREAD_SPECIFIC SUPPRESS_USE ARTIFICIAL RELAY_LOG IGNORABLE NO_FILTER MTS_ISOLATE"),
        (0x0412, "unknown 0x412"),
        (0xA084, "THREAD_SPECIFIC IGNORABLE; boundary 5 End Transaction"),
        (0xE000, "none; boundary 7 Reserved (7)"),
    ],
)
def test_flags_are_named(flags: int, meaning: str) -> None:
    spans, problem = told(event(EventType.XID, bytes(8), flags=flags), 0)
    assert problem is None
    assert spans[5] == (17, 2, "header.flags", meaning)


def test_a_format_description_says_itself_whether_it_has_a_checksum() -> None:
    """A server before 5.6.1 writes none, and no byte that says so (binlog-events 4)."""
    old = event(EventType.FORMAT_DESCRIPTION, b"\4\0" + b"5.5.0".ljust(50, b"\0") + bytes(4) + b"\x13" + bytes(27))
    spans, problem = told(old, 4)
    assert problem is None
    assert spans[-1] == (len(old) - 1, 1, "post_header_length[27]", "0")
    new = event(
        EventType.FORMAT_DESCRIPTION, b"\4\0" + b"9.7.4".ljust(50, b"\0") + bytes(4) + b"\x13" + bytes(42) + b"\1"
    )
    spans, problem = told(summed(new), 0)
    assert problem is None
    assert [span[2:] for span in spans[-2:]] == [("checksum_algorithm", "CRC32"), ("checksum", "CRC-32, right")]
    spans, problem = told(new[:60], 0)
    assert problem is not None
    assert spans[-1][:3] == (19, 41, "rest")


# --- the recorder ----------------------------------------------------------------------------------------------------


def test_a_recorder_writes_down_what_is_read_and_where() -> None:
    cursor = Recorder(bytes.fromhex("ff 0102 fc0304 06 02 04 7a7a 00"), 1, 11)
    with cursor.inside("a"):
        assert cursor.number(2, "n") == 0x0201
        for _ in cursor.items("b", 1):
            assert cursor.packed("p") == 0x0403
        assert cursor.varint("v") == 3
        for _ in cursor.numbered(1):
            assert cursor.varint("u") == 1
    assert cursor.signed_varint("s") == 1
    assert len(cursor) == 2
    assert cursor.take(0, "empty") == b""
    cursor.refuse(DecodeError("bad-value", "the bytes behind have a meaning all the same"))
    assert cursor.rest("r") == b"zz"
    assert not cursor
    assert [tuple(reading) for reading in cursor.readings] == [
        (1, 3, "a.n", 513), (3, 6, "a.b[0].p", 0x403), (6, 7, "a.v", 3), (7, 8, "a.u[0]", 1), (8, 9, "s", 1),
        (9, 11, "r", b"zz"),
    ]  # fmt: skip
    for read in (
        cursor.packed, cursor.varint, cursor.signed_varint, cursor.u1, cursor.u2, cursor.u4, cursor.u8,
    ):  # fmt: skip
        assert where(refused(read, "beyond")) == ("truncated", 11, "beyond")
    for take in (cursor.number, cursor.take, cursor.bitmap):
        assert where(refused(take, 1, "beyond")) == ("truncated", 11, "beyond")
    assert where(refused(cursor.part, -1, "beyond")) == ("truncated", 11, "beyond")


SIXTEEN = bytes(range(1, 17))


@pytest.mark.parametrize(
    ("read", "fields"),
    [
        (lambda cursor: cursor.fields(Layout(a="B", b="H"), "both"), [("a", 1), ("b", 0x0302)]),
        (lambda cursor: cursor.sized(1, "text"), [("text_length", 1), ("text", b"\2")]),
        (lambda cursor: cursor.packed_bytes("text"), [("text_length", 1), ("text", b"\2")]),
        (
            lambda cursor: cursor.octets(1, "n") + cursor.varint_bytes("text"),
            [("n[0]", 1), ("text_length", 1), ("text", b"\3")],
        ),
        (lambda cursor: cursor.octets(2, "n", 1), [("n[1]", 1), ("n[2]", 2)]),
        (lambda cursor: (cursor.u1("n"), cursor.signed_varint("s")), [("n", 1), ("s", -1)]),
        (lambda cursor: cursor.bitmap(10, "bits", range(5, 15)), [("bits", [5, 14])]),
        (lambda cursor: cursor.packed_strings("s", 1), [("s_length[0]", 1), ("s[0]", b"\2")]),
        (lambda cursor: cursor.part(2, "part").packed_list("n"), [("n[0]", 1), ("n[1]", 2)]),
        (lambda cursor: cursor.part(2, "part").packed_pairs("n", "m"), [("n[0]", 1), ("m[0]", 2)]),
    ],
)
def test_a_recorder_reads_as_a_cursor_does(read: Callable[[Cursor], Any], fields: list[tuple[str, object]]) -> None:
    plain, recorder = Cursor(SIXTEEN), Recorder(SIXTEEN)
    assert list(read(recorder)) == list(read(plain))
    assert recorder.pos == plain.pos
    assert [(reading.field, reading.value) for reading in recorder.readings] == fields
