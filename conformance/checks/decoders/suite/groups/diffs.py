"""Diffs: lists of them, their paths and values, and what stands beside and behind them in a row."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Equality
from conformance.checks.decoders.suite.declare import Setting, Written, recorded, text, words
from conformance.checks.decoders.suite.rewrite import laid, parts_of, with_rows
from conformance.reference.binlog.images import Row
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.declare import Recorded
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.jsonb.values import JsonValue

_PAD: Final = {"pad": "p" * 80}  # a diff is logged only where it is shorter than the document
_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, n INT)"
_PARTIAL: Final = Setting(partial=True)


def _document(value: dict[str, Any] | list[Any]) -> str:
    full = {**value, **_PAD} if isinstance(value, dict) else [*value, _PAD]
    return text(json.dumps(full, ensure_ascii=False))


def _update(
    name: str,
    title: str,
    why: str,
    requirements: str,
    document: dict[str, Any] | list[Any],
    assignments: str,
    *,
    setting: Setting = _PARTIAL,
    equality: Equality = Equality.VALUE,
) -> Recorded:
    """One row with one document, and one UPDATE of it."""
    return recorded(
        f"diffs/{name}",
        title,
        why,
        requirements,
        setting=setting,
        equality=equality,
        prepare=(_TABLE, f"INSERT INTO t VALUES (1, {_document(document)}, 7)"),
        statements=f"UPDATE t SET {assignments} WHERE id = 1",
    )


_ONE: Final = (
    _update(
        "replace-scalar", "One diff: REPLACE of a number",
        "The plainest partial update: a decoder that loses it loses every UPDATE of a server with the option on.",
        "DEC1 DEC2 F1", {"a": 1}, "j = JSON_SET(j, '$.a', 2)",
    ),
    _update(
        "insert-member", "One diff: INSERT of a new member",
        "INSERT and REPLACE are different operations; applied as REPLACE the new member never appears.",
        "DEC2 DEC1", {"a": 1}, "j = JSON_SET(j, '$.b', 'new')",
    ),
    _update(
        "remove-member", "One diff: REMOVE, which has no value",
        "A REMOVE has no value field: a decoder that reads one takes the next bytes for it.",
        "DEC2 DEC3", {"a": 1, "b": 2}, "j = JSON_REMOVE(j, '$.b')",
    ),
    _update(
        "three-in-one-column", "Three diffs in one column: replace, insert, remove",
        "A decoder that reads one diff and goes on loses the other two in silence.",
        "DEC2 DEC3", {"a": 1, "b": 2}, "j = JSON_REMOVE(JSON_SET(j, '$.a', 2, '$.c', 3), '$.b')",
    ),
    _update(
        "ten-in-one-column", "Ten diffs in one column",
        "The list ends with its length, not with a count: a fixed number of diffs is not enough.",
        "DEC2 DEC3", {"a": 1, "l": list(range(5))},
        "j = JSON_SET(j, '$.a', 2, '$.b', 0, '$.c', 1, '$.d', 2, '$.e', 3, '$.l[0]', 9, '$.l[1]', 8, '$.l[2]', 7,"
        " '$.l[3]', 6, '$.l[4]', 5)",
    ),
    _update(
        "same-path-twice", "Two diffs with the same path",
        "A map from path to value keeps one of them only; the order decides which one is right.",
        "DEC2", {"a": 1}, "j = JSON_REPLACE(JSON_REPLACE(j, '$.a', 'first'), '$.a', 'second')",
    ),
    _update(
        "insert-then-replace-inside", "A diff that works inside what an earlier diff inserted",
        "Diffs build on each other: applied in another order the second one finds no place.",
        "DEC2", {"a": 1}, "j = JSON_SET(JSON_SET(j, '$.o', JSON_OBJECT('x', 1)), '$.o.x', 2)",
    ),
    _update(
        "remove-then-insert", "A member removed and inserted again in one update",
        "Sorted by operation instead of kept in order, the member is gone in the end.",
        "DEC2", {"a": 1, "b": 2}, "j = JSON_SET(JSON_REMOVE(j, '$.b'), '$.b', 3)",
    ),
    _update(
        "remove-two-of-array", "Two cells of an array removed, the second index counted after the first removal",
        "Positions shift with each diff: applied to the old document the wrong cell goes.",
        "DEC2", {"l": ["zero", "one", "two", "three"]}, "j = JSON_REMOVE(j, '$.l[1]', '$.l[1]')",
    ),
    _update(
        "whole-document", "A whole document inside event 39, because JSON_ARRAY_INSERT makes no diffs",
        "The bit of the column is clear: bytes of a document read as diffs give nonsense (canal #5018).",
        "DEC4 DEC1", {"l": [1, 2, 3]}, "j = JSON_ARRAY_INSERT(j, '$.l[1]', 'new'), n = 8",
    ),
    _update(
        "array-past-the-end", "INSERT behind the end of an array, at an index far above its length",
        "The value goes to the end, whatever the index says; filling up with nulls is wrong.",
        "DEC2", {"l": [1, 2]}, "j = JSON_SET(j, '$.l[9]', 'end')",
    ),
    _update(
        "scalar-becomes-array", "A scalar that JSON_SET turns into an array",
        "Path [1] of a scalar wraps it: the log shows what the server really does for that.",
        "DEC2", {"a": 1}, "j = JSON_SET(j, '$.a[1]', 2)",
    ),
    _update(
        "root-array", "A document that is an array at the top, with a diff at $[1]",
        "Readers that expect an object at the top find no member name in the path.",
        "DEC2", [1, 2, 3], "j = JSON_SET(j, '$[1]', 'two')",
    ),
    _update(
        "nested-path", "A diff ten levels deep through objects and arrays",
        "The path is a text that must be given whole, not its last step.",
        "DEC2", {"a": [{"b": [[{"c": {"d": [{"e": {"f": 1}}]}}]]}]}, "j = JSON_SET(j, '$.a[0].b[0][0].c.d[0].e.f', 2)",
    ),
)  # fmt: skip

_PATHS: Final = tuple(
    _update(
        f"path-{name}", title, why, "DEC2", {key: 1},
        f"j = JSON_SET(j, {text('$.' + json.dumps(key, ensure_ascii=False))}, 2)",
    )
    for name, key, title, why in (
        ("blank", "two words", "A path with a quoted member name: a blank in it",
         "The server writes quotes around such a name; a reader that cuts at blanks or dots loses the member."),
        ("double-quote", 'say "hi"', "A path whose member name has double quotes",
         "Pasted into SQL or JSON without escaping, the path ends too early (vitess #20461)."),
        ("backslash", "c:\\temp", "A path whose member name has a backslash",
         "One level of escaping too few or too many names another member."),
        ("apostrophe", "it's", "A path whose member name has an apostrophe",
         "A tool that builds SQL from it writes a broken statement."),
        ("percent", "100%s %d", "A path with % signs, and a value beside it",
         "Used as a format string the name turns into something else or crashes the tool (vitess #20447)."),
        ("unicode", "größe-日本-😀", "A path in UTF-8 with two, three and four byte characters",
         "Paths are UTF-8: decoded as latin1 they name a member that does not exist."),
        ("empty-name", "", "A path to a member whose name is empty",
         "The empty name is a name; taken for the root, the whole document is replaced."),
        ("dollar", "$type", "A path to a member whose name begins with a dollar sign",
         "Forms that keep types in members like $type must escape it."),
        ("dot-and-bracket", "a.b[0]", "A path whose member name looks like a path",
         "Without its quotes the name means three steps instead of one."),
        ("newline", "line\nbreak\ttab", "A path with a line break and a tab in the member's name",
         "Line-based output falls apart when control characters are not escaped."),
        ("digits", "007", "A path to a member whose name is a number",
         "Taken for an array index, it hits nothing."),
    )
)  # fmt: skip

_VALUES: Final = tuple(
    _update(
        f"value-{name}", f"A diff with {title}", why, requirements, {"a": "old"}, f"j = JSON_SET(j, '$.a', {value})",
        equality=Equality.TYPE if "DEC9" in requirements else Equality.VALUE,
    )
    for name, title, value, requirements, why in (
        ("null", "the JSON literal null", "CAST('null' AS JSON)", "DEC5 DEC2",
         "JSON null is a value: neither SQL NULL nor the removal of the member."),
        ("true", "the literal true", "TRUE", "DEC6 DEC2", "A literal is one byte inside the value; its code is not its value."),
        ("false", "the literal false", "FALSE", "DEC6 DEC2", "false must not become 0, null or nothing."),
        ("int16", "a 16-bit integer", "-32768", "DEC6 DEC2", "In a diff the value stands alone, with its type byte in front."),
        ("int32", "a 32-bit integer", "-2147483648", "DEC6 DEC2", "Sign and width come from the type byte."),
        ("int64", "a 64-bit integer beyond 2^53", "9007199254740993", "DEC6 DEC2",
         "Read as a double it is off by one: a key of another row."),
        ("uint64", "the largest unsigned integer", "18446744073709551615", "DEC6 DEC9", "Read as signed it is -1."),
        ("double", "a double that is a whole number", "1e0", "DEC9 DEC6", "1.0 is a DOUBLE; written as 1 it comes back as INTEGER."),
        ("double-fraction", "a double with 17 digits", "0.1e0 + 0.2e0", "DEC6 DEC2", "Cut to 15 digits the value is another one."),
        ("string-empty", "an empty string", "''", "DEC6 DEC5", "An empty string is not null and not nothing."),
        ("string-long", "a string of 200 bytes", "REPEAT('s', 200)", "DEC6 DEC3",
         "Lengths above 127 take two bytes, inside of the value and in front of it."),
        ("string-unicode", "a string of characters of four bytes", "'😀 größe'", "DEC6 DEC2", "Text is UTF-8 in JSON, whatever the column's charset."),
        ("object", "an object", "JSON_OBJECT('x', 1, 'y', JSON_ARRAY(2, NULL))", "DEC7 DEC2", "A container in a diff has offsets of its own, counted from itself."),
        ("array", "an array", "JSON_ARRAY(1, 'two', 3.5e0, TRUE, NULL)", "DEC7 DEC2", "Small cells are inlined in the array's entries."),
        ("object-empty", "an empty object", "JSON_OBJECT()", "DEC7 DEC5", "An empty container has a header and nothing more."),
        ("array-empty", "an empty array", "JSON_ARRAY()", "DEC7 DEC5", "An empty container has a header and nothing more."),
        ("decimal", "a DECIMAL", "CAST(-12345.6789 AS DECIMAL(20,4))", "DEC8 DEC9",
         "DECIMAL is an opaque value with precision and scale; through a double digits are lost."),
        ("date", "a DATE", "DATE '2024-02-29'", "DEC8 DEC9", "Dates in JSON are packed little-endian, unlike those of columns."),
        ("time-negative", "a negative TIME with fraction", "TIME '-23:59:59.999999'", "DEC8 DEC9",
         "The sign is in the packed number; losing it turns a debt into a credit."),
        ("datetime", "a DATETIME with microseconds", "TIMESTAMP '2024-02-29 23:59:59.000001'", "DEC8 DEC9", "Six digits of fraction, with zeros in front."),
        ("blob", "bytes", "x'00ff7f80'", "DEC8 DEC9", "Bytes are no text: decoded as UTF-8 they change."),
    )
)  # fmt: skip

_DOC: Final = _document({"a": 1, "b": "two"})
_WIDE: Final = "CREATE TABLE t (id INT PRIMARY KEY, a JSON, b JSON, c JSON, n INT)"


def _wide(
    name: str, title: str, why: str, requirements: str, assignments: str,
    *, values: str = f"{_DOC}, {_DOC}, {_DOC}, 7", table: str = _WIDE, image: str = "FULL",
) -> Recorded:  # fmt: skip
    """One row with several documents, and one UPDATE of it."""
    return recorded(
        f"diffs/{name}", title, why, requirements, setting=Setting(partial=True, image=image),
        prepare=(table, f"INSERT INTO t VALUES (1, {values})"), statements=f"UPDATE t SET {assignments} WHERE id = 1",
    )  # fmt: skip


_NINE: Final = "CREATE TABLE t (id INT PRIMARY KEY, " + ", ".join(f"j{number} JSON" for number in range(9)) + ")"
_SMALL: Final = text('{"a": 1}')

_COLUMNS: Final = (
    _wide("value-bit", "A diff with the value of a BIT column", "BIT inside JSON is opaque with its own type code, high byte first.", "DEC8 DEC9", "j = JSON_SET(j, '$.a', b), n = 8", table="CREATE TABLE t (id INT PRIMARY KEY, j JSON, b BIT(9), n INT)", values=f"{_DOC}, b'101010101', 7"),
    _wide("value-timestamp", "A diff with the value of a TIMESTAMP column", "Its type code differs from DATETIME.", "DEC8 DEC9", "j = JSON_SET(j, '$.a', m), n = 8", table="CREATE TABLE t (id INT PRIMARY KEY, j JSON, m TIMESTAMP(6) NULL, n INT)", values=f"{_DOC}, '2024-02-29 12:34:56.5', 7"),
    _wide("value-geometry", "A diff with a geometry, which is GeoJSON", "Its numbers are doubles, whole ones included.", "DEC9 DEC7", "j = JSON_SET(j, '$.a', CAST(g AS JSON)), n = 8", table="CREATE TABLE t (id INT PRIMARY KEY, j JSON, g POINT, n INT)", values=f"{text(json.dumps({'a': 1, 'pad': 'p' * 300}))}, ST_GeomFromText('POINT(1 2.5)'), 7"),
    _wide("value-uint16", "A diff with small unsigned integers", "An UNSIGNED INTEGER stays one, also where it is small.", "DEC9 DEC6", "a = JSON_SET(a, '$.a', CAST(5 AS UNSIGNED)), b = JSON_SET(b, '$.a', CAST(70000 AS UNSIGNED))"),
    _wide("two-columns", "Diffs in two JSON columns of a row", "Each list has its own length; the second begins behind the first.", "DEC3 DEC2", "a = JSON_SET(a, '$.a', 2), b = JSON_SET(b, '$.b', 3, '$.c', 4)"),
    _wide("three-columns", "Diffs in three JSON columns, of different length", "Bits of the bitmap and lists must stay in step.", "DEC4 DEC3", "a = JSON_REMOVE(a, '$.a'), b = JSON_SET(b, '$.b', 3, '$.c', 4), c = JSON_SET(c, '$.x', REPEAT('y', 50))"),
    _wide("partial-whole", "First column as diffs, second whole", "A decoder with one flag for the row reads the document as diffs (canal #5018).", "DEC4", f"a = JSON_SET(a, '$.a', 2), b = {_SMALL}"),
    _wide("whole-partial", "First column whole, second as diffs", "The bit belongs to the column, not to the row.", "DEC4", f"a = {_SMALL}, b = JSON_SET(b, '$.a', 2)"),
    _wide("partial-whole-partial", "Diffs, a whole document, diffs", "A clear bit between two set ones.", "DEC4 DEC3", f"a = JSON_SET(a, '$.a', 2), b = {_SMALL}, c = JSON_REMOVE(c, '$.b')"),
    _wide("middle-unchanged", "Two columns with diffs, the one between unchanged", "The empty list of the middle column is four zero bytes; skipped, the third column is read from there.", "DEC5 DEC4", "a = JSON_SET(a, '$.a', 2), c = JSON_SET(c, '$.a', 3)"),
    _wide("nine-json-columns", "Nine JSON columns, the ninth with a diff", "The bitmap of partial columns takes a second byte.", "DEC4 DEC3", "j8 = JSON_SET(j8, '$.a', 2), j0 = JSON_SET(j0, '$.a', 3)", table=_NINE, values=", ".join([_DOC] * 9)),
    _wide("between-other-columns", "JSON columns between others: the bitmap counts JSON columns only", "Indexed by column number, the bitmap names the wrong columns (vitess #21158).", "DEC4", "a = JSON_SET(a, '$.a', 2), x = 8, y = 'new'", table="CREATE TABLE t (id INT PRIMARY KEY, x INT, y VARCHAR(10), a JSON, z INT, b JSON)", values=f"1, 'old', {_DOC}, 2, {_DOC}"),
    _wide("absent-column-counts", "MINIMAL image: a JSON column that is not in the image still has its bit", "Counted over the columns of the image, the bit of the second column is taken for the first (vitess #21158).", "DEC4 DEC14", "b = JSON_SET(b, '$.a', 2), n = 8", image="MINIMAL"),
    _wide("absent-whole-partial", "MINIMAL image: first column absent, second whole, third as diffs", "Three states of three columns at once.", "DEC4 DEC14 DEC5", f"b = {_SMALL}, c = JSON_SET(c, '$.a', 2)", image="MINIMAL"),
    _wide("text-behind", "A VARCHAR and a BLOB behind the diffs", "Where the list is read too far, the next columns hold garbage (canal #5017).", "DEC3", "j = JSON_SET(j, '$.a', 2, '$.b', 'x'), v = 'behind', k = x'00ff'", table="CREATE TABLE t (id INT PRIMARY KEY, j JSON, v VARCHAR(300), k BLOB)", values=f"{_DOC}, 'before', x'01'"),
    _wide("remove-last-in-list", "A REMOVE at the end of a list, and a column behind it", "REMOVE has no length of a value: a reader that looks for one takes the next column.", "DEC3 DEC2", "a = JSON_REMOVE(a, '$.b'), b = JSON_REMOVE(b, '$.a'), n = 9"),
    _wide("list-above-250", "A list of diffs of 300 bytes", "The list's length is four bytes, unlike the lengths inside of it.", "DEC3", "a = JSON_SET(a, '$.a', REPEAT('v', 300)), n = 8", values=f"{text(json.dumps({'a': 1, 'pad': 'p' * 600}))}, NULL, NULL, 7"),
    _wide("empty-list", "Another column changes: the document has an empty list of diffs", "Unchanged is neither NULL nor absent: taken for NULL, the document is deleted downstream.", "DEC5 DEC1", "n = 8"),
    _wide("sql-null-after", "A document becomes SQL NULL", "NULL stands in the bitmap of nulls, and no list of diffs is in the row.", "DEC5", "a = NULL, b = JSON_SET(b, '$.a', 2)"),
    _wide("sql-null-before", "SQL NULL becomes a document", "There is nothing to apply diffs to: the document is whole.", "DEC5 DEC4", f"a = {_SMALL}, b = JSON_SET(b, '$.a', 2)", values=f"NULL, {_DOC}, NULL, 7"),
    _wide("sql-null-stays", "SQL NULL stays NULL beside a column with diffs", "A column that is NULL has no bytes in the row, though it has a bit among the partial ones.", "DEC5 DEC4", "b = JSON_SET(b, '$.a', 2)", values=f"NULL, {_DOC}, NULL, 7"),
    _wide("json-null-whole", "A document becomes the JSON literal null", "The column is not NULL: JSON_TYPE says NULL, IS NULL says no.", "DEC5", "a = CAST('null' AS JSON), n = 8"),
    _wide("json-null-before", "The JSON literal null becomes a document", "The before image has a value of two bytes.", "DEC5", f"a = {_SMALL}", values=f"'null', {_DOC}, {_DOC}, 7"),
    _wide("four-kinds-of-nothing", "In one row: SQL NULL, a whole JSON null, a diff to JSON null, and an empty list", "Four states that many decoders show as the same null (python-mysql-replication #521).", "DEC5 DEC4", "a = NULL, b = CAST('null' AS JSON), c = JSON_SET(c, '$.a', CAST('null' AS JSON))", table="CREATE TABLE t (id INT PRIMARY KEY, a JSON, b JSON, c JSON, d JSON)", values=", ".join([_DOC] * 4)),
    _wide("json-absent", "MINIMAL image: a changed number, the documents are not in the image", "Absent is not NULL: written as NULL, three documents are lost.", "DEC5 DEC14", "n = 8", image="MINIMAL"),
    _wide("noblob-unchanged", "NOBLOB image under the option: unchanged documents are in it, as empty lists", "NOBLOB leaves out BLOB and TEXT, but a JSON column has its four bytes: skipped, the next column is read from there.", "DEC5 DEC14", "n = 8", image="NOBLOB"),
    _wide("noblob-diff", "NOBLOB image under the option: one document with a diff, the others as empty lists", "JSON columns are not left out as BLOB and TEXT are.", "DEC14 DEC4", "b = JSON_SET(b, '$.a', 2)", image="NOBLOB"),
    _wide("minimal-diff", "MINIMAL image: the key before, one diff after", "There is no document before: the diff itself must reach the user.", "DEC14 DEC1", "c = JSON_SET(c, '$.a', 2)", image="MINIMAL"),
    _wide("generated-column", "A diff, and a stored generated column that follows the document", "The generated column has a value in the image like any other.", "DEC3 DEC14", "j = JSON_SET(j, '$.a', 2)", table="CREATE TABLE t (id INT PRIMARY KEY, j JSON, g INT AS (j->'$.a') STORED, v VARCHAR(9))", values=f"{_DOC}, DEFAULT, 'v'"),
    _wide("virtual-column", "A diff, and a virtual generated column behind the document", "Virtual columns are in the image as well: the next column is read from its place otherwise.", "DEC3 DEC14", "j = JSON_SET(j, '$.b', 'new')", table="CREATE TABLE t (id INT PRIMARY KEY, j JSON, g VARCHAR(9) AS (j->>'$.b') VIRTUAL, n INT)", values=f"{_DOC}, DEFAULT, 7"),
)  # fmt: skip

_ROWS: Final = (
    recorded(
        "diffs/rows-mixed", "Three rows in one event: diffs, a whole document, NULL", "The bitmap of partial columns stands in each row anew.", "DEC4 DEC2",
        setting=_PARTIAL, prepare=(_TABLE, f"INSERT INTO t VALUES (1, {_DOC}, 1), (2, {_SMALL}, 1), (3, NULL, 1), (4, {_DOC}, 1)"),
        statements="UPDATE t SET j = JSON_SET(j, '$.a', id + 10), n = 2",
    ),
    recorded(
        "diffs/two-statements", "A transaction with two partial updates of one row", "The second diff applies to what the first one made.", "DEC2 DEC1",
        setting=_PARTIAL, prepare=(_TABLE, f"INSERT INTO t VALUES (1, {_DOC}, 1)"),
        statements=("BEGIN", "UPDATE t SET j = JSON_SET(j, '$.c', JSON_ARRAY())", "UPDATE t SET j = JSON_SET(j, '$.c[0]', 'x')", "COMMIT"),
    ),
    recorded(
        "diffs/insert-update-delete", "The life of a row: INSERT, partial UPDATE, DELETE", "Only the UPDATE has another event type under the option; the others go on as before.", "DEC1",
        setting=_PARTIAL, prepare=_TABLE,
        statements=(f"INSERT INTO t VALUES (1, {_DOC}, 1)", "UPDATE t SET j = JSON_SET(j, '$.a', 2)", "DELETE FROM t"),
    ),
    recorded(
        "diffs/option-per-session", "The option switched on and off between updates", "It is a session variable: looking at the global value at the start proves nothing (PeerDB #4538).", "DEC1",
        prepare=(_TABLE, f"INSERT INTO t VALUES (1, {_DOC}, 1)"),
        statements=(
            "UPDATE t SET j = JSON_SET(j, '$.a', 2)", "SET SESSION binlog_row_value_options = PARTIAL_JSON", "UPDATE t SET j = JSON_SET(j, '$.a', 3)",
            "SET SESSION binlog_row_value_options = ''", "UPDATE t SET j = JSON_SET(j, '$.a', 4)",
        ),
    ),
    recorded(
        "diffs/minimal-with-base-in-log", "MINIMAL images, the base document inserted in the same log", "Whoever applies diffs needs a base: here the log has it, two events earlier.", "DEC2 DEC14",
        setting=Setting(partial=True, image="MINIMAL"), prepare=_TABLE,
        statements=(f"INSERT INTO t VALUES (1, {_DOC}, 1)", "UPDATE t SET j = JSON_SET(j, '$.a', 2, '$.c', 3) WHERE id = 1", "UPDATE t SET j = JSON_REMOVE(j, '$.b') WHERE id = 1"),
    ),
    recorded(
        "diffs/metadata-minimal", "A diff in a log without column names", "MINIMAL metadata is the default of servers: columns have numbers only.", "DEC1 DEC15",
        setting=Setting(partial=True, metadata="MINIMAL"), prepare=(_TABLE, f"INSERT INTO t VALUES (1, {_DOC}, 1)"), statements="UPDATE t SET j = JSON_SET(j, '$.a', 2)",
    ),
    recorded(
        "diffs/multi-table-update", "One UPDATE of two tables, each with a diff", "Two TABLE_MAPs come before two events 39: the table id says which is which.", "DEC1 DEC4",
        setting=_PARTIAL, prepare=(_TABLE, "CREATE TABLE u (k JSON, id INT PRIMARY KEY)", f"INSERT INTO t VALUES (1, {_DOC}, 1)", f"INSERT INTO u VALUES ({_DOC}, 1)"),
        statements="UPDATE t, u SET t.j = JSON_SET(t.j, '$.a', 2), u.k = JSON_REMOVE(u.k, '$.a') WHERE t.id = u.id",
    ),
    recorded(
        "diffs/equal-value", "JSON_SET to the value that is there already, beside a real change", "What the server logs for it is its business; nothing may be invented.", "DEC2 DEC5",
        setting=_PARTIAL, prepare=(_TABLE, f"INSERT INTO t VALUES (1, {_DOC}, 1)"), statements="UPDATE t SET j = JSON_SET(j, '$.a', 1, '$.b', 'three'), n = 2",
    ),
    recorded(
        "diffs/large-value", "A diff with a value of 70,000 bytes", "Lengths inside the list have one, three, four or nine bytes.", "DEC3 DEC6",
        setting=_PARTIAL, prepare=(_TABLE, "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80000)), 1)"), statements="UPDATE t SET j = JSON_SET(j, '$.a', REPEAT('v', 70000)), n = 2",
    ),
    recorded(
        "diffs/long-path", "A path of 300 bytes", "The path's length is length-encoded as well: 0xfc and two bytes.", "DEC2 DEC3",
        setting=_PARTIAL, prepare=(_TABLE, "INSERT INTO t VALUES (1, JSON_OBJECT(REPEAT('k', 300), 1, 'pad', REPEAT('p', 800)), 1)"), statements=f"UPDATE t SET j = JSON_SET(j, '$.{'k' * 300}', 2), n = 2",
    ),
)  # fmt: skip

_LIST: Final = {"l": ["zero", "one", "two", "three"]}


def _written(name: str, title: str, why: str, *diffs: Diff) -> Written:
    """Diffs that no statement is known to make; a server applies them."""

    def build(bases: Mapping[str, DecoderCase]) -> bytes:
        def change(body: RowsBody) -> RowsBody:
            (row,) = body.rows
            assert row.after is not None
            made = PartialJson(encode_diffs(diffs))
            after = tuple(made if isinstance(value, PartialJson) else value for value in row.after)
            return replace(body, rows=(Row(row.before, after),))

        return laid(with_rows(parts_of(bases["diffs/remove-two-of-array"]), change))

    return Written(
        id=f"diffs/{name}", title=title, why=why, requirements=words("DEC2"), build=build,
        replay_on=(_TABLE, f"INSERT INTO t VALUES (1, {_document(_LIST)}, 7)"),
    )  # fmt: skip


def _diff(operation: Operation, path: str, value: JsonValue = None) -> Diff:
    return Diff(operation, parse_path(path), value)


_WRITTEN: Final = (
    _written("insert-into-array", "INSERT into the middle of an array", "For an array INSERT shifts the cells behind: taken for a replacement one cell is lost.", _diff(Operation.INSERT, "$.l[1]", "new")),
    _written("insert-and-remove-in-array", "INSERT at the front of an array, then REMOVE behind it", "Each index counts in the array that the diffs before have made.", _diff(Operation.INSERT, "$.l[0]", "new"), _diff(Operation.REMOVE, "$.l[2]")),
    _written("insert-into-array-twice", "Two INSERTs at the same index", "The second one comes to stand in front of the first.", _diff(Operation.INSERT, "$.l[1]", "first"), _diff(Operation.INSERT, "$.l[1]", "second")),
)  # fmt: skip

CASES: Final = (*_ONE, *_PATHS, *_VALUES, *_COLUMNS, *_ROWS, *_WRITTEN)
