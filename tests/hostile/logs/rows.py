"""Rows made to hurt: as many as fit, as wide as they may be, and values whose text is longer than they are."""

from __future__ import annotations

from functools import partial
from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.table_map import TableMap
from tests.hostile.logs.log import TABLE_ID, HostileLog, event, rows_head, times, transaction

if TYPE_CHECKING:
    from collections.abc import Callable

_WRITE, _UPDATE, _DELETE = EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS


def table_of(*columns: ColumnType) -> TableMap:
    return TableMap(table_id=TABLE_ID, schema="a", table="b", columns=columns, nullable=(True,) * len(columns))


def _log(table: TableMap, *events: tuple[int, bytes], split: int = 0) -> bytes:
    """``split``: the most bytes of rows in an event; 0: all in one."""
    parts = [event(EventType.TABLE_MAP, table.encode())]
    for code, rows in events:
        step = split or max(1, len(rows))
        head = rows_head(len(table.columns), code)
        parts += [event(code, head + rows[place : place + step]) for place in range(0, max(1, len(rows)), step)]
    return transaction(*parts)


def _numbers(width: int, size: int) -> bytes:
    """Rows of one integer column, no two of them equal as far as the width allows."""
    made = bytearray()
    for number in range(size // (width + 1)):
        made += b"\0" + (number & (1 << 8 * width) - 1).to_bytes(width, "little")
    return bytes(made)


_INTEGERS: Final = {1: types.TINY, 2: types.SHORT, 3: types.INT24, 4: types.LONG, 8: types.LONGLONG}


def _of_width(size: int, width: int, codes: tuple[int, ...], split: int) -> bytes:
    rows = _numbers(width, size // len(codes))
    if codes == (_WRITE, _UPDATE):  # each row is its own before image and after image
        one = width + 1
        rows = rows[: len(rows) // 3 // one * one]
        both = b"".join([rows[at : at + one] * 2 for at in range(0, len(rows), one)])
        return _log(table_of(ColumnType(_INTEGERS[width])), (_WRITE, rows), (_UPDATE, both), split=0)
    return _log(table_of(ColumnType(_INTEGERS[width])), *((code, rows) for code in codes), split=split)


def _value_rows(kind: ColumnType, value: bytes) -> Callable[[int], bytes]:
    """The same value in every row."""
    return lambda size: _log(table_of(kind), (_WRITE, times(b"\0" + value, size)))


def _one_value(kind: ColumnType, byte: bytes, length: int = 4) -> Callable[[int], bytes]:
    """One row with one value that is nearly the whole log."""
    return lambda size: _log(
        table_of(kind), (_WRITE, b"\0" + len(times(byte, size)).to_bytes(length, "little") + times(byte, size))
    )


def _nulls(size: int, columns: int, codes: tuple[int, ...]) -> bytes:
    row = b"\xff" * ((columns + 7) // 8)
    return _log(
        table_of(*[ColumnType(types.TINY)] * columns), *((code, times(row, size // len(codes))) for code in codes)
    )


def _documents(size: int, document: bytes) -> bytes:
    field = b"\0" + pack("<I", len(document)) + document
    return _log(table_of(ColumnType(types.JSON, 4)), (_WRITE, times(field, size)))


def _replaced(size: int, document: bytes) -> bytes:
    field = b"\0" + pack("<I", len(document)) + document
    return _log(table_of(ColumnType(types.JSON, 4)), (_WRITE, field), (_UPDATE, times(field * 2, size)))


def _many_diffs(size: int) -> bytes:
    """An event of partial updates of one row, again and again."""
    document = encode({"a": 1})
    diff = b"\0\3$.a\2" + encode(1)[:1] + b"\1"
    row = b"\0" + pack("<I", len(document)) + document + b"\1\1\0" + pack("<I", len(diff)) + diff
    table = table_of(ColumnType(types.JSON, 4))
    first = b"\0" + pack("<I", len(document)) + document
    return _log(table, (_WRITE, first), (EventType.PARTIAL_UPDATE_ROWS, times(row, size)))


def _changing_maps(size: int) -> bytes:
    """A TABLE_MAP in front of every row, each of another table."""
    parts: list[bytes] = []
    for number in range(max(1, size // 80)):
        table = TableMap(
            table_id=number, schema="a", table=f"t{number}", columns=(ColumnType(types.TINY),), nullable=(True,)
        )
        head = pack("<IHHH", number, 0, 1, 2) + b"\1\xff"
        parts += [event(EventType.TABLE_MAP, table.encode()), event(_WRITE, head + b"\0\1")]
    return transaction(*parts)


def _wide_maps(size: int) -> bytes:
    """Tables of 4,096 columns, each with one row of NULL."""
    parts = []
    for number in range(max(1, size // 5800)):
        columns = (ColumnType(types.TINY),) * 4096
        table = TableMap(table_id=number, schema="a", table=f"t{number}", columns=columns, nullable=(True,) * 4096)
        head = pack("<IHHH", number, 0, 1, 2) + b"\xfc\0\x10" + b"\xff" * 512
        parts += [event(EventType.TABLE_MAP, table.encode()), event(_WRITE, head + b"\xff" * 512)]
    return transaction(*parts)


_BLOB: Final = ColumnType(types.BLOB, 4)
_KINDS: Final[dict[str, tuple[ColumnType, bytes]]] = {
    "BIT(64)": (ColumnType(types.BIT, 8 << 8), b"\xff" * 8),
    "BIT(1)": (ColumnType(types.BIT, 1), b"\1"),
    "DECIMAL(65,30)": (ColumnType(types.NEWDECIMAL, 65 | 30 << 8), b"\xff" * 30),
    "DECIMAL(1,0)": (ColumnType(types.NEWDECIMAL, 1), b"\x81"),
    "DOUBLE": (ColumnType(types.DOUBLE, 8), pack("<d", -1.7976931348623157e308)),
    "FLOAT": (ColumnType(types.FLOAT, 4), pack("<f", -3.4028234e38)),
    "YEAR": (ColumnType(types.YEAR), b"\x64"),
    "DATE": (ColumnType(types.DATE), b"\x21\xa0\x0f"),
    "TIME(6)": (ColumnType(19, 6), b"\x80\0\0\0\0\1"),
    "DATETIME(6)": (ColumnType(18, 6), b"\x99\xb0\0\0\0\0\0\1"),
    "TIMESTAMP(0)": (ColumnType(17, 0), b"\x60\0\0\0"),
    "VARCHAR of no bytes": (ColumnType(types.VARCHAR, 10), b"\0"),
    "VARCHAR of control characters": (ColumnType(types.VARCHAR, 200), b"\xc8" + b"\1" * 200),
    "VARCHAR of quotes": (ColumnType(types.VARCHAR, 200), b"\xc8" + b"'" * 200),
    "VARCHAR of wrong UTF-8": (ColumnType(types.VARCHAR, 200), b"\xc8" + b"\xff" * 200),
    "BLOB of no bytes": (ColumnType(types.BLOB, 1), b"\0"),
    "ENUM": (ColumnType(types.STRING, types.ENUM | 1 << 8), b"\1"),
    "SET": (ColumnType(types.STRING, types.SET | 8 << 8), b"\xff" * 8),
    "GEOMETRY": (ColumnType(types.GEOMETRY, 4), b"\x19\0\0\0" + bytes(25)),
    "VECTOR": (ColumnType(types.VECTOR, 4), b"\x08\0\0\0" + pack("<2f", 1.5, -1e38)),
}
_DOCUMENTS: Final = {
    "documents of no bytes": b"",
    "null": encode(None),
    "empty objects": encode({}),
    "texts of control characters": encode("\1" * 200),
    "texts of quotes": encode('"' * 200),
    "ten members": encode({f"key{number}": number for number in range(10)}),
}
_LONG_VALUES: Final = {
    "zeros": b"\0", "letters": b"a", "quotes": b"'", "control characters": b"\1", "wrong UTF-8": b"\xff",
    "astral characters": "\U0001f600".encode(), "newlines": b"\n",
}  # fmt: skip

LOGS: Final[tuple[HostileLog, ...]] = (
    *(
        HostileLog(
            "rows of integers",
            f"{width} bytes, {words}",
            partial(_of_width, width=width, codes=codes, split=split),
        )
        for width in _INTEGERS
        for words, codes, split in (
            ("inserted", (_WRITE,), 0),
            ("inserted and deleted", (_WRITE, _DELETE), 0),
            ("inserted and updated", (_WRITE, _UPDATE), 0),
            ("events of eight thousand bytes", (_WRITE,), 7920),
        )
    ),
    *(
        HostileLog(
            "rows of NULL",
            f"{columns} columns, {words}",
            partial(_nulls, columns=columns, codes=codes),
        )
        for columns in (1, 8, 64, 4096)
        for words, codes in (
            ("inserted", (_WRITE,)),
            ("inserted and deleted", (_WRITE, _DELETE)),
            ("inserted and updated", (_WRITE, _UPDATE)),
        )
    ),
    *(HostileLog("rows of one value", words, _value_rows(kind, value)) for words, (kind, value) in _KINDS.items()),
    *(HostileLog("one BLOB", words, _one_value(_BLOB, byte)) for words, byte in _LONG_VALUES.items()),
    *(
        HostileLog("one GEOMETRY", words, _one_value(ColumnType(types.GEOMETRY, 4), byte))
        for words, byte in _LONG_VALUES.items()
        if words in ("zeros", "letters")
    ),
    *(
        HostileLog("rows of documents", words, partial(_documents, document=document))
        for words, document in _DOCUMENTS.items()
    ),
    *(
        HostileLog("updates of documents", words, partial(_replaced, document=document))
        for words, document in _DOCUMENTS.items()
    ),
    HostileLog("partial updates", "of one row", _many_diffs),
    HostileLog("tables", "one for each row", _changing_maps),
    HostileLog("tables", "of 4,096 columns", _wide_maps),
)
