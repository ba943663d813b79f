"""Row changes as JSON lines: captured logs against stored lines, and each kind of value."""

from __future__ import annotations

import json
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from conformance.reference.binlog.control_events import Rotate, Stop
from conformance.reference.binlog.event import Event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import UInt
from conformance.reference.replay.engine import Replay
from conformance.reference.tables import columns as column_types
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.metadata import DefaultCharset, Members, Names
from conformance.reference.text.row_changes import Counts, Form, RowChanges, operation_of
from conformance.reference.text.row_changes import changes_of as changes_of_event
from tests.reference.text.made_logs import insert, partial_update, table_of

if TYPE_CHECKING:
    from conformance.reference.binlog.rows import LazyRows
    from conformance.reference.tables.metadata import MetadataField
    from conformance.reference.text.row_changes import Resolve

DATA = Path(__file__).parents[2] / "data"
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


# --- borders of the lines


def lines_of(body: object, *, changes: RowChanges | None = None, resolve: Resolve | None = None) -> list[str]:
    return list((changes or RowChanges()).event(in_event(body), resolve))


@pytest.mark.parametrize(
    ("code", "operation"),
    [
        (EventType.WRITE_ROWS_V1, "insert"),
        (EventType.WRITE_ROWS, "insert"),
        (EventType.UPDATE_ROWS_V1, "update"),
        (EventType.UPDATE_ROWS, "update"),
        (EventType.PARTIAL_UPDATE_ROWS, "update"),
        (EventType.DELETE_ROWS_V1, "delete"),
        (EventType.DELETE_ROWS, "delete"),
    ],
)
def test_the_operation_is_that_of_the_event(code: int, operation: str) -> None:
    assert operation_of(code) == operation


def test_all_of_an_event_that_changes_rows() -> None:
    table = table_of(ColumnType(column_types.LONG), ColumnType(column_types.LONG), schema='a"b', name="\xfc")
    head = '{"file": null, "position": 4, "event": "UPDATE_ROWS_EVENT", "timestamp": 1700000000, "server_id": 1'
    head += ', "gtid": null, "schema": "a\\"b", "table": "\xfc", "operation": "update", '
    body = rows_body(table, EventType.UPDATE_ROWS, [Row((1,), (2, None)), Row((3,), (4, 5))], before=[1])
    changes = RowChanges()
    assert lines_of(body, changes=changes) == [
        head + '"row": 0, "before": {"@2": 1}, "after": {"@1": 2, "@2": null}, "inner": null}',
        head + '"row": 1, "before": {"@2": 3}, "after": {"@1": 4, "@2": 5}, "inner": null}',
    ]
    assert (changes.counts.changes, changes.counts.other_events, changes.counts.unresolved) == (2, 0, 0)
    body = rows_body(table, EventType.DELETE_ROWS, [Row((1, 2), None)])
    assert lines_of(body)[0].endswith('"row": 0, "before": {"@1": 1, "@2": 2}, "after": null, "inner": null}')
    body = rows_body(table, EventType.WRITE_ROWS, [Row(None, (1, 2))])
    assert lines_of(body)[0].endswith('"row": 0, "before": null, "after": {"@1": 1, "@2": 2}, "inner": null}')


def test_other_events_are_counted_and_told_where_they_are_asked_for() -> None:
    changes = RowChanges(rows_only=False)
    changes.start_file("f")
    query = Query(text=b"BEGIN", schema=b"d\xff")
    event = Event(Header(1700000000, query.type, 1, 99, 99, 0), query, None, None, inner=3)
    (line,) = changes.event(event)
    assert line == (
        '{"file": "f", "position": null, "event": "QUERY_EVENT", "timestamp": 1700000000, "server_id": 1, '
        '"gtid": null, "schema": "d\udcff", "table": null, "operation": null, "row": null, '
        '"before": null, "after": null, "inner": 3}'
    )
    (line,) = lines_of(table_of(ColumnType(column_types.LONG)), changes=changes)
    assert '"schema": "d", "table": "t", "operation": null' in line
    (line,) = lines_of(Query(text=b"BEGIN"), changes=changes)
    assert '"schema": null, "table": null, "operation": null' in line
    assert changes.counts.other_events == 3
    silent = RowChanges()
    assert lines_of(query, changes=silent) == []
    assert silent.counts.other_events == 1


def test_a_new_file_has_no_transaction_yet() -> None:
    changes = RowChanges()
    list(changes.event(in_event(Gtid(uuid=UUID(int=1), gno=7))))
    changes.start_file("g")
    (line,) = lines_of(insert(table_of(ColumnType(column_types.LONG)), "00 01000000"), changes=changes)
    assert line.startswith('{"file": "g", ')
    assert json.loads(line)["gtid"] is None


REPLACE = bytes.fromhex("0003242e6103050700")
DOCUMENT = encode({"a": 7})


def test_documents_that_the_diffs_lead_to_are_told_instead_of_them() -> None:
    body = partial_update(REPLACE, REPLACE, b"")
    asked: list[tuple[object, Row]] = []

    def resolve(event: object, row: Row) -> dict[int, bytes]:
        asked.append((event, row))
        return {} if len(asked) == 2 else {1: DOCUMENT}

    changes = RowChanges()
    lines = lines_of(body, changes=changes, resolve=resolve)
    told, diffs = (
        '{"@2": {"json": {"a": 7}}}',
        '{"@2": {"diffs": [{"operation": "REPLACE", "path": "$.a", "value": 7}]}}',
    )
    assert [line[line.index('"after": ') + 9 : line.rindex(', "inner"')] for line in lines] == [told, diffs, told]
    assert [event for event, _ in asked] == [body] * 3
    assert [row.after for _, row in asked] == [(PartialJson(REPLACE),), (PartialJson(REPLACE),), (PartialJson(b""),)]
    assert changes.counts.unresolved == 1
    assert lines_of(body, changes=changes, resolve=lambda event, row: {})
    assert changes.counts.unresolved == 4


def test_a_resolved_document_stands_for_its_own_column_only() -> None:
    table = table_of(ColumnType(column_types.JSON, 4), ColumnType(column_types.JSON, 4), ColumnType(column_types.LONG))
    body = rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (PartialJson(b""), encode(1), 2))], before=[2])
    (line,) = lines_of(body, resolve=lambda event, row: {0: DOCUMENT})
    assert '"after": {"@1": {"json": {"a": 7}}, "@2": {"json": 1}, "@3": 2}' in line


def test_documents_can_be_left_to_whoever_asks() -> None:
    table = table_of(ColumnType(column_types.JSON, 4), ColumnType(column_types.LONG))
    rows = [Row(None, (DOCUMENT, 1)), Row(None, (None, 2))]
    body = rows_body(table, EventType.WRITE_ROWS, rows)
    for form, first in ((Form.APART, '{"@2": 1}'), (Form.PLAIN, '{"@1": {"json": {"a": 7}}, "@2": 1}')):
        found = list(changes_of_event(body, form=form))
        assert found == [(0, rows[0], None, first), (1, rows[1], None, '{"@1": null, "@2": 2}')]


def test_one_table_is_told_in_each_form() -> None:
    table = table_of(ColumnType(column_types.JSON, 4))
    body = rows_body(table, EventType.WRITE_ROWS, [Row(None, (encode([UInt(1), {"a": "x", "b": 2.0}]),))])
    for _ in range(2):
        (line,) = lines_of(body)
        assert '"after": {"@1": {"json": [1, {"a": "x", "b": 2.0}]}}' in line
        (line,) = lines_of(body, changes=RowChanges(tagged=True))
        tagged = '{"$type": "UNSIGNED INTEGER", "text": "1"}'
        assert f'"after": {{"@1": {{"json": [{tagged}, {{"a": "x", "b": 2.0}}]}}}}' in line


@pytest.mark.parametrize(
    ("diffs", "path"),
    [
        (REPLACE + bytes.fromhex("0003242e62020501"), ("rows[0]", "@2", "diffs[1]")),
        (REPLACE + b"\x09", ("rows[0]", "@2", "diffs[1]")),
    ],
)
def test_an_error_in_a_diff_names_its_row_its_column_and_its_number(diffs: bytes, path: tuple[str, ...]) -> None:
    with pytest.raises(CodecError) as caught:
        lines_of(partial_update(diffs))
    assert caught.value.path[:3] == path


def test_a_path_that_is_no_utf_8_is_kept() -> None:
    assert '"path": "$.\\"\udcff\\""' in lines_of(partial_update(b'\2\5$."\xff"'))[0]


@pytest.mark.parametrize(
    ("column", "stored", "shown"),
    [
        (ColumnType(column_types.BIT, 0x0100), "81", '{"hex": "81"}'),
        (ColumnType(column_types.BIT, 0x0101), "0181", '{"hex": "0181"}'),
        (ColumnType(column_types.BIT, 0x0800), "0102030405060708", '{"hex": "0102030405060708"}'),
        (ColumnType(column_types.TIME), "9ee201", '"12:35:50"'),
        (ColumnType(column_types.TIME2, 2), "800001" + "32", '"00:00:01.50"'),
        (ColumnType(column_types.TIMESTAMP2, 4), "00000000" + "1388", '"0000-00-00 00:00:00.5000"'),
        (ColumnType(column_types.NEWDECIMAL, 0x0205), "800132", '"1.50"'),
        (ColumnType(column_types.GEOMETRY, 4), "01000000ff", '{"hex": "ff"}'),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_more_values_of_other_types(column: ColumnType, stored: str, shown: str) -> None:
    assert after(insert(table_of(column), "00" + stored)) == f'{{"@1": {shown}}}'


def gtid_in(line: str) -> object:
    return json.loads(line)["gtid"]


def test_rows_have_the_gtid_that_is_in_force() -> None:
    """The GTID of the file before does not count. One that a caller names holds until the next, or STOP, or ROTATE."""
    table = table_of(ColumnType(column_types.LONG))
    rows = in_event(insert(table, "0005000000"))
    changes = RowChanges()
    changes.start_file("f", "6d31aba5-e4a6-11f1-9d7e-02fc00000001:7")
    assert changes.gtid == "6d31aba5-e4a6-11f1-9d7e-02fc00000001:7"
    assert list(map(gtid_in, changes.event(rows))) == ["6d31aba5-e4a6-11f1-9d7e-02fc00000001:7"]
    changes.begin_transaction(Gtid(uuid=UUID(int=5), gno=8))
    assert list(map(gtid_in, changes.event(rows))) == [f"{UUID(int=5)}:8"]
    for body in (Stop(), Rotate(name=b"binlog.000002")):
        changes.begin_transaction(GtidTagged(uuid=UUID(int=5), gno=9, tag="a"))
        assert list(map(gtid_in, changes.event(rows))) == [f"{UUID(int=5)}:a:9"]
        assert not list(changes.event(in_event(body)))
        assert list(map(gtid_in, changes.event(rows))) == [None]
    changes.start_file("g")
    assert list(map(gtid_in, changes.event(rows))) == [None]


def test_counts_are_taken_once() -> None:
    changes = RowChanges()
    changes.start_file("f")
    list(changes.event(in_event(insert(table_of(ColumnType(column_types.LONG)), "0005000000"))))
    list(changes.event(in_event(Stop())))
    taken = changes.take_counts()
    assert (taken.changes, taken.other_events, taken.unresolved) == (1, 1, 0)
    assert changes.take_counts() == Counts()


def test_both_images_have_documents_in_the_form_that_was_asked_for() -> None:
    table = table_of(ColumnType(column_types.JSON, 4))
    document = encode(UInt(5))
    row = Row((document,), (document,))
    event = in_event(rows_body(table, EventType.UPDATE_ROWS, [row]))
    for tagged, shown in ((False, 5), (True, {"$type": "UNSIGNED INTEGER", "text": "5"})):
        changes = RowChanges(tagged=tagged)
        changes.start_file("f")
        (line,) = map(json.loads, changes.event(event))
        assert line["before"] == line["after"] == {"@1": {"json": shown}}
    (change,) = changes_of_event(rows_body(table, EventType.UPDATE_ROWS, [row]), form=Form.APART)
    assert (change.before, change.after) == ("{}", "{}")


def test_a_damaged_document_is_named_by_row_and_column() -> None:
    table = table_of(ColumnType(column_types.JSON, 4), metadata=(Names(("document",)),))
    sound = Row((encode(1),), (encode(1),))
    for row in (Row((b"\x0d",), (encode(1),)), Row((encode(1),), (b"\x0d",))):
        with pytest.raises(CodecError) as caught:
            list(changes_of_event(rows_body(table, EventType.UPDATE_ROWS, [sound, row])))
        assert caught.value.path[:2] == ("rows[1]", "document")
