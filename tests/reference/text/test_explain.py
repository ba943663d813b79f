"""Annotated hex: every byte of every event has exactly one meaning."""

from __future__ import annotations

from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from conformance.reference.binlog import control_events, group_replication, load, statement_events
from conformance.reference.binlog.event import Body, encode_event
from conformance.reference.binlog.files import EventDecoder, read_events
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.errors import CodecError
from conformance.reference.text.annotated_hex import explain_event
from tests.hostile.documents import shared
from tests.reference.text.explained_events import document_spans
from tests.reference.text.made_logs import INT_AND_JSON, Raw, rows_bytes, table_of

if TYPE_CHECKING:
    from conformance.reference.text.annotated_hex import Span

CORPUS = sorted((Path(__file__).parents[2] / "data" / "binlogs").glob("*.binlog"))


def covers(spans: list[Span], data: bytes) -> None:
    """The spans are the event, in order, without gaps."""
    position = 0
    for span in spans:
        assert span.offset == position, span
        assert span.data or span.field.endswith(".damage")
        position += len(span.data)
    assert b"".join(span.data for span in spans) == data


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_spans_of_every_event_of_the_corpus_are_the_event(path: Path) -> None:
    decoder = EventDecoder()
    data = path.read_bytes()
    position = len(MAGIC)
    unread = 0
    while position < len(data):
        length = int.from_bytes(data[position + 9 : position + 13], "little")
        raw = data[position : position + length]
        footer = 4 if decoder.algorithm == 1 else 0
        spans, problem = explain_event(raw, decoder.tables, footer)
        assert problem is None
        covers(spans, raw)
        unread += sum(span.field in ("rest", "data") and span.meaning == "not read" for span in spans)
        event = decoder.decode(raw, position)
        if isinstance(event.body, TransactionPayload):
            start, inside = 0, event.body.uncompressed()
            for inner in decoder.inner_events(event):
                part = inside[start : start + inner.header.length]
                spans, problem = explain_event(part, decoder.tables, 0)
                assert problem is None
                covers(spans, part)
                start += len(part)
        position += length
    assert not unread


UUID_1 = UUID(int=1)
OTHERS: list[Body] = [
    control_events.Incident(message=b"gone"),
    control_events.Ignorable(data=b"abc"),
    control_events.Heartbeat(name=b"f"),
    control_events.HeartbeatV2(name=b"f", position=300, unknown=((9, b"xy"),)),
    statement_events.UserVar(name=b"n"),
    statement_events.UserVar(name=b"n", value=b"abc", flags=1),
    load.LoadBlock(type=9, file_id=1, data=b""),
    load.DeleteFile(file_id=1),
    group_replication.TransactionContext(server_uuid=b"u", write_set=(b"a", b""), read_set=(b"c",)),
    group_replication.ViewChange(view_id=b"v", certification=((b"k", b"v"),)),
    Gtid(uuid=UUID_1, last_committed=None, sequence_number=None),
    control_events.Opaque(type=99, data=b"zz"),
]


@pytest.mark.parametrize("body", OTHERS, ids=lambda body: repr(body)[:40])
def test_events_that_the_corpus_has_not_are_explained_too(body: Body) -> None:
    data = encode_event(body, algorithm=1)
    spans, problem = explain_event(data, {}, 4)
    assert problem is None
    covers(spans, data)
    assert spans[-1].meaning == "CRC-32, right"


def fields(raw: Raw) -> dict[str, str]:
    table = table_of(*INT_AND_JSON)
    data = encode_event(raw, algorithm=0)  # type: ignore[arg-type]
    spans, problem = explain_event(data, {100: table}, 0)
    assert problem is None
    covers(spans, data)
    return {span.field: span.meaning for span in spans}


def test_diffs_and_documents_are_explained_to_their_entries() -> None:
    document = bytes.fromhex("000100 1100 0b00 0100 0c 0c00 61 0474657874".replace(" ", ""))
    diffs = b"\0\3$.a" + bytes((len(document),)) + document + b"\2\3$.b"
    row = b"\0\1\0\0\0" + b"\1\1" + b"\0" + len(diffs).to_bytes(4, "little") + diffs
    found = fields(rows_bytes(table_of(*INT_AND_JSON), 39, row, before=1, after=2))
    start = "rows[0].after.@2.diffs"
    assert found[f"{start}[0].operation"] == "REPLACE"
    assert found[f"{start}[0].path"] == "'$.a'"
    assert found[f"{start}[0].data.type"] == "small object"
    assert found[f"{start}[0].data.count"] == "1 elements"
    assert found[f"{start}[0].data.key[0]"] == "'a'"
    assert found[f"{start}[0].data.value[0]"] == '"text"'
    assert found[f"{start}[1].operation"] == "REMOVE"
    assert found["rows[0].before.@1"] == "INT 1"


def test_holes_of_documents_are_shown_as_such() -> None:
    document = bytes.fromhex("02 0100 0d00 0c 0700 0178 6162 6364".replace(" ", ""))
    row = b"\0\1\0\0\0" + len(document).to_bytes(4, "little") + document
    found = fields(rows_bytes(table_of(*INT_AND_JSON), 30, row))
    assert found["rows[0].after.@2.json.hole"] == "bytes that nothing points to"


def test_a_damaged_document_is_shown_as_far_as_it_goes() -> None:
    document = bytes.fromhex("02 0500 0d00 0c 0700 0178 6162 6364".replace(" ", ""))
    row = b"\0\1\0\0\0" + len(document).to_bytes(4, "little") + document
    table = table_of(*INT_AND_JSON)
    data = encode_event(rows_bytes(table, 30, row + row), algorithm=0)  # type: ignore[arg-type]
    spans, problem = explain_event(data, {100: table}, 0)
    covers(spans, data)
    assert problem is not None
    assert problem.code == "bad-count"
    found = {span.field for span in spans}
    assert {"rows[0].after.@2.json.damage", "rows[1].after.@1"} <= found


def _nested(body: bytes, levels: int) -> bytes:
    """Arrays of one element around an array, without the type byte."""
    for _ in range(levels):
        body = pack("<HHBH", 1, 7 + len(body), 2, 7) + body
    return body


@pytest.mark.parametrize(("outer", "problem"), [(130, None), (139, None), (140, 3157), (150, 3157)])
def test_a_shared_child_counts_its_levels_wherever_it_stands(outer: int, problem: int | None) -> None:
    """The first entry points into the second one, at arrays of 60 levels; 200 levels are explained."""
    inner = _nested(pack("<HH", 0, 4), 60)
    body = _nested(inner, outer)
    document = b"\x02" + pack("<HHBHBH", 2, 10 + len(body), 2, 10 + 7 * outer, 2, 10) + body
    _, damage = document_spans(document)
    assert getattr(damage, "number", None) == problem


def test_a_document_of_shared_children_is_explained_once_and_refused() -> None:
    """2^60 values in 600 bytes: what is read again is counted, not read."""
    document = shared(60)
    spans, damage = document_spans(document)
    assert damage is not None
    assert damage.code == "shared-children"
    assert len(spans) == 1 + 4 * 60 + 2 + 1  # the type; count, size and two entries; the string; the damage


def test_rows_without_their_table_map_are_bytes() -> None:
    raw = rows_bytes(table_of(*INT_AND_JSON), 30, b"\0\1\0\0\0\0\0\0\0")
    spans, problem = explain_event(encode_event(raw, algorithm=0), {}, 0)  # type: ignore[arg-type]
    assert problem is None
    assert spans[-1].meaning == "no TABLE_MAP that fits"


def test_damage_ends_the_reading_and_the_rest_is_shown() -> None:
    data = encode_event(control_events.Xid(xid=1), algorithm=1)
    broken = data[:20] + b"\xff" + data[21:]
    spans, problem = explain_event(broken, {}, 4)
    covers(spans, broken)
    assert problem is not None
    assert problem.code == "checksum"
    assert spans[-1].meaning.startswith("CRC-32, wrong")
    short = Raw(type=16, data=b"\1\2\3")
    data = encode_event(short, algorithm=1)  # type: ignore[arg-type]
    spans, problem = explain_event(data, {}, 4)
    covers(spans, data)
    assert problem is not None
    assert problem.code == "truncated"


@pytest.mark.parametrize("path", CORPUS[:6], ids=lambda path: path.stem)
def test_changed_bytes_never_break_the_explainer(path: Path) -> None:
    with path.open("rb") as file:
        events = [event for event in read_events(file) if event.checksum is not None]
    decoder = EventDecoder(verify=False)
    for event in events[:12]:
        raw = event.typed().encode()
        for place in range(19, len(raw), 3):
            changed = raw[:place] + bytes((raw[place] ^ 0xFF,)) + raw[place + 1 :]
            spans, _ = explain_event(changed, decoder.tables, 4)
            assert b"".join(span.data for span in spans) == changed
        try:
            decoder.decode(raw)
        except CodecError as error:
            pytest.fail(str(error))


def test_a_boundary_marker_is_named_beside_the_flags() -> None:
    event = encode_event(Gtid(), flags=0x6008)
    spans, problem = explain_event(event, {}, 4)
    assert problem is None
    assert [span.meaning for span in spans if span.field == "header.flags"] == [
        "SUPPRESS_USE; boundary 3 Start Transaction"
    ]
