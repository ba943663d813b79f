"""Boundary types, and the three bits of the common header in which this kit puts them (WL#4162, definitions).

The worklog asks for three bits of the flag word and does not say which. **Our choice: bits 13 to 15** (mask 0xE000):
no server up to 9.7.4 uses them, and with them set 9.7.4 reads, prints and applies a file as before (observed). Another
place can be given as ``shift``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, checksum_of
from conformance.reference.errors import DecodeError, EncodeError

SHIFT: Final = 13
WIDTH: Final = 3
_FLAGS: Final = slice(17, 19)
_FREE: Final = 0xFC00  # bits of the flag word that no server uses (binlog-events 2.1)


class BoundaryType(IntEnum):
    """Values of the marker (transaction-boundaries A.2). 6 and 7 are reserved."""

    NOT_DEFINED = 0
    IGNORE_BOUNDARY = 1
    SELF_CONTAINED = 2
    START_TRANSACTION = 3
    INSIDE_TRANSACTION = 4
    END_TRANSACTION = 5

    @property
    def title(self) -> str:
        """The name in messages and comments: ``Inside Transaction``."""
        return self.name.replace("_", " ").title()


RESERVED: Final = (6, 7)


def marker_title(marker: int) -> str:
    """The name of any marker."""
    return f"Reserved ({marker})" if marker in RESERVED else BoundaryType(marker).title


def mask(shift: int = SHIFT) -> int:
    """The three bits in the flag word (transaction-boundaries A.8). Raises for bits that servers use."""
    bits = ((1 << WIDTH) - 1) << max(0, shift)
    if bits & ~_FREE:
        raise EncodeError(
            "used-flags", "the marker needs three free bits of the flag word", expected="10..13", got=shift
        )
    return bits


def marker_of(flags: int, shift: int = SHIFT) -> int:
    """The marker in a flag word: 0 to 5 are a :class:`BoundaryType`, 6 and 7 are reserved."""
    return flags >> shift & (1 << WIDTH) - 1


def with_marker(flags: int, marker: int, shift: int = SHIFT) -> int:
    """The flag word with this marker in the place of any other."""
    if not 0 <= marker < 1 << WIDTH:
        raise EncodeError("out-of-range", "a marker has three bits", expected="0..7", got=marker)
    return flags & ~mask(shift) | marker << shift


def mark(event: bytes, marker: int, *, footer: int = FOOTER_SIZE, shift: int = SHIFT) -> bytes:
    """A marked event: the same length, other bits in its flags, and a recomputed checksum."""
    if len(event) < HEADER_SIZE + footer:
        raise DecodeError("truncated", "no room for header and checksum", offset=0, got=len(event))
    marked = bytearray(event)
    marked[_FLAGS] = with_marker(int.from_bytes(marked[_FLAGS], "little"), marker, shift).to_bytes(2, "little")
    if not footer:
        return bytes(marked)
    whole = bytes(marked[:-footer])
    return whole + checksum_of(whole).to_bytes(footer, "little")
