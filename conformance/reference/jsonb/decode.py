"""JSONB to JSON values.

``decode(data)`` reads as the server does (jsonb 3): it follows offsets, so it passes over holes. It does not require
sorted keys, minimal lengths or disjoint values. A budget bounds its work by the input's size: entries of shared or
overlapping children count each time.

:func:`conformance.reference.jsonb.layout.decode_strict` also checks the rules that every writer keeps.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from conformance.reference.errors import DecodeError, too_deep
from conformance.reference.jsonb.values import (
    DOUBLE,
    INT16,
    INT32,
    INT64,
    LARGE_ARRAY,
    LARGE_OBJECT,
    LITERAL,
    MAX_DEPTH,
    OPAQUE,
    STRING,
    UINT16,
    UINT32,
    UINT64,
    JsonValue,
    Opaque,
    UInt,
)

_int16 = Struct("<h").unpack_from
_uint16 = Struct("<H").unpack_from
_int32 = Struct("<i").unpack_from
_uint32 = Struct("<I").unpack_from
_int64 = Struct("<q").unpack_from
_uint64 = Struct("<Q").unpack_from
_double = Struct("<d").unpack_from
small_keys = Struct("<HH").iter_unpack
large_keys = Struct("<IH").iter_unpack
small_values = Struct("<BH").iter_unpack
large_values = Struct("<BI").iter_unpack

_LITERALS: Final = (None, True, False)
_BAD_TYPE: Final = "a type byte between 0x00 and 0x0c, or 0x0f"


def decode(data: bytes) -> JsonValue:
    """The value of a JSONB document (type byte, then the value). A document of no bytes is JSON null. Raises only
    :class:`CodecError`.
    """
    if not data:
        return None
    kind = data[0]
    if kind > 3:
        if kind not in KINDS:
            raise no_type(kind, 0)
        return decode_scalar(data, kind, 1, len(data))[0]
    # A writer spends at least three bytes on an entry, and all bytes of a string or key: what is more is shared.
    return _container(data, kind, 1, len(data), 0, [len(data) // 3 + 1, len(data)])


def read_varlen(data: bytes | bytearray, pos: int, end: int) -> tuple[int, int]:
    """A length and the position after it. At most five bytes and 2^32-1; longer forms than needed are accepted."""
    length = shift = 0
    start = pos
    while pos < end and shift < 35:
        byte = data[pos]
        pos += 1
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            if length > 0xFFFFFFFF:
                break
            return length, pos
        shift += 7
    code = "bad-length" if shift >= 35 or length > 0xFFFFFFFF else "truncated"
    raise DecodeError(code, "a length inside JSONB is cut short or over 2^32-1", offset=start)


def decode_scalar(data: bytes | bytearray, kind: int, pos: int, end: int) -> tuple[JsonValue, int]:
    """A scalar whose data starts at ``pos``, and the position after it."""
    if kind == STRING:
        if pos < end and data[pos] < 0x80:
            length = data[pos]
            pos += 1
        else:
            length, pos = read_varlen(data, pos, end)
        stop = pos + length
        if stop > end:
            raise _short("string", pos, length, end)
        raw = data[pos:stop]
        try:
            return raw.decode(), stop
        except UnicodeDecodeError:
            return raw.decode("utf-8", "surrogateescape"), stop
    width = _WIDTH.get(kind)
    if width is not None:
        if width > end - pos:
            raise _short("number", pos, width, end)
        if kind == INT16:
            return _int16(data, pos)[0], pos + 2
        if kind == DOUBLE:
            return _double(data, pos)[0], pos + 8
        if kind == INT32:
            return _int32(data, pos)[0], pos + 4
        if kind == LITERAL:
            return _literal(data[pos], pos), pos + 1
        if kind == INT64:
            return _int64(data, pos)[0], pos + 8
        if kind == UINT16:
            return UInt(_uint16(data, pos)[0]), pos + 2
        if kind == UINT32:
            return UInt(_uint32(data, pos)[0]), pos + 4
        return UInt(_uint64(data, pos)[0]), pos + 8
    if kind == OPAQUE:
        if pos >= end:
            raise _short("opaque value", pos, 1, end)
        field_type = data[pos]
        length, pos = read_varlen(data, pos + 1, end)
        stop = pos + length
        if stop > end:
            raise _short("opaque value", pos, length, end)
        return Opaque(field_type, bytes(data[pos:stop])), stop
    raise no_type(kind, pos)


def no_type(kind: int, offset: int) -> DecodeError:
    """``offset``: that of the type byte; of a scalar alone, whose type byte stands elsewhere, that of its data."""
    return DecodeError(
        "bad-type", "no JSON value has this type byte", offset=offset, expected=_BAD_TYPE, got=f"{kind:#04x}"
    )


_WIDTH: Final = {LITERAL: 1, INT16: 2, UINT16: 2, INT32: 4, UINT32: 4, INT64: 8, UINT64: 8, DOUBLE: 8}
KINDS: Final = frozenset((*range(LITERAL), *_WIDTH, STRING, OPAQUE))


def scalar_end(data: bytes | bytearray, kind: int, pos: int, end: int) -> int:
    """The end of a scalar's data, without decoding it."""
    width = _WIDTH.get(kind)
    if width is not None:
        stop = pos + width
    elif kind in (STRING, OPAQUE):
        length, stop = read_varlen(data, pos + (kind == OPAQUE), end)
        stop += length
    else:
        raise no_type(kind, pos)
    if stop > end:
        raise _short("scalar", pos, stop - pos, end)
    return stop


def _literal(byte: int, offset: int) -> bool | None:
    if byte > 2:
        raise DecodeError(
            "bad-literal", "a JSON literal is null, true or false", offset=offset, expected="0, 1 or 2", got=byte
        )
    return _LITERALS[byte]


def _short(what: str, pos: int, need: int, end: int) -> DecodeError:
    return DecodeError("truncated", f"a JSON {what} is cut short", offset=pos, expected=need, got=max(end - pos, 0))


def container_header(data: bytes | bytearray, kind: int, start: int, end: int) -> tuple[int, int, int, int]:
    """(element count, end of the container, start of the value entries, end of the value entries), checked."""
    left = end - start
    if kind & 1:
        if left < 8:
            raise _short("container", start, 8, end)
        count = data[start + 3]  # first into the wide variable: in C, a byte shifted by 24 bits has a sign
        size = data[start + 7]
        count = data[start] | data[start + 1] << 8 | data[start + 2] << 16 | count << 24
        size = data[start + 4] | data[start + 5] << 8 | data[start + 6] << 16 | size << 24
        keys = start + 8
        values = keys + 6 * count if kind == 1 else keys
        values_end = values + 5 * count
    else:
        if left < 4:
            raise _short("container", start, 4, end)
        count = data[start] | data[start + 1] << 8
        size = data[start + 2] | data[start + 3] << 8
        keys = start + 4
        values = keys + 4 * count if kind == 0 else keys
        values_end = values + 3 * count
    if size > left:
        raise DecodeError(
            "bad-size", "a JSON container is longer than its place", offset=start, expected=left, got=size
        )
    if values_end > start + size:
        raise DecodeError(
            "bad-count",
            f"a JSON container of {size} bytes cannot have {count} elements",
            offset=start,
            expected=values_end - start,
            got=size,
        )
    return count, start + size, values, values_end


LONG: Final = 160  # bytes of a string or key; shorter ones cannot make much of the entries that point to them


def spend(budget: list[int], size: int, offset: int) -> None:
    """Count a long string or key against the budget: entries that share its bytes could take unlimited memory."""
    budget[1] -= size
    if budget[1] < 0:
        raise DecodeError("shared-children", "JSON strings share bytes beyond the size of the input", offset=offset)


def _container(
    data: bytes, kind: int, start: int, end: int, level: int, budget: list[int]
) -> list[JsonValue] | dict[str, JsonValue]:
    if level >= MAX_DEPTH:
        raise too_deep()
    level += 1
    count, end, values, values_end = container_header(data, kind, start, end)
    budget[0] -= count
    if budget[0] < 0:
        raise DecodeError(
            "shared-children", "JSON containers share elements beyond the size of the input", offset=start
        )
    out: list[JsonValue] = []
    append = out.append
    large = kind & 1
    entries = large_values(data[values:values_end]) if large else small_values(data[values:values_end])
    # The commonest types stand first and are read here: a call for each would take a third of the time.
    for entry_kind, offset in entries:
        if entry_kind == STRING:
            at = start + offset
            if values_end <= at < end:
                length = data[at]
                stop = at + 1 + length
                if length < 0x80 and stop <= end:
                    raw = data[at + 1 : stop]
                    try:
                        append(raw.decode())
                    except UnicodeDecodeError:
                        append(raw.decode("utf-8", "surrogateescape"))
                    continue
        elif entry_kind == INT16:
            append((offset & 0xFFFF ^ 0x8000) - 0x8000)
            continue
        elif entry_kind == LITERAL:
            append(_literal(offset & 0xFF, values + len(out) * (5 if large else 3) + 1))
            continue
        elif entry_kind == UINT16:
            append(UInt(offset & 0xFFFF))
            continue
        elif large and entry_kind == INT32:
            append((offset ^ 0x80000000) - 0x80000000)
            continue
        elif large and entry_kind == UINT32:
            append(UInt(offset))
            continue
        at = start + offset
        if at < values_end or at > end:
            width = 5 if large else 3
            position = values + len(out) * width
            if at < position + width or at > end:  # into a later entry: 9.7.4 follows that
                raise bad_offset(position, offset, position + width - start, end - start).at(f"[{len(out)}]")
        try:
            if entry_kind > LARGE_ARRAY:
                value, stop = decode_scalar(data, entry_kind, at, end)
                if stop - at > LONG:
                    spend(budget, stop - at, at)
                append(value)
            else:
                append(_container(data, entry_kind, at, end, level, budget))
        except DecodeError as error:
            if entry_kind not in KINDS:
                error.offset = values + len(out) * (5 if large else 3)
            raise error.at(f"[{len(out)}]") from None
    if kind > LARGE_OBJECT:
        return out
    key_entries = data[start + (8 if large else 4) : values]
    keys = object_keys(data, kind, start, end, values_end, key_entries, budget)
    members = dict(zip(keys, out, strict=True))
    return members if len(members) == count else _last_wins(keys, out)


# Objects of one array mostly have the same keys, and then the same key entries and key bytes: offsets of keys do not
# depend on the values. Small and bounded, as any input may have other keys.
known_keys: dict[tuple[int, bytes, bytes], list[str]] = {}
_KNOWN_KEYS: Final = 1024
_KNOWN_BYTES: Final = 1024  # of key entries and keys: what is kept stays below a few megabytes


def last_key_end(entries: bytes, kind: int, start: int, end: int) -> int:
    """Where the last key of an object ends, from its entry, which ends at ``end``."""
    last = start + (entries[end - 2] | entries[end - 1] << 8)
    if not kind:
        return last + (entries[end - 4] | entries[end - 3] << 8)
    top = entries[end - 3]
    return last + (entries[end - 6] | entries[end - 5] << 8 | entries[end - 4] << 16 | top << 24)


def object_keys(
    data: bytes, kind: int, start: int, end: int, values_end: int, key_entries: bytes, budget: list[int]
) -> list[str]:
    """The keys of an object, in entry order."""
    if not key_entries:
        return []
    last = last_key_end(key_entries, kind, start, len(key_entries))
    known = kind, key_entries, data[values_end:last]
    keys = known_keys.get(known)
    if keys is not None and last <= end:
        return keys
    keys = []
    furthest = 0
    for offset, length in large_keys(key_entries) if kind else small_keys(key_entries):
        at = start + offset
        stop = at + length
        if at < values_end or stop > end:
            raise DecodeError(
                "bad-key-offset",
                "a JSON key lies outside its object",
                offset=start,
                expected=f"{values_end - start}..{end - start}",
                got=f"{offset}+{length}",
            )
        if length > LONG:
            spend(budget, length, at)
        furthest = max(furthest, stop)
        raw = data[at:stop]
        try:
            keys.append(raw.decode())
        except UnicodeDecodeError:
            keys.append(raw.decode("utf-8", "surrogateescape"))
    # Only where the bytes compared hold all keys do equal bytes mean equal keys.
    size = last - values_end + len(key_entries)
    if furthest == last and size <= _KNOWN_BYTES and len(known_keys) < _KNOWN_KEYS:
        known_keys[known] = keys
    return keys


def _last_wins(keys: list[str], values: list[JsonValue]) -> dict[str, JsonValue]:
    """Duplicate keys: the last entry's value, which the server's tree form keeps (jsonb 2)."""
    members: dict[str, JsonValue] = {}
    for key, value in zip(keys, values, strict=True):
        members.pop(key, None)
        members[key] = value
    return members


def bad_offset(entry: int, offset: int, low: int, high: int) -> DecodeError:
    """A value entry at ``entry`` points outside its container."""
    return DecodeError(
        "bad-value-offset",
        "a JSON value lies outside its container",
        offset=entry,
        expected=f"{low}..{high}",
        got=offset,
    )
