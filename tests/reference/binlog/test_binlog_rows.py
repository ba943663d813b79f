"""Row events: images, shared images, v1 headers, extra data, splitting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.reference.binlog.event import decode_body, decode_event, encode_event
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.rows import (
    STMT_END,
    LazyRows,
    NdbInfo,
    PartitionInfo,
    Row,
    RowsBody,
    UnknownInfo,
    decode_rows_event,
    fixed_size,
    full_bitmap,
    included,
    rows_body,
    split_rows,
)
from conformance.reference.errors import CodecError, DecodeError, EncodeError
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import decode_diffs
from conformance.reference.tables.columns import TINY, ColumnType, PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.table_map import TableMap

_JSONS = table_map(
    Table(
        schema="d",
        name="t",
        columns=(
            Column(name="id", type="INT"),
            Column(name="a", type="JSON"),
            Column(name="x", type="INT"),
            Column(name="b", type="JSON"),
            Column(name="c", type="JSON"),
            Column(name="s", type="TEXT"),
        ),
        primary_key=((0, 0),),
    ),
    table_id=1499,
)
_DIFF = bytes.fromhex("0003242e6e03050200")  # REPLACE $.n 2


def _decode(body: RowsBody, table: TableMap = _JSONS) -> RowsBody:
    lazy = decode_body(body.type, body.encode(), {table.table_id: table})
    assert isinstance(lazy, LazyRows)
    return lazy.typed()


def test_the_worked_partial_update_is_these_bytes() -> None:
    body = rows_body(_JSONS, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (PartialJson(_DIFF),))], before=[0], after=[3])
    assert body.encode().hex() == (
        "db050000000011000200060108"
        "0001000000010200090000000003242e6e03050200"
    )  # fmt: skip
    assert _decode(body).rows == (Row((1,), (PartialJson(_DIFF),), 1, 2),)


def test_value_options_belong_to_each_row() -> None:
    rows = [
        Row((1,), (PartialJson(_DIFF), None), 1, 0b001),
        Row((2,), (b"\x05\x01\x00", PartialJson(b"")), 1, 0b100),
        Row((3,), (b"\x04\x00", None), 0),
        Row((4,), (None, None), 1, 0),  # allowed: no column uses it
    ]
    body = rows_body(_JSONS, EventType.PARTIAL_UPDATE_ROWS, rows, before=[0], after=[1, 4])
    assert _decode(body).rows == tuple(rows)


def test_partial_bits_count_the_json_columns_of_the_table() -> None:
    columns = tuple(Column(name=f"j{i}", type="JSON") for i in range(17))
    table = table_map(Table(schema="d", name="t", columns=(Column(name="id", type="INT"), *columns)))
    body = rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (PartialJson(b""),))], before=[0], after=[17])
    raw = body.encoded_rows()[0]
    assert raw[5:9].hex() == "01000001"
    assert _decode(body, table).rows[0].partial_columns == 1 << 16


@pytest.mark.parametrize("options", [b"\1", b"\xfc\1\0"])  # the longer form is read with care
def test_unused_partial_bits_are_ignored(options: bytes) -> None:
    body = rows_body(_JSONS, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (None,), 1, 0)], before=[0], after=[1])
    raw = bytearray(body.encode())
    assert raw[-3:-1] == b"\1\0"
    raw[-3:-1] = options + b"\xf8"
    lazy = decode_body(body.type, bytes(raw), {1499: _JSONS})
    assert isinstance(lazy, LazyRows)
    assert lazy.typed() == body


@pytest.mark.parametrize("options", [2, 3, 0x80])
def test_unknown_value_options_are_refused(options: int) -> None:
    body = rows_body(_JSONS, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (None,), 0)], before=[0], after=[1])
    raw = bytearray(body.encode())
    raw[-2] = options
    lazy = decode_body(body.type, bytes(raw), {1499: _JSONS})
    assert isinstance(lazy, LazyRows)
    with pytest.raises(DecodeError) as caught:
        lazy.typed()
    assert (caught.value.code, caught.value.path) == (
        "value-options",
        ("PARTIAL_UPDATE_ROWS_EVENT", "rows[0]", "shared_image", "value_options"),
    )
    assert caught.value.offset == 19 + len(raw) - 2


def test_a_long_form_of_value_options_is_accepted() -> None:
    body = rows_body(_JSONS, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (None,), 1, 0)], before=[0], after=[1])
    head = body.encode()
    at = len(head) - 3
    raw = head[:at] + b"\xfc\x01\x00" + head[at + 1 :]
    lazy = decode_body(body.type, raw, {1499: _JSONS})
    assert isinstance(lazy, LazyRows)
    assert lazy.typed() == body


@pytest.mark.parametrize(
    "row",
    [
        Row((1,), (PartialJson(_DIFF),), 0),
        Row((1,), (PartialJson(_DIFF),), 1, 0),
        Row((1,), (b"\x04\x00",), 1, 2),
        Row((1,), (None,), 1, 8),
        Row((1,), (None,), 0, 1),
        Row((1,), ()),
        Row((1, 2), (None,)),
        Row(None, (None,)),
        Row((1,), None),
        Row(("1",), (None,)),  # type: ignore[arg-type]
        Row((1 << 31,), (None,)),
    ],
)
def test_a_row_that_does_not_fit_the_event_is_an_encode_error(row: Row) -> None:
    body = rows_body(_JSONS, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[3])
    with pytest.raises(EncodeError):
        body.encode()


def test_diffs_and_options_exist_in_partial_updates_only() -> None:
    for row in (Row((1,), (PartialJson(_DIFF),)), Row((1,), (None,), 0), Row((1,), (None,), None, 0)):
        with pytest.raises(EncodeError):
            rows_body(_JSONS, EventType.UPDATE_ROWS, [row], before=[0], after=[3]).encode()


@pytest.mark.parametrize("form", ["v1", "v2"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_rows_of_5_6_both_ways(vectors: Any, form: str, number: int) -> None:
    data = vectors("rows-v1.json")
    vector = data["vectors"][number]
    file = (
        MAGIC
        + bytes.fromhex(data["format_description_hex"])
        + bytes.fromhex(vector[form]["table_map_hex"])
        + bytes.fromhex(vector[form]["event_hex"])
    )
    events = decode_file(file)
    body = events[-1].body
    assert isinstance(body, RowsBody)
    assert body.type == vector[form]["type"]
    assert body.null_fill

    def shown(values: Any) -> Any:
        return values and [value.decode() if isinstance(value, bytes) else value for value in values]

    for row, expected in zip(body.rows, vector["rows"], strict=True):
        assert shown(row.before) == expected.get("before")
        assert shown(row.after) == expected.get("after")
    assert MAGIC + b"".join(event.encode() for event in events) == file


def test_v1_and_v2_differ_in_the_header_only(vectors: Any) -> None:
    vector = vectors("rows-v1.json")["vectors"][0]
    old, new = (decode_event(bytes.fromhex(vector[form]["table_map_hex"])).body for form in ("v1", "v2"))
    assert isinstance(old, TableMap)
    assert isinstance(new, TableMap)
    body = rows_body(old, EventType.WRITE_ROWS_V1, [Row(None, (1, b"x", 5))])
    assert body.encode()[8:] == replace(body, type=EventType.WRITE_ROWS).encode()[10:]


def test_the_worklogs_own_example_is_decoded(vectors: Any) -> None:
    data = vectors("mysqlbinlog-wl2955-section6.json")
    file = MAGIC + b"".join(
        bytes.fromhex(data[name]) for name in ("format_description_hex", "table_map_hex", "partial_update_rows_hex")
    )
    events = decode_file(file)
    assert MAGIC + b"".join(event.encode() for event in events) == file
    body = events[-1].body
    assert isinstance(body, RowsBody)
    assert body.rows[0].after is not None
    (value,) = body.rows[0].after
    assert isinstance(value, PartialJson)
    assert [diff.operation.name for diff in decode_diffs(value.diffs)] == [
        "REPLACE", "REPLACE", "REMOVE", "REMOVE", "INSERT", "INSERT", "INSERT",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "extra", "stored"),
    [
        (EventType.WRITE_ROWS, (PartitionInfo(3),), "0500010300"),
        (EventType.PARTIAL_UPDATE_ROWS, (PartitionInfo(1, 0),), "07000101000000"),
        (EventType.UPDATE_ROWS, (NdbInfo(1, b"xy"),), "07000004017879"),
        (EventType.DELETE_ROWS, (PartitionInfo(2), UnknownInfo(7, b"rest")), "0a000102000772657374"),
    ],
)  # fmt: skip
def test_extra_row_data_both_ways(kind: EventType, extra: tuple[Any, ...], stored: str) -> None:
    body = rows_body(_JSONS, kind, [], before=[0], after=[0], extra=extra)
    assert body.encode()[8 : 8 + len(stored) // 2].hex() == stored
    assert _decode(body) == body


def test_full_images_have_unused_bits_and_minimal_ones_have_not() -> None:
    body = rows_body(_JSONS, EventType.UPDATE_ROWS, [], after=[0, 5])
    assert (body.before_columns, body.after_columns) == (0xFF, 0b100001)
    assert full_bitmap(8) == 0xFF
    assert full_bitmap(9) == 0xFFFF
    assert included(0xFF, 3) == (0, 1, 2)


def test_null_bits_follow_the_included_columns() -> None:
    body = rows_body(_JSONS, EventType.WRITE_ROWS, [Row(None, (None, 3, b"t"))], after=[1, 2, 5])
    assert body.encoded_rows() == [bytes.fromhex("0103000000010074")]  # fmt: skip
    filled = replace(body, null_fill=True)
    assert filled.encoded_rows()[0][0] == 0b11111001
    assert _decode(filled) == filled


def test_bytes_that_make_no_progress_are_refused() -> None:
    body = rows_body(_JSONS, EventType.WRITE_ROWS, [Row(None, ())], after=[])
    lazy = decode_body(body.type, body.encode() + b"\0", {1499: _JSONS})
    assert isinstance(lazy, LazyRows)
    with pytest.raises(DecodeError) as caught:
        lazy.typed()
    assert caught.value.code == "empty-row"


def test_a_broken_value_names_row_image_and_column() -> None:
    body = rows_body(_JSONS, EventType.WRITE_ROWS, [Row(None, (1, b"abc")), Row(None, (2, b"de"))], after=[0, 5])
    raw = body.encode()[:-1]
    lazy = decode_body(body.type, raw, {1499: _JSONS})
    assert isinstance(lazy, LazyRows)
    with pytest.raises(DecodeError) as caught:
        lazy.typed()
    assert caught.value.path == ("WRITE_ROWS_EVENT", "rows[1]", "after", "@6")
    assert caught.value.code == "truncated"


# binlog-events 10.1: INT key and CHAR(1), row of 7 bytes, fixed part of 12.
_SMALL = table_map(
    Table(
        schema="d", name="t", columns=(Column(name="id", type="INT"), Column(name="c", type="CHAR", length=1)),
        primary_key=((0, 0),),
    )
)  # fmt: skip


def test_rows_are_split_where_the_server_splits_them() -> None:
    body = rows_body(_SMALL, EventType.WRITE_ROWS, [Row(None, (i, b"x")) for i in range(3000)])
    assert fixed_size(body) == 12
    parts = split_rows(body, 8192)
    assert [len(part.rows) for part in parts] == [1168, 1168, 664]
    assert len(encode_event(parts[0])) == 8211
    assert [bool(part.flags & STMT_END) for part in parts] == [False, False, True]


def test_a_row_above_the_limit_is_alone() -> None:
    rows = [Row(None, (1, None, None, None, None, b"x" * size)) for size in (10, 9000, 10, 10)]
    parts = split_rows(rows_body(_JSONS, EventType.WRITE_ROWS, rows), 8192)
    assert [len(part.rows) for part in parts] == [1, 1, 2]


def test_an_event_without_rows_stays_one_event() -> None:
    assert len(split_rows(rows_body(_JSONS, EventType.WRITE_ROWS, []))) == 1


def test_a_table_map_with_another_number_of_columns_is_refused() -> None:
    body = rows_body(_SMALL, EventType.WRITE_ROWS, [Row(None, (1, b"x"))])
    lazy = decode_body(body.type, body.encode(), {body.table_id: replace(_JSONS, table_id=body.table_id)})
    assert isinstance(lazy, LazyRows)
    with pytest.raises(DecodeError) as caught:
        lazy.typed()
    assert caught.value.code == "column-count"


def test_a_column_of_unknown_form_is_reported_with_its_name() -> None:
    table = replace(_SMALL, columns=(_SMALL.columns[0], _SMALL.columns[1]._replace(type=6, metadata=0)))
    with pytest.raises(CodecError) as caught:
        rows_body(table, EventType.WRITE_ROWS, [Row(None, (1, 5))]).encode()
    assert caught.value.code == "column-type"
    assert rows_body(table, EventType.WRITE_ROWS, [Row(None, (1, None))]).encode()  # NULL has no value


@pytest.mark.parametrize("count", [63, 64, 65, 100, 300])
def test_nulls_of_wide_tables_are_where_they_were(count: int) -> None:
    table = TableMap(
        table_id=7, schema="d", table="t", columns=tuple(ColumnType(TINY) for _ in range(count)),
        nullable=tuple(True for _ in range(count)),
    )  # fmt: skip
    every_third = tuple(None if place % 3 == 0 else place % 100 for place in range(count))
    the_last = (*(place % 100 for place in range(count - 1)), None)
    body = rows_body(table, EventType.WRITE_ROWS, [Row(None, every_third), Row(None, the_last)])
    found = decode_rows_event(EventType.WRITE_ROWS, body.encode(), {7: table})
    assert [row.after for row in found.rows()] == [every_third, the_last]
    assert found.typed().encode() == body.encode()
