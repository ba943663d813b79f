"""One value of one column: stored form, text, and conversion back; character sets."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.rows import RowsBody
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import Opaque, same
from conformance.reference.tables import columns as types
from conformance.reference.tables import temporal
from conformance.reference.tables.charsets import COLLATIONS, bytes_of, text_of
from conformance.reference.tables.column_json import column_as_json
from conformance.reference.tables.columns import (
    ColumnType,
    PartialJson,
    codec,
    decode_value,
    read_value,
    value_size,
    write_value,
)
from conformance.reference.tables.definitions import Column
from conformance.reference.tables.metadata import ColumnInfo
from conformance.reference.text.columns import member_text, plain_text, stored_bytes
from conformance.reference.text.pseudo_json import Damaged
from conformance.reference.text.pseudo_values import column_text
from fuzz.events import every_type, row_bodies
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.tables.columns import Value

INVARIANT: Final = (
    "A value that is read is written as bytes that read the same, takes the size that its type fixes, has a text, and"
    " is the same in a document; text of a character set has the bytes it came from."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.tables.charsets",
    "conformance.reference.tables.columns",
    "conformance.reference.tables.temporal",
    "conformance.reference.tables.column_json",
    "conformance.reference.text.columns",
    "conformance.reference.text.pseudo_values",
)
MAX_LEN: Final = 96
DICTIONARY: Final = (b"\xfc", b"\xf5\x04", b"\xf6\x41\x1e", b"\xfe\xfe", b"\x12\x06", b"\x13\x06", b"\x11\x06", b"\x10")
_COLLATIONS: Final = tuple(sorted(COLLATIONS))
HEAD: Final = 5


def check(data: bytes) -> None:
    """Check a type byte, two bytes of metadata, whether the column is unsigned, the number of a collation; then the
    value.
    """
    if len(data) < HEAD:
        return
    column = ColumnType(data[0], int.from_bytes(data[1:3], "little"))
    unsigned = bool(data[3] & 1)
    collation = _COLLATIONS[data[4] % len(_COLLATIONS)]
    value_bytes = data[HEAD:]
    _characters(value_bytes, collation)
    part, unknown = attempt(codec, column, unsigned=unsigned)
    _, refused = attempt(decode_value, column, value_bytes, unsigned=unsigned)
    if part is None:
        require(refused or unknown, "an unknown type has no values", str(unknown))
        return
    result, cut = attempt(read_value, part, value_bytes, 0)
    if result is None:
        require(refused, "what cannot be read has no value", str(cut))
        return
    value, end = result
    require(0 <= end <= len(value_bytes), "a value ends inside its bytes", end)
    require((end == len(value_bytes)) == (refused is None), "a value is exactly its bytes", str(refused))
    size, _ = attempt(value_size, column)
    require(size is None or size == end, "a type of fixed size takes that", size, end)
    written, unwritten = attempt(write_value, part, value)
    if written is not None:
        again = read_value(part, written, 0)
        require(repr(again) == repr((value, len(written))), "what was written reads the same", value, again)
    require(written is not None or unwritten, "a value is written or refused")
    info = ColumnInfo(column, True, "c", unsigned, collation, (b"a", b"b"))
    show, _ = attempt(plain_text, info)
    if show is not None:
        text, _ = attempt(show, value)
        require(text is None or text.isprintable(), "numbers and dates are printed in one line", text)
    shown, _ = attempt(column_text, info, 1)
    if shown is not None:
        with suppress(Damaged):  # the client's text for a document that cannot be printed
            attempt(shown.show, value)
    _in_a_document(info, value)
    if isinstance(value, bytes):
        attempt(stored_bytes, info, value)
    if isinstance(value, int):
        member_text(info, value)


_SQL_TYPES: Final = {
    types.TINY: "TINYINT", types.SHORT: "SMALLINT", types.INT24: "MEDIUMINT", types.LONG: "INT",
    types.LONGLONG: "BIGINT", types.YEAR: "YEAR", types.FLOAT: "FLOAT", types.DOUBLE: "DOUBLE",
    types.NEWDECIMAL: "DECIMAL", types.BIT: "BIT", types.ENUM: "ENUM", types.SET: "SET", types.JSON: "JSON",
    types.DATE: "DATE", types.TIME2: "TIME", types.DATETIME2: "DATETIME", types.TIMESTAMP2: "TIMESTAMP",
    types.VARCHAR: "VARCHAR", types.STRING: "CHAR", types.BLOB: "TEXT",
}  # fmt: skip
_BINARY: Final = {"VARCHAR": "VARBINARY", "CHAR": "BINARY", "TEXT": "BLOB"}


def _in_a_document(info: ColumnInfo, value: Value) -> None:
    """Use the value as the argument of a JSON function."""
    name = _SQL_TYPES.get(info.type.real_type)
    if name is None or isinstance(value, PartialJson):
        return
    charset = COLLATIONS[info.collation or 0].charset
    column = Column(
        name="c",
        type=_BINARY.get(name, name) if charset == "binary" else name,
        length=info.type.length,
        scale=info.type.scale,
        unsigned=info.unsigned,
        charset=charset,
        members=("a", "b"),
    )
    made, _ = attempt(column_as_json, column, value)
    stored, _ = attempt(encode, made)
    if made is None or stored is None:
        return
    require(same(decode(stored), made), "what a column gives to a document is stored as it is", column, value)
    if isinstance(value, Decimal):
        require(
            isinstance(made, Opaque) and opaque.decimal_number(made.payload) == value, "a DECIMAL stays that", value
        )
    elif isinstance(value, _MOMENTS):
        shown = format_text(made).strip('"').partition(".")[0]
        require(shown == temporal.text(value), "a document shows the column's date and time", value, shown)


_MOMENTS: Final = (temporal.Date, temporal.Time, temporal.Datetime, temporal.Timestamp)


def _characters(data: bytes, collation: int) -> None:
    text = text_of(data, collation)
    if text is None:
        return
    again = bytes_of(text, collation)
    require(again is not None, "text of a character set can be written in it", text, COLLATIONS[collation].name)
    require(text_of(again or b"", collation) == text, "text comes back", text, COLLATIONS[collation].name)


def seeds() -> Iterator[tuple[str, bytes]]:
    """A value of every column type, signed and unsigned, and text of every character set."""
    table = every_type()
    body = next(body for name, body in row_bodies() if name == "rows-every-type")
    assert isinstance(body, RowsBody)
    values = body.rows[0].after or ()
    for place, (info, value) in enumerate(zip(table.described, values, strict=True)):
        head = bytes((info.type.type,)) + info.type.metadata.to_bytes(2, "little")
        part = codec(info.type, unsigned=info.unsigned)
        stored = b"\x80" + bytes(value_size(info.type) or 4)[1:] if value is None else write_value(part, value)
        yield f"column-{place}", head + b"\0\0" + stored
        yield f"column-{place}-unsigned", head + b"\1\0" + stored
    seen = set()
    for place, number in enumerate(_COLLATIONS[:256]):
        if COLLATIONS[number].charset not in seen:
            seen.add(COLLATIONS[number].charset)
            yield f"charset-{COLLATIONS[number].charset}", bytes((252, 1, 0, 0, place)) + b"\x04a\xe9\x81\x40"
