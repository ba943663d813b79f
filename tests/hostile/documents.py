"""Documents, JSON texts, paths and diffs made to hurt."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.cursor import encode_packed
from conformance.reference.jsonb.compare import equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode, encode_varlen
from conformance.reference.jsonb.layout import decode_stored, decode_strict, storage_free
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.diffs import Diff, Operation, decode_diffs, encode_diffs
from conformance.reference.partial.paths import parse_path
from tests.hostile.shape import HUGE, LAZY_TIMES, Shape

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue


def _array(kind: int, entries: bytes, count: int, tail: bytes) -> bytes:
    """A large array (3) or object (1) without its type byte; ``entries`` with offsets that count from the start."""
    return pack("<II", count, 8 + len(entries) + len(tail)) + entries + tail if kind & 1 else b""


def _nested(levels: int) -> bytes:
    """Arrays of one element inside each other."""
    data, kind = b"\x00", 4
    for level in range(levels):
        entry = pack("<BI", kind, 0) if level == 0 else pack("<BI", kind, 13)
        data, kind = pack("<II", 1, 13 + (len(data) if level else 0)) + entry + (data if level else b""), 3
    return bytes((kind,)) + data


def _chains(size: int) -> bytes:
    """Chains of 98 arrays side by side."""
    chain = _nested(98)[1:]
    count = max(1, size // len(chain))
    entries = b"".join(pack("<BI", 3, 8 + 5 * count + number * len(chain)) for number in range(count))
    return b"\x03" + _array(3, entries, count, chain * count)


def _small_chains(size: int) -> bytes:
    """Chains of 97 objects of one member with the key of no bytes, side by side: eleven bytes a level."""
    value: JsonValue = None
    for _ in range(97):
        value = {"": value}
    return encode([value] * max(1, size // 1070))


def _small_objects(size: int) -> bytes:
    return encode([{"": None}] * max(1, size // 16))


def shared(levels: int, leaf: bytes = b"\x0c\x01a", padding: int = 0) -> bytes:
    """Arrays of two entries that point at the same child: 2^levels values in 10 * levels bytes."""
    kind, body = leaf[0], leaf[1:]
    for _ in range(levels):
        body, kind = pack("<HHBHBH", 2, 10 + len(body), kind, 10, kind, 10) + body, 2
    return bytes((kind,)) + body + bytes(padding)


def _fan(size: int) -> bytes:
    """A hundred levels, on each as many entries as there is room for, and all of them point at the one child."""
    width = max(1, size // (98 * 5))
    kind, body = 0x0C, b"\x01a"
    for _ in range(98):
        start = 8 + 5 * width
        body, kind = pack("<II", width, start + len(body)) + pack("<BI", kind, start) * width + body, 3
    return bytes((kind,)) + body


def _one_string_for_all(size: int) -> bytes:
    """Half of the bytes are entries, and all of them point at the string in the other half."""
    count = size // 10
    text = encode_varlen(size // 2) + b"x" * (size // 2)
    return b"\x03" + _array(3, pack("<BI", 0x0C, 8 + 5 * count) * count, count, text)


def _one_key_for_all(size: int) -> bytes:
    count = size // 22
    length = min(size // 2, 0xFFFF)
    keys = pack("<IH", 8 + 11 * count, length) * count
    return b"\x01" + _array(1, keys + pack("<BI", 4, 0) * count, count, b"k" * length)


def _one_child_for_all(size: int) -> bytes:
    """The same with a container that has one long string."""
    count = size // 10
    text = encode_varlen(size // 2) + b"x" * (size // 2)
    child = _array(3, pack("<BI", 0x0C, 13), 1, text)
    return b"\x03" + _array(3, pack("<BI", 3, 8 + 5 * count) * count, count, child)


def _empty_containers(size: int) -> bytes:
    count = size // 7
    entries = b"".join(
        pack("<BH", 2, (4 + 3 * min(count, 9000) + 4 * number) & 0xFFFF) for number in range(min(count, 9000))
    )
    count = min(count, 9000)
    body = pack("<HH", count, 4 + 7 * count) + entries + pack("<HH", 0, 4) * count
    return b"\x02" + body


def _numbers(size: int) -> bytes:
    count = size // 5
    return b"\x03" + _array(3, pack("<BI", 7, 1 << 30) * count, count, b"")


def _look(data: bytes) -> object:
    """A lazy look: the first and the last element, down to a leaf."""
    view = open_document(data)
    while view.kind <= 3 and view.count:
        view = view.element(view.count - 1)
    return view.kind


def _equal_shared(data: bytes) -> bool:
    """Two documents whose one leaf is an integer here and a double there, so that bytes decide nothing."""
    return equal_stored(shared(90, b"\x07" + pack("<i", 100_000), len(data)), shared(90, b"\x0b" + pack("<d", 1e5)))


def _equal_children(data: bytes) -> bool:
    """Every entry has the same long child, which differs in its last byte but one."""
    return equal_stored(data, data[:-1] + b"y")


def _explained(data: bytes) -> object:
    from tests.reference.text.explained_events import document_spans

    return document_spans(data)


def _applied(data: bytes) -> object:
    diffs = [Diff(Operation.REMOVE, parse_path("$[0]")), Diff(Operation.INSERT, parse_path("$[0]"), 1)]
    return apply_field(data, encode_diffs(diffs))


_LINES: Final = "the lines of the explanation, each of which names the whole way: they are larger than the input"

DOCUMENTS: Final[list[Shape]] = [
    Shape("document", "a string of 2^32-1 bytes", lambda size: b"\x0c\xff\xff\xff\xff\x0f" + bytes(size), decode),
    Shape(
        "document",
        "an array of 2^32-1 elements",
        lambda size: b"\x03" + b"\xff" * 4 + pack("<I", size) + bytes(size),
        decode,
    ),
    Shape("document", "a size of 2^32-1", lambda size: b"\x03\0\0\0\0" + b"\xff" * 4 + bytes(size), decode),
    Shape("document", "an object of 65535 keys", lambda size: b"\x00\xff\xff\xff\xff" + bytes(size), decode),
    Shape(
        "document",
        "an opaque value of 2^32-1 bytes",
        lambda size: b"\x0f\xfc\xff\xff\xff\xff\x0f" + bytes(size),
        decode,
    ),
    Shape("document", "nested without end", lambda size: _nested(min(size // 13, 4000)), decode),
    Shape(
        "document",
        "nested without end, strictly",
        lambda size: _nested(min(size // 13, 4000)),
        decode_strict,
    ),
    Shape("document", "chains of 98 side by side", _chains, decode),
    Shape(
        "document",
        "chains of 98, strictly",
        _chains,
        decode_strict,
    ),
    Shape("document", "chains of 98, explained", _chains, _explained, 400, _LINES),
    Shape("document", "chains of small objects", _small_chains, decode),
    Shape("document", "chains of small objects, strictly", _small_chains, decode_strict),
    Shape("document", "objects of one member", _small_objects, decode),
    Shape("document", "objects of one member, strictly", _small_objects, decode_strict),
    Shape("document", "empty arrays", _empty_containers, decode),
    Shape("document", "numbers", _numbers, decode),
    Shape("document", "shared children, n = 14", lambda size: shared(14, padding=size), decode),
    Shape("document", "shared children, n = 60", lambda size: shared(60, padding=size), decode),
    Shape(
        "document",
        "shared children, n = 60, strictly",
        lambda size: shared(60, padding=size),
        decode_strict,
    ),
    Shape("document", "shared children, n = 60, storage_free", lambda size: shared(60, padding=size), storage_free),
    Shape("document", "shared children, n = 60, one look", lambda size: shared(60, padding=size), _look, LAZY_TIMES),
    Shape(
        "document",
        "shared children, n = 60, explained",
        lambda size: shared(60, padding=size),
        _explained,
    ),
    Shape("document", "shared children, n = 60, applied to", lambda size: shared(60, padding=size), _applied),
    Shape("document", "shared children, n = 90, compared", bytes, _equal_shared),
    Shape("document", "a fan of a hundred levels", _fan, decode),
    Shape("document", "a fan of a hundred levels, strictly", _fan, decode_stored),
    Shape("document", "a fan of a hundred levels, storage_free", _fan, storage_free),
    Shape("document", "one string for all entries", _one_string_for_all, decode),
    Shape("document", "one key for all members", _one_key_for_all, decode),
    Shape("document", "one child for all entries", _one_child_for_all, decode),
    Shape("document", "one child for all entries, compared", _one_child_for_all, _equal_children),
    Shape("document", "one child for all entries, storage_free", _one_child_for_all, storage_free),
]

# --- texts, paths, diffs ---------------------------------------------------------------------------------------------


def _text(data: bytes) -> object:
    return parse_text(data.decode())


def _side_by_side(element: bytes, size: int) -> bytes:
    return b"[" + b",".join([element] * max(1, size // (len(element) + 1))) + b"]"


def _path(data: bytes) -> object:
    return parse_path.__wrapped__(data.decode()) if hasattr(parse_path, "__wrapped__") else parse_path(data.decode())


TEXTS: Final[list[Shape]] = [
    Shape("text", "opening brackets", lambda size: b"[" * size, _text),
    Shape("text", "digits", lambda size: b"1" * size, _text),
    Shape("text", "digits of an exponent", lambda size: b"0e" + b"9" * size, _text),
    Shape("text", "an open string of escapes", lambda size: b'"' + b"\\u0061" * (size // 6), _text),
    Shape("text", "halves of surrogate pairs", lambda size: b"[" + b'"\\ud800",' * (size // 9) + b"1]", _text),
    Shape("text", "small numbers", lambda size: b"[0" + b",0" * (size // 2) + b"]", _text),
    Shape("text", "empty arrays", lambda size: _side_by_side(b"[]", size), _text),
    Shape("text", "empty objects", lambda size: _side_by_side(b"{}", size), _text),
    Shape("text", "objects of one member", lambda size: _side_by_side(b'{"":0}', size), _text),
    Shape("text", "chains of 98 objects", lambda size: _side_by_side(b'{"":' * 98 + b"0" + b"}" * 98, size), _text),
    Shape(
        "text",
        "chains of 98 arrays",
        lambda size: _side_by_side(b"[" * 98 + b"]" * 98, size),
        _text,
        50,
        "two bytes a level, for which Python's list takes 88",
    ),
    Shape("path", "cells", lambda size: b"$" + b"[0]" * (size // 3), _path),
    Shape("path", "an open name of escapes", lambda size: b'$."' + b'\\"' * (size // 2), _path),
    Shape("path", "white space", lambda size: b"$" + b" " * size + b"!", _path),
    Shape("diffs", "removals", lambda size: b"\x02\x03$.a" * (size // 5), decode_diffs),
    Shape("diffs", "removals of the root", lambda size: b"\x02\x01$" * (size // 3), decode_diffs),
    Shape("diffs", "a path of 2^64-1 bytes", lambda size: b"\x00" + HUGE + bytes(size), decode_diffs),
    Shape("diffs", "a value of 2^64-1 bytes", lambda size: b"\x00\x03$.a" + HUGE + bytes(size), decode_diffs),
    Shape(
        "diffs",
        "a value of shared children",
        lambda size: b"\x00\x03$.a" + encode_packed(606 + size) + shared(60, padding=size)[: 606 + size],
        decode_diffs,
    ),
]
