"""Column values from their bytes in a row (binlog-events 9.1, binlog-events 10.2).

Numbers are numbers, DECIMAL is its text, dates and times are tuples of numbers, all else is bytes.
"""

from __future__ import annotations

import struct
from typing import Final, TypeAlias

from fuzz.naive.pieces import Pieces, Refused

Plain: TypeAlias = "int | float | str | bytes | tuple[int, ...] | None"

JSON: Final = 245
_INTEGERS: Final = {1: 1, 2: 2, 9: 3, 3: 4, 8: 8}
METADATA: Final = {  # bytes of metadata by type
    **dict.fromkeys((4, 5, 17, 18, 19, 140, 242, 245, 249, 250, 251, 252, 255), 1),
    **dict.fromkeys((15, 16, 141, 246, 247, 248, 254), 2),
}
KNOWN: Final = frozenset((*range(21), 140, 141, 242, *range(245, 256)))  # type bytes; MariaDB has 140 and 141
NUMERIC: Final = frozenset((0, 1, 2, 3, 4, 5, 8, 9, 13, 246))  # those that the SIGNEDNESS field counts
_DIGITS: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)  # bytes of so many decimal digits


class NoValuesError(Refused):
    """A type without values that one can read: a column of it may be NULL, or not in the image."""


def exists(kind: int, metadata: bytes) -> bool:
    """Whether there is such a column: then these bytes begin with a value of it, whatever its type."""
    try:
        read(kind, metadata, unsigned=False, pieces=Pieces(b"\x80" + bytes(300)))
    except NoValuesError:
        return True
    except Refused:
        return False
    return True


def read(kind: int, metadata: bytes, *, unsigned: bool, pieces: Pieces) -> Plain:
    """The next value of a column. Raises :class:`Refused`, also for metadata that no column has."""
    low, high = (*metadata, 0, 0)[:2]
    length = low
    if kind == 254:  # the two top bits of a CHAR's length are inverted in the type
        length = high | ((low & 0x30) ^ 0x30) << 4
        kind = low | 0x30
        if kind in (247, 248):
            length = high
        elif kind != 254:
            raise NoValuesError("no such string")
    elif kind in (247, 248):
        length = high
    if kind in _INTEGERS:
        return int.from_bytes(pieces.take(_INTEGERS[kind]), "little", signed=not unsigned)
    if kind in (4, 5):
        if low != (4 if kind == 4 else 8):
            raise Refused("no such width")
        number: float = struct.unpack("<f" if kind == 4 else "<d", pieces.take(low))[0]
        return number
    if kind == 246:
        return decimal(low, high, pieces)
    if kind == 13:
        return 1900 + year if (year := pieces.number(1)) else 0
    if kind == 16:
        if low > 7 or not 0 < high * 8 + low <= 64:
            raise Refused("no such BIT")
        return int.from_bytes(pieces.take((high * 8 + low + 7) // 8), "big")
    if kind in (10, 14):
        raw = pieces.number(3)
        return raw >> 9, raw >> 5 & 15, raw & 31
    if kind in (17, 18, 19):
        return _moment(kind, low, pieces)
    if kind in (7, 11, 12):
        return _old_moment(kind, pieces)
    if kind in (15, 141, 253, 254):
        longest = low | high << 8 if kind in (15, 141) else length
        return pieces.take(pieces.number(1 if longest < 256 else 2))
    if kind in (247, 248) and length in ((1, 2) if kind == 247 else (1, 2, 3, 4, 8)):
        return pieces.number(length)
    if kind in (140, 242, 245, 249, 250, 251, 252, 255):
        if not 1 <= low <= 4:
            raise Refused("no such length")
        return pieces.take(pieces.number(low))
    raise NoValuesError("no such column")


def decimal(precision: int, scale: int, pieces: Pieces) -> str:
    """The text of a packed DECIMAL, all its digits shown."""
    if not (0 < precision <= 65 and scale <= min(30, precision)):
        raise Refused("no such DECIMAL")
    whole = precision - scale
    sizes = [whole % 9, *[9] * (whole // 9), *[9] * (scale // 9), scale % 9]
    raw = bytearray(pieces.take(sum(_DIGITS[size] for size in sizes)))
    negative = not raw[0] & 0x80
    raw[0] ^= 0x80
    if negative:
        raw = bytearray(byte ^ 0xFF for byte in raw)
    text = ""
    for size in sizes:
        group, raw = raw[: _DIGITS[size]], raw[_DIGITS[size] :]
        digits = str(int.from_bytes(group, "big")).zfill(size) if size else ""
        if len(digits) > size:
            raise Refused("too many digits")
        text += digits
    return f"{'-' if negative else ''}{text[:whole] or '0'}.{text[whole:]}"


def _moment(kind: int, digits: int, pieces: Pieces) -> Plain:
    """TIMESTAMP2, DATETIME2, TIME2: the last number is microseconds, the first of a TIME 1 if it is negative."""
    if digits > 6:
        raise Refused("more than six digits")
    size = (digits + 1) // 2
    unit = 10 ** (6 - 2 * size)
    if kind == 17:
        return int.from_bytes(pieces.take(4), "big"), int.from_bytes(pieces.take(size), "big") * unit
    if kind == 18:
        raw = int.from_bytes(pieces.take(5), "big") - (1 << 39)
        fraction = int.from_bytes(pieces.take(size), "big") * unit
        months = raw >> 22
        day = (months // 13, months % 13, raw >> 17 & 31)
        return *day, raw >> 12 & 31, raw >> 6 & 63, raw & 63, fraction
    whole = int.from_bytes(pieces.take(3 + size), "big") - (1 << 23 + 8 * size)
    raw, fraction = divmod(abs(whole), 1 << 8 * size)
    return int(whole < 0), raw >> 12, raw >> 6 & 63, raw & 63, fraction * unit


def _old_moment(kind: int, pieces: Pieces) -> Plain:
    """TIMESTAMP, TIME and DATETIME as tables from before MySQL 5.6 have them."""
    if kind == 7:
        return pieces.number(4), 0
    if kind == 11:
        raw = int.from_bytes(pieces.take(3), "little", signed=True)
        size = abs(raw)
        return int(raw < 0), size // 10000, size // 100 % 100, size % 100, 0
    raw = pieces.number(8)
    day, clock = divmod(raw, 1_000_000)
    return day // 10000, day // 100 % 100, day % 100, clock // 10000, clock // 100 % 100, clock % 100, 0
