"""Pseudo-SQL against what mysqlbinlog 9.7.4 printed (mysqlbinlog-output 3, mysqlbinlog-output 4)."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from struct import pack

import pytest

from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows, NdbInfo, UnknownInfo
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import Bits, Numbers
from conformance.reference.text.pseudo_json import quoted
from conformance.reference.text.pseudo_sql import row_lines
from tests.reference.text.made_logs import insert, lazy, partial_update, rows_bytes, table_of

DATA = Path(__file__).parents[2] / "data"
CORPUS = sorted((DATA / "binlogs").glob("*.binlog"))
GEOMETRY_ERROR = b"=!! Don't know how to handle column type=255"
GOOD = bytes.fromhex("0003242e6103050700")  # REPLACE $.a 7


def printed(path: Path, *, with_types: bool) -> list[bytes]:
    """The text of each row event of a file."""
    with path.open("rb") as file:
        return [
            b"".join(row_lines(event.body, types=with_types))
            for event in read_events(file, expand=True)
            if isinstance(event.body, LazyRows)
        ]


def same_but_geometry(ours: bytes, real: bytes) -> None:
    """Equal, except that the client prints nothing of an event behind a GEOMETRY."""
    rest = iter(ours.splitlines(keepends=True))
    for line in real.splitlines(keepends=True):
        mine = next(rest)
        if GEOMETRY_ERROR in line:
            assert mine.split(b"=")[0] == line.split(b"=")[0]
            for mine in rest:
                if mine.startswith(b"### INSERT"):
                    rest = iter([mine, *rest])
                    break
            continue
        assert mine == line
    assert next(rest, None) is None


@pytest.mark.parametrize("option", ["v", "vv"])
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_row_event_of_the_corpus_prints_as_the_client_printed_it(path: Path, option: str) -> None:
    ours = b"".join(printed(path, with_types=option == "vv"))
    real = (DATA / "mysqlbinlog" / f"{path.stem}.{option}.txt").read_bytes()
    if GEOMETRY_ERROR in real:
        same_but_geometry(ours, real)
    else:
        assert ours == real


@pytest.mark.parametrize("option", ["v", "vv"])
def test_the_example_of_the_worklog_prints_as_the_client_printed_it(option: str) -> None:
    vector = json.loads((DATA / "vectors" / "mysqlbinlog-wl2955-section6.json").read_text())
    names = ("format_description_hex", "table_map_hex", "partial_update_rows_hex")
    data = bytes.fromhex("fe62696e") + b"".join(bytes.fromhex(vector[name]) for name in names)
    bodies = [event.body for event in read_events(BytesIO(data))]
    assert isinstance(bodies[-1], LazyRows)
    text = b"".join(row_lines(bodies[-1], types=option == "vv")).decode()
    assert text.splitlines() == vector[f"mysqlbinlog_{option}"]


def test_strings_are_quoted_byte_for_byte() -> None:
    every = bytes(range(256))
    escaped = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 0x27: b"\\'", 0x5C: b"\\\\"}
    expected = b"".join(escaped.get(code, b"\\x%02x" % code if code < 32 else bytes((code,))) for code in every)
    assert quoted(every) == b"'" + expected + b"'"


@pytest.mark.parametrize("length", [65535, 65536, 65537, 131072, 200_001])
def test_long_strings_are_quoted_as_their_parts_are(length: int) -> None:
    data = (bytes(range(256)) * (length // 256 + 1))[:length]
    assert quoted(data) == b"'" + b"".join([quoted(bytes((code,)))[1:-1] for code in data]) + b"'"


def text_of(event: LazyRows, *, with_types: bool = False) -> bytes:
    return b"".join(row_lines(event, types=with_types))


# Printed by the 9.7.4 client from files made of the same bytes.
VALUES = {
    "FLOAT and DOUBLE, special": (
        [ColumnType(types.FLOAT, 4), ColumnType(types.DOUBLE, 8)],
        "00" + pack("<fd", float("inf"), -float("nan")).hex(),
        [b"inf                  /* FLOAT meta=4", b"-nan /* DOUBLE meta=8"],
    ),
    "FLOAT and DOUBLE, small and negative zero": (
        [ColumnType(types.FLOAT, 4), ColumnType(types.DOUBLE, 8)],
        "00" + pack("<fd", -0.0, 1e-320).hex(),
        [b"-0                   /* FLOAT meta=4", b"9.9998886718268300541e-321 /* DOUBLE meta=8"],
    ),
    "types of servers before 5.6.4": (
        [ColumnType(types.TIMESTAMP), ColumnType(types.TIME), ColumnType(types.DATETIME), ColumnType(types.NEWDATE)],
        f"00 ffffffff 9fffff {(20240229123456).to_bytes(8, 'little').hex()} 5dd10f",
        [
            b"-1 /* TIMESTAMP meta=0",
            b"'1677:71:19' /* TIME meta=0",
            b"2024-02-29 12:34:56 /* DATETIME meta=0",
            b"'2024:10:29' /* DATE meta=0",
        ],
    ),
    "YEAR zero and a negative MEDIUMINT": (
        [ColumnType(types.YEAR), ColumnType(types.INT24)],
        "00 00 ffffff",
        [b"1900 /* YEAR meta=0", b"-1 (16777215) /* MEDIUMINT meta=0"],
    ),
    "fractions": (
        [ColumnType(types.TIMESTAMP2, 3), ColumnType(types.TIMESTAMP2, 0), ColumnType(types.TIME2, 3)],
        "00 ffffffff03e8 00000000 7fffffff00",
        [
            b"4294967295.100 /* TIMESTAMP(3) meta=3",
            b"0 /* TIMESTAMP(0) meta=0",
            b"'-00:00:00.025' /* TIME(3) meta=3",
        ],
    ),
    "wide ENUM and SET, BIT with bits that it has not": (
        [ColumnType(types.STRING, types.ENUM | 2 << 8), ColumnType(types.STRING, types.SET | 8 << 8),
         ColumnType(types.BIT, 3 | 1 << 8)],
        "00 0201 0102030405060708 ff05",
        [
            b"258 /* ENUM(2 bytes) meta=63234",
            b"b'0000000100000010000000110000010000000101000001100000011100001000' /* SET(8 bytes) meta=63496",
            b"b'11100000101' /* BIT(11) meta=259",
        ],
    ),
    "CHAR of more than 255 bytes": (
        [ColumnType(types.STRING, (types.STRING ^ 0x10) | 1 << 8), ColumnType(types.VARCHAR, 300)],
        "00 0300616263 04005c277f00",
        [b"'abc' /* STRING(257) meta=60929", b"'\\\\\\'\x7f\\x00' /* VARSTRING(300) meta=300"],
    ),
    "documents that are scalars": (
        [ColumnType(types.JSON, 4), ColumnType(types.JSON, 4), ColumnType(types.JSON, 4)],
        "00 04000000 0c02615d 02000000 0401 00000000",
        [b"'a]' /* JSON meta=4", b"'true' /* JSON meta=4", b"'null' /* JSON meta=4"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", VALUES)
def test_values_of_each_type_print_as_the_client_prints_them(what: str) -> None:
    columns, row, values = VALUES[what]
    found = values_of(insert(table_of(*columns), row), with_types=True)
    assert found == [value + b" nullable=1 is_null=0 */" for value in values]


def test_unsigned_columns_print_signed_like_all_others() -> None:
    table = table_of(ColumnType(types.LONG), metadata=[Bits(1, (True,))])
    assert values_of(insert(table, "00 ffffffff")) == [b"-1 (4294967295)"]


def test_a_vector_has_the_dimension_of_its_own_column() -> None:
    table = table_of(ColumnType(types.VECTOR, 4), ColumnType(types.VECTOR, 4), metadata=[Numbers(13, (3, 1))])
    event = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, bytes.fromhex("00 04000000 0000803f"), after=2))
    assert values_of(event, with_types=True) == [b"[1.00000e+00] /* VECTOR(1) meta=4 nullable=1 is_null=0 */"]


def test_a_geometry_is_a_literal_and_the_columns_behind_it_are_printed() -> None:
    table = table_of(ColumnType(types.GEOMETRY, 4), ColumnType(types.LONG))
    assert values_of(insert(table, "00 02000000 abcd 07000000")) == [b"x'abcd'", b"7"]


def test_names_in_backticks_double_their_backticks() -> None:
    table = table_of(ColumnType(types.LONG), name="a`b", schema="x`y")
    assert text_of(insert(table, "00 01000000")).startswith(b"### INSERT INTO `x``y`.`a``b`\n### SET\n")


def test_an_insert_without_columns_has_empty_values() -> None:
    table = table_of(ColumnType(types.LONG))
    event = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, b"", after=0))
    assert text_of(event) == b"### INSERT INTO `d`.`t` VALUES ()\n"


def test_extra_row_data_comes_once_before_the_rows() -> None:
    table = table_of(ColumnType(types.LONG))
    rows = b"\0\1\0\0\0" * 2
    ndb = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, rows, extra=(NdbInfo(3, b"\x01\xab"),)))
    assert text_of(ndb).count(b"### Extra row ndb info: data_format: 3, len: 2, data: 0x01AB\n") == 1
    unknown = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, rows, extra=(UnknownInfo(7, b"x"),)))
    assert b"Extra" not in text_of(unknown)


def test_rows_without_a_table_map_say_so_and_raise() -> None:
    table = table_of(ColumnType(types.LONG))
    event = lazy(table, rows_bytes(table, EventType.WRITE_ROWS, b"\0\1\0\0\0"))
    event.table = None
    assert broken(event) == (b"### Row event for unknown table #100", "no-table-map")


# --- damage ----------------------------------------------------------------------------------------------------------

HEAD = b"### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2="


def broken(event: LazyRows, *, with_types: bool = False) -> tuple[bytes, str]:
    """The text that is printed of a damaged event, and the code of the error behind it."""
    out = bytearray()
    pieces = row_lines(event, types=with_types)
    while True:
        try:
            out += next(pieces)
        except StopIteration:
            pytest.fail(f"no error: {bytes(out)!r}")
        except CodecError as error:
            return bytes(out), error.code


WORDS = {
    b"\x03" + GOOD[1:]: b"reading operation type (invalid operation code)",
    GOOD + b"\x07": b"reading operation type (invalid operation code)",
    b"\x02\x03$.a\x07": b"reading operation type (invalid operation code)",
    b"\x02\x20$.a": b"skipping path",
    b"\x00": b"reading path length to skip",
    b"\x00\xfb": b"skipping path",
    b"\x00\x20$.a": b"skipping path",
    b"\x00\x03$.a": b"reading value length to skip",
    b"\x00\x03$.a\xfc": b"reading value length to skip",
    b"\x00\x03$.a\x20\x05\x07\x00": b"skipping value",
}


@pytest.mark.parametrize("diffs", WORDS, ids=bytes.hex)
def test_damaged_diffs_print_the_clients_words_and_the_next_row(diffs: bytes) -> None:
    text, _ = broken(partial_update(diffs, GOOD))
    assert text == (
        HEAD + b"Error " + WORDS[diffs] + b" while printing JSON diff\n\n" + HEAD + b"JSON_REPLACE(@2, '$.a', 7)\n"
    )


def test_a_damaged_value_breaks_the_call_off() -> None:
    text, _ = broken(partial_update(GOOD + b"\x01\x03$.a\x03\x0c\x09a" + GOOD), with_types=True)
    assert text.endswith(
        b"###   @2=JSON_REPLACE(\n###      JSON_INSERT(\n###      JSON_REPLACE(@2, '$.a', 7),\n"
        b"###      '$.a', Error parsing json value while printing JSON diff\n"
        b" /* JSON meta=4 nullable=1 is_null=0 */\n"
    )


@pytest.mark.parametrize(
    ("diffs", "call"),
    [
        (b"\x00\x03$.a\x00", b"'$.a', null"),
        (b"\x00\x03A.n\x03\x05\x07\x00", b"'A.n', 7"),
        (b"\x00\x03$.a\x05\x05\x07\x00\x00\x00", b"'$.a', 7"),
        (b"\x00\x03$.a\x04\x0c\x02\xff\xfe", b"'$.a', '\xff\xfe'"),
    ],
    ids=["value of no bytes", "path that is none", "bytes behind the value", "string of invalid UTF-8"],
)
def test_what_the_client_does_not_check_is_printed(diffs: bytes, call: bytes) -> None:
    assert text_of(partial_update(diffs)) == HEAD + b"JSON_REPLACE(@2, " + call + b")\n"


def corrupt(words: bytes, left: int) -> bytes:
    return (
        b"***Corrupted replication event was detected: %b; there are only %d bytes left of the event."
        b" Not printing the value***\n" % (words, left)
    )


def test_a_value_beyond_the_event_says_what_is_left() -> None:
    text, code = broken(partial_update(GOOD, length=200))
    assert text == HEAD + corrupt(b"field data is truncated", 4 + len(GOOD))
    assert code == "truncated"


def test_a_row_cut_off_keeps_the_rows_and_values_before_it() -> None:
    table = table_of(ColumnType(types.LONG), ColumnType(types.LONG))
    text, _ = broken(insert(table, "00 01000000 02000000 00 03000000"), with_types=True)
    comment = b" /* INT meta=0 nullable=1 is_null=0 */\n"
    first = b"### INSERT INTO `d`.`t`\n### SET\n###   @1=1" + comment + b"###   @2=2" + comment
    second = b"### INSERT INTO `d`.`t`\n### SET\n###   @1=3" + comment + b"###   @2="
    assert text == first + second + corrupt(b"field data is truncated", 0)


def test_a_cut_null_bitmap_and_cut_partial_bits_have_their_own_words() -> None:
    table = table_of(*[ColumnType(types.LONG)] * 9)
    text, _ = broken(insert(table, "00"))
    assert b"NULL bitmap size is set to 2, but there are only 1 bytes left" in text
    assert b"### SET" not in text
    json = table_of(ColumnType(types.LONG), ColumnType(types.JSON, 4))
    for tail, words in (
        (b"", b"*** Error reading binlog_row_value_options from Partial_update_rows_log_event\n"),
        (b"\x01", b"partial update bitmap size is set to 1, but there are only 0 bytes left"),
    ):
        event = lazy(json, rows_bytes(json, EventType.PARTIAL_UPDATE_ROWS, b"\0\1\0\0\0" + tail, before=1, after=2))
        assert words in broken(event)[0]


def test_a_damaged_document_ends_the_event() -> None:
    table = table_of(ColumnType(types.JSON, 4), ColumnType(types.LONG))
    text, _ = broken(insert(table, "00 03000000 0c0961 01000000 00 02000000 0400 02000000"))
    assert text == b"### INSERT INTO `d`.`t`\n### SET\n###   @1=Invalid JSON\n"


def test_a_document_that_is_too_deep_does_not_end_the_event() -> None:
    document = encode([])
    for _ in range(100):
        size = 4 + 3 + len(document) - 1
        document = b"\x02\x01\x00" + size.to_bytes(2, "little") + document[:1] + b"\x07\x00" + document[1:]
    table = table_of(ColumnType(types.JSON, 4))
    rows = b"\0" + len(document).to_bytes(4, "little") + document + b"\0\2\0\0\0\4\0"
    text, code = broken(lazy(table, rows_bytes(table, EventType.WRITE_ROWS, rows)))
    frame = b"### INSERT INTO `d`.`t`\n### SET\n###   @1="
    assert text == frame + b"Failed to format JSON object as string.\n\n" + frame + b"'null'\n"
    assert code == "mysql-3157"


def values_of(event: LazyRows, *, with_types: bool = False) -> list[bytes]:
    lines = text_of(event, with_types=with_types).splitlines()
    return [line.partition(b"=")[2] for line in lines if line.startswith(b"###   @")]
