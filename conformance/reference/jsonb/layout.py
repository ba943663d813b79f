"""The layout of a stored document: the place of each key and value, and the old bytes in the holes.

In-place updates leave holes (partial-update 3), so the value alone does not determine the bytes. The layout does:
``encode_stored(decode_stored(data)) == data`` for every document that a server wrote. The layout decoder is also the
strict one: it refuses forms that no writer makes (overlap, unsorted keys, wide integers, ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from conformance.reference.errors import CodecError, DecodeError, EncodeError, too_deep
from conformance.reference.jsonb.decode import (
    KINDS,
    bad_offset,
    container_header,
    decode,
    large_keys,
    large_values,
    no_type,
    scalar_end,
    small_keys,
    small_values,
)
from conformance.reference.jsonb.encode import INLINED_LARGE, INLINED_SMALL, encode_typed, inlined_entry
from conformance.reference.jsonb.values import (
    BIT,
    DATE,
    DATETIME,
    DECIMAL,
    DOUBLE,
    LARGE_ARRAY,
    LARGE_OBJECT,
    MAX_DEPTH,
    OPAQUE,
    SMALL_ARRAY,
    SMALL_OBJECT,
    STRING,
    TIME,
    TIMESTAMP,
    JsonValue,
    Opaque,
)
from conformance.reference.jsonb.view import View, open_document


@dataclass(frozen=True, slots=True)
class Placed:
    """A container as it lies in a document. Offsets count from its element count, as in the format itself."""

    is_object: bool
    large: bool
    size: int
    keys: tuple[tuple[int, bytes], ...]  # (offset, key); empty for an array
    values: tuple[tuple[int | None, Stored], ...]  # (offset, value); None: inlined in the value entry
    holes: tuple[tuple[int, bytes], ...]  # (offset, old contents), in order of offset


Stored: TypeAlias = "Placed | bool | int | float | str | Opaque | None"


def decode_stored(data: bytes) -> Stored:
    """The layout of a document, read strictly. A document of no bytes is JSON null."""
    if not data:
        return None
    root = open_document(data)
    if root.kind <= LARGE_ARRAY:
        stored: Stored = _placed(root, 0)
        end = root.end
    else:
        stored, end = _scalar(root)
    if end != len(data):
        raise DecodeError(
            "trailing-bytes", "bytes after the JSON document", offset=end, expected=0, got=len(data) - end
        )
    return stored


def decode_strict(data: bytes) -> JsonValue:
    """The value of a document, if it has the form that writers give it.

    In that form, values and keys stand in entry order without overlap, and the keys are sorted and unique. Lengths are
    minimal, UTF-8 is valid, doubles are finite, and payloads match their type. Holes are legal.
    """
    decode_stored(
        data
    )  # decode() reads an accepted document alike; layout and value at once would take twice the memory
    return decode(data)


def encode_stored(stored: Stored) -> bytes:
    """The bytes of a document from its layout alone."""
    kind, data = _encode(stored)
    return kind.to_bytes(1, "little") + data


def stored_value(stored: Stored) -> JsonValue:
    """The value of a layout."""
    if not isinstance(stored, Placed):
        return stored
    values = [stored_value(value) for _, value in stored.values]
    if stored.is_object:
        keys = (key.decode("utf-8", "surrogateescape") for _, key in stored.keys)
        return dict(zip(keys, values, strict=True))
    return values


def storage_free(data: bytes) -> int:
    """JSON_STORAGE_FREE of a column value, in bytes: all holes, those inside nested containers too (jsonb 9)."""
    if not data or data[0] > LARGE_ARRAY:
        return 0
    return _free(data, data[0], 1, len(data), 0)


def _free(data: bytes, kind: int, start: int, end: int, level: int) -> int:
    """The holes of one container: its size less the bytes of its keys and values; negative where keys share bytes.

    Values must follow the last key in order; otherwise the server has no number for them (observed on 9.7.4).
    """
    if level >= 2 * MAX_DEPTH:  # an in-place update may nest deeper than 100 (partial-update 8.3)
        raise too_deep()
    _, end, values, values_end = container_header(data, kind, start, end)
    free = end - values_end
    covered = values_end
    keys = small_keys(data[start + 4 : values]) if kind == SMALL_OBJECT else ()
    if kind == LARGE_OBJECT:
        keys = large_keys(data[start + 8 : values])
    for offset, length in keys:
        covered = start + offset + length
        if start + offset < values_end or covered > end:
            raise DecodeError("bad-key-offset", "a JSON key lies outside its object", offset=start, got=offset)
        free -= length
    inlined, entries = (INLINED_LARGE, large_values) if kind & 1 else (INLINED_SMALL, small_values)
    for child, offset in entries(data[values:values_end]):
        if child in inlined:
            continue
        at = start + offset
        if not values_end <= at < end:
            raise bad_offset(values, offset, values_end - start, end - start)
        if at < covered:
            raise DecodeError("overlap", "a JSON value lies over earlier bytes", offset=at, expected=covered - start)
        if child <= LARGE_ARRAY:
            covered = container_header(data, child, at, end)[1]
            free += _free(data, child, at, end, level + 1)
        elif child == STRING and data[at] < 0x80 and at + data[at] < end:
            covered = at + data[at] + 1
        elif child not in KINDS:  # the first entry of this type: it would have ended here
            width = 5 if kind & 1 else 3
            raise no_type(child, values + width * bytes(data[values:values_end:width]).index(child))
        else:
            covered = scalar_end(data, child, at, end)
        free -= covered - at
    return free


def _placed(view: View, level: int) -> Placed:
    if level >= MAX_DEPTH:
        raise too_deep()
    data, start = view.data, view.start
    covered = view.values_end
    holes: list[tuple[int, bytes]] = []
    keys: list[tuple[int, bytes]] = []
    last: tuple[int, bytes] | None = None

    def cover(position: int, end: int) -> None:
        nonlocal covered
        if position < covered:
            raise DecodeError(
                "overlap", "a JSON key or value lies over earlier bytes", offset=position, expected=covered
            )
        if position > covered:
            holes.append((covered - start, bytes(data[covered:position])))
        covered = end

    if view.is_object:
        for index in range(view.count):
            position, length = view.key_place(index)
            key = view.key(index)
            if last is not None and (length, key) <= last:
                raise DecodeError("key-order", "JSON keys are not sorted or not unique", offset=position, got=key)
            last = (length, key)
            try:
                key.decode()
            except UnicodeDecodeError:
                raise DecodeError("bad-utf8", "a JSON key is not valid UTF-8", offset=position) from None
            cover(position, position + length)
            keys.append((position - start, key))
    values: list[tuple[int | None, Stored]] = []
    for index in range(view.count):
        try:
            child = view.element(index)
            if child.kind <= LARGE_ARRAY:
                if child.is_large and not view.is_large:
                    raise DecodeError("format", "a large container inside a small one", offset=child.start)
                stored: Stored = _placed(child, level + 1)
                end = child.end
            else:
                stored, end = _scalar(child)
                if child.start < view.values_end:
                    _check_inlined(view, index, child, end)
                    values.append((None, stored))
                    continue
            cover(child.start, end)
        except DecodeError as error:
            raise error.at(f"[{index}]") from None
        values.append((child.start - start, stored))
    if covered < view.end:
        holes.append((covered - start, bytes(data[covered : view.end])))
    holes.sort()
    return Placed(view.is_object, view.is_large, view.end - start, tuple(keys), tuple(values), tuple(holes))


def _check_inlined(view: View, index: int, child: View, end: int) -> None:
    entry = view.entry(index)[0]
    field = bytes(view.data[entry + 1 : entry + (5 if view.is_large else 3)])
    if field != inlined_entry(child.kind, bytes(view.data[child.start : end]), large=view.is_large):
        raise DecodeError("bad-inlined-value", "an inlined JSON value is not extended to its entry", offset=entry)


def _scalar(view: View) -> tuple[Stored, int]:
    """A scalar in the one form that writers give it, and where it ends."""
    data, start = view.data, view.start
    value, end = view.scalar()
    if view.kind == STRING and isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DecodeError("bad-utf8", "a JSON string is not valid UTF-8", offset=start) from None
    elif view.kind == DOUBLE:
        if not isfinite(value):  # type: ignore[arg-type]
            raise DecodeError("not-finite", "a JSON double is NaN or infinite", offset=start)
    elif view.kind == OPAQUE:
        _check_opaque(value, start)  # type: ignore[arg-type]
    if encode_typed(value, 0) != (view.kind, bytes(data[start:end])):
        raise DecodeError("not-minimal", "a JSON number or length is wider than it needs to be", offset=start)
    return value, end  # type: ignore[return-value]


def _check_opaque(value: Opaque, offset: int) -> None:
    field_type, payload = value
    if field_type in (TIMESTAMP, DATE, TIME, DATETIME) and len(payload) != 8:
        raise DecodeError(
            "bad-payload", "a temporal JSON value has 8 bytes", offset=offset, expected=8, got=len(payload)
        )
    if field_type == BIT and not 1 <= len(payload) <= 8:
        raise DecodeError("bad-payload", "a BIT value has 1 to 8 bytes", offset=offset, got=len(payload))
    if field_type == DECIMAL:
        from conformance.reference.jsonb.opaque import decimal_to_text

        try:
            decimal_to_text(payload)
        except CodecError as error:
            raise DecodeError("bad-payload", f"a DECIMAL payload is damaged ({error})", offset=offset) from None


def _encode(stored: Stored) -> tuple[int, bytes]:
    if not isinstance(stored, Placed):
        return encode_typed(stored, 0)
    width = 4 if stored.large else 2
    out = bytearray(stored.size)
    covered = 0

    def put(offset: int, piece: bytes) -> None:
        nonlocal covered
        if offset < 0 or offset + len(piece) > stored.size:
            raise EncodeError("bad-layout", "a piece lies outside its container", offset=offset, got=len(piece))
        out[offset : offset + len(piece)] = piece
        covered += len(piece)

    put(0, len(stored.values).to_bytes(width, "little") + stored.size.to_bytes(width, "little"))
    cursor = 2 * width
    for offset, key in stored.keys:
        put(cursor, offset.to_bytes(width, "little") + len(key).to_bytes(2, "little"))
        put(offset, key)
        cursor += width + 2
    for offset_or_none, value in stored.values:
        kind, data = _encode(value)
        if offset_or_none is None:
            put(cursor, kind.to_bytes(1, "little") + inlined_entry(kind, data, large=stored.large))
        else:
            put(cursor, kind.to_bytes(1, "little") + offset_or_none.to_bytes(width, "little"))
            put(offset_or_none, data)
        cursor += width + 1
    for offset, hole in stored.holes:
        put(offset, hole)
    if covered != stored.size:
        raise EncodeError("bad-layout", "the pieces do not fill the container", expected=stored.size, got=covered)
    if stored.is_object:
        return (LARGE_OBJECT if stored.large else SMALL_OBJECT), bytes(out)
    return (LARGE_ARRAY if stored.large else SMALL_ARRAY), bytes(out)
