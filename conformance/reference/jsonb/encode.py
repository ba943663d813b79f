"""JSON values to JSONB, the same bytes that the server writes for a document made from scratch (no holes).

Small or large (jsonb 2.1): a container is written small if its whole small form fits in 65535 bytes; all containers
inside it are then small too. Otherwise it is large, and each child is tried small on its own. One bottom-up pass
decides: a container is large if a child is large or its own small size exceeds the limit.
"""

from __future__ import annotations

from operator import itemgetter
from struct import Struct
from typing import Any, Final, NamedTuple

from conformance.reference.errors import EncodeError, MysqlError, too_deep
from conformance.reference.jsonb.values import (
    DOUBLE,
    INT16,
    INT32,
    INT64,
    LARGE,
    LARGE_ARRAY,
    LARGE_OBJECT,
    LITERAL,
    MAX_DEPTH,
    MAX_KEY,
    OPAQUE,
    SMALL_ARRAY,
    SMALL_OBJECT,
    STRING,
    UINT16,
    UINT32,
    UINT64,
    JsonValue,
    Opaque,
    UInt,
)

SMALL_LIMIT: Final = 0xFFFF
LARGE_LIMIT: Final = 0xFFFFFFFF

# Types whose value stands in the value entry itself, by the format of the container (jsonb 2).
INLINED_SMALL: Final = frozenset((LITERAL, INT16, UINT16))
INLINED_LARGE: Final = frozenset((LITERAL, INT16, UINT16, INT32, UINT32))

_BYTES: Final = tuple([byte.to_bytes(1, "little") for byte in range(256)])
_NULL: Final = (LITERAL, b"\x00")
_TRUE: Final = (LITERAL, b"\x01")
_FALSE: Final = (LITERAL, b"\x02")

_pack_int16 = Struct("<h").pack
_pack_int32 = Struct("<i").pack
_pack_int64 = Struct("<q").pack
_pack_uint16 = Struct("<H").pack
_pack_uint32 = Struct("<I").pack
_pack_uint64 = Struct("<Q").pack
_pack_double = Struct("<d").pack
_pack_small_header = Struct("<HH").pack
_pack_large_header = Struct("<II").pack
_pack_small_key = Struct("<HH").pack
_pack_large_key = Struct("<IH").pack
_pack_small_entry = Struct("<BH").pack
_pack_large_entry = Struct("<BI").pack


def encode(value: JsonValue) -> bytes:
    """The JSONB document of a value: type byte, then the value's data.

    Raises :class:`MysqlError` 3157 for more than 100 nested containers, and 3151 for a key over 65535 bytes. Raises
    :class:`EncodeError` for a Python value that is no JSON value.
    """
    kind, data = encode_typed(value, 0)
    return _BYTES[kind] + data


def encoded_size(value: JsonValue) -> int:
    """The size of a document in bytes: ``len(encode(value))``."""
    return 1 + len(encode_typed(value, 0)[1])


def encode_varlen(length: int) -> bytes:
    """A length inside JSONB: base 128, least significant group first, minimal form (jsonb 1, binlog-events 1.3)."""
    if length < 0x80:
        return length.to_bytes(1, "little")
    if length < 0x4000:
        return bytes((length & 0x7F | 0x80, length >> 7))
    out = bytearray()
    while length > 0x7F:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    out.append(length)
    return bytes(out)


def key_bytes(key: str) -> bytes:
    """An object key as stored. Raises :class:`MysqlError` 3151 for a key that is too long, :class:`EncodeError` for one
    that is no string.
    """
    if not isinstance(key, str):
        raise EncodeError("not-a-json-value", "the key of an object is a string", got=type(key).__name__)
    raw = key.encode("utf-8", "surrogateescape")
    if len(raw) > MAX_KEY:
        raise MysqlError(3151, "ER_JSON_KEY_TOO_BIG", "the JSON object contains a key that is too long", got=len(raw))
    return raw


def inlined_entry(kind: int, data: bytes, *, large: bool) -> bytes:
    """The offset field of a value entry that holds the value itself: sign- or zero-extended in the large format."""
    if not large:
        return data if len(data) == 2 else data + b"\x00"
    if kind == INT16:
        return data + (b"\xff\xff" if data[1] & 0x80 else b"\x00\x00")
    return data.ljust(4, b"\x00")


def encode_typed(typed: JsonValue, level: int) -> tuple[int, bytes]:
    """Type byte and data of a value inside ``level`` containers."""
    kind = type(typed)
    value: Any = typed  # what a type() test says, a checker cannot follow; isinstance() would cost a third of the time
    if kind is str:
        try:
            raw = value.encode()
        except UnicodeEncodeError:
            raw = _escaped(value)
        length = len(raw)
        return STRING, (_BYTES[length] if length < 0x80 else encode_varlen(length)) + raw
    if kind is int:
        return _signed(value)
    if kind is dict:
        return _object(value, level)
    if kind is list:
        return _array(value, level)
    if value is None:
        return _NULL
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is float:
        return DOUBLE, _pack_double(value)
    if kind is UInt:
        return _unsigned(value)
    if kind is Opaque:
        field_type, payload = value
        if not 0 <= field_type <= 255:
            raise EncodeError("bad-field-type", "an opaque value's field type is one byte", got=field_type)
        return OPAQUE, field_type.to_bytes(1, "little") + encode_varlen(len(payload)) + payload
    raise EncodeError("not-a-json-value", "no JSON value stands for this Python type", got=kind.__name__)


def _escaped(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EncodeError("bad-string", "a string has a lone surrogate", offset=error.start) from None


def _signed(value: int) -> tuple[int, bytes]:
    if -0x8000 <= value < 0x8000:
        return INT16, _pack_int16(value)
    if -0x80000000 <= value < 0x80000000:
        return INT32, _pack_int32(value)
    if -(1 << 63) <= value < 1 << 63:
        return INT64, _pack_int64(value)
    raise EncodeError("integer-range", "a JSON INTEGER has 64 bits", expected="-2^63..2^63-1", got=value)


def _unsigned(value: int) -> tuple[int, bytes]:
    if 0 <= value <= 0xFFFF:
        return UINT16, _pack_uint16(value)
    if 0 <= value <= 0xFFFFFFFF:
        return UINT32, _pack_uint32(value)
    if 0 <= value < 1 << 64:
        return UINT64, _pack_uint64(value)
    raise EncodeError("integer-range", "a JSON UNSIGNED INTEGER has 64 bits", expected="0..2^64-1", got=value)


def _array(items: list[JsonValue], level: int) -> tuple[int, bytes]:
    if level >= MAX_DEPTH:
        raise too_deep()
    level += 1
    values = [encode_typed(item, level) for item in items]
    return _container(values, _NO_KEYS, False)


def _object(members: dict[str, JsonValue], level: int) -> tuple[int, bytes]:
    if level >= MAX_DEPTH:
        raise too_deep()
    level += 1
    keys = _stored_keys(tuple(members))
    values = [encode_typed(members[name], level) for name in keys.names]
    return _container(values, keys, True)


class _Keys(NamedTuple):
    """The keys of an object in their stored bytes, which do not depend on the values.

    ``names`` and ``raw`` are in stored order. ``small``: the key entries in the small format, empty if they do not fit.
    """

    names: tuple[str, ...]
    raw: tuple[bytes, ...]
    joined: bytes
    small: bytes


_NO_KEYS: Final = _Keys((), (), b"", b"")

# Documents of one table mostly have the same keys. Small and bounded, as any document may have other ones.
_known_keys: dict[tuple[str, ...], _Keys] = {}
_KNOWN_KEYS: Final = 1024
_KNOWN_BYTES: Final = 1024  # of an object's keys


def _stored_keys(members: tuple[str, ...]) -> _Keys:
    keys = _known_keys.get(members)
    if keys is None:
        rows = [(len(raw := key_bytes(name)), raw, name) for name in members]
        rows.sort(key=_length_then_bytes)
        joined = b"".join([raw for _, raw, _ in rows])
        offset = 4 + 7 * len(rows)
        small = []
        if offset + len(joined) <= SMALL_LIMIT:
            for size, _, _ in rows:
                small.append(_pack_small_key(offset, size))
                offset += size
        keys = _Keys(tuple([name for _, _, name in rows]), tuple([raw for _, raw, _ in rows]), joined, b"".join(small))
        if len(joined) <= _KNOWN_BYTES and len(_known_keys) < _KNOWN_KEYS:
            _known_keys[members] = keys
    return keys


_length_then_bytes: Final = itemgetter(0, 1)


def _container(values: list[tuple[int, bytes]], keys: _Keys, is_object: bool) -> tuple[int, bytes]:
    small = _small(values, keys, is_object)
    if small is None:
        return (LARGE_OBJECT if is_object else LARGE_ARRAY), _large(values, keys, is_object)
    return (SMALL_OBJECT if is_object else SMALL_ARRAY), small


def _small(values: list[tuple[int, bytes]], keys: _Keys, is_object: bool) -> bytes | None:
    """The small format; ``None`` if the container or one inside it is too large for that."""
    count = len(values)
    offset = 4 + count * (7 if is_object else 3) + len(keys.joined)
    parts = [b"", keys.small]  # the first is the header, which holds the size
    tail = [keys.joined]
    for kind, data in values:
        if kind in INLINED_SMALL:
            parts.append(_BYTES[kind] + (data if len(data) == 2 else data + b"\x00"))
        elif offset > SMALL_LIMIT or kind in LARGE:
            return None
        else:
            parts.append(_pack_small_entry(kind, offset))
            offset += len(data)
            tail.append(data)
    if offset > SMALL_LIMIT:
        return None
    parts[0] = _pack_small_header(count, offset)
    parts += tail
    return b"".join(parts)


def _large(values: list[tuple[int, bytes]], keys: _Keys, is_object: bool) -> bytes:
    count = len(values)
    offset = 8 + count * (11 if is_object else 5)
    size = offset + len(keys.joined) + sum(len(data) for kind, data in values if kind not in INLINED_LARGE)
    if size > LARGE_LIMIT:
        raise MysqlError(3150, "ER_JSON_VALUE_TOO_BIG", "the JSON document is longer than 2^32-1 bytes", got=size)
    head = bytearray(_pack_large_header(count, size))  # one buffer: a large array has hundreds of thousands of entries
    for key in keys.raw:
        head += _pack_large_key(offset, len(key))
        offset += len(key)
    parts: list[bytes | bytearray] = [head, keys.joined]
    for kind, data in values:
        if kind in INLINED_LARGE:
            head += _BYTES[kind] + inlined_entry(kind, data, large=True)
        else:
            head += _pack_large_entry(kind, offset)
            offset += len(data)
            parts.append(data)
    return b"".join(parts)
