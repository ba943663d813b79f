"""TRANSACTION_PAYLOAD: its fields, its content, and the events that tile it (binlog-events 15)."""

from __future__ import annotations

from typing import Final, NamedTuple

from fuzz.naive.pieces import Pieces, Refused

_SIZE, _COMPRESSION, _UNCOMPRESSED_SIZE = 1, 2, 3
_ZSTD: Final = 0
_PLAIN: Final = 255
_HEADER: Final = 19


class Payload(NamedTuple):
    """The fields that matter."""

    compression: int
    size: int | None
    data: bytes


def read(body: bytes) -> Payload:
    """The fields of an event. Raises :class:`Refused`."""
    pieces = Pieces(body)
    found: dict[int, int] = {}
    while kind := pieces.packed():
        value = Pieces(pieces.take(pieces.packed()))
        if kind in (_SIZE, _COMPRESSION, _UNCOMPRESSED_SIZE):
            found[kind] = value.packed()
            if value:
                raise Refused("a number and more")
    if not {_SIZE, _COMPRESSION} <= found.keys():
        raise Refused("a field is missing")
    data = pieces.take(found[_SIZE])
    if pieces:
        raise Refused("bytes behind the payload")
    return Payload(found[_COMPRESSION], found.get(_UNCOMPRESSED_SIZE), data)


def content(payload: Payload) -> bytes:
    """The events inside: the one frame that a compressed payload is. Raises :class:`Refused`."""
    if payload.compression == _PLAIN:
        return payload.data
    if payload.compression != _ZSTD:
        raise Refused("unknown compression")
    import zstandard

    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        out = frame.decompress(payload.data)
    except zstandard.ZstdError as error:
        raise Refused(str(error)) from None
    if not frame.eof or frame.unused_data:
        raise Refused("not exactly one frame")
    return out


def events(data: bytes) -> tuple[list[tuple[int, bytes]], str]:
    """Type and bytes of each event that can be read, and why the next one cannot."""
    pieces = Pieces(data)
    found: list[tuple[int, bytes]] = []
    while pieces:
        try:
            header = pieces.take(_HEADER)
            length = int.from_bytes(header[9:13], "little")
            if length < _HEADER:
                raise Refused("shorter than its header")
            found.append((header[4], header + pieces.take(length - _HEADER)))
        except Refused as reason:
            return found, str(reason)
    return found, ""
