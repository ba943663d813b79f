"""Documents made entry by entry: with holes, in the larger format than need be, with elements that no writer makes."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from conformance.reference.jsonb.encode import encode

Item: TypeAlias = tuple[int, bytes]  # type byte, data

TRAP: Final[Item] = (0x0D, b"\x01\x02\x03")  # of a type that does not exist
INLINED: Final = (0x04, 0x05, 0x06)
INT32: Final = 0x07  # in the entry of a large container
TEXT: Final = 0x0C


def text(value: str) -> Item:
    return TEXT, encode(value)[1:]


def inlined(value: Any) -> Item:
    """A number of two bytes."""
    kind, *data = encode(value)
    return kind, bytes(data)


def body(items: list[Item], *, keys: list[bytes] | None = None, large: bool = False, hole: int = 0) -> bytes:
    """A container without its type byte, with a hole in front of its values."""
    width = 4 if large else 2
    first = 2 * width + len(items) * (width + 1)
    entries, names, data = b"", b"", b""
    if keys is not None:
        first += len(keys) * (width + 2)
        for key in keys:
            entries += (first + len(names)).to_bytes(width, "little") + len(key).to_bytes(2, "little")
            names += key
        first += len(names)
    data = b"\xee" * hole
    for kind, value in items:
        if kind in INLINED or (kind == INT32 and large):
            entries += bytes((kind,)) + value.ljust(width, b"\0")
        else:
            entries += bytes((kind,)) + (first + len(data)).to_bytes(width, "little")
            data += value
    size = first + len(data)
    return len(items).to_bytes(width, "little") + size.to_bytes(width, "little") + entries + names + data


def array(*items: Item, large: bool = False, hole: int = 0) -> bytes:
    return bytes((3 if large else 2,)) + body(list(items), large=large, hole=hole)


def members(keys: list[bytes], *items: Item, large: bool = False, hole: int = 0) -> bytes:
    return bytes((1 if large else 0,)) + body(list(items), keys=keys, large=large, hole=hole)


def number(value: int) -> Item:
    return INT32, value.to_bytes(4, "little")


def deep(levels: int, leaf: Item, *, beside: Item | None = None) -> bytes:
    """Arrays inside each other; the innermost holds the leaf, every other one something beside the next."""
    inner = body([leaf])
    for _ in range(levels - 1):
        inner = body([(2, inner)] if beside is None else [beside, (2, inner)])
    return b"\x02" + inner
