"""Values of the columns that MariaDB compresses one by one (attribute COMPRESSED; observed on 10.11.19).

Nothing for an empty value. Else one byte: the method in bits 4 to 7 (0: none, 8: deflate), bit 3 for a stream without
zlib's header, and the size of the length in bits 0 to 2. Then the length of the content, big-endian, and the stream.
"""

from __future__ import annotations

import zlib
from typing import Final

from conformance.reference.errors import DecodeError, Unsupported

_DEFLATE: Final = 8
_RAW: Final = 0x08
_LENGTH_SIZE: Final = 0x07
_RATIO: Final = 1032  # no deflate stream unfolds further


def uncompressed_value(stored: bytes) -> bytes:
    """The value of a compressed column. The memory that it takes is bounded by the size of the stored bytes."""
    if not stored:
        return b""
    head = stored[0]
    method, size = head >> 4, head & _LENGTH_SIZE
    if not method:
        if head:
            raise DecodeError("bad-compression", "not the header of a value", offset=0, expected=0, got=head)
        return stored[1:]
    if method != _DEFLATE:
        raise Unsupported("compression", "unknown compression of a column", offset=0, expected=_DEFLATE, got=method)
    stream = stored[1 + size :]
    length = int.from_bytes(stored[1 : 1 + size], "big")
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS if head & _RAW else zlib.MAX_WBITS)
    try:
        value = decompressor.decompress(stream, min(length, _RATIO * len(stream)) + 1)
    except zlib.error:
        raise DecodeError("bad-compression", "not a deflate stream", offset=1 + size) from None
    if len(value) != length or not decompressor.eof:
        raise DecodeError("bad-length", "the value has another length", offset=1, expected=length, got=len(value))
    return value
