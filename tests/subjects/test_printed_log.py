"""Pseudo-SQL as row changes: values by the comments of ``-vv``, names and signs by the table metadata."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.subjects.builtin.printed_log import read_printed

_BEGIN = b"# at 4\n#261120  6:00:39 server id 1  end_log_pos 99 CRC32 0x00 \tTable_map: `d`.`t` mapped to number 7\n"


def _one(value: str, kind: str, columns: str = "") -> Any:
    text = _BEGIN + (f"# Columns({columns})\n".encode() if columns else b"")
    row = f"###   @1={value} /* {kind} meta=0 nullable=1 is_null=0 */\n"
    text += b"# at 99\n### INSERT INTO `d`.`t`\n### SET\n" + row.encode()
    printed = read_printed(text)
    assert not printed.problem
    (change,) = printed.changes
    (found,) = change["after"].items()
    return found


@pytest.mark.parametrize(
    ("value", "kind", "columns", "expected"),
    [
        ("-1 (255)", "TINYINT", "`a` TINYINT UNSIGNED", ("a", "255")),
        ("-1 (255)", "TINYINT", "`a` TINYINT", ("a", "-1")),
        ("-1 (255)", "TINYINT", "TINYINT UNSIGNED NOT NULL", ("@1", "255")),
        ("'a'", "VARSTRING(40)", "`x``y UNSIGNED` VARCHAR(10)", ("x`y UNSIGNED", {"hex": "61"})),
        ("'2024:02:29'", "DATE", "", ("@1", "2024-02-29")),
        ("'-01:02:03'", "TIME(0)", "", ("@1", "-01:02:03")),
        ("1709210096.789", "TIMESTAMP(3)", "", ("@1", "1709210096.789")),
        ("b'1000000001'", "BIT(10)", "", ("@1", 513)),
        ("b'00000101'", "SET(1 bytes)", "", ("@1", {"index": 5})),
        ("2", "ENUM(1 byte)", "", ("@1", {"index": 2})),
        ("[1.5e+00,2]", "VECTOR", "", ("@1", ["1.5e+00", "2"])),
        ("'{\"a\": 1.0}'", "JSON", "", ("@1", {"json_text": '{"a": 1.0}'})),
        ("'no JSON'", "JSON", "", ("@1", {"json_text": '"no JSON"'})),
        ("@1", "JSON", "", ("@1", {"diffs": []})),
        ("JSON_REMOVE(@1, '$.a')", "JSON", "", ("@1", {"diffs": [{"operation": "REMOVE", "path": "$.a"}]})),
        (
            "JSON_ARRAY_INSERT(@1, '$[0]', 'x')",
            "JSON",
            "",
            ("@1", {"diffs": [{"operation": "INSERT", "path": "$[0]", "value": {"json_text": '"x"'}}]}),
        ),
    ],
)
def test_values(value: str, kind: str, columns: str, expected: tuple[str, Any]) -> None:
    """Each form of the text becomes the form of the protocol that says the same."""
    assert _one(value, kind, columns) == expected


def test_a_column_that_cannot_be_printed_is_a_mark() -> None:
    """The program says so in its output and leaves out the rest of the row; the next row is whole."""
    text = _BEGIN + (
        b"# at 99\n"
        b"### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n###   @2=!! Don't know how to handle column type=255\n"
        b"### INSERT INTO `d`.`t`\n### SET\n###   @1=2\n"
    )
    printed = read_printed(text)
    assert printed.marks == [("!! Don't know how to handle column type=255", 99)]
    first, second = printed.changes
    assert (first["operation"], first["before"], first["after"]) == ("update", {"@1": "1"}, {})
    assert second["after"] == {"@1": "2"}


def test_text_outside_of_the_grammar_is_told() -> None:
    """Changes that were read before stay."""
    printed = read_printed(_BEGIN + b"### DELETE FROM `d`.`t`\n### WHERE\n###   @1=1\n# at 9\n### MERGE INTO `d`.`t`\n")
    assert [change["operation"] for change in printed.changes] == ["delete"]
    assert "MERGE" in printed.problem


def test_lines_about_partitions_are_no_rows() -> None:
    """They stand in front of the rows of the event."""
    extra = b"### Extra row info for partitioning: partition: 0\n"
    printed = read_printed(_BEGIN + b"# at 9\n" + extra + b"### DELETE FROM `d`.`t`\n### WHERE\n###   @1=1\n")
    assert not printed.problem
    assert len(printed.changes) == 1


def test_rows_of_an_unknown_table_are_a_mark() -> None:
    """The program names the table's number, and no row."""
    printed = read_printed(b"# at 9\n### Row event for unknown table #7# at 30\n# at 40\n")
    assert printed.marks == [("### Row event for unknown table #7", 9)]
    assert not printed.changes


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"###   @2=Invalid JSON\n", "Invalid JSON"),
        (
            b"###   @2=Failed to format JSON object as string.\n /* JSON meta=4 nullable=1 is_null=0 */\n",
            "Failed to format JSON object as string.",
        ),
        (b"###   @2=Error skipping value while printing JSON diff\n", "Error skipping value while printing JSON diff"),
        (
            b"###   @2=JSON_REPLACE(@2, '$.a', 1,\n###      '$.b', Error parsing json value while printing JSON diff\n",
            "Error parsing json value while printing JSON diff",
        ),
        (b"###   @2=***Corrupted replication event***\n", "***Corrupted replication event***"),
    ],
    ids=["document", "text", "diff", "second diff", "length"],
)
def test_a_damaged_value_is_a_mark(lines: bytes, message: str) -> None:
    """The row is left out, and no other one; a string with the same words is a string."""
    begin = _BEGIN + b"# at 99\n### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @1=2\n"
    whole = b"### INSERT INTO `d`.`t`\n### SET\n###   @3='Error x while printing JSON diff'\n"
    printed = read_printed(begin.replace(b"# at 99\n", b"# at 99\n" + whole) + lines + b"###   @3=1\n" + whole)
    assert printed.marks == [(message, 99)]
    assert [change["operation"] for change in printed.changes] == ["insert", "insert"]


def test_mariadb_writes_backslashes_as_they_are() -> None:
    """A character of two bytes may end in one; quotes and control characters are hexadecimal."""
    row = b"# at 9\n### DELETE FROM `d`.`t`\n### WHERE\n"
    row += b"###   @1='\x95\\' /* STRING(20) meta=0 nullable=1 is_null=0 */\n"
    row += b"###   @2='a\\nb\\x27\\x0a' /* STRING(20) meta=0 nullable=1 is_null=0 */\n"
    (change,) = read_printed(_BEGIN + row, mariadb=True).changes
    assert change["before"] == {"@1": {"hex": b"\x95\\".hex()}, "@2": {"hex": b"a\\nb'\n".hex()}}


def test_names_of_columns_are_escaped() -> None:
    columns = rb"`it\'s` INT, `\\` INT, `a``b\n` INT".replace(b", ", b",\n#         ")
    row = b"# at 9\n### INSERT INTO `d`.`t`\n### SET\n"
    row += b"".join(b"###   @%d=1 /* INT meta=0 nullable=1 is_null=0 */\n" % number for number in (1, 2, 3))
    (change,) = read_printed(_BEGIN + b"# Columns(" + columns + b")\n" + row).changes
    assert list(change["after"]) == ["it's", "\\", "a`b\n"]
