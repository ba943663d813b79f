"""The updates that ``mysqlbinlog -v`` prints, as SQL that a server runs, and the result that it must give.

The text does not carry all types (requirements FR7; mysqlbinlog-output 3.2, mysqlbinlog-output 4.1):

- temporal values and other opaque ones are printed as strings;
- a DOUBLE reads as a DECIMAL, and a DECIMAL inside a container as a DOUBLE;
- a string that is a whole document has lost its quotes.

Nor does an UPDATE store a value that equals the old document by ``=`` (0 for -0.0): on the source another column of the
row had changed. This module predicts what comes of that. It reads the event's own values and never the text, so that a
text with another value explains nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.opaque import decimal_from_text, opaque_text
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import DECIMAL, Opaque, same
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import Diff, Operation, decode_diffs
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.dialect import JsonForms
    from conformance.reference.jsonb.values import JsonValue

_COLUMN: Final = re.compile(rb"###   @([1-9][0-9]*)=(.*)", re.DOTALL)
_CONTINUED: Final = b"###      "
_STRING: Final = re.compile(rb"('(?:[^'\\]++|\\.)*+')")
_ESCAPE: Final = re.compile(rb"\\(x[01][0-9a-f]|.)")
_ESCAPED: Final = {b"f": b"\f"}  # SQL has neither this one nor those with x
_NUMBER: Final = re.compile(rb"@[1-9][0-9]*")
# SQL functions do not refuse a REPLACE that changes nothing, as an applier does.
_FUNCTIONS: Final = flipped(MYSQL, "refuse_unchanging_replace")

TYPES: Final = "temporal and other opaque values become strings"
DOUBLES: Final = "a DECIMAL inside an array or object becomes a DOUBLE"
DECIMALS: Final = "a DOUBLE becomes a DECIMAL"
BARE_STRING: Final = "a string that is the whole document has no JSON quotes"

FAST: Final = "a DOUBLE in an array or object is read fast, and may be off in its last place"
UNCHANGED: Final = "an UPDATE does not store a document that is equal to the old one by ="


class Result(NamedTuple):
    """A column after the statement: the text (``None``: SQL NULL) and whether ``=`` holds with the source's column; or
    the number of the error."""

    text: bytes | None = None
    equal: bool = False
    error: int | None = None


class Predicted(NamedTuple):
    """The result that running the text must give, and the parts of the event's values that the text cannot carry."""

    result: Result
    losses: frozenset[str]


def printed_updates(text: bytes, schema: str, table: str) -> list[dict[int, bytes]]:
    """For each UPDATE of the table, in order: the texts of the new values by column number (from 1)."""
    head = f"### UPDATE `{schema}`.`{table}`".encode()
    updates: list[dict[int, bytes]] = []
    ours = changes = False
    last = 0
    for line in text.split(b"\n"):
        if line.startswith((b"### UPDATE ", b"### INSERT ", b"### DELETE ")):
            ours, changes = line == head, False
            if ours:
                updates.append({})
        elif line in (b"### WHERE", b"### SET"):
            changes = line == b"### SET"
        elif ours and changes and (column := _COLUMN.fullmatch(line)):
            last = int(column[1])
            updates[-1][last] = column[2]
        elif ours and changes and line.startswith(_CONTINUED):
            updates[-1][last] += b"\n" + line[len(_CONTINUED) :]
    return updates


def expression(text: bytes, number: int, name: str) -> str:
    """The text of a new value with the column's quoted name in the place of ``@number``.

    Escapes that SQL lacks become the bytes that they stand for; the rest of the text stays as it is.
    """
    column = b"@%d" % number

    def named(match: re.Match[bytes]) -> bytes:
        return name.encode() if match[0] == column else match[0]

    parts = _STRING.split(text)
    out = [_ESCAPE.sub(_unescaped, part) if place % 2 else _NUMBER.sub(named, part) for place, part in enumerate(parts)]
    return b"".join(out).decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    word = match[1]
    if word.startswith(b"x") and len(word) == 3:
        return b"\\0" if word == b"x00" else bytes((int(word[1:], 16),))
    return _ESCAPED.get(word, match[0])


def predict(before: bytes | None, value: object, after: bytes | None, forms: JsonForms | None = None) -> Predicted:
    """``before`` and ``after``: the documents of the source; ``value``: the column's value in the after-image."""
    losses: set[str] = set()
    try:
        if value is None:
            return Predicted(Result(None, after is None), frozenset())
        if isinstance(value, PartialJson):
            diffs = [_carried_diff(diff, losses, forms) for diff in decode_diffs(value.diffs)]
            stored = apply_diffs(before, diffs, _FUNCTIONS) if diffs else before
            document = None if stored is None else decode(stored)
        else:
            assert isinstance(value, bytes)
            stored, document = value, _carried_document(decode(value), losses, forms)
        if stored is None:
            return Predicted(Result(None, after is None), frozenset(losses))
        # Of a whole document the statement does not read the column, and a server compares only what it has read.
        reads = isinstance(value, PartialJson)
        if reads and before is not None and equal(document, old := decode(before)) and not same(document, old):
            losses.add(UNCHANGED)
            document = old
        is_equal = after is not None and equal(document, decode(after))
        return Predicted(Result(format_text(document).encode("utf-8", "surrogateescape"), is_equal), frozenset(losses))
    except MysqlError as error:
        return Predicted(Result(error=error.number), frozenset(losses))


def _carried_diff(diff: Diff, losses: set[str], forms: JsonForms | None) -> Diff:
    if diff.operation is Operation.REMOVE:
        return diff
    return diff._replace(value=_carried(diff.value, losses, forms))


def _carried(value: JsonValue, losses: set[str], forms: JsonForms | None) -> JsonValue:
    """An argument of a function as SQL reads it."""
    if isinstance(value, dict | list):
        return _through_text(value, losses, forms)
    if isinstance(value, Opaque) and value.field_type != DECIMAL:
        losses.add(TYPES)
        return opaque_text(value)
    text = format_text(value) if isinstance(value, float) else ""
    if text and "e" not in text:
        losses.add(DECIMALS)
        return decimal_from_text(text)
    return value


def _carried_document(value: JsonValue, losses: set[str], forms: JsonForms | None) -> JsonValue:
    """A whole document, which is assigned as text."""
    if isinstance(value, str) or (isinstance(value, Opaque) and value.field_type != DECIMAL):
        losses.add(BARE_STRING)
        return parse_text(value if isinstance(value, str) else opaque_text(value), forms)
    return _through_text(value, losses, forms)


def _through_text(value: JsonValue, losses: set[str], forms: JsonForms | None) -> JsonValue:
    text = format_text(value)
    read, exact = parse_text(text, forms), parse_text(text)
    if not same(read, exact):
        losses.add(FAST)
    if not same(exact, value):
        kinds = set(_opaque_kinds(value))
        losses |= ({DOUBLES} if True in kinds else set()) | ({TYPES} if False in kinds else set())
    return read


def _opaque_kinds(value: JsonValue) -> Iterable[bool]:
    """For each opaque value inside: whether it is a DECIMAL."""
    if isinstance(value, Opaque):
        yield value.field_type == DECIMAL
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _opaque_kinds(item)
