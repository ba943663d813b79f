"""The Python values that stand for MySQL JSON values.

| MySQL JSON type              | Python                                              |
|------------------------------|-----------------------------------------------------|
| NULL literal, BOOLEAN        | ``None``, ``True``/``False``                        |
| INTEGER (int16, int32, int64)| ``int``                                             |
| UNSIGNED INTEGER             | :class:`UInt`                                       |
| DOUBLE                       | ``float``                                           |
| STRING                       | ``str``                                             |
| everything opaque            | :class:`Opaque` (DECIMAL, temporal, BIT, BLOB, ...) |
| ARRAY, OBJECT                | ``list``, ``dict`` with ``str`` keys                |

The width of an integer is not part of the value: the narrowest one is always written. A string that is not valid
UTF-8 (the server stores one that arrives in a diff) is held with ``surrogateescape``.

Python says ``1 == True == 1.0``; use :func:`same` where the type matters, :mod:`.compare` for the SQL ``=``.
"""

from __future__ import annotations

from struct import pack
from typing import Any, Final, NamedTuple, TypeAlias


class UInt(int):
    """A JSON UNSIGNED INTEGER: the same number as an ``int``, another type byte."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"UInt({int(self)})"


class Opaque(NamedTuple):
    """A value that JSON has no type for: a column type number and its payload (jsonb 5, jsonb 5.3)."""

    field_type: int
    payload: bytes

    def __repr__(self) -> str:
        return f"Opaque({self.field_type}, {self.payload[:10].hex()!r}{'...' if len(self.payload) > 10 else ''})"


JsonValue: TypeAlias = "bool | int | UInt | float | str | Opaque | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH: Final = 100  # containers inside each other; scalars do not count (jsonb 7)
MAX_KEY: Final = 65535  # bytes of a key

# Type bytes (jsonb 1).
SMALL_OBJECT: Final = 0x00
LARGE_OBJECT: Final = 0x01
SMALL_ARRAY: Final = 0x02
LARGE_ARRAY: Final = 0x03
LARGE: Final = frozenset((LARGE_OBJECT, LARGE_ARRAY))
LITERAL: Final = 0x04
INT16: Final = 0x05
UINT16: Final = 0x06
INT32: Final = 0x07
UINT32: Final = 0x08
INT64: Final = 0x09
UINT64: Final = 0x0A
DOUBLE: Final = 0x0B
STRING: Final = 0x0C
OPAQUE: Final = 0x0F

# Field types with a meaning inside an opaque value (jsonb 4.2, jsonb 5).
TIMESTAMP: Final = 7
DATE: Final = 10
TIME: Final = 11
DATETIME: Final = 12
VARCHAR: Final = 15
BIT: Final = 16
DECIMAL: Final = 246
TINY_BLOB: Final = 249
MEDIUM_BLOB: Final = 250
LONG_BLOB: Final = 251
BLOB: Final = 252
VAR_STRING: Final = 253
BINARY: Final = 254


def same(a: JsonValue, b: JsonValue) -> bool:
    """Equal in type and value, doubles by their eight bytes; object members in any order."""
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is float:
        return pack("<d", a) == pack("<d", b)
    other: Any = b
    if isinstance(a, list):
        return len(a) == len(other) and all(map(same, a, other))
    if isinstance(a, dict):
        return len(a) == len(other) and all(key in other and same(value, other[key]) for key, value in a.items())
    return a == b


def depth(value: JsonValue) -> int:
    """Containers inside each other; 0 for a scalar. Needs no recursion."""
    level = 0
    layer: list[JsonValue] = [value]
    while layer:
        children: list[JsonValue] = []
        containers = False
        for item in layer:
            if isinstance(item, dict):
                containers = True
                children.extend(item.values())
            elif isinstance(item, list):
                containers = True
                children.extend(item)
        level += containers
        layer = children
    return level


def key_order(key: str) -> tuple[int, bytes]:
    """The order of object members: by length in bytes, then bytewise."""
    raw = key.encode("utf-8", "surrogateescape")
    return len(raw), raw
