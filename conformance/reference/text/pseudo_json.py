"""JSON in pseudo-SQL: whole documents, and the function calls that stand for diffs (mysqlbinlog-output 3.2,
mysqlbinlog-output 4).

The texts are bytes, because they hold stored strings as they are.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from conformance.reference.cursor import Recorder
from conformance.reference.errors import CodecError, DecodeError, MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.opaque import opaque_text
from conformance.reference.jsonb.stored_text import document_text as stored_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import DECIMAL, LARGE_ARRAY, JsonValue, Opaque
from conformance.reference.partial.diffs import Operation, RawDiff, read_diff, split_diffs

if TYPE_CHECKING:
    from conformance.reference.tables.columns import PartialJson

_REPLACE: Final = Operation.REPLACE  # on the way of every diff, where a member of an enumeration costs a look-up
_REMOVE: Final = Operation.REMOVE
_LINE: Final = b"\n###      "
_SPECIAL: Final = bytes((*range(32), 0x27, 0x5C))
_ESCAPED: Final = re.compile(rb"[\x00-\x1f'\\]")
_ESCAPES: Final = {
    **{bytes((code,)): b"\\x%02x" % code for code in range(32)},
    b"\b": b"\\b", b"\t": b"\\t", b"\n": b"\\n", b"\f": b"\\f", b"\r": b"\\r", b"'": b"\\'", b"\\": b"\\\\",
}  # fmt: skip

_PIECE: Final = 1 << 16  # bytes escaped at a time: re.sub keeps a list of all it changes, up to 90 bytes for each


class Damaged(Exception):
    """A value that cannot be printed: the words printed in its place, and the reason.

    ``goes_on`` is false if the rest of the event is not printed either.
    """

    def __init__(self, text: bytes, cause: CodecError, *, goes_on: bool = True) -> None:
        super().__init__(text)
        self.text = text
        self.cause = cause
        self.goes_on = goes_on


def quoted(data: bytes) -> bytes:
    """A string in pseudo-SQL: its bytes unchanged, except for quotes, backslashes and control characters."""
    if len(data.translate(None, _SPECIAL)) == len(data):  # a fifth of the time of a search
        return b"'" + data + b"'"
    if len(data) <= _PIECE:
        return b"'" + _ESCAPED.sub(_escape, data) + b"'"
    return b"'" + b"".join([_ESCAPED.sub(_escape, data[at : at + _PIECE]) for at in range(0, len(data), _PIECE)]) + b"'"


def _escape(match: re.Match[bytes]) -> bytes:
    return _ESCAPES[match[0]]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def document_text(data: bytes) -> bytes:
    """The text of a column's whole document, quoted. A scalar string or opaque value has no JSON quotes."""
    try:
        return quoted(_bytes(stored_text(data)) if data and data[0] <= LARGE_ARRAY else _plain(decode(data)))
    except MysqlError as error:  # more than 100 containers inside each other: read, but not printed
        raise Damaged(b"Failed to format JSON object as string.\n", error) from None
    except CodecError as error:
        raise Damaged(b"Invalid JSON\n", error, goes_on=False) from None


def _plain(value: JsonValue) -> bytes:
    if isinstance(value, str):
        return _bytes(value)
    if isinstance(value, Opaque):
        return _bytes(opaque_text(value))
    return _bytes(format_text(value))


def _function(diff: RawDiff) -> bytes:
    if diff.operation is _REPLACE:
        return b"JSON_REPLACE"
    if diff.operation is _REMOVE:
        return b"JSON_REMOVE"
    # The last byte decides, not the path: no quoted key ends with that byte.
    return b"JSON_ARRAY_INSERT" if diff.path.endswith(b"]") else b"JSON_INSERT"


def diffs_text(value: PartialJson, column: bytes) -> bytes:
    """The function calls around ``column``, as ``@2``, that have the effect of the diffs; the column alone for an empty
    list.
    """
    if not value.diffs:
        return column
    try:
        diffs = split_diffs(value.diffs)
    except DecodeError as error:
        words = _frame_words(value.diffs)
        raise Damaged(b"Error %b while printing JSON diff\n" % words, error) from None
    if len(diffs) == 1:
        runs = [(_function(diffs[0]), diffs)]
    else:
        runs = [(name, list(run)) for name, run in groupby(diffs, _function)]
    out = [_LINE.join([name + b"(" for name, _ in reversed(runs)]), column, b", "]
    left = len(diffs)
    for _, run in runs:
        last = len(run) - 1
        for place, diff in enumerate(run):
            out.append(quoted(diff.path))
            if diff.data is not None:
                out.append(b", ")
                try:
                    out.append(_value_text(diff.data))
                except CodecError as error:
                    words = b"Error parsing json value while printing JSON diff\n"
                    raise Damaged(b"".join([*out, words]), error.at(f"diffs[{len(diffs) - left}]")) from None
            if place == last:
                out.append(b")")
            left -= 1
            if left:
                out.append(b"," + _LINE)
    return b"".join(out)


def _value_text(data: bytes) -> bytes:
    if data and data[0] <= LARGE_ARRAY:
        return b"CAST(" + quoted(_bytes(stored_text(data))) + b" AS JSON)"
    value = decode(data)
    if isinstance(value, str) or (isinstance(value, Opaque) and value.field_type != DECIMAL):
        return quoted(_plain(value))
    return _plain(value)


def _frame_words(data: bytes) -> bytes:
    """The words of mysqlbinlog for damage that it cannot read (mysqlbinlog-output 4.2; the words for each damage:
    observed).
    """
    cursor = Recorder(data)  # its errors tell a length from the bytes that it counts
    try:
        while True:
            read_diff(cursor)
            cursor.readings.clear()
    except DecodeError as error:
        if error.code == "bad-operation":
            return b"reading operation type (invalid operation code)"
        field, of_length, _ = error.path[-1].partition("_length")
        what = b"path" if field == "path" else b"value"
        # 0xfb and 0xff are no lengths, yet they pass for one until the bytes are missed.
        missing = of_length and error.code == "truncated"
        return b"reading %b length to skip" % what if missing else b"skipping " + what
