"""The content of a compressed transaction, piece by piece, and how far it may unfold (binlog-events 15).

A frame of zstd is read block by block: a block never gives more than 128 KB. So a reader of the events inside needs
memory for one event, and not for the transaction.

Two ratios tell a bomb from a transaction, both only beyond :data:`FREE` bytes:

* A block that repeats what came before takes twelve bytes for its 128 KB: 1 to 10,923. Rows that are all equal reach
  that, and only runs of one byte reach more. A transaction beyond :data:`RATIO` is therefore mostly one byte.
* Servers write many rows into events of a few kilobytes, so that a larger event is one row. Such an event must be held
  as a whole. Rows of megabytes compress less than :data:`EVENT_RATIO`, unless the row repeats itself.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.errors import DecodeError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The server's 32-bit event length bounds a transaction; no caller needs more at once.
DEFAULT_LIMIT: Final = 1 << 30
FREE: Final = 4 << 20  # bytes that every transaction, and every event inside, may have
RATIO: Final = 11_000
EVENT_RATIO: Final = 100

_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_DICTIONARY_SIZE: Final = (0, 1, 2, 4)
_CONTENT_SIZE: Final = (0, 2, 4, 8)
_RLE: Final = 1
_BLOCK_HEADER: Final = 3
_CHECKSUM: Final = 4
_STEP: Final = 256  # bytes of what is no zstd frame
_U4: Final = Struct("<I").unpack_from
_LENGTH_OFFSET: Final = 9


class InnerFrame(NamedTuple):
    """An event inside a transaction: its number, its start in the uncompressed bytes, and its place in ``buffer``."""

    number: int
    start: int
    buffer: bytes
    position: int
    end: int

    @property
    def data(self) -> bytes:
        """The event's bytes; where the buffer has nothing else, no copy."""
        return self.buffer[self.position : self.end]


def unfold(frame: bytes, limit: int | None = None) -> Iterator[bytes]:
    """The content of a zstd frame in pieces of at most one block.

    ``limit``: the most bytes of content. Without a limit, it is :data:`DEFAULT_LIMIT`, and a bomb is refused.
    """
    try:
        import zstandard
    except ImportError:
        raise Unsupported(
            "zstandard-missing", "the package zstandard is needed to read compressed transactions"
        ) from None
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    bounds = _Bounds(len(frame), limit)
    size = start = 0
    try:
        for end in _block_ends(frame):
            piece = decompressor.decompress(frame[start:end])
            size += len(piece)
            bounds.check(size)
            if piece:
                yield piece
            if decompressor.eof and (decompressor.unused_data or end < len(frame)):
                behind = end - len(decompressor.unused_data)
                raise DecodeError("trailing-bytes", "bytes after the compressed frame", offset=behind)
            start = end
    except zstandard.ZstdError:
        raise DecodeError("bad-compression", "not a zstd frame") from None
    if not decompressor.eof:
        raise DecodeError("truncated", "the compressed frame is cut off", offset=len(frame))


class _Bounds:
    """The most bytes that the content of a frame may have."""

    def __init__(self, frame: int, limit: int | None) -> None:
        self._frame = frame
        self._limit = DEFAULT_LIMIT if limit is None else limit
        self._bomb = self._limit if limit is not None else max(FREE, RATIO * frame)

    def check(self, size: int) -> None:
        """Refuse the content once it has ``size`` bytes."""
        if size > self._limit:
            raise DecodeError("payload-too-large", "more events than allowed", expected=self._limit, got=size)
        if size > self._bomb:
            raise _bomb("a compressed transaction", self._frame, self._bomb, size)


def _bomb(what: str, frame: int, most: int, size: int) -> DecodeError:
    return DecodeError(
        "payload-bomb",
        f"{what} unfolds further than a server's",
        offset=0,
        expected=f"at most {most} of {frame} bytes",
        got=size,
    )


def _block_ends(frame: bytes) -> Iterator[int]:
    """Where to cut a frame: behind each block. The frame is not checked: its decompressor does that."""
    end = len(frame)
    if not frame.startswith(_MAGIC) or end <= len(_MAGIC):
        yield from range(_STEP, end, _STEP)
        yield end
        return
    descriptor = frame[len(_MAGIC)]
    single = descriptor >> 5 & 1
    content = _CONTENT_SIZE[descriptor >> 6] or single
    position = len(_MAGIC) + 1 + (1 - single) + _DICTIONARY_SIZE[descriptor & 3] + content
    last = 0
    while not last and position + _BLOCK_HEADER <= end:
        header = int.from_bytes(frame[position : position + _BLOCK_HEADER], "little")
        last = header & 1
        position += _BLOCK_HEADER + (1 if header >> 1 & 3 == _RLE else header >> 3)
        if last and descriptor >> 2 & 1:
            position += _CHECKSUM
        if position < end:
            yield position
    yield end


def split(pieces: Iterable[bytes], most: int | None, frame: int) -> Iterator[InnerFrame]:
    """The events that the pieces hold; one that is still incomplete beyond ``most`` bytes is refused as a bomb."""
    parts: list[bytes] = []
    size = number = start = 0
    wanted = HEADER_SIZE
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size < wanted:
            if most is not None and size > most:
                raise _bomb("an event", frame, most, size).at(f"inner[{number}]", start)
            continue
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        position = 0
        while True:
            left = size - position
            if left < HEADER_SIZE:
                wanted = HEADER_SIZE
                break
            wanted = _U4(data, position + _LENGTH_OFFSET)[0]
            if wanted < HEADER_SIZE:
                raise _does_not_fit(left, wanted).at(f"inner[{number}]", start)
            if wanted > left:
                break
            end = position + wanted
            yield InnerFrame(number, start, data, position, end)
            number += 1
            position = end
            start += wanted
        size = left
        if left:
            parts.append(data[position:])
        del data
    if size:
        error = (
            DecodeError("truncated", "an event header needs 19 bytes", offset=0, got=size)
            if size < HEADER_SIZE
            else _does_not_fit(size, wanted)
        )
        raise error.at(f"inner[{number}]", start)


def _does_not_fit(left: int, length: int) -> DecodeError:
    return DecodeError(
        "bad-length", "the event does not fit", offset=_LENGTH_OFFSET, expected=f"{HEADER_SIZE}..{left}", got=length
    )
