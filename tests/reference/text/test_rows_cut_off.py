"""Row events that break off or are damaged: what the client still prints of them, and the error behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.rows import NdbInfo, PartitionInfo, Row, rows_body
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.text.pseudo_sql import row_lines
from tests.reference.text.made_logs import INT_AND_JSON, lazy, rows_bytes, table_of

if TYPE_CHECKING:
    from conformance.reference.binlog.rows import LazyRows, RowsBody

TINY, LONG, JSON = ColumnType(types.TINY), ColumnType(types.LONG), ColumnType(types.JSON, 4)
WRITE, UPDATE, DELETE = EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS
PARTIAL = EventType.PARTIAL_UPDATE_ROWS
CUT = "***Corrupted replication event was detected: {}. Not printing the value***\n"
VALUE = "field data is truncated; there are only {} bytes left of the event"
NULLS = "NULL bitmap size is set to {}, but there are only {} bytes left of the event"
BITS = "partial update bitmap size is set to {}, but there are only {} bytes left of the event"
NO_OPTIONS = "*** Error reading binlog_row_value_options from Partial_update_rows_log_event\n"
REMOVE = "02 03 242e61"  # $.a


def event(
    columns: tuple[ColumnType, ...], code: int, rows: str, before: int | None = None, after: int | None = None
) -> LazyRows:
    table = table_of(*columns)
    return lazy(table, rows_bytes(table, code, bytes.fromhex(rows), before=before, after=after))


def broken(rows: LazyRows, *, with_types: bool = False) -> tuple[str, CodecError]:
    """The text that is printed, and the error that follows."""
    out = bytearray()
    try:
        for piece in row_lines(rows, types=with_types):
            out += piece
    except CodecError as error:
        return out.decode(), error
    pytest.fail(f"no error: {bytes(out)!r}")


def image(word: str, **values: object) -> str:
    """An image's lines; the names are ``c1`` and so on."""
    return f"### {word}\n" + "".join(f"###   @{name[1:]}={value}\n" for name, value in values.items())


INSERT_HEAD, UPDATE_HEAD, DELETE_HEAD = (f"### {words} `d`.`t`\n" for words in ("INSERT INTO", "UPDATE", "DELETE FROM"))

NINE: tuple[ColumnType, ...] = (TINY,) * 9
EIGHT = NINE[:8]
CASES = {
    "the third row": (
        event((TINY,), WRITE, "00 01 00 02 00"),
        INSERT_HEAD + image("SET", c1=1) + INSERT_HEAD + image("SET", c1=2)
        + INSERT_HEAD + "### SET\n###   @1=" + CUT.format(VALUE.format(0)),
    ),
    "a before image": (
        event((TINY, TINY), UPDATE, "00 01 02 00 03 04 00 05"),
        UPDATE_HEAD + image("WHERE", c1=1, c2=2) + image("SET", c1=3, c2=4)
        + UPDATE_HEAD + image("WHERE", c1=5) + "###   @2=" + CUT.format(VALUE.format(0)),
    ),
    "an after image": (
        event((TINY, LONG), UPDATE, "00 01 00 02000000 00 03 00 04 00 00", before=1, after=2),
        UPDATE_HEAD + image("WHERE", c1=1) + image("SET", c2=2)
        + UPDATE_HEAD + image("WHERE", c1=3) + "### SET\n###   @2=" + CUT.format(VALUE.format(3)),
    ),
    "no after image": (
        event((TINY,), UPDATE, "00 01"),
        UPDATE_HEAD + image("WHERE", c1=1) + CUT.format(NULLS.format(1, 0)),
    ),
    "the row that is deleted": (
        event((TINY, TINY), DELETE, "00 01"),
        DELETE_HEAD + image("WHERE", c1=1) + "###   @2=" + CUT.format(VALUE.format(0)),
    ),
    "a bitmap of a before image": (
        event(NINE, UPDATE, "00"),
        UPDATE_HEAD + CUT.format(NULLS.format(2, 1)),
    ),
    "NULL in front": (
        event((TINY, TINY, TINY), WRITE, "fb"),  # the third is none
        INSERT_HEAD + image("SET", c1="NULL", c2="NULL") + "###   @3=" + CUT.format(VALUE.format(0)),
    ),
    "eight columns have a bitmap of one byte": (
        event(EIGHT, WRITE, "7f"),
        INSERT_HEAD + image("SET", **{f"c{number}": "NULL" for number in range(1, 8)})
        + "###   @8=" + CUT.format(VALUE.format(0)),
    ),
    "the ninth column has the second byte": (
        event(NINE, WRITE, "00 01 01020304050607"),
        INSERT_HEAD + image("SET", **{f"c{number}": number for number in range(1, 8)})
        + "###   @8=" + CUT.format(VALUE.format(0)),
    ),
    "a document behind a good one": (
        event((JSON, JSON), UPDATE, "00 02000000 0400 02000000 0401 00 02000000 0402 05000000 04"),
        UPDATE_HEAD + image("WHERE", c1="'null'", c2="'true'") + image("SET", c1="'false'")
        + "###   @2=" + CUT.format(VALUE.format(5)),
    ),
    "no options": (
        event(INT_AND_JSON, PARTIAL, "00 01000000", before=1, after=2),
        UPDATE_HEAD + image("WHERE", c1=1) + NO_OPTIONS,
    ),
    "no bitmap of partial columns": (
        event(INT_AND_JSON, PARTIAL, "00 01000000 01", before=1, after=2),
        UPDATE_HEAD + image("WHERE", c1=1) + CUT.format(BITS.format(1, 0)),
    ),
    "no bitmap of NULLs behind it": (
        event(INT_AND_JSON, PARTIAL, "00 01000000 01 01", before=1, after=2),
        UPDATE_HEAD + image("WHERE", c1=1) + CUT.format(NULLS.format(1, 0)),
    ),
    "a row without partial columns": (
        event(INT_AND_JSON, PARTIAL, "00 01000000 00 00 02000000 04", before=1, after=2),
        UPDATE_HEAD + image("WHERE", c1=1) + "### SET\n###   @2=" + CUT.format(VALUE.format(5)),
    ),
    "a second partial row, with its document before": (
        event(
            INT_AND_JSON, PARTIAL,
            f"00 01000000 02000000 0400 0101 00 01000000 05000000 {REMOVE}"
            f"00 02000000 02000000 0401 0101 00 02000000 06000000 {REMOVE}",
        ),
        UPDATE_HEAD + image("WHERE", c1=1, c2="'null'") + image("SET", c1=1, c2="JSON_REMOVE(@2, '$.a')")
        + UPDATE_HEAD + image("WHERE", c1=2, c2="'true'") + image("SET", c1=2)
        + "###   @2=" + CUT.format(VALUE.format(9)),
    ),
    "behind a good row whose options are longer than they need be": (
        event(
            INT_AND_JSON, PARTIAL, f"00 01000000 fc0100 01 00 05000000 {REMOVE} 00 02000000", before=1, after=2
        ),
        UPDATE_HEAD + image("WHERE", c1=1) + image("SET", c2="JSON_REMOVE(@2, '$.a')")
        + UPDATE_HEAD + image("WHERE", c1=2) + NO_OPTIONS,
    ),
    "eight documents have partial bits of one byte": (
        event((*[JSON] * 8, LONG), PARTIAL, f"01 01 80 00 05000000 {REMOVE} 0102", before=1, after=0x180),
        UPDATE_HEAD + image("WHERE", c1="NULL") + image("SET", c8="JSON_REMOVE(@8, '$.a')")
        + "###   @9=" + CUT.format(VALUE.format(2)),
    ),
    "the ninth document has its bit in the second byte": (
        event((*[JSON] * 9, LONG), PARTIAL, f"01 01 0001 00 05000000 {REMOVE} 0102", before=1, after=0x300),
        UPDATE_HEAD + image("WHERE", c1="NULL") + image("SET", c9="JSON_REMOVE(@9, '$.a')")
        + "###   @10=" + CUT.format(VALUE.format(2)),
    ),
    "a document that is none": (
        event((JSON, TINY, TINY), WRITE, "00 03000000 0c0961 01"),
        INSERT_HEAD + image("SET", c1="Invalid JSON"),
    ),
    "a document that is none, in front of an after image": (
        event((JSON, TINY), UPDATE, "00 03000000 0c0961 01 00"),
        UPDATE_HEAD + image("WHERE", c1="Invalid JSON"),
    ),
    "diffs that are none": (
        event((TINY, JSON, TINY), PARTIAL, "00 01 01 01 00 02 01000000 09", before=1, after=7),
        UPDATE_HEAD + image("WHERE", c1=1) + image("SET", c1=2)
        + "###   @2=Error reading operation type (invalid operation code) while printing JSON diff\n\n###   @3="
        + CUT.format(VALUE.format(0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_a_row_that_breaks_off_is_printed_up_to_there(what: str) -> None:
    rows, text = CASES[what]
    printed, error = broken(rows)
    assert printed == text
    assert error.code == "truncated"


def test_the_comments_of_vv_stand_behind_the_values_of_a_row_that_breaks_off() -> None:
    comment = " /* TINYINT meta=0 nullable=1 is_null={} */\n".format
    text = "### INSERT INTO `d`.`t`\n### SET\n###   @1=NULL" + comment(1) + "###   @2=5" + comment(0) + "###   @3="
    assert broken(event((TINY, TINY, TINY), WRITE, "f9 05"), with_types=True)[0] == text + CUT.format(VALUE.format(0))


@pytest.mark.parametrize(("code", "text"), [
    (DELETE, DELETE_HEAD + "### WHERE\n"), (UPDATE, UPDATE_HEAD + "### WHERE\n### SET\n"),
])  # fmt: skip
def test_a_row_that_takes_no_bytes_ends_the_event(code: int, text: str) -> None:
    after = None if code == DELETE else 0
    printed, error = broken(event((TINY,), code, "01", before=0, after=after))
    assert (printed, error.code) == (text, "empty-row")


def test_a_damaged_document_is_named_by_its_column_and_ends_the_event() -> None:
    """In a row of its full length, in the before image."""
    row = "00 01 03000000 0c0961 00 02 02000000 0400"
    text, error = broken(event((TINY, JSON), UPDATE, row + row))
    assert text == UPDATE_HEAD + image("WHERE", c1=1, c2="Invalid JSON")
    assert (error.code, error.path[0]) == ("truncated", "@2")


def test_the_first_of_several_damages_is_the_error() -> None:
    """Diffs that cannot be read end their column only."""
    rows = event((TINY, JSON, JSON), PARTIAL, "00 01 01 03 00 01000000 09 01000000 02", before=1, after=6)
    text, error = broken(rows)
    words = "Error {} while printing JSON diff\n".format
    assert text == UPDATE_HEAD + image("WHERE", c1=1) + image(
        "SET", c2=words("reading operation type (invalid operation code)"), c3=words("reading path length to skip")
    )
    assert error.path[0] == "@2"


def text_of(rows: LazyRows | RowsBody) -> bytes:
    return b"".join(row_lines(rows))


def test_every_row_without_columns_is_printed() -> None:
    table = table_of(TINY)
    body = rows_body(table, WRITE, [Row(None, ()), Row(None, ())], after=[])
    assert text_of(body) == b"### INSERT INTO `d`.`t` VALUES ()\n" * 2


def test_partitions_and_ndb_data_come_in_front_of_the_rows() -> None:
    for extra, line in (
        (PartitionInfo(3), b"info for partitioning: partition: 3"),
        (PartitionInfo(3, 2), b"info for partitioning: source_partition: 2 target_partition: 3"),
        (NdbInfo(3, b"\x01\xab"), b"ndb info: data_format: 3, len: 2, data: 0x01AB"),
    ):
        table = table_of(TINY)
        code = UPDATE if isinstance(extra, PartitionInfo) and extra.source is not None else WRITE
        rows = lazy(table, rows_bytes(table, code, b"\0\1" * (2 if code == UPDATE else 1), extra=(extra,)))
        first, second = text_of(rows).split(b"\n")[:2]
        assert first == b"### Extra row " + line
        assert second.startswith((b"### INSERT", b"### UPDATE"))


def test_names_are_printed_in_the_bytes_of_the_log() -> None:
    rows = lazy(table := table_of(TINY, name="t\udcff", schema="ü`"), rows_bytes(table, WRITE, b"\0\1"))
    assert text_of(rows).startswith(b"### INSERT INTO `\xc3\xbc```.`t\xff`\n")
