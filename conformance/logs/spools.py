"""Text and tuples that wait: in memory while they are few, in a temporary file beyond that.

The tuples have numbers, texts, bytes and ``None`` only, which :mod:`marshal` writes and reads.
"""

from __future__ import annotations

import marshal
import tempfile
from heapq import merge
from typing import IO, TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_IN_MEMORY: Final = 8 << 20  # bytes of text
_MANY: Final = 2 << 20  # bytes of tuples in memory, about
_TUPLE: Final = 200  # bytes of a tuple beside its parts
_PART: Final = 32  # bytes of a part, and of what it is sorted by, beside its text
_BLOCK: Final = 1 << 16  # bytes of tuples that are written and read together, about


class FileSpool:
    """Rows that wait for the end of their statement: in memory while they are few, in a temporary file beyond that."""

    def __init__(self) -> None:
        self._file = self._new()

    @staticmethod
    def _new() -> tempfile.SpooledTemporaryFile[bytes]:
        return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        """Drop the rows that were not taken."""
        self._file.close()

    def add(self, text: bytes) -> None:
        """Store a piece of text."""
        self._file.write(text)

    def take(self) -> Iterable[bytes]:
        """Return all pieces, and drop them."""
        file, self._file = self._file, self._new()
        with file:
            file.seek(0)
            while data := file.read(1 << 16):
                yield data


def _size(item: Sequence[Any]) -> int:
    return _TUPLE + _PART * len(item) + sum([len(part) for part in item if isinstance(part, (str, bytes))])


class _Blocks:
    """A temporary file of tuples, made when the first are written."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0

    def write(self, items: Sequence[Any]) -> tuple[int, int]:
        """Write tuples; returns start and end of what was written."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the spool
        start = self._end
        self._file.seek(start)
        block: list[Any] = []
        size = 0
        for number, item in enumerate(items, 1):
            block.append(item)
            size += _size(item)
            if size >= _BLOCK or number == len(items):
                data = marshal.dumps(block)
                self._file.write(len(data).to_bytes(4, "little") + data)
                self._end += 4 + len(data)
                block, size = [], 0
        return start, self._end

    def read(self, start: int, end: int) -> Iterator[Any]:
        """The tuples between two places, a block at a time; several readings may go on at once."""
        assert self._file is not None
        while start < end:
            self._file.seek(start)
            length = int.from_bytes(self._file.read(4), "little")
            yield from marshal.loads(self._file.read(length))  # noqa: S302 - this process wrote it
            start += 4 + length

    def clear(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._end = None, 0


class TupleSpool:
    """Tuples that come out in the order in which they came in. One spool may be filled again and again."""

    def __init__(self) -> None:
        self._blocks = _Blocks()
        self._places: list[tuple[int, int]] = []
        self._waiting: list[Any] = []
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._blocks.clear()

    def add(self, item: Sequence[Any]) -> None:
        """Store a tuple."""
        self._waiting.append(tuple(item))
        self._size += _size(item)
        if self._size >= _MANY:
            self._places.append(self._put())

    def _put(self) -> tuple[int, int]:
        place = self._blocks.write(self._waiting)
        self._waiting, self._size = [], 0
        return place

    def take(self) -> Iterator[Any]:
        """Return all tuples, and drop them."""
        places, waiting = self._places, self._waiting
        self._places, self._waiting, self._size = [], [], 0
        for start, end in places:
            yield from self._blocks.read(start, end)
        yield from waiting
        self._blocks.clear()


class SortedSpool(TupleSpool):
    """Tuples that come out sorted by a key; equal ones stay in order."""

    def __init__(self, key: Callable[[Any], Any]) -> None:
        super().__init__()
        self._key = key

    def _put(self) -> tuple[int, int]:
        self._waiting.sort(key=self._key)
        return super()._put()

    def take(self) -> Iterator[Any]:
        """Return all tuples in order, and drop them."""
        if self._places and self._waiting:
            self._places.append(self._put())
        places, waiting = self._places, self._waiting
        self._places, self._waiting, self._size = [], [], 0
        if not places:
            waiting.sort(key=self._key)
            waiting.reverse()
            while waiting:  # each is gone when it is taken
                yield waiting.pop()
            return
        yield from merge(*[self._blocks.read(start, end) for start, end in places], key=self._key)
        self._blocks.clear()
