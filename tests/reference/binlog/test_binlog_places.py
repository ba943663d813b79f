"""Where an error is in its file, headers up to their limits, and payloads of many pieces."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from conformance.reference.binlog.control_events import Opaque, Xid
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import Checksum, Header, checksum_of, decode_header
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.errors import DecodeError
from conformance.reference.tables.table_map import TableMap
from tests.reference.refusals import refused, where

RAW = bytes.fromhex("010000000000 0100 01 74 00 01 75 00 02 0303 00 03")
TABLE = TableMap.decode(RAW)
NAME = "WRITE_ROWS_EVENT"
CUT = rows_body(TABLE, 30, [Row(None, (1, 2))]).encode()[:-1]


def test_an_event_keeps_its_place_and_the_table_of_its_rows() -> None:
    raw = encode_event(Opaque(type=30, data=CUT))
    event: Any = decode_event(raw, tables={1: TABLE}, position=500)
    assert (event.position, event.inner, event.body.table) == (500, None, TABLE)
    assert decode_event(raw, tables={1: TABLE}).position is None
    assert decode_event(encode_event(Xid(xid=1))).header.log_pos == 0
    # The second value has three bytes where four belong; the error counts from the beginning of the file.
    end = 19 + len(CUT) - 3
    assert where(refused(event.typed)) == ("truncated", 500 + end, f"event@500.{NAME}.rows[0].after.@2")
    assert where(refused(event._replace(position=None).typed)) == ("truncated", end, f"{NAME}.rows[0].after.@2")
    inner = event._replace(inner=3)
    assert where(refused(inner.typed)) == ("truncated", 500, f"event@500.inner[3].{NAME}.rows[0].after.@2")
    assert where(refused(inner._replace(position=None).typed))[1:] == (0, f"inner[3].{NAME}.rows[0].after.@2")


def test_an_error_found_later_gets_the_place_of_its_event() -> None:
    event: Any = decode_event(encode_event(Opaque(type=30, data=CUT)), tables={1: TABLE}, position=500)

    def error(*path: str) -> DecodeError:
        return DecodeError("code", "words", offset=7, path=path)

    assert where(event.located(error(NAME, "rows[0]"))) == ("code", 507, f"event@500.{NAME}.rows[0]")
    assert where(event.located(error("rows[0]"))) == ("code", 519, f"event@500.{NAME}.rows[0]")
    assert where(event._replace(inner=2).located(error("rows[0]"))) == ("code", 500, "event@500.inner[2].rows[0]")
    assert where(event._replace(position=None).located(error("rows[0]"))) == ("code", 19, f"event@0.{NAME}.rows[0]")


def test_every_field_of_a_header_has_its_limit() -> None:
    limits = {"timestamp": 32, "type": 8, "server_id": 32, "length": 32, "log_pos": 32, "flags": 16}
    largest = Header(**{name: (1 << bits) - 1 for name, bits in limits.items()})
    assert decode_header(b".." + largest.encode(), 2) == largest
    for name, bits in limits.items():
        for value in (-1, 1 << bits):
            assert where(refused(largest._replace(**{name: value}).encode)) == ("out-of-range", None, name)


def test_the_checksum_of_a_format_description_is_compared() -> None:
    raw = encode_event(FormatDescription(server_version="9.7.4"))
    damaged = raw[:-1] + bytes((raw[-1] ^ 1,))
    for read in (decode_event, EventDecoder().decode):
        assert refused(read, damaged).code == "checksum"
    assert decode_event(damaged, verify=False).checksum is not None
    head = Header(timestamp=0, type=15, server_id=1, length=19, log_pos=0, flags=1)
    assert checksum_of(head.encode()) == checksum_of(head._replace(flags=0).encode())
    assert checksum_of(head._replace(type=3).encode()) != checksum_of(head._replace(type=3, flags=0).encode())


@pytest.mark.parametrize("size", [0, 1, 300, 5000])
def test_payloads_of_many_pieces_both_ways(size: int) -> None:
    pytest.importorskip("zstandard")
    events = bytes(value * 89 % 251 ^ value >> 5 & 255 for value in range(size))
    payload = TransactionPayload.compress(events)
    assert payload.uncompressed_size == size
    assert TransactionPayload.decode(payload.encode()) == payload
    assert payload.uncompressed() == events
    cut = TransactionPayload(payload=payload.payload[:-1])
    assert where(refused(cut.uncompressed)) == ("truncated", len(cut.payload), "")
    longer = TransactionPayload(payload=payload.payload + b"\0")
    assert where(refused(longer.uncompressed)) == ("trailing-bytes", len(payload.payload), "")
    assert refused(TransactionPayload(payload=events, compression=7).uncompressed).code == "compression"
    assert TransactionPayload(payload=events, compression=255).uncompressed() == events
    assert payload.uncompressed(limit=size) == events
    if size:
        assert refused(payload.uncompressed, limit=size - 1).code == "payload-too-large"


def test_without_zstandard_a_compressed_transaction_is_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert refused(TransactionPayload(payload=b"x").uncompressed).code == "zstandard-missing"
    assert TransactionPayload(payload=b"x", compression=255).uncompressed() == b"x"


def test_an_event_without_a_checksum_ends_with_its_body() -> None:
    raw = encode_event(Xid(xid=5), algorithm=Checksum.NONE)
    assert len(raw) == 19 + 8
    assert decode_event(raw, algorithm=Checksum.NONE).body == Xid(xid=5)
