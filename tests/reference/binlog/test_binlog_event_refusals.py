"""Damaged events: the code of the error, the byte that it names (counted from the header), the field."""

from __future__ import annotations

from uuid import UUID

import pytest

from conformance.reference.binlog.event import decode_body, decode_event
from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids, encode_tag
from conformance.reference.binlog.header import Checksum, Header
from conformance.reference.event_types import event_name
from tests.reference.refusals import refused, where

NIL = UUID(int=0)
FIRST = "00" * 25  # flags, uuid and gno
CLOCK = FIRST + "02" + "00" * 16
TIMES = CLOCK + "00" * 7

ENTRY = "01" + "00" * 7 + "00" * 16  # a set of one entry, and its uuid
TO_5 = "0100000000000000 0500000000000000"

BODIES = [
    (33, FIRST[2:], "truncated", 0, "gtid"),
    (33, FIRST + "02", "truncated", 25, "logical_clock"),
    (33, CLOCK[2:], "truncated", 25, "logical_clock"),
    (33, FIRST + "03" + "00" * 16, "logical-clock", 25, ""),
    (33, CLOCK + "00" * 6, "truncated", 42, "immediate_commit_timestamp"),
    (33, CLOCK + "00" * 6 + "80", "truncated", 49, "original_commit_timestamp"),
    (33, TIMES + "fc", "truncated", 49, "transaction_length"),
    (33, TIMES + "fb", "bad-packed-integer", 49, "transaction_length"),
    (33, TIMES + "00 000000", "truncated", 50, "immediate_server_version"),
    (33, TIMES + "00 00000080", "truncated", 54, "original_server_version"),
    (33, TIMES + "00 00000000" + "00" * 7, "truncated", 54, "commit_group_ticket"),
    (33, TIMES + "00 00000000" + "00" * 9, "trailing-bytes", 62, ""),
    (42, "", "truncated", 0, "version"),
    (42, "04 06 00", "serialization-version", 0, ""),
    (42, "02", "truncated", 1, "message_size"),
    (42, "02 08 00", "truncated", 1, ""),
    (42, "02 06", "truncated", 1, ""),
    (42, "02 06 1a", "serialization-field", 1, ""),  # field 13 may not be passed over, and there are 12
    (42, "02 04 00", "bad-length", 1, ""),
    (42, "02 0e 00 00 00 00 00", "field-order", 5, ""),
    (42, "02 0e 00 04 00 00 00", "field-order", 5, ""),
    (42, "02 08 00 00", "truncated", 4, "gtid_flags"),
    (42, "02 06 00 ff", "trailing-bytes", 3, ""),
    (2, "00" * 12, "truncated", 0, "post_header"),
    (2, "00" * 8 + "01 0000 0000 74", "truncated", 13, ""),
    (2, "00" * 8 + "01 0000 0000 74 01", "bad-name", 14, "schema"),
    (2, "00" * 8 + "00 0000 0100 00", "truncated", 13, ""),
    (40, "00", "missing-field", 0, ""),
    (40, "01 01 01 00 61", "missing-field", 0, ""),
    (40, "02 01 00 00 61", "missing-field", 0, ""),
    (40, "01", "truncated", 1, "length"),
    (40, "01 01 01", "truncated", 3, "field"),
    (40, "01 01 02 02 01 00 00 61", "truncated", 7, "payload"),
    (40, "01 01 01 02 01 00 00 61 62", "trailing-bytes", 8, ""),
    (40, "01 01 fc 00", "truncated", 2, "field[1].payload_size"),
    (40, "01 02 01 01 00", "trailing-bytes", 3, "field[1]"),
    (16, "00" * 7, "truncated", 0, "XID"),
    (16, "00" * 9, "trailing-bytes", 8, ""),
    (3, "00", "trailing-bytes", 0, ""),
    (4, "00" * 7, "truncated", 0, "position"),
    (5, "00" * 8, "truncated", 0, "INTVAR"),
    (5, "00" * 10, "trailing-bytes", 9, ""),
    (13, "00" * 15, "truncated", 0, "RAND"),
    (14, "010000", "truncated", 0, "name"),
    (14, "01000000", "truncated", 4, "name"),
    (14, "01000000 61", "truncated", 5, "is_null"),
    (14, "01000000 61 01 00", "trailing-bytes", 6, ""),
    (14, "01000000 61 00 00", "truncated", 6, "value"),
    (14, "01000000 61 00 00 00000000 01000000", "truncated", 15, "value"),
    (14, "01000000 61 00 00 00000000 01000000 62 00 00", "trailing-bytes", 17, ""),
    (29, "", "truncated", 0, "length_byte"),
    (26, "00", "truncated", 0, "number"),
    (26, "0100", "truncated", 2, "message"),
    (26, "0100 01", "truncated", 3, "message"),
    (26, "0100 01 61 00", "trailing-bytes", 4, ""),
    (38, "00" * 12, "truncated", 0, "header"),
    (38, "00 01000000 41000000 00000000", "too-long", 0, ""),
    (38, "00 01000000 00000000 41000000", "too-long", 0, ""),
    (38, "00 01000000 01000000 01000000", "truncated", 13, "gtrid"),
    (38, "00 01000000 01000000 01000000 61", "truncated", 14, "bqual"),
    (38, "00 01000000 01000000 01000000 61 62 00", "trailing-bytes", 15, ""),
    (41, "", "truncated", 0, "field"),
    (41, "01 01", "truncated", 2, "name"),
    (41, "01 01 61 00", "missing-field", 0, ""),
    (41, "02 01 04 00", "missing-field", 0, ""),
    (41, "02 02 04 04 00", "trailing-bytes", 3, ""),
    (41, "00 00", "trailing-bytes", 1, ""),
    (17, "000000", "truncated", 0, "file_id"),
    (9, "000000", "truncated", 0, "file_id"),
    (11, "000000", "truncated", 0, "DELETE_FILE"),
    (11, "00" * 5, "trailing-bytes", 4, ""),
    (18, "00" * 25, "truncated", 0, "post_header"),
    (18, "00" * 26, "truncated", 26, ""),
    (36, "00" * 17, "truncated", 0, "post_header"),
    (36, "01" + "00" * 17, "truncated", 18, "server_uuid"),
    (36, "00" * 6 + "01" + "00" * 11, "truncated", 18, "snapshot"),
    (36, "00" * 10 + "01000000 00000000 00", "truncated", 18, ""),
    (36, "00" * 10 + "00000000 01000000 00", "truncated", 18, ""),
    (36, "00" * 10 + "01000000 01000000 000000", "truncated", 18, ""),
    (36, "00" * 10 + "00000000 01000000 0100", "truncated", 20, "read_set"),
    (36, "00" * 10 + "01000000 00000000 0100 61 00", "trailing-bytes", 21, ""),
    (37, "00" * 51, "truncated", 0, "post_header"),
    (37, "00" * 48 + "01000000 0000000000", "truncated", 52, ""),
    (37, "00" * 48 + "02000000" + "00" * 11, "truncated", 52, ""),
    (37, "00" * 48 + "01000000 0100 01000000", "truncated", 55, "value"),
    (37, "00" * 48 + "01000000 0000 01000000", "truncated", 58, "value"),
    (37, "00" * 48 + "01000000 0000 00000000 00", "trailing-bytes", 58, ""),
    (15, "0400" + "00" * 54, "truncated", 0, ""),
    (15, "0500" + "00" * 55, "binlog-version", 0, ""),
    (15, "0300" + "00" * 55, "binlog-version", 0, ""),
    (15, "0400" + "00" * 54 + "12", "header-length", 56, ""),
    (15, "0400" + "00" * 54 + "14", "header-length", 56, ""),
    (15, "0400" + "00" * 54 + "13 01 000000", "truncated", 61, ""),
    (15, "0400" + "00" * 54 + "13 02 00000000", "checksum-algorithm", 57, ""),
    (15, "0400" + "00" * 54 + "13 0000 ff 00000000", "checksum-algorithm", 59, ""),
    (35, "00" * 7, "truncated", 0, "count"),
    (35, "00" * 7 + "02", "gtid-set-format", 7, ""),
    (35, "00" * 7 + "01", "gtid-set-format", 0, ""),
    (35, "01" + "00" * 7 + "00" * 23, "truncated", 0, ""),
    (35, "00" * 8 + "00", "trailing-bytes", 8, ""),
    (35, "01" + "00" * 7 + "00" * 16 + "01" + "00" * 7 + "00" * 15, "truncated", 32, "entries[0]"),
    (35, "01" + "00" * 7 + "00" * 16 + "01" + "00" * 7 + "00" * 16, "gtid-interval", 32, "entries[0]"),
    (35, "01 01 00000000 00 01" + "00" * 16 + "02 41" + "00" * 8, "gtid-tag", 24, "entries[0]"),
    (35, "01 01 00000000 00 01" + "00" * 16 + "02 ff" + "00" * 8, "gtid-tag", 24, "entries[0]"),
    (35, "01 01 00000000 00 01" + "00" * 24, "truncated", 0, ""),
    (35, ENTRY + "02" + "00" * 7 + TO_5 + TO_5, "gtid-interval", 32, "entries[0]"),
    (35, ENTRY + "01" + "00" * 7 + "0100000000000000 0000000000000080", "gtid-interval", 32, "entries[0]"),
    (2, "00" * 11 + "0100 00 00", "truncated", 14, "status.FLAGS2"),
    (2, "00" * 11 + "0200 0401 00", "truncated", 14, "status.CHARSET"),
    (2, "00" * 11 + "0200 0601 00", "truncated", 15, "status.CATALOG_NZ"),
    (2, "00" * 11 + "0300 0c01 61 00", "truncated", 15, "status.UPDATED_DB_NAMES"),
]


@pytest.mark.parametrize(("code", "raw", "error", "offset", "path"), BODIES)
def test_a_damaged_body_says_which_byte_is_wrong(code: int, raw: str, error: str, offset: int, path: str) -> None:
    found = refused(decode_body, code, bytes.fromhex(raw), {})
    assert where(found) == (error, 19 + offset, f"{event_name(code)}.{path}".rstrip("."))


def event(length: int, size: int, code: int = 3) -> bytes:
    return Header(timestamp=0, type=code, server_id=1, length=length, log_pos=0, flags=0).encode() + bytes(size - 19)


def test_a_damaged_frame_says_which_byte_is_wrong() -> None:
    for read in (decode_event, EventDecoder().decode):
        error = refused(read, event(24, 23))
        assert (where(error), error.expected, error.got) == (("bad-length", 9, ""), 24, 23)
        assert where(refused(read, event(22, 22))) == ("truncated", 19, "")
        assert where(refused(read, event(23, 23))) == ("checksum", 19, "")
        error = refused(read, event(18, 18 + 1)[:18])
        assert (error.code, error.offset, error.expected, error.got) == ("truncated", 0, 19, 18)
    decoder = EventDecoder(algorithm=Checksum.NONE)
    assert decoder.decode(event(19, 19)).checksum is None
    assert where(refused(decoder.decode, event(20, 19))) == ("bad-length", 9, "")


def test_a_set_may_name_every_transaction_there_can_be() -> None:
    last = (1 << 63) - 1
    for interval in ((1, last), (last - 1, last), (1, 2)):
        found = PreviousGtids(entries=(GtidEntry(NIL, "", (interval,)),))
        assert PreviousGtids.decode(found.encode()) == found
    for interval in ((0, 1), (1, 1), (2, 1), (1, last + 1)):
        found = PreviousGtids(entries=(GtidEntry(NIL, "", (interval,)),))
        assert refused(found.encode).code == "gtid-interval"
    for text, code in (("x", "gtid-set-text"), (f"{NIL}:x-y", "gtid-set-text"), (f"{NIL}:0", "gtid-interval"),
                       (f"{NIL}:5-4", "gtid-interval")):  # fmt: skip
        assert refused(PreviousGtids.parse, text).code == code
    assert encode_tag("\udcff") == b"\x02\xff"
