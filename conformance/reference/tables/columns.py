"""Column types of a TABLE_MAP and the value codec of each (binlog-events 9.1, binlog-events 10.2).

| SQL type                                  | Python value                                          |
|-------------------------------------------|-------------------------------------------------------|
| integers, YEAR, BIT                       | ``int``                                               |
| ENUM, SET                                 | ``int``: the index (0 is the error value), the bitmap |
| FLOAT, DOUBLE                             | ``float``; a FLOAT is exactly its four bytes          |
| DECIMAL                                   | ``Decimal`` with the column's scale                   |
| DATE, TIME, DATETIME, TIMESTAMP           | the tuples of :mod:`.temporal`                        |
| CHAR, VARCHAR, TEXT, BINARY, BLOB, ...    | ``bytes`` as stored: the log names no character set   |
|                                           | without metadata, and pads are cut off                        |
| JSON                                      | ``bytes`` (JSONB), or :class:`PartialJson`            |
| GEOMETRY, VECTOR                          | ``bytes``                                             |
| columns that MariaDB compresses           | ``bytes``, compressed as stored                       |
| SQL NULL                                  | ``None``                                              |

A codec is compiled once for a column (type byte, metadata, signedness) and kept. ``read(data, pos)`` returns the value
and the position after it. A short read raises ``struct.error``, ``IndexError`` or ``DecodeError``; the row decoder
turns each into a ``DecodeError`` with the column in its path.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isnan
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from conformance.reference.cursor import bitmap_size
from conformance.reference.errors import DecodeError, EncodeError, Unsupported
from conformance.reference.jsonb.opaque import decimal_size, pack_decimal, unpack_decimal
from conformance.reference.portable import shown
from conformance.reference.tables import temporal

if TYPE_CHECKING:
    from decimal import Decimal

# Type bytes. Tables and logs of older servers hold some that 9.7 does not write.
DECIMAL_OLD: Final = 0
TINY: Final = 1
SHORT: Final = 2
LONG: Final = 3
FLOAT: Final = 4
DOUBLE: Final = 5
NULL: Final = 6
TIMESTAMP: Final = 7
LONGLONG: Final = 8
INT24: Final = 9
DATE: Final = 10
TIME: Final = 11
DATETIME: Final = 12
YEAR: Final = 13
NEWDATE: Final = 14
VARCHAR: Final = 15
BIT: Final = 16
TIMESTAMP2: Final = 17
DATETIME2: Final = 18
TIME2: Final = 19
TYPED_ARRAY: Final = 20
BLOB_COMPRESSED: Final = 140  # MariaDB's columns with the attribute COMPRESSED
VARCHAR_COMPRESSED: Final = 141
VECTOR: Final = 242
JSON: Final = 245
NEWDECIMAL: Final = 246
ENUM: Final = 247
SET: Final = 248
TINY_BLOB: Final = 249
MEDIUM_BLOB: Final = 250
LONG_BLOB: Final = 251
BLOB: Final = 252
VAR_STRING: Final = 253
STRING: Final = 254
GEOMETRY: Final = 255

_METADATA_SIZE: Final = {
    **dict.fromkeys((FLOAT, DOUBLE, TIMESTAMP2, DATETIME2, TIME2, VECTOR, JSON, GEOMETRY), 1),
    **dict.fromkeys((TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, BLOB_COMPRESSED), 1),
    **dict.fromkeys((VARCHAR, BIT, NEWDECIMAL, ENUM, SET, STRING, VARCHAR_COMPRESSED), 2),
}
COMPRESSED_COLUMNS: Final = frozenset((BLOB_COMPRESSED, VARCHAR_COMPRESSED))
_KNOWN: Final = frozenset(range(21)) | frozenset(range(245, 256)) | {VECTOR} | COMPRESSED_COLUMNS
_NUMERIC: Final = frozenset((DECIMAL_OLD, TINY, SHORT, LONG, FLOAT, DOUBLE, LONGLONG, INT24, YEAR, NEWDECIMAL))
_INTEGER_SIZE: Final = {TINY: 1, SHORT: 2, INT24: 3, LONG: 4, LONGLONG: 8}
_MEMBER_SIZE: Final = {ENUM: (1, 2), SET: (1, 2, 3, 4, 8)}
_new = tuple.__new__  # of a named tuple, as in files

Value: TypeAlias = (
    "int | float | Decimal | bytes | PartialJson"
    " | temporal.Date | temporal.Time | temporal.Datetime | temporal.Timestamp"
)
Read: TypeAlias = Callable[[bytes, int], "tuple[Any, int]"]
Write: TypeAlias = Callable[[Any], bytes]


class PartialJson(NamedTuple):
    """A JSON column that was logged as diffs: their bytes, without the length in front (binlog-events 11.2).

    Empty bytes are the empty list of diffs: the column is in the image and unchanged.
    """

    diffs: bytes


class Codec(NamedTuple):
    read: Read
    write: Write


class ColumnType(NamedTuple):
    """A type byte and its metadata bytes as one little-endian number; the properties give their meaning."""

    type: int
    metadata: int = 0

    @property
    def metadata_size(self) -> int:
        if self.type == TYPED_ARRAY:
            return 1 + _METADATA_SIZE.get(self.metadata & 0xFF, 0)
        return _METADATA_SIZE.get(self.type, 0)

    @property
    def real_type(self) -> int:
        """ENUM, SET or STRING behind type 254 (binlog-events 9.1); a typed array's element; else the type byte
        itself."""
        if self.type == STRING:
            first = self.metadata & 0xFF
            return first if first & 0x30 == 0x30 else first | 0x30
        return self.type

    @property
    def length(self) -> int:
        """Maximum bytes of VARCHAR and CHAR; bits of BIT; length bytes of the BLOB family; storage bytes of ENUM and
        SET; precision of DECIMAL."""
        low, high = self.metadata & 0xFF, self.metadata >> 8
        if self.type in (VARCHAR, VARCHAR_COMPRESSED):
            return self.metadata
        if self.type == BIT:
            return high * 8 + low
        if self.type == STRING and self.real_type == STRING:
            # The two top bits of a length up to 1023 are kept, inverted, in the type byte.
            return high | ((low & 0x30) ^ 0x30) << 4
        if self.type in (STRING, ENUM, SET):
            return high
        return low

    @property
    def scale(self) -> int:
        """Fraction digits of DECIMAL, TIME, DATETIME, TIMESTAMP."""
        return self.metadata >> 8 if self.type == NEWDECIMAL else self.metadata & 0xFF

    @property
    def is_numeric(self) -> bool:
        """Counted by the SIGNEDNESS field (table-map-metadata 3.1)."""
        return self.type in _NUMERIC

    @property
    def is_character(self) -> bool:
        """Counted by the character set fields: binary strings, VECTOR; not ENUM, SET, JSON (table-map-metadata 3.2).

        In logs of MariaDB its compressed columns too (observed on 10.11.19).
        """
        return self.type in (VARCHAR, BLOB, VECTOR, *COMPRESSED_COLUMNS) or self.real_type == STRING

    @property
    def is_enum_or_set(self) -> bool:
        return self.real_type in (ENUM, SET)


def char_type(size: int) -> ColumnType:
    """The type of CHAR and BINARY columns of at most ``size`` bytes (binlog-events 9.1)."""
    return ColumnType(STRING, STRING ^ (size & 0x300) >> 4 | (size & 0xFF) << 8)


def known_type(code: int) -> bool:
    return code in _KNOWN


def _fixed(layout: str) -> Codec:
    struct = Struct(layout)
    size, unpack, pack = struct.size, struct.unpack_from, struct.pack

    def read(data: bytes, pos: int) -> tuple[Any, int]:
        return unpack(data, pos)[0], pos + size

    return Codec(read, pack)


def _single() -> Codec:
    """FLOAT. Of what is no number all bits are kept; ``struct`` does so from Python 3.14 on."""
    struct, bits, wide, wide_bits = Struct("<f"), Struct("<I"), Struct("<d"), Struct("<Q")
    unpack, pack = struct.unpack_from, struct.pack

    def read(data: bytes, pos: int) -> tuple[float, int]:
        value: float = unpack(data, pos)[0]
        if isnan(value):
            (word,) = bits.unpack_from(data, pos)
            (value,) = wide.unpack(wide_bits.pack((word >> 31) << 63 | 0x7FF << 52 | (word & 0x7FFFFF) << 29))
        return value, pos + 4

    def write(value: float) -> bytes:
        if not isnan(value):
            return pack(value)
        (word,) = wide_bits.unpack(wide.pack(value))
        return bits.pack((word >> 63) << 31 | 0xFF << 23 | ((word >> 29) & 0x7FFFFF or 1 << 22))

    return Codec(read, write)


def _integer(size: int, *, signed: bool = False) -> Codec:
    """Little-endian integers of any width."""
    if size in (1, 2, 4, 8):
        letter = {1: "b", 2: "h", 4: "i", 8: "q"}[size]
        return _fixed(f"<{letter if signed else letter.upper()}")

    def read(data: bytes, pos: int) -> tuple[int, int]:
        end = pos + size
        if end > len(data):
            raise IndexError
        return int.from_bytes(data[pos:end], "little", signed=signed), end

    def write(value: int) -> bytes:
        return value.to_bytes(size, "little", signed=signed)

    return Codec(read, write)


def _sized(prefix: int, maximum: int | None = None) -> Codec:
    """A little-endian length, then that many bytes."""
    if prefix == 1:

        def read(data: bytes, pos: int) -> tuple[bytes, int]:
            start = pos + 1
            end = start + data[pos]
            if end > len(data):
                raise _too_long(end - start, len(data) - start)
            return data[start:end], end

    elif prefix == 3:

        def read(data: bytes, pos: int) -> tuple[bytes, int]:
            start = pos + 3
            end = start + (data[pos] | data[pos + 1] << 8 | data[pos + 2] << 16)
            if end > len(data):
                raise _too_long(end - start, len(data) - start)
            return data[start:end], end

    else:
        unpack = Struct("<H" if prefix == 2 else "<I").unpack_from

        def read(data: bytes, pos: int) -> tuple[bytes, int]:
            start = pos + prefix
            end = start + unpack(data, pos)[0]
            if end > len(data):
                raise _too_long(end - start, len(data) - start)
            return data[start:end], end

    def write(value: bytes) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(f"bytes expected, not {type(value).__name__}")
        if maximum is not None and len(value) > maximum:
            raise EncodeError("too-long", "longer than the column", expected=maximum, got=len(value))
        return len(value).to_bytes(prefix, "little") + value

    return Codec(read, write)


def _too_long(length: int, left: int) -> DecodeError:
    return DecodeError("truncated", "the value's length goes beyond the event", expected=length, got=left)


def _cut(size: int, decode: Callable[[bytes], Any], encode: Callable[[Any], bytes]) -> Codec:
    """A codec for a fixed number of bytes with its own decoder."""

    def read(data: bytes, pos: int) -> tuple[Any, int]:
        end = pos + size
        if end > len(data):
            raise IndexError
        return decode(data[pos:end]), end

    return Codec(read, encode)


def _decimal(precision: int, scale: int) -> Codec:
    def encode(value: Decimal) -> bytes:
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or abs(exponent) > 1000:
            raise EncodeError("decimal-overflow", "not a number of this column", got=str(value)[:80])
        text = "".join(map(str, digits))
        shift = scale + exponent
        if shift < 0:
            text, lost = text[:shift] or "0", text[shift:]
            if lost.strip("0"):
                raise EncodeError(
                    "decimal-scale", "more fraction digits than the column", expected=scale, got=-exponent
                )
        return pack_decimal(bool(sign), text + "0" * shift, precision, scale)

    return _cut(decimal_size(precision, scale), lambda raw: unpack_decimal(raw, precision, scale), encode)


def _bit(length: int) -> Codec:
    size = bitmap_size(length)

    def encode(value: int) -> bytes:
        return value.to_bytes(size, "big")

    return _cut(size, lambda raw: int.from_bytes(raw, "big"), encode)


def _year() -> Codec:
    def encode(value: int) -> bytes:
        return bytes((value - 1900 if value else 0,))

    return _cut(1, lambda raw: 1900 + raw[0] if raw[0] else 0, encode)


def _timed(size: int, decode: Callable[[bytes, int], Any], encode: Callable[[Any, int], bytes], scale: int) -> Codec:
    if scale > 6:
        raise Unsupported("column-metadata", "more than six fraction digits", expected="0..6", got=scale)
    fraction = temporal.fraction_bytes(scale)
    return _cut(size + fraction, lambda raw: decode(raw, fraction), lambda value: encode(value, fraction))


def _little(size: int, decode: Callable[[int], Any], encode: Callable[[Any], bytes]) -> Codec:
    return _cut(size, lambda raw: decode(int.from_bytes(raw, "little")), encode)


def _partial_json() -> Codec:
    unpack = Struct("<I").unpack_from
    write = _sized(4).write

    def read(data: bytes, pos: int) -> tuple[PartialJson, int]:
        start = pos + 4
        end = start + unpack(data, pos)[0]
        if end > len(data):
            raise _too_long(end - start, len(data) - start)
        return _new(PartialJson, (data[start:end],)), end

    return Codec(read, lambda value: write(value.diffs))


PARTIAL_JSON: Final = _partial_json()


def codec(column: ColumnType, *, unsigned: bool = False) -> Codec:
    """The value codec of a column. Integers are signed unless ``unsigned`` (SIGNEDNESS of the TABLE_MAP) says so."""
    return _codec(column.type, column.metadata, unsigned)


@lru_cache(maxsize=4096)
def _codec(code: int, metadata: int, unsigned: bool) -> Codec:
    column = ColumnType(code, metadata)
    # Behind the type STRING no other types than these are written.
    kind = column.real_type if code != STRING or column.real_type in (STRING, ENUM, SET) else None
    if kind in _INTEGER_SIZE:
        return _integer(_INTEGER_SIZE[kind], signed=not unsigned)
    if kind in (FLOAT, DOUBLE):
        width = 4 if kind == FLOAT else 8
        if metadata != width:
            raise Unsupported("column-metadata", "unknown floating point width", expected=width, got=metadata)
        return _single() if kind == FLOAT else _fixed("<d")
    if kind == NEWDECIMAL:
        precision, scale = metadata & 0xFF, metadata >> 8
        if not (0 < precision <= 65 and scale <= min(30, precision)):
            raise Unsupported("column-metadata", "impossible DECIMAL", got=f"({precision},{scale})")
        return _decimal(precision, scale)
    if kind == YEAR:
        return _year()
    if kind == BIT:
        if metadata & 0xFF > 7 or not 0 < column.length <= 64:
            raise Unsupported("column-metadata", "impossible BIT length", got=f"{metadata:#06x}")
        return _bit(column.length)
    if kind in (DATE, NEWDATE):
        return _little(3, temporal.decode_date, temporal.encode_date)
    if kind == TIME2:
        return _timed(3, temporal.decode_time, temporal.encode_time, column.scale)
    if kind == DATETIME2:
        return _timed(5, temporal.decode_datetime, temporal.encode_datetime, column.scale)
    if kind == TIMESTAMP2:
        return _timed(4, temporal.decode_timestamp, temporal.encode_timestamp, column.scale)
    if kind == TIMESTAMP:
        return _little(4, temporal.Timestamp, lambda value: value[0].to_bytes(4, "little"))
    if kind == TIME:
        return _little(3, temporal.decode_old_time, temporal.encode_old_time)
    if kind == DATETIME:
        return _little(8, temporal.decode_old_datetime, temporal.encode_old_datetime)
    if kind in (VARCHAR, VAR_STRING, VARCHAR_COMPRESSED) or (kind == STRING and code == STRING):
        return _sized(1 if column.length < 256 else 2, None if kind == VAR_STRING else column.length)
    if kind in (ENUM, SET) and column.length in _MEMBER_SIZE[kind]:
        return _integer(column.length)
    if kind in (BLOB, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, JSON, GEOMETRY, VECTOR, BLOB_COMPRESSED):
        if not 1 <= metadata <= 4:
            raise Unsupported("column-metadata", "1 to 4 length bytes expected", expected="1..4", got=metadata)
        return _sized(metadata)
    return _unknown(f"{code} ({metadata:#x})")


def _unknown(shown_type: str) -> Codec:
    """A type whose values nobody can read. A column that is NULL, or not in the image, has none."""

    def refuse(*_: Any) -> Any:
        raise Unsupported("column-type", "no value form is known for this column type", got=shown_type)

    return Codec(refuse, refuse)


def decode_value(column: ColumnType, data: bytes, *, unsigned: bool = False) -> Value:
    """One value that is exactly ``data``."""
    value, end = read_value(codec(column, unsigned=unsigned), data, 0)
    if end != len(data):
        raise DecodeError("trailing-bytes", "bytes after the value", offset=end, expected=end, got=len(data))
    return value


def read_value(part: Codec, data: bytes, pos: int) -> tuple[Value, int]:
    """A value and the position after it; offsets in errors count from the start of ``data``."""
    try:
        return part.read(data, pos)
    except (struct_error, IndexError):
        raise DecodeError("truncated", "the value is cut off", offset=pos, got=len(data) - pos) from None
    except DecodeError as error:
        error.offset = pos + (error.offset or 0)
        raise


def encode_value(column: ColumnType, value: Value, *, unsigned: bool = False) -> bytes:
    """The stored form of a value that is not NULL."""
    return write_value(codec(column, unsigned=unsigned), value)


def write_value(part: Codec, value: Any) -> bytes:
    try:
        return part.write(value)
    except (TypeError, ValueError, OverflowError, AttributeError, IndexError, struct_error):
        raise EncodeError("bad-value", "not a value of this column", got=shown(value)[:80]) from None


def value_size(column: ColumnType) -> int | None:
    """Bytes of a value if they are the same for every value, else ``None``."""
    kind = column.real_type
    if kind in _INTEGER_SIZE:
        return _INTEGER_SIZE[kind]
    if kind == NEWDECIMAL:
        return decimal_size(column.length, column.scale)
    fixed = {FLOAT: 4, DOUBLE: 8, YEAR: 1, DATE: 3, NEWDATE: 3, TIMESTAMP: 4, TIME: 3, DATETIME: 8}
    if kind in fixed:
        return fixed[kind]
    if kind in (TIME2, DATETIME2, TIMESTAMP2):
        return {TIME2: 3, DATETIME2: 5, TIMESTAMP2: 4}[kind] + temporal.fraction_bytes(column.scale)
    if kind == BIT:
        return bitmap_size(column.length)
    return column.length if kind in (ENUM, SET) else None
