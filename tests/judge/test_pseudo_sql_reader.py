"""The strict parser of pseudo-SQL, and the comparison of what it reads with the events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.mysqlbinlog_output.completeness import compare_text
from conformance.checks.mysqlbinlog_output.generate import EXAMPLE_TEXT, example_bodies, example_file
from conformance.checks.mysqlbinlog_output.judge import VERBOSE, compare_lines, reference_text
from conformance.checks.mysqlbinlog_output.run import row_events
from conformance.harness.updates.captures import load_capture, recorded
from conformance.judge.pseudo_sql_reader import (
    Bare,
    Calls,
    CastJson,
    PseudoSqlDiff,
    PseudoSqlError,
    Quoted,
    parse_rows,
)
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from tests.checks.mysqlbinlog_output.faults import TEXT_FAULTS

if TYPE_CHECKING:
    from tests.faults.fault import Fault

VECTOR = Path(__file__).parents[1] / "data" / "vectors" / "mysqlbinlog-wl2955-section6.json"


def value(text: bytes) -> Any:
    """The value of column 2 of a printed row."""
    (row,) = parse_rows(b"### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2=" + text + b"\n")
    assert row.changes is not None
    return row.changes[2]


# --- the grammar -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"NULL", None),
        (b"@2", Calls(())),
        (b"-1 (255)", Bare(b"-1", b"255")),
        (b"1.5                 ", Bare(b"1.5")),
        (b"1e+20", Bare(b"1e+20")),
        (b"b'0101'", Bare(b"b'0101'")),
        (b"[1.00000e+00,2.00000e+00]", Bare(b"[1.00000e+00,2.00000e+00]")),
        (rb"'it\'s \\ \n \x00 \"'".replace(rb"\"", b'"'), Quoted(b"it's \\ \n \x00 \"")),
        (b"NULL /* JSON meta=4 nullable=1 is_null=1 */", None),
        (b"7 /* INT meta=0 nullable=0 is_null=0 */", Bare(b"7")),
        (b"1.5                  /* FLOAT meta=4 nullable=1 is_null=0 */", Bare(b"1.5")),
        (b"JSON_REMOVE(@2, '$.c')", Calls((PseudoSqlDiff(b"JSON_REMOVE", b"$.c", None),))),
        (b"JSON_REPLACE(@2, '$.c', -1.50)", Calls((PseudoSqlDiff(b"JSON_REPLACE", b"$.c", Bare(b"-1.50")),))),
        (
            b"JSON_INSERT(@2, '$.c', CAST('[1, \"a\\'b\"]' AS JSON))",
            Calls((PseudoSqlDiff(b"JSON_INSERT", b"$.c", CastJson(b'[1, "a\'b"]')),)),
        ),
        (
            b"JSON_INSERT(\n###      JSON_REPLACE(@2, '$.n', 2),\n###      '$.p', 1,\n###      '$.q', null)",
            Calls(
                (
                    PseudoSqlDiff(b"JSON_REPLACE", b"$.n", Bare(b"2")),
                    PseudoSqlDiff(b"JSON_INSERT", b"$.p", Bare(b"1")),
                    PseudoSqlDiff(b"JSON_INSERT", b"$.q", Bare(b"null")),
                )
            ),
        ),
    ],
)
def test_values_of_the_grammar_are_read(text: bytes, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        b"JSON_REPLACE(@3, '$.a', 1)",  # another column
        b"JSON_REPLACE(@2)",  # a call without a diff
        b"JSON_REPLACE(@2, '$.a')",  # no value
        b"JSON_REPLACE(@2, '$.a', 'x)",  # a string without its end
        b"JSON_REPLACE(@2, '$.a', 'it\\q')",  # an unknown escape
        b"JSON_REPLACE(@2, '$.a', 'a\tb')",  # a control character that is not escaped
        b"JSON_REPLACE(@2, '$.a', 1,\n###     '$.b', 2)",  # five spaces
        b"JSON_REPLACE(@2, '$.a', 1, '$.b', 2)",  # two diffs in a line
        b"JSON_REPLACE(\n###      JSON_REPLACE(@2, '$.a', 1),\n###      '$.b', 2)",  # two runs that are one
        b"JSON_MERGE(@2, '$.a', 1)",
        b"JSON_REPLACE(@2, '$.a', CAST('1' AS CHAR))",
        b"JSON_REMOVE(@2, '$.a', 1)",
        b"NULL /* JSON meta=4 nullable=1 is_null=0 */",
        b"7 8",
        b"",
    ],
)
def test_other_values_are_refused(text: bytes) -> None:
    with pytest.raises(PseudoSqlError):
        value(text)


def test_columns_out_of_order_are_refused() -> None:
    with pytest.raises(PseudoSqlError, match="column 1 after column 2"):
        parse_rows(b"### INSERT INTO `d`.`t`\n### SET\n###   @2=1\n###   @1=1\n")


def test_names_are_unquoted() -> None:
    (row,) = parse_rows(b"### DELETE FROM `a``b`.`t.t`\n### WHERE\n###   @1=1\n")
    assert (row.verb, row.schema, row.table, row.changes) == ("DELETE", "a`b", "t.t", None)


# --- the comparison --------------------------------------------------------------------------------------------------


def test_recorded_rows_are_complete_as_the_reference_prints_them() -> None:
    data = next(iter(recorded()))
    bodies = row_events(load_capture(data)[1].events)
    for types in VERBOSE.values():
        result = compare_text(reference_text(bodies, types=types), bodies)
        assert result.problems == []
        assert result.rows == sum(len(body.rows) for body in bodies)
        assert result.diffs
        assert result.documents


def test_the_example_is_that_of_the_vector() -> None:
    vector = json.loads(VECTOR.read_text("utf-8"))
    table, rows = example_bodies()
    stored = bytes.fromhex(vector["partial_update_rows_hex"])
    assert (table.table, rows.encode()) == ("t", stored[HEADER_SIZE:-FOOTER_SIZE])
    assert EXAMPLE_TEXT.decode().splitlines() == vector["mysqlbinlog_v"]
    assert reference_text([rows], types=False) == EXAMPLE_TEXT
    assert rows.encode() in example_file()


@pytest.mark.parametrize("fault", TEXT_FAULTS, ids=lambda fault: fault.id)
def test_a_doctored_text_is_noticed_by_both_judges(fault: Fault) -> None:
    _, body = example_bodies()
    assert compare_text(EXAMPLE_TEXT, [body]).problems == []
    doctored = fault.change(EXAMPLE_TEXT)
    assert doctored != EXAMPLE_TEXT
    assert compare_text(doctored, [body]).problems, fault.sentence
    assert compare_lines(EXAMPLE_TEXT, doctored, "-v")
