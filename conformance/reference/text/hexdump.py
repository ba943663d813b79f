"""The dump of an event as ``mysqlbinlog --hexdump`` prints it behind the event's time (mysqlbinlog-output 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE: Final = b"\n# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags \n"
_FIELDS: Final = (4, 1, 4, 4, 4, 2)  # the fields of the header
_LINE: Final = 16
_HALF: Final = 8
_SHOWN: Final = bytes(code if chr(code).isalnum() and code < 0x80 else ord(".") for code in range(256))


def hexdump(data: bytes, position: int) -> bytes:
    """The dump, and the mark of a comment for the words behind it. ``position``: the one that the client prints."""
    return b"".join(_pieces(data, position))


def _pieces(data: bytes, position: int) -> Iterator[bytes]:
    at = 0
    fields = []
    for size in _FIELDS:
        fields.append(data[at : at + size].hex(" ").encode())
        at += size
    yield _TITLE + b"# %08x " % position + b"   ".join(fields) + b"\n"
    for start in range(HEADER_SIZE, len(data), _LINE):
        piece = data[start : start + _LINE]
        halves = b"  ".join(half.hex(" ").encode() for half in (piece[:_HALF], piece[_HALF:]) if half)
        yield b"# %08x %-48b |%b|\n" % (position + start, halves, piece.translate(_SHOWN))
    yield b"# "


def rewritten(data: bytes) -> bytes:
    """The bytes of an event inside a payload as the client dumps them in a log with checksums: it adds one."""
    longer = data[:9] + (len(data) + FOOTER_SIZE).to_bytes(4, "little") + data[13:]
    return longer + crc32(longer).to_bytes(FOOTER_SIZE, "little")
