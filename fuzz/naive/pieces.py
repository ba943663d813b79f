"""Bytes that are read from front to back, each exactly once."""

from __future__ import annotations


class Refused(Exception):
    """The bytes are not what they should be."""


class Pieces:
    """The input, and how far it was read: all in front of ``at`` was taken, in order and once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def __bool__(self) -> bool:
        return self.at < len(self.data)

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if self.at + count > len(self.data):
            raise Refused(f"{count} bytes at {self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, size: int) -> int:
        """A little-endian number."""
        return int.from_bytes(self.take(size), "little")

    def packed(self) -> int:
        """A packed integer (binlog-events 1.1)."""
        first = self.number(1)
        if first < 251:
            return first
        if first in (251, 255):
            raise Refused("no number")
        return self.number({252: 2, 253: 3, 254: 8}[first])

    def bits(self, count: int) -> list[bool]:
        """A bitmap, the lowest bit of each byte first (binlog-events)."""
        return [bool(byte >> place & 1) for byte in self.take((count + 7) // 8) for place in range(8)][:count]
