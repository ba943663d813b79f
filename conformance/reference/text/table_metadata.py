"""The columns of a TABLE_MAP as ``mysqlbinlog --print-table-metadata`` prints them (table-map-metadata 5).

Names in the list of columns have the escapes of strings (observed on 9.7.4). Names in the list of key parts are printed
unchanged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATIONS
from conformance.reference.tables.metadata import Bits, ColumnInfo, Field, key_parts
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK

if TYPE_CHECKING:
    from conformance.reference.tables.table_map import TableMap

_INTEGERS: Final = {
    types.TINY: "TINYINT",
    types.SHORT: "SMALLINT",
    types.INT24: "MEDIUMINT",
    types.LONG: "INT",
    types.LONGLONG: "BIGINT",
}
_PLAIN: Final = {
    types.FLOAT: "FLOAT",
    types.DOUBLE: "DOUBLE",
    types.YEAR: "YEAR",
    types.DATE: "DATE",
    types.NEWDATE: "DATE",
    types.TIMESTAMP: "TIMESTAMP",
    types.TIME: "TIME",
    types.DATETIME: "DATETIME",
    types.JSON: "JSON",
}
_TEMPORAL: Final = {types.TIMESTAMP2: "TIMESTAMP", types.DATETIME2: "DATETIME", types.TIME2: "TIME"}
_GEOMETRY: Final = (
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMCOLLECTION",
)
_BLOB_PREFIX: Final = {1: "TINY", 2: "", 3: "MEDIUM", 4: "LONG"}
_ESCAPED: Final = re.compile(rb"[\x00\b\t\n\r'\\]")
_ESCAPES: Final = {
    b"\0": b"\\0", b"\b": b"\\b", b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r", b"'": b"\\'", b"\\": b"\\\\",
}  # fmt: skip
_ROW_ID: Final = b"my_row_id"  # the name of a generated invisible primary key in a log without names


def metadata_text(table: TableMap) -> bytes:
    """The ``# Columns(...)`` lines, and ``# Primary Key(...)`` where the log says what the key is."""
    generated = bool(table.flags & GENERATED_INVISIBLE_PK)
    columns = list(table.described)
    if generated and columns:
        columns[0] = _generated_key(columns[0], table)
    parts = [_column(info, generated=generated and not index) for index, info in enumerate(columns)]
    out = b"# Columns(" + b",\n#         ".join(parts) + b")\n"
    key = [_ROW_ID] if generated else _key(table)
    if key:
        out += b"# Primary Key(" + b", ".join(key) + b")\n"
    return out


def _generated_key(info: ColumnInfo, table: TableMap) -> ColumnInfo:
    """The first column of such a table: what the log does not say of it is that of ``my_row_id``."""
    says_sign = any(isinstance(item, Bits) and item.field == Field.SIGNEDNESS for item in table.metadata)
    return info._replace(
        name=_ROW_ID.decode() if info.name is None else info.name,
        unsigned=(info.unsigned and info.type.type != types.YEAR) or not (says_sign and info.type.is_numeric),
        nullable=False,
        visible=bool(info.visible),
    )


def _column(info: ColumnInfo, *, generated: bool) -> bytes:
    parts = []
    if info.name is not None:
        parts.append(_name(info.name))
    parts.append(type_name(info).encode())
    if info.unsigned and (generated or info.type.type != types.YEAR):
        parts.append(b"UNSIGNED")
    if not info.nullable:
        parts.append(b"NOT NULL")
    text = b" ".join(parts)
    if info.members is not None:
        # The first member opens the list: without one its end stands alone (observed on 8.0.45 and 9.7.4).
        text += (b"(" if info.members else b"") + b", ".join(map(_member, info.members)) + b")"
    known = COLLATIONS.get(info.collation) if info.collation is not None else None
    if known is not None and (known.id != BINARY or info.type.is_enum_or_set):
        text += f" CHARSET {known.charset} COLLATE {known.name}".encode()
    if info.visible is False:
        text += b" INVISIBLE"
    if generated:
        text += b" AUTO_INCREMENT"
    return text


def _name(name: str) -> bytes:
    """A name in backticks, with the escapes of a string, which backticks do not need."""
    return b"`" + _escaped(name.encode("utf-8", "surrogateescape")).replace(b"`", b"``") + b"`"


def _member(member: bytes) -> bytes:
    return b"'" + _escaped(member) + b"'"


def _escaped(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)


def _key(table: TableMap) -> list[bytes]:
    parts: tuple[tuple[int, int], ...] = ()
    for item in table.metadata:
        parts = key_parts(item) or parts
    described = table.described
    out = []
    for index, prefix in parts:
        name = described[index].name if index < len(described) else None
        text = str(index).encode() if name is None else name.encode("utf-8", "surrogateescape")
        out.append(text + (b"(%d)" % prefix if prefix else b""))
    return out


def type_name(info: ColumnInfo) -> str:
    """The SQL type, as far as the log shows it: lengths in characters, no ZEROFILL, no display width."""
    column = info.type
    kind = column.real_type
    if kind in _INTEGERS:
        return _INTEGERS[kind]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == types.NEWDECIMAL:
        return f"DECIMAL({column.length},{column.scale})"
    if kind == types.BIT:
        return f"BIT({column.length})"
    if kind in _TEMPORAL:
        return _TEMPORAL[kind] + (f"({column.scale})" if column.scale else "")
    if kind in (types.ENUM, types.SET):
        return "ENUM" if kind == types.ENUM else "SET"
    if kind == types.VECTOR:
        return f"VECTOR({info.dimension or 0})"
    if kind == types.GEOMETRY:
        number = info.geometry or 0
        return _GEOMETRY[number] if number < len(_GEOMETRY) else f"INVALID_GEOMETRY_TYPE({number})"
    known = COLLATIONS.get(info.collation) if info.collation is not None else None
    text = known is not None and known.id != BINARY
    if kind == types.BLOB:
        word = "TEXT" if text else "BLOB"
        prefix = _BLOB_PREFIX.get(column.length)
        return f"INVALID_{word}({column.length})" if prefix is None else prefix + word
    if kind in (types.VARCHAR, types.STRING):
        word = ("VARCHAR" if text else "VARBINARY") if kind == types.VARCHAR else ("CHAR" if text else "BINARY")
        return f"{word}({column.length // (known.max_bytes if known else 1)})"
    return f"INVALID_TYPE({kind})"
