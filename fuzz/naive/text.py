"""The text of a JSON value, as MySQL prints it (jsonb 6)."""

from __future__ import annotations

from base64 import b64encode
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.values import Opaque
from fuzz.naive.columns import decimal
from fuzz.naive.pieces import Pieces, Refused

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def text(value: JsonValue) -> str:
    """Text on one line. Raises :class:`Refused` for payloads of another length than their type has."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return double(value)
    if isinstance(value, Opaque):
        return _opaque(*value)
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(name)}: {text(value[name])}' for name in sorted(value, key=_order))}}}"
    return str(int(value))


def _order(name: str) -> tuple[int, bytes]:
    raw = name.encode("utf-8", "surrogateescape")
    return len(raw), raw


def quoted(words: str) -> str:
    """A JSON string (jsonb 6.1)."""
    return '"' + "".join(_SHORT.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in words) + '"'


def double(value: float) -> str:
    """A DOUBLE (jsonb 6.2)."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - the test for NaN
        return "0.0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    minus = "-" if sign else ""
    if not any(digits):
        return minus + "0.0"
    whole = "".join(map(str, digits)).lstrip("0")
    shown = whole.rstrip("0")
    point = len(whole) + exponent  # the value is 0.shown * 10^point
    n, width = len(shown), 33 if sign else 34
    length = n - point + 2 if point <= 0 else n + 1 if point < n else point
    if length <= width and point >= -14 and (point <= 15 or n > point):
        if point <= 0:
            return f"{minus}0.{'0' * -point}{shown}"
        if point >= n:
            return f"{minus}{shown}{'0' * (point - n)}.0"
        return f"{minus}{shown[:point]}.{shown[point:]}"
    fraction = f".{shown[1:]}" if n > 1 else ""
    return f"{minus}{shown[0]}{fraction}e{point - 1}"


def _opaque(kind: int, payload: bytes) -> str:
    if kind == 246:
        pieces = Pieces(payload)
        number = decimal(pieces.number(1), pieces.number(1), pieces)
        if pieces:
            raise Refused("bytes behind a DECIMAL")
        minus = "-" if number.startswith("-") and any(c in "123456789" for c in number) else ""
        whole, _, fraction = number.removeprefix("-").partition(".")
        return minus + (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
    if kind in (7, 10, 11, 12):
        if len(payload) != 8:
            raise Refused("dates and times have eight bytes")
        return f'"{_moment(kind, int.from_bytes(payload, "little", signed=True))}"'
    if kind == 253:
        return quoted(payload.decode("utf-8", "surrogateescape"))
    raw = b64encode(payload).decode()
    return quoted(f"base64:type{kind}:" + "\n".join(raw[at : at + 76] for at in range(0, len(raw), 76)))


def _moment(kind: int, packed: int) -> str:
    """A date or time of eight bytes (jsonb 5.2). The sign bit of a DATE does not count; of too large a year or fraction
    the last digits are printed (jsonb 6.1).
    """
    sign, packed = "-" if packed < 0 else "", packed & (1 << 63) - 1 if kind == 10 else abs(packed)
    fraction = (packed & 0xFFFFFF) % 1_000_000
    clock = f"{packed >> 36 & (0x3FF if kind == 11 else 0x1F):02}:{packed >> 30 & 63:02}:{packed >> 24 & 63:02}"
    if kind == 11:
        return f"{sign}{clock}.{fraction:06}"
    months = packed >> 46
    day = f"{months // 13 % 10000:04}-{months % 13:02}-{packed >> 41 & 31:02}"
    return day if kind == 10 else f"{day} {clock}.{fraction:06}"
