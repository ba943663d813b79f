"""A generator's decisions, read from bytes: zeros and the end of the bytes mean the simplest choice."""

from __future__ import annotations

from generators.draw import Draw, KeyPart


class ByteDraw(Draw):
    """Reads one decision after another. A lower byte gives a smaller number, so that shrinking bytes shrinks logs."""

    __slots__ = ("_data", "_place")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    @property
    def place(self) -> int:
        """The number of bytes that are read."""
        return self._place

    @property
    def spent(self) -> bool:
        """Whether all bytes are read, so that every further decision is the simplest one."""
        return self._place >= len(self._data)

    def below(self, n: int, /) -> int:
        if n <= 0:
            raise ValueError(f"nothing is below {n}")
        size = ((n - 1).bit_length() + 7) // 8
        taken = self._data[self._place : self._place + size].ljust(size, b"\0")
        self._place += size
        return int.from_bytes(taken, "big") * n >> 8 * size

    def fork(self, *_: KeyPart) -> ByteDraw:
        return self  # the bytes have one order
