"""The values of a recording as bytes: a small codec that a stranger's file cannot make do anything but fail.

A value is ``None``, a bool, a number, text, bytes, a list of values, or a mapping from text to values. Each begins with
a letter; numbers of bytes and parts follow as four bytes, little-endian. Long bytes are cut into pieces that the file
holds once (``CHUNK``): a data file that is read again and again costs its changed pages only.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Value: TypeAlias = "bool | int | float | str | bytes | Sequence[Value] | Mapping[str, Value] | None"

CHUNK: Final = 16384  # as a page of InnoDB
LONG: Final = 2 * CHUNK  # bytes from here on are cut
MOST: Final = 1 << 30  # bytes that one value may hold when its pieces are joined
_DEPTH: Final = 16
_COUNT: Final = struct.Struct("<I")
_DOUBLE: Final = struct.Struct("<d")
_CONSTANTS: Final = {b"n": None, b"t": True, b"f": False}


class DamagedValue(Exception):
    """The bytes are no value: ``str`` says what was expected, and what is there."""


def encode(value: Value, put: Callable[[bytes], int] | None = None) -> bytes:
    """The bytes of a value. ``put`` stores a piece of long bytes and returns its number; without it none is cut."""
    out: list[bytes] = []
    _encode(value, put, out)
    return b"".join(out)


def _encode(value: Value, put: Callable[[bytes], int] | None, out: list[bytes]) -> None:
    if value is None or isinstance(value, bool):
        out.append({None: b"n", True: b"t", False: b"f"}[value])
    elif isinstance(value, int):
        _sized(b"i", str(value).encode(), out)
    elif isinstance(value, float):
        out.append(b"d" + _DOUBLE.pack(value))
    elif isinstance(value, str):
        _sized(b"s", value.encode("utf-8", "surrogatepass"), out)
    elif isinstance(value, bytes):
        if put is None or len(value) < LONG:
            _sized(b"b", value, out)
            return
        pieces = [put(value[start : start + CHUNK]) for start in range(0, len(value), CHUNK)]
        out.append(b"p" + _COUNT.pack(len(pieces)) + struct.pack(f"<{len(pieces)}I", *pieces))
    elif hasattr(value, "items"):
        out.append(b"m" + _COUNT.pack(len(value)))
        for key, part in value.items():
            _sized(b"", key.encode("utf-8", "surrogatepass"), out)
            _encode(part, put, out)
    else:
        out.append(b"l" + _COUNT.pack(len(value)))
        for part in value:
            _encode(part, put, out)


def _sized(letter: bytes, data: bytes, out: list[bytes]) -> None:
    out += (letter, _COUNT.pack(len(data)), data)


def decode(data: bytes, pieces: Sequence[bytes]) -> Value:
    """The value of which these are the bytes, all of them. Raises :class:`DamagedValue`."""
    reader = _Reader(data, pieces)
    try:
        value = reader.value(0)
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise DamagedValue(f"at byte {reader.place}: {error}") from error
    if reader.place != len(data):
        raise DamagedValue(f"expected the end of the value at byte {reader.place}, got {len(data)} bytes")
    return value


class _Reader:
    def __init__(self, data: bytes, pieces: Sequence[bytes]) -> None:
        self._data, self._pieces = data, pieces
        self.place = 0
        self._joined = 0

    def _take(self, count: int) -> bytes:
        end = self.place + count
        if end > len(self._data):
            raise DamagedValue(f"expected {count} bytes at byte {self.place}, got {len(self._data) - self.place}")
        found = self._data[self.place : end]
        self.place = end
        return found

    def _count(self, least: int) -> int:
        """A number of parts, each of which takes at least so many bytes."""
        count: int = _COUNT.unpack(self._take(4))[0]
        if count * least > len(self._data) - self.place:
            raise DamagedValue(f"expected {count} parts at byte {self.place}, got {len(self._data) - self.place} bytes")
        return count

    def _text(self) -> str:
        return self._take(self._count(1)).decode("utf-8", "surrogatepass")

    def value(self, depth: int) -> Value:
        if depth > _DEPTH:
            raise DamagedValue(f"expected at most {_DEPTH} levels, got more at byte {self.place}")
        letter = self._take(1)
        if letter in _CONSTANTS:
            return _CONSTANTS[letter]
        match letter:
            case b"i":
                digits = self._take(min(self._count(1), 40))
                return int(digits)
            case b"d":
                return float(_DOUBLE.unpack(self._take(8))[0])
            case b"s":
                return self._text()
            case b"b":
                return self._take(self._count(1))
            case b"p":
                return self._joined_pieces()
            case b"l":
                return [self.value(depth + 1) for _ in range(self._count(1))]
            case b"m":
                return {self._text(): self.value(depth + 1) for _ in range(self._count(5))}
        raise DamagedValue(f"expected the letter of a value at byte {self.place - 1}, got {letter!r}")

    def _joined_pieces(self) -> bytes:
        count = self._count(4)
        numbers = struct.unpack(f"<{count}I", self._take(4 * count))
        parts = []
        for number in numbers:
            if number >= len(self._pieces):
                raise DamagedValue(f"expected a piece before {len(self._pieces)}, got number {number}")
            parts.append(self._pieces[number])
            self._joined += len(parts[-1])
            if self._joined > MOST:
                raise DamagedValue(f"expected at most {MOST} bytes in a value, got more")
        return b"".join(parts)
