"""Boundary vectors of JSONB: values and their bytes, bytes and what reading them must give (jsonb 1 to 3)."""

from __future__ import annotations

import math
from struct import pack
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.values import BIT, DATE, DECIMAL, JsonValue, Opaque, UInt, same
from tests.reference.kit import number, outcome

if TYPE_CHECKING:
    from tests.reference.kit import Kit


def plain(text: str) -> bytes:
    """Hex with spaces."""
    return bytes.fromhex(text)


def nested(levels: int, inner: Any = 1, *, key: str | None = None) -> Any:
    """``levels`` arrays, or objects of one member, inside each other."""
    value = inner
    for _ in range(levels):
        value = [value] if key is None else {key: value}
    return value


LONG: Final = "x" * 70_000  # makes every container around it large
LONG_DATA: Final = plain("f0a204") + LONG.encode()

# Each: what it shows, the value, the bytes.
ENCODINGS: Final[list[tuple[str, JsonValue, bytes]]] = [
    ("null", None, plain("0400")),
    ("true", True, plain("0401")),
    ("false", False, plain("0402")),
    ("int16 0", 0, plain("050000")),
    ("int16 1", 1, plain("050100")),
    ("int16 -1", -1, plain("05ffff")),
    ("int16 max", 32767, plain("05ff7f")),
    ("int16 min", -32768, plain("050080")),
    ("int32 from 2^15", 32768, plain("0700800000")),
    ("int32 below -2^15", -32769, plain("07ff7fffff")),
    ("int32 65535", 65535, plain("07ffff0000")),
    ("int32 max", 2**31 - 1, plain("07ffffff7f")),
    ("int32 min", -(2**31), plain("0700000080")),
    ("int64 from 2^31", 2**31, plain("090000008000000000")),
    ("int64 below -2^31", -(2**31) - 1, plain("09ffffff7fffffffff")),
    ("int64 max", 2**63 - 1, plain("09ffffffffffffff7f")),
    ("int64 min", -(2**63), plain("090000000000000080")),
    ("uint16 0", UInt(0), plain("060000")),
    ("uint16 7", UInt(7), plain("060700")),
    ("uint16 max", UInt(65535), plain("06ffff")),
    ("uint32 from 2^16", UInt(65536), plain("0800000100")),
    ("uint32 max", UInt(2**32 - 1), plain("08ffffffff")),
    ("uint64 from 2^32", UInt(2**32), plain("0a0000000001000000")),
    ("uint64 max", UInt(2**64 - 1), plain("0affffffffffffffff")),
    ("double", 1.5, plain("0b000000000000f83f")),
    ("double -0.0 keeps its sign", -0.0, plain("0b0000000000000080")),
    ("empty string", "", plain("0c00")),
    ("string", "a", plain("0c0161")),
    ("string lengths count bytes", "é文", plain("0c05c3a9e69687")),
    ("length 127 in one byte", "x" * 127, plain("0c7f") + b"x" * 127),
    ("length 128 in two bytes", "x" * 128, plain("0c8001") + b"x" * 128),
    ("length 16383 in two bytes", "x" * 16383, plain("0cff7f") + b"x" * 16383),
    ("length 16384 in three bytes", "x" * 16384, plain("0c808001") + b"x" * 16384),
    ("length 2097151 in three bytes", "x" * 2097151, plain("0cffff7f") + b"x" * 2097151),
    ("length 2097152 in four bytes", "x" * 2097152, plain("0c80808001") + b"x" * 2097152),
    ("opaque", Opaque(15, b"\x00\xff"), plain("0f0f0200ff")),
    ("opaque of no bytes", Opaque(252, b""), plain("0ffc00")),
    ("opaque of 128 bytes", Opaque(252, bytes(128)), plain("0ffc8001") + bytes(128)),
    ("DECIMAL 1.5", Opaque(DECIMAL, plain("02018105")), plain("0ff60402018105")),
    ("empty array", [], plain("0200000400")),
    ("empty object", {}, plain("0000000400")),
    ("array of inlined values", [None, True, -1, UInt(1)], plain("0204001000 040000 040100 05ffff 060100")),
    (
        "a small array inlines no int32, uint32, int64 or double",
        [32768, UInt(65536), 1.5],
        plain("0203001d00 070d00 081100 0b1500 00800000 00000100 000000000000f83f"),
    ),
    (
        "jsonb 2.2, object: keys by length, then bytes",
        {"b": 1, "a": 2, "aa": 3, "": 4, "Z": 5},
        plain(
            "00 0500 2c00 2700 0000 2700 0100 2800 0100 2900 0100 2a00 0200"
            "050400 050500 050200 050100 050300 5a 61 62 6161"
        ),
    ),
    (
        "jsonb 2.2, array with an object",
        [1, "a", {"k": [True]}],
        plain("02 0300 2200 050100 0c0d00 000f00 0161 01001300 0b000100 020c00 6b 01000700 040100"),
    ),
    (
        "keys are compared as bytes, not as characters",
        {"ÿ": 1, "zz": 2, "é": 3},
        plain("00 0300 1f00 1900 0200 1b00 0200 1d00 0200 050200 050300 050100") + "zzéÿ".encode(),
    ),
    (
        "a large array inlines 16 and 32 bit integers, extended by their sign",
        [LONG, -1, 100_000, UInt(70_000), None, UInt(65535), -32769, 2**31],
        plain("03")
        + pack("<II", 8, 48 + 70_003 + 8)
        + plain("0c 30000000 05 ffffffff 07 a0860100 08 70110100 04 00000000 06 ffff0000 07 ff7fffff 09")
        + pack("<I", 48 + 70_003)
        + LONG_DATA
        + plain("0000008000000000"),
    ),
    (
        "a large object has four-byte offsets and two-byte key lengths",
        {"bb": LONG, "a": True},
        plain("01")
        + pack("<II", 2, 33 + 70_003)
        + pack("<IHIH", 30, 1, 31, 2)
        + plain("04 01000000 0c 21000000")
        + b"abb"
        + LONG_DATA,
    ),
    (
        "a child of a large container is tried small",
        [LONG, [1], {"k": 2}],
        plain("03")
        + pack("<II", 3, 23 + 70_003 + 7 + 12)
        + plain("0c 17000000 02")
        + pack("<I", 23 + 70_003)
        + plain("00")
        + pack("<I", 23 + 70_003 + 7)
        + LONG_DATA
        + plain("0100 0700 050100  0100 0c00 0b00 0100 050200 6b"),
    ),
]

# (rule, value, type byte, length of the document): the exact border of small and large (jsonb 2.1).
SIZES: Final[list[tuple[str, JsonValue, int, int]]] = [
    ("array of 21843 inlined values is small", [1] * 21843, 2, 65534),
    ("array of 21844 inlined values is large", [1] * 21844, 3, 109_229),
    ("string of 65525 in an array is small", ["a" * 65525], 2, 65536),
    ("string of 65526 in an array is large", ["a" * 65526], 3, 1 + 8 + 5 + 3 + 65526),
    ("string of 65520 in an object is small", {"a": "a" * 65520}, 0, 1 + 4 + 7 + 1 + 3 + 65520),
    ("string of 65521 in an object is large", {"a": "a" * 65521}, 1, 1 + 8 + 11 + 1 + 3 + 65521),
    ("a key of 65535 bytes makes its object large", {"k" * 65535: 1}, 1, 65555),
    ("a key that just fits", {"k" * 65524: 1}, 0, 1 + 4 + 7 + 65524),
    ("a key one byte longer", {"k" * 65525: 1}, 1, 1 + 8 + 11 + 65525),
    ("a large child makes its parent large", [["a" * 65526]], 3, 1 + 8 + 5 + 8 + 5 + 3 + 65526),
    ("small children of a large parent stay small", [["a" * 40000]] * 2, 3, 1 + 8 + 2 * 5 + 2 * (4 + 3 + 3 + 40000)),
    ("an empty array that does not fit any more", ["a" * 65518, []], 2, 1 + 4 + 6 + 3 + 65518 + 4),
    ("and one byte more", ["a" * 65519, []], 3, 1 + 8 + 10 + 3 + 65519 + 4),
]

# (rule, bytes, value of the lenient reading or the code of its error, code of the strict reading's error or None)
READINGS: Final[list[tuple[str, bytes, object, str | None]]] = [
    ("no bytes are null", b"", (None,), None),
    ("type 0x0d", plain("0d00"), "bad-type", "bad-type"),
    ("type 0x0e", plain("0e00"), "bad-type", "bad-type"),
    ("type 0x10", plain("1000"), "bad-type", "bad-type"),
    ("type 0xff", plain("ff"), "bad-type", "bad-type"),
    ("literal 3", plain("0403"), "bad-literal", "bad-literal"),
    ("literal cut off", plain("04"), "truncated", "truncated"),
    ("int16 cut off", plain("0501"), "truncated", "truncated"),
    ("uint32 cut off", plain("08010203"), "truncated", "truncated"),
    ("double cut off", plain("0b01020304050607"), "truncated", "truncated"),
    ("string without a length", plain("0c"), "truncated", "truncated"),
    ("string cut off", plain("0c0561"), "truncated", "truncated"),
    ("length cut off", plain("0c8180"), "truncated", "truncated"),
    ("length of six bytes", plain("0c818080808001"), "bad-length", "bad-length"),
    ("length of six bytes that is small", plain("0c81808080800061"), "bad-length", "bad-length"),
    ("length over 2^32-1", plain("0cffffffff10"), "bad-length", "bad-length"),
    ("length of 2^32-1 bytes that are not there", plain("0cffffffff0f"), "truncated", "truncated"),
    ("length of five bytes for one character", plain("0c818080800061"), ("a",), "not-minimal"),
    ("length not minimal", plain("0c810061"), ("a",), "not-minimal"),
    ("opaque without a type", plain("0f"), "truncated", "truncated"),
    ("opaque without a length", plain("0f0f"), "truncated", "truncated"),
    ("opaque cut off", plain("0f0f02ff"), "truncated", "truncated"),
    ("opaque length not minimal", plain("0f0f8100ff"), (Opaque(15, b"\xff"),), "not-minimal"),
    ("bytes after the root", plain("050100ff"), (1,), "trailing-bytes"),
    ("bytes after a container", plain("0200000400ff"), ([],), "trailing-bytes"),
    ("int32 that fits in 16 bits", plain("0701000000"), (1,), "not-minimal"),
    ("int64 that fits in 32 bits", plain("090000010000000000"), (65536,), "not-minimal"),
    ("uint64 that fits in 16 bits", plain("0a0100000000000000"), (UInt(1),), "not-minimal"),
    ("not a number", plain("0b000000000000f87f"), (math.nan,), "not-finite"),
    ("minus infinity", plain("0b000000000000f0ff"), (-math.inf,), "not-finite"),
    ("string of invalid UTF-8", plain("0c0161".replace("61", "ff")), ("\udcff",), "bad-utf8"),
    ("string with an encoded surrogate", plain("0c03eda080"), ("\udced\udca0\udc80",), "bad-utf8"),
    ("DATE of one byte", plain("0f0a0100"), (Opaque(DATE, b"\0"),), "bad-payload"),
    ("BIT of nine bytes", plain("0f1009") + bytes(9), (Opaque(BIT, bytes(9)),), "bad-payload"),
    ("BIT of no bytes", plain("0f1000"), (Opaque(BIT, b""),), "bad-payload"),
    ("DECIMAL that is too short", plain("0ff603020181"), (Opaque(DECIMAL, plain("020181")),), "bad-payload"),
    # containers
    ("small header cut off", plain("02000004"), "truncated", "truncated"),
    ("large header cut off", plain("0300000000080000"), "truncated", "truncated"),
    ("size beyond the document", plain("0200000500"), "bad-size", "bad-size"),
    ("size smaller than the header", plain("0200000300"), "bad-count", "bad-count"),
    ("more elements than the size allows", plain("0201000400"), "bad-count", "bad-count"),
    ("65535 elements in four bytes", plain("02ffff0400"), "bad-count", "bad-count"),
    ("2^32-1 elements in eight bytes", plain("01ffffffff08000000"), "bad-count", "bad-count"),
    ("room for the key entry, not for the value entry", plain("00 0100 0a00 0a00 0000 0500"), "bad-count", "bad-count"),
    ("a hole at the end", plain("0200000600ffff"), ([],), None),
    ("value in front of its entries", plain("02 0100 0900 0c0600 0161"), "bad-value-offset", "bad-value-offset"),
    ("value at offset 0", plain("02 0100 0700 020000"), "bad-value-offset", "bad-value-offset"),
    ("value in its own entry", plain("02 0200 0d00 0c0600 056161 616161"), "bad-value-offset", "bad-value-offset"),
    ("value in a later entry", plain("02 0200 0d00 0c0700 056161 616161"), (["aaaaa", 24929],), "bad-inlined-value"),
    ("value behind the end", plain("02 0100 0900 0c0a00 0161"), "bad-value-offset", "bad-value-offset"),
    ("value at the very end", plain("02 0100 0900 0c0900 0161"), "truncated", "truncated"),
    ("value with a hole in front", plain("02 0100 0a00 0c0800 ff 0161"), (["a"],), None),
    ("value over the end of its container", plain("02 0100 0900 0c0700 0261 61"), "truncated", "truncated"),
    ("inlined literal 3", plain("02 0100 0700 040300"), "bad-literal", "bad-literal"),
    ("inlined literal with another high byte", plain("02 0100 0700 040101"), ([True],), "bad-inlined-value"),
    ("inlined int16 without its sign", plain("03 01000000 0d000000 05 ffff0000"), ([-1],), "bad-inlined-value"),
    ("inlined int32 in large", plain("03 01000000 0d000000 07 a0860100"), ([100_000],), None),
    ("inlined int32 that fits in 16 bits", plain("03 01000000 0d000000 07 01000000"), ([1],), "not-minimal"),
    ("negative inlined int32 in large", plain("03 01000000 0d000000 07 ff7fffff"), ([-32769],), None),
    ("inlined uint32 in large", plain("03 01000000 0d000000 08 ffffffff"), ([UInt(2**32 - 1)],), None),
    ("unknown type of an element", plain("02 0100 0900 0d0700 0161"), "bad-type", "bad-type"),
    ("two entries for one value", plain("02 0200 0c00 0c0a00 0c0a00 0161"), (["a", "a"],), "overlap"),
    ("values in another order", plain("02 0200 0e00 0c0c00 0c0a00 0162 0161"), (["a", "b"],), "overlap"),
    ("a value inside another", plain("02 0200 0d00 0c0a00 0c0b00 020161"), (["\x01a", "a"],), "overlap"),
    ("a child larger than its parent", plain("02 0100 0b00 020700 0000 0500"), "bad-size", "bad-size"),
    ("a large child in a small parent", plain("02 0100 0f00 030700 00000000 08000000"), ([[]],), "format"),
    ("key in front of the entries' end", plain("00 0100 0c00 0a00 0100 050100 61"), "bad-key-offset", "bad-key-offset"),
    ("key over the end", plain("00 0100 0c00 0b00 0200 050100 61"), "bad-key-offset", "bad-key-offset"),
    ("key of no bytes at the end", plain("00 0100 0b00 0b00 0000 050100"), ({"": 1},), None),
    ("key with a hole in front", plain("00 0100 0d00 0c00 0100 050100 ff 61"), ({"a": 1},), None),
    (
        "keys in another order",
        plain("00 0200 1400 1200 0100 1300 0100 050100 050200 6261"),
        ({"b": 1, "a": 2},),
        "key-order",
    ),
    (
        "a shorter key after a longer one",
        plain("00 0200 1500 1200 0200 1400 0100 050100 050200 616162"),
        ({"aa": 1, "b": 2},),
        "key-order",
    ),
    ("the last duplicate wins", plain("00 0200 1400 1200 0100 1300 0100 050100 050200 6161"), ({"a": 2},), "key-order"),
    (
        "keys that share bytes",
        plain("00 0200 1400 1200 0100 1200 0200 050100 050200 6161"),
        ({"a": 1, "aa": 2},),
        "overlap",
    ),
    # Same key entries, other keys: what was read before must not matter.
    (
        "keys in another place",
        plain("00 0200 1400 1300 0100 1200 0100 050100 050200 7861"),
        ({"a": 1, "x": 2},),
        "overlap",
    ),
    (
        "again with another key",
        plain("00 0200 1400 1300 0100 1200 0100 050100 050200 7862"),
        ({"b": 1, "x": 2},),
        "overlap",
    ),
    ("key of invalid UTF-8", plain("00 0100 0c00 0b00 0100 050100 ff"), ({"\udcff": 1},), "bad-utf8"),
]


# (what, document, JSON_STORAGE_FREE, or None where 9.7.4 answers 3142)
FREE: Final[list[tuple[str, bytes, int | None]]] = [
    ("values in order", plain("02 0200 0e00 0c0a00 0c0c00 0161 0162"), 0),
    ("values in another order", plain("02 0200 0e00 0c0c00 0c0a00 0161 0162"), None),
    ("two entries for one value", plain("02 0200 0e00 0c0a00 0c0a00 0161 0162"), None),
    ("an inlined value between two in another order", plain("02 0300 1200 0c0e00 050100 0c0d00 00 0162 0000"), None),
    ("a value in the hole of a container", plain("02 0200 1600 020a00 0c1300 0100 0a00 0c0700 0161 00 0178"), None),
    ("a value inside a key", plain("00 0100 1400 0b00 0300 0c0b00 00 6162 017a 00000000"), None),
    ("a value in front of its key", plain("00 0100 1400 0e00 0200 0c0b00 00 6162 017a 00000000"), None),
    ("a key in the bytes of its value", plain("00 0100 1400 0e00 0200 0c0e00 00 6162 017a 00000000"), None),
    ("holes around a key", plain("00 0100 1400 0c00 0100 0c0e00 00 6162 017a 00000000"), 6),
    ("keys in another order", plain("00 0200 1600 1400 0200 1200 0200 050100 050200 6b32 6b31"), 0),
    (
        "a value between the last key and another",
        plain("00 0200 1600 1500 0100 1200 0100 0c1300 050200 62 0161 61"),
        0,
    ),
    ("keys that share all bytes", plain("00 0200 1400 1200 0200 1200 0200 050100 050200 6b6b"), -2),
    ("keys that share bytes, and a hole", plain("00 0200 1500 1200 0200 1200 0200 050100 050200 6b6b 00"), -1),
    ("an empty object with a hole", plain("00 0000 0a00 000000000000"), 6),
    ("a key beyond the end", plain("00 0200 1400 4400 0200 1200 0200 050100 050200 6b6b"), None),
    ("a key in the header", plain("00 0200 1400 0000 0200 1200 0200 050100 050200 6b6b"), None),
]


def check_free(kit: Kit, data: bytes, expected: int | None) -> None:
    """There is a number only where values lie behind the keys and in their order."""
    free, error = outcome(kit.layout.storage_free, data)
    assert free == expected
    assert (error is None) is (expected is not None), error


def deep_bytes(levels: int) -> bytes:
    """``levels`` arrays inside each other, written here and not by the encoder under test."""
    data = b""
    for _ in range(levels):
        data = pack("<HH", 1, 7 + len(data)) + (b"\x02\x07\x00" + data if data else b"\x05\x01\x00")
    return b"\x02" + data


def shared_children(levels: int) -> bytes:
    """Arrays of two entries that are the same child: ten bytes a level, 2^levels values (fuzzing 3)."""
    data = pack("<HH", 0, 4)
    for _ in range(levels):
        data = pack("<HHBHBH", 2, 10 + len(data), 2, 10, 2, 10) + data
    return b"\x02" + data


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return same(a, b) and list(a) == list(b) if isinstance(a, dict) and isinstance(b, dict) else same(a, b)


def check_encoding(kit: Kit, value: JsonValue, data: bytes) -> None:
    """Exact bytes, both readings, and the size."""
    assert kit.encode.encode(value) == data
    assert kit.encode.encoded_size(value) == len(data)
    assert same(kit.decode.decode(data), value)
    assert same(kit.layout.decode_strict(data), value)
    assert kit.layout.encode_stored(kit.layout.decode_stored(data)) == data
    assert kit.layout.storage_free(data) == 0
    assert same(kit.view.open_document(data).value(), value)


def check_size(kit: Kit, value: JsonValue, kind: int, size: int) -> None:
    """Small or large, and how long; read back by both readings."""
    data = kit.encode.encode(value)
    assert (data[0], len(data)) == (kind, size)
    assert same(kit.decode.decode(data), value)
    assert same(kit.layout.decode_strict(data), value)


def check_reading(kit: Kit, data: bytes, lenient: object, strict: str | None) -> None:
    """Check what the lenient and the strict reading make of a document."""
    value, error = outcome(kit.decode.decode, data)
    if error is None:
        assert isinstance(lenient, tuple), f"read as {value!r}"
        assert _same(value, lenient[0])
    else:
        assert error.code == lenient, error
        assert error.offset is not None
        assert 0 <= error.offset <= len(data)
    again, error = outcome(kit.layout.decode_strict, data)
    assert (None if error is None else error.code) == strict, error or again
    if error is None:
        assert _same(again, value)
        assert kit.layout.encode_stored(kit.layout.decode_stored(data)) == data or not data


def check_depth(kit: Kit, value: Any) -> None:
    """100 containers are written and read; 101 are error 3157 in every reading and in the encoder."""
    data = kit.encode.encode(value)
    readings = kit.decode.decode, kit.layout.decode_strict
    for read in readings:
        assert read(data) == value
    for levels in (101, 105, 2000):
        deep = deep_bytes(levels)
        for read in readings:
            assert number(outcome(read, deep)[1]) == 3157, levels
    for wrapped in ([value], {"a": value}, [1, {"b": value}]):
        assert number(outcome(kit.encode.encode, wrapped)[1]) == 3157


def check_shared(kit: Kit, levels: int) -> None:
    """Children that several entries share are refused without being read again and again."""
    data = shared_children(levels)
    for read, code in ((kit.decode.decode, "shared-children"), (kit.layout.decode_strict, "overlap")):
        _, error = outcome(read, data)
        assert error is not None
        assert error.code == code, error
    _, error = outcome(kit.layout.storage_free, data)
    assert error is not None
    assert error.code == "overlap", error
