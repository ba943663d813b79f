"""Damaged events: whatever the bytes, an answer or a declared error, and what decodes encodes again."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.files import decode_file, read_events
from conformance.reference.binlog.rows import LazyRows, RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.tables.table_map import TableMap

pytestmark = pytest.mark.slow

# The shortest captured event of each of these types: (file, type).
_SUBJECTS = [
    ("05-partial-multi-json-minimal", EventType.PARTIAL_UPDATE_ROWS),
    ("07-all-types-metadata-full", EventType.WRITE_ROWS),
    ("07-all-types-metadata-full", EventType.TABLE_MAP),
    ("09-table-metadata-edge-cases", EventType.TABLE_MAP),
    ("16-row-split-partition-gipk", EventType.WRITE_ROWS),
    ("17-xa-savepoint-rowsquery", EventType.UPDATE_ROWS),
    ("05-partial-multi-json-minimal", EventType.FORMAT_DESCRIPTION),
    ("10-tagged-gtids-b", EventType.PREVIOUS_GTIDS),
    ("10-tagged-gtids-a", EventType.GTID_TAGGED),
    ("21-replica-binlog", EventType.GTID),
    ("13-statement-format", EventType.QUERY),
    ("13-statement-format", EventType.USER_VAR),
    ("12-compressed-payload", EventType.TRANSACTION_PAYLOAD),
    ("17-xa-savepoint-rowsquery", EventType.XA_PREPARE),
    ("19-load-data-statement", EventType.EXECUTE_LOAD_QUERY),
]


_EACH = pytest.mark.parametrize(
    ("file", "code"), _SUBJECTS, ids=[f"{file}-{event_name(code)}" for file, code in _SUBJECTS]
)


def _subject(corpus: Path, file: str, code: int) -> tuple[bytes, dict[int, TableMap]]:
    found: list[tuple[bytes, dict[int, TableMap]]] = []
    for event in decode_file((corpus / f"{file}.binlog").read_bytes()):
        if event.header.type == code:
            body: Any = event.body
            raw = body.encode() + (bytes(4) if code == EventType.FORMAT_DESCRIPTION else b"")
            table = body.table if isinstance(body, RowsBody) else None
            found.append((raw, {table.table_id: table} if table else {}))
    return min(found, key=lambda item: len(item[0]))


def _check(code: int, data: bytes, tables: dict[int, TableMap]) -> None:
    """An error, or a value that survives encoding and decoding."""
    try:
        body: Any = decode_body(code, data, tables)
        if isinstance(body, LazyRows):
            body = body.typed()
    except CodecError as error:
        where = error.offset or 0
        if not (error.code and error.path and 0 <= where <= 19 + len(data)):
            pytest.fail(f"{error} at {where} of {data.hex()}")
        return
    assert not isinstance(body, Opaque)
    footer = bytes(4) if code == EventType.FORMAT_DESCRIPTION and body.has_footer else b""
    encoded = body.encode() + footer
    again: Any = decode_body(code, encoded, tables)
    if isinstance(again, LazyRows):
        again = again.typed()
    # Not by ==: a NaN in a changed FLOAT is never equal to itself.
    assert repr(again) == repr(body)
    assert again.encode() + footer == encoded


@pytest.mark.parametrize(
    ("file", "code"), _SUBJECTS, ids=lambda value: event_name(value) if isinstance(value, int) else value
)
def test_every_truncation_is_read_or_refused(corpus: Path, file: str, code: int) -> None:
    data, tables = _subject(corpus, file, code)
    for end in range(len(data)):
        _check(code, data[:end], tables)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("file", "code"), _SUBJECTS, ids=lambda value: event_name(value) if isinstance(value, int) else value
)
def test_every_changed_byte_is_read_or_refused(corpus: Path, file: str, code: int) -> None:
    data, tables = _subject(corpus, file, code)
    for at in range(len(data)):
        # Every value, but for the one long event: there those that mean something to a length.
        some = {0, 1, 0x7F, 0x80, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, data[at] ^ 1, data[at] + 1 & 0xFF}
        for value in range(256) if len(data) < 300 else some:
            _check(code, data[:at] + bytes((value,)) + data[at + 1 :], tables)


@pytest.mark.parametrize("code", [*range(64), 255])
def test_no_body_of_small_patterns_is_anything_but_read_or_refused(code: int) -> None:
    for size in (0, 1, 2, 7, 8, 9, 30, 70, 200):
        for pattern in (b"\0", b"\xff", b"\1", b"\xfc", b"\xfe\0", bytes(range(256))):
            data = (pattern * size)[:size]
            try:
                body: Any = decode_body(code, data, {})
                if isinstance(body, LazyRows):
                    body = body.typed()
            except CodecError:
                continue
            body.encode()


@pytest.mark.parametrize("name", ["05-partial-multi-json-minimal", "12-compressed-payload", "18-not-closed"])
def test_a_damaged_file_is_read_or_refused(corpus: Path, name: str) -> None:
    data = (corpus / f"{name}.binlog").read_bytes()
    for at in range(0, len(data), 3):
        damaged = data[:at] + bytes((data[at] ^ 0x81,)) + data[at + 1 :]
        for verify in (True, False):
            try:
                for event in read_events(io.BytesIO(damaged), verify=verify, expand=True):
                    event.typed()
            except CodecError:
                continue


def test_a_huge_length_waits_for_bytes_and_allocates_nothing(corpus: Path) -> None:
    data = bytearray((corpus / "18-not-closed.binlog").read_bytes())
    last = decode_file(bytes(data))[-1]
    assert last.position is not None
    data[last.position + 9 : last.position + 13] = b"\xff\xff\xff\xff"
    assert decode_file(bytes(data), verify=False) == decode_file((corpus / "18-not-closed.binlog").read_bytes())[:-1]
