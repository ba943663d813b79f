"""Documents with holes: an update in place leaves bytes that belong to nothing, and the full image has them.

No server is known to write parts in another order than their entries; the format allows it, and servers read it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Allowed
from conformance.checks.decoders.suite.declare import Setting, Written, recorded, text, words
from conformance.checks.decoders.suite.rewrite import laid, parts_of, with_rows
from conformance.reference.binlog.images import Row
from conformance.reference.jsonb.encode import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.declare import Recorded

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON)"
_WHY: Final = "Names and values must be read through their offsets, not one behind the other (python-mysql-replication #310, shyiko #301)."


def _holes(name: str, title: str, why: str, document: Any, *expressions: str, partial: bool = False) -> Recorded:
    return recorded(
        f"holes/{name}", title, why, "DEC7 IP1", setting=Setting(partial=partial),
        prepare=(_TABLE, f"INSERT INTO t VALUES (1, {text(json.dumps(document, ensure_ascii=False))})"),
        statements=tuple(f"UPDATE t SET j = {expression}" for expression in expressions),
    )  # fmt: skip


_A: Final = {"a": "a long string of some bytes", "b": [1, 2, 3], "c": "tail"}


def _object(
    names: tuple[str, ...], values: Mapping[str, Any], name_order: str, value_order: str, gap: int = 0
) -> bytes:
    """A small object whose names and values stand in the given orders, letters of the names, with gaps between."""
    head = 4 + 7 * len(names)
    places: dict[tuple[str, str], int] = {}
    data = bytearray()
    encoded = {name: encode(values[name]) for name in names}
    for kind, order in (("name", name_order), ("value", value_order)):
        for name in order:
            data += b"\xee" * gap
            places[kind, name] = head + len(data)
            data += name.encode() if kind == "name" else encoded[name][1:]
    out = len(names).to_bytes(2, "little") + (head + len(data)).to_bytes(2, "little")
    out += b"".join(places["name", name].to_bytes(2, "little") + len(name).to_bytes(2, "little") for name in names)
    out += b"".join(encoded[name][:1] + places["value", name].to_bytes(2, "little") for name in names)
    return b"\0" + out + bytes(data)


def _shared() -> bytes:
    """``{"a": "one", "b": "one"}`` with one string for both."""
    data = b"ab\x03one"
    names = b"".join(number.to_bytes(2, "little") for number in (18, 1, 19, 1))
    return b"\0" + (2).to_bytes(2, "little") + (18 + len(data)).to_bytes(2, "little") + names + b"\x0c\x14\0" * 2 + data


def _written(name: str, title: str, document: bytes, *, allowed: Allowed = Allowed.CHANGES) -> Written:
    def build(bases: Mapping[str, DecoderCase]) -> bytes:
        parts = parts_of(bases["jsonb/name-empty"])
        return laid(with_rows(parts, lambda body: replace(body, rows=(Row(None, (1, document)),))))

    return Written(
        id=f"holes/{name}",
        title=title,
        why=_WHY,
        requirements=words("DEC7"),
        allowed=allowed,
        build=build,
        replay_on=(_TABLE,),
    )


_NAMES: Final = ("a", "b", "c")
_VALUES: Final = {"a": "value of a", "b": ["x", 70000], "c": {"k": "of c"}}

CASES: Final = (
    _holes("shorter-string", "A string replaced by a shorter one in its place", _WHY, _A, "JSON_REPLACE(j, '$.a', 'short')"),
    _holes("inlined-number", "A string replaced by a number, which is inlined", "The number is in the entry, and the string's bytes stay as a hole.", _A, "JSON_REPLACE(j, '$.a', 5)"),
    _holes("removed-first", "The first member removed in place", "Entries move up, names and values stay where they were.", _A, "JSON_REMOVE(j, '$.a')"),
    _holes("removed-middle", "The middle member removed in place", _WHY, _A, "JSON_REMOVE(j, '$.b')"),
    _holes("removed-last", "The last member removed in place", "The bytes behind the last value still belong to the document.", _A, "JSON_REMOVE(j, '$.c')"),
    _holes("removed-all", "All members removed one by one", "Count 0, and a size that covers what was there.", _A, "JSON_REMOVE(j, '$.a')", "JSON_REMOVE(j, '$.c')", "JSON_REMOVE(j, '$.b')"),
    _holes("array-cell-removed", "A cell removed from an array in place", "Entries of the cells behind move up; the value's bytes stay.", ["first string", "second string", "third string"], "JSON_REMOVE(j, '$[0]')"),
    _holes("nested-removed", "A member removed two levels down", "The hole is inside of an inner container.", {"o": {"a": ["x" * 20, "y" * 20], "b": 1}, "z": "end"}, "JSON_REMOVE(j, '$.o.a[0]')"),
    _holes("number-in-string-place", "A 64-bit number in the place of a string", "The value takes eight of the string's bytes.", _A, "JSON_REPLACE(j, '$.a', 9007199254740993)"),
    _holes("object-in-place", "An object in the place of a long string", "An inner container is smaller than the room it stands in.", _A, "JSON_REPLACE(j, '$.a', JSON_OBJECT('x', 1))"),
    _holes("array-in-object-place", "An array in the place of an object", _WHY, {"o": {"one": "value one", "two": "value two"}, "z": [9]}, "JSON_REPLACE(j, '$.o', JSON_ARRAY('v', 70000))"),
    _holes("three-steps", "Three updates in place, one after the other", "Holes add up; each full image is to be read on its own.", _A, "JSON_REPLACE(j, '$.a', 'one')", "JSON_REPLACE(j, '$.c', 't')", "JSON_REMOVE(j, '$.b[1]')"),
    _holes("shrunk-then-grown", "A string made shorter, then longer again in its old room", "The room is remembered nowhere but in the offsets.", _A, "JSON_REPLACE(j, '$.a', 'x')", "JSON_REPLACE(j, '$.a', 'xxxxxxxxxx')"),
    _holes("in-before-image", "A partial update of a document that has holes already", "The before image is the stored document, holes included.", {**_A, "pad": "p" * 80}, "JSON_REMOVE(j, '$.b')", "JSON_SET(j, '$.c', 't')", partial=True),
    _holes("decimal-in-place", "A DECIMAL in the place of a string", "An opaque value inside of the room of another.", _A, "JSON_REPLACE(j, '$.a', 1.5)"),
    _holes("literal-in-place", "JSON null in the place of an array", "The literal is inlined; the array's bytes stay.", _A, "JSON_REPLACE(j, '$.b', CAST('null' AS JSON))"),
    _holes("large-in-place", "An update in place of a document above 64 KB", "The large form, with a hole between its parts.", {"a": "x" * 100, "pad": "p" * 66000, "z": "end"}, "JSON_REMOVE(j, '$.a')"),
    _written("values-backwards", "An object whose values stand in the opposite order", _object(_NAMES, _VALUES, "abc", "cba")),
    _written("names-backwards", "An object whose names stand in the opposite order", _object(_NAMES, _VALUES, "cba", "abc")),
    _written("gaps", "An object with bytes of nothing between its parts", _object(_NAMES, _VALUES, "abc", "abc", gap=5)),
    _written("all-shuffled", "An object with names and values in other orders, and gaps", _object(_NAMES, _VALUES, "bca", "cab", gap=3)),
    _written("shared-value", "Two members that are one and the same bytes", _shared(), allowed=Allowed.CHANGES_OR_ERROR),
)  # fmt: skip
