"""JSONB at the borders of its rules, for the seeds of every target that takes documents.

Small documents are worth most: a fuzzer tries ten times as many of them in the same time. The few documents that must
be longer (depth, five-byte lengths, large containers) are separate.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import BIT, BLOB, VAR_STRING, JsonValue, Opaque, UInt

if TYPE_CHECKING:
    from collections.abc import Iterator

_BORDERS: Final = (0, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000)

# Documents of every type, by name; none over 200 bytes.
SMALL: Final[dict[str, JsonValue]] = {
    "null": None,
    "true": True,
    "false": False,
    **{f"int-{number:x}": number for number in (*_BORDERS, (1 << 63) - 1)},
    **{f"int-minus-{-number:x}": number for number in (-1, -0x8000, -0x8001, -(1 << 31), -(1 << 31) - 1, -(1 << 63))},
    **{f"uint-{number:x}": UInt(number) for number in (*_BORDERS, (1 << 64) - 1)},
    "double": 1.5,
    "double-minus-zero": -0.0,
    "double-largest": 1.7976931348623157e308,
    "double-smallest": 5e-324,
    "string-empty": "",
    "string": "abc",
    "string-escapes": 'a"\\\b\f\n\r\t\x01/',
    "string-characters": "é文\U0001f600\uffff",
    "string-127": "x" * 127,
    "string-128": "y" * 128,
    "decimal": opaque.decimal_from_text("-12345678901.50"),
    "decimal-half": opaque.decimal_from_text("0.5"),
    "date": opaque.date(2024, 2, 29),
    "time": opaque.time(12, 34, 56, 123456, negative=True),
    "datetime": opaque.datetime(9999, 12, 31, 23, 59, 59, 999999),
    "timestamp": opaque.timestamp(1970, 1, 1),
    "bit": Opaque(BIT, b"\x05"),
    "blob": Opaque(BLOB, b"\x00\xff"),
    "blob-58": Opaque(BLOB, bytes(58)),
    "var-string": Opaque(VAR_STRING, b"text"),
    "array-empty": [],
    "object-empty": {},
    "array-inlined": [None, True, False, -1, UInt(1)],
    "array-placed": [32768, UInt(65536), 1.5, "a", opaque.date(2024, 2, 29), 1 << 40],
    "object": {"b": 1, "a": 2, "aa": 3, "": 4, "Z": 5},
    "object-of-strings": {"a": "x", "b": "y", "ccc": ""},
    "nested": [1, "a", {"k": [True, {"": []}]}],
    "objects": [{"id": 1, "s": "x"}, {"id": 2, "s": "y"}],
}


def nested(levels: int, inner: JsonValue = 1) -> bytes:
    """``levels`` arrays inside each other, as bytes: no encoder makes more than a hundred."""
    data = encode(inner)
    if levels:
        data = encode([inner])
    for _ in range(levels - 1):
        data = b"\x02\x01\x00" + struct.pack("<H", len(data) + 6) + b"\x02\x07\x00" + data[1:]
    return data


def shared(levels: int, leaf: bytes = b"\x02\x00\x00\x04\x00") -> bytes:
    """``levels`` arrays of two elements that share the same bytes: few bytes for 2^levels values. ``leaf``: a small
    array.
    """
    data = leaf[1:]
    for _ in range(levels):
        data = struct.pack("<HHBHBH", 2, 10 + len(data), 2, 10, 2, 10) + data
    return b"\x02" + data


def large(value: JsonValue) -> bytes:
    """A document of at most a few hundred bytes in the large format, which a writer uses only above 64 KB."""
    if isinstance(value, dict):
        members = sorted((key.encode() for key in value), key=lambda key: (len(key), key))
        values: list[JsonValue] = [value[key.decode()] for key in members]
    else:
        assert isinstance(value, list)
        members, values = [], list(value)
    head = 8 + 6 * len(members) + 5 * len(values)
    keys = b"".join(members)
    ends = [head, *(head + sum(map(len, members[: place + 1])) for place in range(len(members)))]
    places = b"".join(struct.pack("<IH", start, end - start) for start, end in pairwise(ends))
    entries, tail = b"", b""
    for item in values:
        data = large(item) if isinstance(item, (list, dict)) else encode(item)
        if data[0] in _INLINED:
            sign = b"\xff" if data[0] in (5, 7) and data[-1] & 0x80 else b"\x00"
            entries += data.ljust(5, sign)
        else:
            entries += struct.pack("<BI", data[0], head + len(keys) + len(tail))
            tail += data[1:]
    body = places + entries + keys + tail
    return bytes((1 if isinstance(value, dict) else 3,)) + struct.pack("<II", len(values), 8 + len(body)) + body


_INLINED: Final = (4, 5, 6, 7, 8)

# Bytes that no encoder writes, each a rule of reading.
ODD: Final[dict[str, bytes]] = {
    "no-bytes": b"",
    "type-0d": b"\x0d\x00",
    "type-10": b"\x10\x00",
    "literal-3": b"\x04\x03",
    "length-of-5-bytes": b"\x0c\x81\x80\x80\x80\x00a",
    "length-4g": b"\x0c\xff\xff\xff\xff\x0f",
    "length-over-4g": b"\x0c\xff\xff\xff\xff\x10",
    "length-of-6-bytes": b"\x0c\x81\x80\x80\x80\x80\x01",
    "opaque-length-of-5-bytes": b"\x0f\x0f\x82\x80\x80\x80\x00\x00\xff",
    "not-utf8": b"\x0c\x02a\xff",
    "surrogate": b"\x0c\x03\xed\xa0\x80",
    "nan": b"\x0b\x00\x00\x00\x00\x00\x00\xf8\x7f",
    "infinite": b"\x0b\x00\x00\x00\x00\x00\x00\xf0\x7f",
    "date-of-1-byte": b"\x0f\x0a\x01\x00",
    "decimal-too-short": b"\x0f\xf6\x03\x02\x01\x81",
    "bytes-after-the-root": b"\x05\x01\x00\xff",
    "wide-int": b"\x07\x01\x00\x00\x00",
    "size-beyond": b"\x02\x00\x00\x05\x00",
    "count-beyond": b"\x02\xff\xff\x04\x00",
    "large-count-beyond": b"\x01\xff\xff\xff\xff\x08\x00\x00\x00",
    "hole-at-the-end": b"\x02\x00\x00\x06\x00\xff\xff",
    "value-in-front": b"\x02\x01\x00\x09\x00\x0c\x06\x00\x01a",
    "value-in-a-later-entry": b"\x02\x02\x00\x0d\x00\x0c\x07\x00\x05aaaaa",
    "value-at-the-end": b"\x02\x01\x00\x09\x00\x0c\x09\x00\x01a",
    "inner-self": b"\x02\x01\x00\x07\x00\x02\x00\x00",
    "key-in-front": b"\x00\x01\x00\x0c\x00\x0a\x00\x01\x00\x05\x01\x00a",
    "key-unsorted": b"\x00\x02\x00\x14\x00\x12\x00\x01\x00\x13\x00\x01\x00\x05\x01\x00\x05\x02\x00ba",
    "key-twice": b"\x00\x02\x00\x14\x00\x12\x00\x01\x00\x13\x00\x01\x00\x05\x01\x00\x05\x02\x00aa",
    "key-not-utf8": b"\x00\x01\x00\x0c\x00\x0b\x00\x01\x00\x05\x01\x00\xff",
    "child-large-in-small": b"\x02\x01\x00\x0f\x00\x03\x07\x00" + struct.pack("<II", 0, 8),
    "shared-3": shared(3),
}

# Type bytes, lengths at their borders, invalid UTF-8.
DICTIONARY: Final = (
    b"\x00\x00\x04\x00", b"\x01\x00\x00\x00", b"\x02\x00", b"\x05\xff\xff", b"\x0f\xf6", b"\x0f\x0a\x08", b"\xff\x7f",
    b"\x80\x01", b"\xff\xff\x7f", b"\x81\x80\x80\x80\x00", b"\xff\xff\xff\xff\x0f", b"\xff\xff", b"\x00\x80",
    b"\xed\xa0\x80", b"\xff\xff\xff\xff", b"\x0b\x00\x00\x00\x00\x00\x00\xf8\x7f",
)  # fmt: skip


def small_seeds() -> Iterator[tuple[str, bytes]]:
    """Seeds up to 200 bytes: documents of every type, hand-made large format, and bytes that no encoder writes."""
    for name, value in SMALL.items():
        yield name, encode(value)
        if isinstance(value, (list, dict)):
            yield f"{name}-large", large(value)
    yield from ODD.items()


def long_seeds() -> Iterator[tuple[str, bytes]]:
    """Seeds that need more bytes: depth, endless sharing, keys and strings at the borders of their lengths."""
    yield "shared-14", shared(14)
    yield "shared-60", shared(60)
    yield "depth-99", nested(99)
    yield "depth-100", nested(100)
    yield "depth-101", nested(101)
    long = encode("s" * 200)[1:]
    yield "shared-string", b"\x02" + struct.pack("<HH", 3, 13 + len(long)) + struct.pack("<BH", 12, 13) * 3 + long
    keys = struct.pack("<HHHHBHBH", 2, 218, 18, 200, 4, 0, 4, 0)
    yield "shared-key", b"\x00" + keys[:4] + keys[4:8] * 2 + keys[8:] + b"k" * 200
    yield "key-255", encode({"k" * 255: 1})
    yield "key-256", encode({"k" * 256: 1, "": 2, "j": 3})
    yield "array-of-100", encode([number - 50 for number in range(100)])
    yield "object-of-40", encode({f"k{number}": number << 13 for number in range(40)})
