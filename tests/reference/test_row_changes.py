"""Row changes as JSON lines (design, section 6): captured logs against stored lines, and each kind of value."""

from __future__ import annotations

import json
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from conformance.reference.binlog import columns as column_types
from conformance.reference.binlog.columns import ColumnType
from conformance.reference.binlog.event import Event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.metadata import DefaultCharset, Members, Names
from conformance.reference.binlog.small import Rotate
from conformance.reference.errors import CodecError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import UInt
from conformance.reference.replay.engine import Replay
from conformance.reference.row_changes import RowChanges
from tests.reference.made_logs import insert, partial_update, table_of

if TYPE_CHECKING:
    from conformance.reference.binlog.metadata import MetadataField
    from conformance.reference.binlog.rows import LazyRows

DATA = Path(__file__).parents[1] / "data"
GOLDEN = sorted((DATA / "jsonl").glob("*.jsonl"))
KEYS = [
    "file", "position", "event", "timestamp", "server_id", "gtid", "schema", "table", "operation", "row", "before",
    "after", "inner",
]  # fmt: skip


def changes_of(name: str, variant: str) -> list[str]:
    changes = RowChanges(tagged=variant == "types", rows_only=variant != "all")
    changes.start_file(name)
    replay = Replay(lenient=True) if variant == "resolved" else None
    lines: list[str] = []
    with (DATA / "binlogs" / name).open("rb") as file:
        for event in read_events(file, expand=True):
            if replay is not None:
                replay.other(event)
            lines += changes.event(event, None if replay is None else replay.row)
    assert variant != "resolved" or not changes.counts.unresolved
    return lines


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_lines_of_captured_logs_stay_as_they_are(golden: Path) -> None:
    stem, _, variant = golden.stem.partition(".")
    assert changes_of(f"{stem}.binlog", variant) == golden.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_every_line_is_one_object_with_the_keys_of_the_contract(golden: Path) -> None:
    for line in golden.read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line)) == KEYS


def in_event(body: object) -> Event:
    code = body.type  # type: ignore[attr-defined]
    return Event(Header(1700000000, code, 1, 99, 99, 0), body, None, 4)  # type: ignore[arg-type]


def after(event: LazyRows, *, tagged: bool = False) -> str:
    changes = RowChanges(tagged=tagged)
    changes.start_file("f")
    (line,) = changes.event(in_event(event))
    return line[line.index('"after": ') + 9 : line.rindex(', "inner"')]


def json_column(value: object, *, tagged: bool = False) -> str:
    document = encode(value)  # type: ignore[arg-type]
    table = table_of(ColumnType(column_types.JSON, 4))
    return after(insert(table, "00" + (len(document).to_bytes(4, "little") + document).hex()), tagged=tagged)


@pytest.mark.parametrize(
    ("value", "plain", "tagged"),
    [
        (1.0, "1.0", "1.0"),
        (1e300, "1e300", "1e300"),
        (UInt(5), "5", '{"$type": "UNSIGNED INTEGER", "text": "5"}'),
        (opaque.decimal_from_text("1.50"), "1.50", '{"$type": "DECIMAL", "text": "1.50"}'),
        (opaque.date(2024, 1, 2), '"2024-01-02"', '{"$type": "DATE", "text": "2024-01-02"}'),
        ({"$x": [1]}, '{"$x": [1]}', '{"$object": [["$x", [1]]]}'),
        ({"a": 'q"\n', "bb": None}, '{"a": "q\\"\\n", "bb": null}', '{"a": "q\\"\\n", "bb": null}'),
        ("", '""', '""'),
    ],
    ids=lambda value: str(value)[:20],
)
def test_documents_are_native_json_with_mysqls_numbers(value: object, plain: str, tagged: str) -> None:
    assert json_column(value) == f'{{"@1": {{"json": {plain}}}}}'
    assert json_column(value, tagged=True) == f'{{"@1": {{"json": {tagged}}}}}'


def test_diffs_keep_their_order_and_a_remove_has_no_value() -> None:
    text = after(partial_update(bytes.fromhex("0003242e6103050700 0203242e62")))
    assert text == (
        '{"@2": {"diffs": [{"operation": "REPLACE", "path": "$.a", "value": 7}, '
        '{"operation": "REMOVE", "path": "$.b"}]}}'
    )


def test_the_empty_diff_is_an_empty_list() -> None:
    assert after(partial_update(b"")) == '{"@2": {"diffs": []}}'


def test_a_damaged_diff_is_an_error_with_its_place() -> None:
    with pytest.raises(CodecError) as caught:
        list(RowChanges().event(in_event(partial_update(bytes.fromhex("0003242e6103050700"), b"\x09"))))
    assert caught.value.path[:2] == ("rows[1]", "@2")


VARCHAR = ColumnType(column_types.VARCHAR, 20)


@pytest.mark.parametrize(
    ("collation", "value", "shown"),
    [
        (255, "ü".encode(), '"ü"'),
        (255, b"\xff", '{"hex": "ff"}'),
        (8, b"\xe9", '"é"'),
        (63, b"abc", '{"hex": "616263"}'),
        (35, "a€".encode("utf-16-be"), '"a€"'),
        (9999, b"abc", '{"hex": "616263"}'),
    ],
)
def test_text_is_text_where_its_character_set_makes_it_so(collation: int, value: bytes, shown: str) -> None:
    table = table_of(VARCHAR, metadata=[DefaultCharset(2, collation)])
    assert after(insert(table, f"00 {len(value):02x} {value.hex()}")) == f'{{"@1": {shown}}}'


def test_text_of_an_old_log_that_tells_no_character_set_is_bytes() -> None:
    assert after(insert(table_of(VARCHAR), "00 01 61")) == '{"@1": {"hex": "61"}}'


@pytest.mark.parametrize(
    ("column", "stored", "shown"),
    [
        (ColumnType(column_types.FLOAT, 4), pack("<f", 16777216.0).hex(), "16777200"),
        (ColumnType(column_types.FLOAT, 4), pack("<f", 1e38).hex(), "1e38"),
        (ColumnType(column_types.DOUBLE, 8), pack("<d", 1.0).hex(), "1"),
        (ColumnType(column_types.DOUBLE, 8), pack("<d", -0.0).hex(), "-0"),
        (ColumnType(column_types.DOUBLE, 8), pack("<d", 1e15).hex(), "1e15"),
        (ColumnType(column_types.DOUBLE, 8), pack("<d", 0.1).hex(), "0.1"),
        (ColumnType(column_types.YEAR), "00", '"0000"'),
        (ColumnType(column_types.YEAR), "7c", '"2024"'),
        (ColumnType(column_types.DATE), "000000", '"0000-00-00"'),
        (ColumnType(column_types.TIMESTAMP2, 3), "00000000 0000", '"0000-00-00 00:00:00.000"'),
        (ColumnType(column_types.BIT, 2 | 1 << 8), "0201", '{"hex": "0201"}'),
        (ColumnType(column_types.STRING, column_types.ENUM | 1 << 8), "02", '{"index": 2}'),
        (ColumnType(column_types.STRING, column_types.SET | 1 << 8), "05", '{"index": 5}'),
        (ColumnType(column_types.GEOMETRY, 4), "02000000 abcd", '{"hex": "abcd"}'),
        (ColumnType(column_types.VECTOR, 4), "04000000 0000803f", '{"hex": "0000803f"}'),
    ],
    ids=str,
)
def test_values_of_other_types(column: ColumnType, stored: str, shown: str) -> None:
    assert after(insert(table_of(column), "00" + stored)) == f'{{"@1": {shown}}}'


def test_members_have_their_names_where_the_log_has_them() -> None:
    enum = ColumnType(column_types.STRING, column_types.ENUM | 1 << 8)
    several = ColumnType(column_types.STRING, column_types.SET | 1 << 8)
    metadata: list[MetadataField] = [
        Names(("e", "s")),
        Members(6, ((b"a", b"b"),)),
        Members(5, ((b"x", b"y"),)),
        DefaultCharset(10, 8),
    ]
    table = table_of(enum, several, metadata=metadata)
    assert after(insert(table, "00 02 03")) == '{"e": "b", "s": "x,y"}'
    assert after(insert(table, "00 00 00")) == '{"e": "", "s": ""}'
    assert after(insert(table, "00 09 04")) == '{"e": {"index": 9}, "s": {"index": 4}}'


def test_members_in_binary_are_named_where_they_are_utf8() -> None:
    enum = ColumnType(column_types.STRING, column_types.ENUM | 1 << 8)
    several = ColumnType(column_types.STRING, column_types.SET | 1 << 8)
    metadata: list[MetadataField] = [
        Members(6, ((b"\xc3\xa9", b"\xe9"),)),
        Members(5, ((b"x", b"\xff"),)),
        DefaultCharset(10, 63),
    ]
    table = table_of(enum, several, metadata=metadata)
    assert after(insert(table, "00 01 01")) == '{"@1": "é", "@2": "x"}'
    assert after(insert(table, "00 02 03")) == '{"@1": {"index": 2}, "@2": {"index": 3}}'


def test_binary_columns_have_the_zeros_that_the_log_leaves_out() -> None:
    table = table_of(ColumnType(column_types.STRING, column_types.STRING | 3 << 8), metadata=[DefaultCharset(2, 63)])
    assert after(insert(table, "00 01 61")) == '{"@1": {"hex": "610000"}}'


def test_null_is_null_and_columns_outside_the_image_are_absent() -> None:
    table = table_of(ColumnType(column_types.LONG), ColumnType(column_types.LONG))
    assert after(insert(table, "02 01000000")) == '{"@1": 1, "@2": null}'


def test_the_transaction_is_named_until_the_file_turns() -> None:
    changes = RowChanges()
    changes.start_file("f")
    table = table_of(ColumnType(column_types.LONG))

    def gtid() -> object:
        (line,) = changes.event(in_event(insert(table, "00 01000000")))
        return json.loads(line)["gtid"]

    assert gtid() is None
    uuid = UUID(int=1)
    list(changes.event(in_event(Gtid(uuid=uuid, gno=7))))
    assert gtid() == f"{uuid}:7"
    list(changes.event(in_event(GtidTagged(uuid=uuid, gno=8, tag="blue"))))
    assert gtid() == f"{uuid}:blue:8"
    list(changes.event(in_event(Rotate(name=b"x"))))
    assert gtid() is None
