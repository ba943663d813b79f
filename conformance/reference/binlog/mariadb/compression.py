"""The compressed part of MariaDB's QUERY_COMPRESSED and compressed rows events: the statement, or the rows.

One byte: bit 7 set, the algorithm in bits 4 to 6 (0: zlib), and the size of the length in bits 0 to 2. Then the length
of the content, big-endian, and a zlib stream.
"""

from __future__ import annotations

import zlib
from typing import Final

from conformance.reference.binlog.unfolding import DEFAULT_LIMIT
from conformance.reference.errors import DecodeError, Unsupported

_COMPRESSED: Final = 0x80
_ALGORITHM: Final = 0x70
_LENGTH_SIZE: Final = 0x07
_MAX_LENGTH_SIZE: Final = 4
# A zlib stream takes at least a bit for two bytes, and never more than 1,032 bytes come out of one.
_RATIO: Final = 1032


def uncompressed(part: bytes | memoryview) -> bytes:
    """The content of a compressed part.

    The memory that it takes is bounded by the size of the part. Raises for a length that the content does not have.
    """
    if not part:
        raise DecodeError("truncated", "no room for the header of the compressed part", offset=0, expected=1, got=0)
    head = part[0]
    size = head & _LENGTH_SIZE
    if not head & _COMPRESSED or head & ~(_COMPRESSED | _ALGORITHM | _LENGTH_SIZE) or size > _MAX_LENGTH_SIZE:
        raise DecodeError("bad-compression", "not the header of a compressed part", offset=0, got=f"{head:#04x}")
    if head & _ALGORITHM:
        raise Unsupported("compression", "unknown compression", offset=0, expected=0, got=(head & _ALGORITHM) >> 4)
    stream = part[1 + size :]
    length = int.from_bytes(part[1 : 1 + size], "big")
    if length > min(DEFAULT_LIMIT, _RATIO * len(stream)):
        held = f"{len(stream)} bytes of zlib"
        raise DecodeError("bad-length", "a stream never unfolds so far", offset=1, expected=held, got=length)
    decompressor = zlib.decompressobj()
    try:
        content = decompressor.decompress(stream, length + 1)
    except zlib.error:
        raise DecodeError("bad-compression", "not a zlib stream", offset=1 + size) from None
    if len(content) != length or not decompressor.eof:
        raise DecodeError(
            "bad-length", "the content has another length", offset=1, expected=length, got=f"{len(content)} or more"
        )
    if decompressor.unused_data:
        behind = len(part) - len(decompressor.unused_data)
        raise DecodeError("trailing-bytes", "bytes after the compressed part", offset=behind)
    return content


def compressed(content: bytes) -> bytes:
    """A compressed part with the least bytes for its length, as MariaDB writes it.

    The stream is that of this machine's zlib at its default level; another library may write other bytes.
    """
    size = max(1, (len(content).bit_length() + 7) // 8)
    return bytes((_COMPRESSED | size,)) + len(content).to_bytes(size, "big") + zlib.compress(content)
