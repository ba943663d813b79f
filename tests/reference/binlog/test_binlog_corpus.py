"""Every captured file: decoded to typed values, built anew from them alone, encoded to the same bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import Event, encode_event
from conformance.reference.binlog.files import FileReader, decode_file, read_events
from conformance.reference.binlog.header import MAGIC, Checksum
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows, RowsBody
from conformance.reference.jsonb.layout import decode_stored, encode_stored
from conformance.reference.partial.diffs import decode_diffs, encode_diffs
from conformance.reference.tables.charsets import text_of
from conformance.reference.tables.columns import BIT, BLOB, GEOMETRY, JSON, STRING, VARCHAR, VECTOR, PartialJson
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp, text

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.tables.table_map import TableMap


def _rebuild(value: Any) -> Any:
    """The same value from new objects: nothing survives but what the fields say."""
    if isinstance(value, tuple):
        items = [_rebuild(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if is_dataclass(value) and not isinstance(value, type):
        assert not isinstance(value, LazyRows)
        return type(value)(**{each.name: _rebuild(getattr(value, each.name)) for each in fields(value) if each.init})
    return value


def _through_documents(body: RowsBody) -> RowsBody:
    """JSON documents and diffs taken apart and put together again."""
    table = body.table
    assert table is not None

    def convert(values: Any, bitmap: int | None) -> Any:
        if values is None or bitmap is None:
            return values
        columns = [column for index, column in enumerate(table.columns) if bitmap >> index & 1]
        out: list[Any] = []
        for column, value in zip(columns, values, strict=True):
            if column.type == JSON and isinstance(value, PartialJson):
                out.append(PartialJson(encode_diffs(decode_diffs(value.diffs))))
            elif column.type == JSON and value is not None:
                out.append(encode_stored(decode_stored(value)))
            else:
                out.append(value)
        return tuple(out)

    rows = [
        row._replace(before=convert(row.before, body.before_columns), after=convert(row.after, body.after_columns))
        for row in body.rows
    ]
    rebuilt: RowsBody = _rebuild(body)
    return type(rebuilt)(
        **{each.name: getattr(rebuilt, each.name) for each in fields(rebuilt) if each.name != "rows"}, rows=tuple(rows)
    )


def _fresh(event: Event) -> bytes:
    body = _through_documents(event.body) if isinstance(event.body, RowsBody) else _rebuild(event.body)
    header = event.header
    return encode_event(
        body,
        timestamp=header.timestamp,
        server_id=header.server_id,
        log_pos=header.log_pos,
        flags=header.flags,
        algorithm=Checksum.NONE if event.checksum is None else Checksum.CRC32,
    )


def test_a_file_is_the_encoding_of_its_typed_events(captured: Path) -> None:
    data = captured.read_bytes()
    events = decode_file(data)
    assert MAGIC + b"".join(map(_fresh, events)) == data


def test_every_event_of_a_captured_file_has_a_typed_body(captured: Path) -> None:
    assert not [event for event in decode_file(captured.read_bytes(), expand=True) if isinstance(event.body, Opaque)]


def test_events_inside_a_payload_encode_to_the_uncompressed_bytes(captured: Path) -> None:
    payload = None
    inner: list[Event] = []
    for event in [*decode_file(captured.read_bytes(), expand=True), None]:
        if event is not None and event.inner is not None:
            inner.append(event)
            continue
        if payload is not None:
            content = payload.uncompressed()
            assert b"".join(map(_fresh, inner)) == content
            assert len(content) == payload.uncompressed_size
        inner = []
        payload = event.body if event is not None and isinstance(event.body, TransactionPayload) else None


def test_the_counts_are_those_of_the_manifest(captured: Path, manifest: dict[str, Any]) -> None:
    expected = manifest[captured.name]["event_counts"]
    found = Counter(event.header.type for event in decode_file(captured.read_bytes(), expand=True))
    assert sum(found.values()) == sum(expected.values())
    assert sorted(found.values()) == sorted(expected.values())


def test_positions_lead_from_event_to_event(captured: Path) -> None:
    position = 4
    for event in decode_file(captured.read_bytes()):
        assert event.position == position
        position += event.header.length
        if "relay" not in captured.name and "in-use" not in captured.name:
            assert event.header.log_pos == position
    assert position == captured.stat().st_size


@pytest.mark.parametrize("window", [1, 7, 64, 4096])
def test_the_size_of_the_pieces_changes_nothing(corpus: Path, window: int) -> None:
    data = (corpus / "12-compressed-payload.binlog").read_bytes()
    reader = FileReader(expand=True)
    found = []
    for start in range(0, len(data), window):
        reader.feed(data[start : start + window])
        found += [event.typed() for event in reader.events()]
    reader.finish()
    assert found == decode_file(data, expand=True)


def test_a_file_object_is_read_in_windows(corpus: Path) -> None:
    path = corpus / "02-partial-off-same-sql.binlog"
    with path.open("rb") as file:
        events = [event.typed() for event in read_events(file, window=100)]
    assert events == decode_file(path.read_bytes())


def _as_expected(table: TableMap, index: int, value: Any, encoding: str) -> str | None:
    """One value as the manifest shows it (its ``encoding_of_expected_tables``)."""
    info = table.described[index]
    if value is None:
        return None
    if encoding == "hex":
        if info.type.real_type == STRING:
            value = value.ljust(info.type.length, b"\0")  # the log leaves the padding of BINARY out
        return str(value.hex().upper())
    if isinstance(value, Date | Time | Datetime | Timestamp):
        return text(value, info.type.scale)
    if info.type.is_enum_or_set:
        members = [member.decode() for member in info.members or ()]
        if info.type.real_type == 247:
            return str(members[value - 1])
        return ",".join(member for bit, member in enumerate(members) if value >> bit & 1)
    if isinstance(value, bytes):
        return text_of(value, info.collation)
    if isinstance(value, float):
        return f"{value:g}".replace("e+", "e")
    return str(value)


def test_values_of_every_type_are_those_that_the_server_shows(corpus: Path, manifest: dict[str, Any]) -> None:
    name = "07-all-types-metadata-full.binlog"
    expected = manifest[name]["expected_tables"]["d.t"]
    checked = Counter[int]()
    rows = [
        (event.body.table, row.after)
        for event in decode_file((corpus / name).read_bytes())
        if event.header.type in ROWS_TYPES and isinstance(event.body, RowsBody)
        for row in event.body.rows
    ]
    assert len(rows) == len(expected["rows"])
    for (table, values), shown in zip(rows, expected["rows"], strict=True):
        assert table is not None
        assert values is not None
        for index, (value, (column, _, encoding), want) in enumerate(
            zip(values, expected["columns"], shown, strict=True)
        ):
            assert table.column_names[index] == column
            if encoding != "json-text":
                assert _as_expected(table, index, value, encoding) == want, column
                checked[table.columns[index].type] += 1
    assert {BIT, BLOB, GEOMETRY, STRING, VARCHAR, VECTOR} <= checked.keys()


def test_a_compressed_frame_of_9_7_is_what_zstd_level_3_makes(corpus: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    if zstandard.ZSTD_VERSION[:2] != (1, 5):
        pytest.skip(f"frames differ between versions of libzstd; this is {zstandard.ZSTD_VERSION}")
    for event in decode_file((corpus / "12-compressed-payload.binlog").read_bytes()):
        if isinstance(event.body, TransactionPayload):
            assert TransactionPayload.compress(event.body.uncompressed()) == event.body
