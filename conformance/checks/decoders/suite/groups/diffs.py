"""Diffs: lists of them, their paths and values, and what stands beside and behind them in a row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Equality
from conformance.checks.decoders.suite.declare import Setting, recorded, text

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded

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

CASES: Final = (*_ONE, *_PATHS, *_VALUES)
