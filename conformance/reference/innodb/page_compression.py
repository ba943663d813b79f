"""Transparent page compression: ``COMPRESSION='zlib'`` and ``'lz4'`` (innodb-sdi B.4)."""

from __future__ import annotations

import zlib
from struct import Struct
from typing import Final, NamedTuple

from conformance.reference.errors import DecodeError, Unsupported

_HEADER: Final = 38
_FIELDS: Final = Struct(">BBHHH")  # at 26: version, algorithm, original type, original size, compressed size
_ZLIB: Final = 1
_LZ4: Final = 2
_EXACT: Final = 2  # the version of the header in which the compressed size is also the size encrypted
_SHORTEST: Final = 32  # of a body that is encrypted


class CompressionHeader(NamedTuple):
    """The header of a compressed page, which stands at 26; the sizes are those of the body."""

    version: int
    algorithm: int
    type: int
    original: int
    compressed: int

    @classmethod
    def read(cls, page: bytes) -> CompressionHeader:
        return cls(*_FIELDS.unpack_from(page, 26))


def decompress(page: bytes, header: CompressionHeader) -> bytes:
    """The page as it was before it was written; its checksum is that of the plain page."""
    size = len(page) - _HEADER
    if header.compressed > size or header.original != size:
        raise _damaged("a size in the header is impossible", 30, size)
    body = page[_HEADER : _HEADER + header.compressed]
    if header.algorithm == _ZLIB:
        try:
            plain = zlib.decompressobj().decompress(body, size)
        except zlib.error:
            raise _damaged("the compressed body cannot be read", _HEADER, None) from None
    elif header.algorithm == _LZ4:
        plain = _lz4(body, size)
    else:
        raise Unsupported("page-compression", "the page has an unknown compression", offset=27, got=header.algorithm,
                          path=("compression_algorithm",))  # fmt: skip
    if len(plain) != size:
        raise _damaged("the body does not have its original size", _HEADER, size, len(plain))
    return page[:24] + header.type.to_bytes(2, "big") + bytes(8) + page[34:38] + plain


def encrypted_end(page: bytes) -> int:
    """Where the encrypted part ends of a page that was compressed, then encrypted (innodb-sdi B.10)."""
    header = CompressionHeader.read(page)
    if header.version != _EXACT:
        raise Unsupported("page-compression", "the encrypted page has another form of compression", offset=26,
                          expected=_EXACT, got=header.version, path=("compression_version",))  # fmt: skip
    if not _SHORTEST <= header.compressed <= len(page) - _HEADER:
        raise _damaged("a size in the header is impossible", 32, f">= {_SHORTEST}", header.compressed)
    return _HEADER + header.compressed


def _lz4(data: bytes, size: int) -> bytes:
    """One LZ4 block: literals, then a match that repeats earlier output, again and again."""
    out, at, end = bytearray(), 0, len(data)

    def length(nibble: int) -> int:
        nonlocal at
        total = nibble
        while nibble == 15 and at < end:
            total += data[at]
            at += 1
            if data[at - 1] != 255:
                break
        return total

    while at < end:
        token = data[at]
        at += 1
        literals = length(token >> 4)
        out += data[at : at + literals]
        at += literals
        if at >= end:
            break
        distance = int.from_bytes(data[at : at + 2], "little")
        at += 2
        count = length(token & 15) + 4
        if not 0 < distance <= len(out) or len(out) + count > size:
            raise _damaged("a match of the compressed body is impossible", _HEADER + at, None, distance)
        start = len(out) - distance
        if distance >= count:
            out += out[start : start + count]
        else:
            out += (out[start:] * (count // distance + 1))[:count]
    return bytes(out[: size + 1])


def _damaged(message: str, offset: int, expected: object, got: object = None) -> DecodeError:
    return DecodeError("bad-page-compression", message, offset=offset, expected=expected, got=got,
                       path=("compression",))  # fmt: skip
