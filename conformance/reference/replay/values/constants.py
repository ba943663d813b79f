"""Constants of SQL: the words of a literal as a value that :func:`.conversions.stored` takes."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import ReplayError

if TYPE_CHECKING:
    from conformance.reference.sql.definition_reader import Reader

_DIGITS: Final = re.compile(r"[0-9]{1,80}", re.ASCII)
_EXPONENT: Final = re.compile(r"[0-9]{1,80}[eE][0-9]{1,3}", re.ASCII)
_OPEN: Final = re.compile(r"[0-9]{1,80}[eE]", re.ASCII)  # a sign follows
_HEX: Final = re.compile(r"0x(?:[0-9a-fA-F]{2})+", re.ASCII)
_BITS: Final = re.compile(r"0b[01]{1,64}", re.ASCII)
_HEX_DIGITS: Final = re.compile(r"(?:[0-9a-fA-F]{2})*", re.ASCII)
_BIT_DIGITS: Final = re.compile(r"[01]{0,64}", re.ASCII)


def read_constant(reader: Reader) -> Any:
    """The constant in the next words: a number, text, bytes, or ``None`` for NULL. Raises :class:`ReplayError`."""
    if reader.take("NULL"):
        return None
    if reader.take("TRUE"):
        return 1
    if reader.take("FALSE"):
        return 0
    if reader.take("_BINARY"):
        word = reader.next()
        if not word.string:
            raise _unknown(word.text)
        return word.text.encode("utf-8", "surrogateescape")
    sign = reader.take("-") or (reader.take("+") and False)
    word = reader.next()
    if word.string and not sign:
        if reader and reader.words[reader.pos].string:
            raise _unknown("strings side by side")
        return word.text
    if word.quoted or word.string:
        raise _unknown(word.text)
    number = _number(word.text, reader)
    if number is not None:
        return -number if sign else number
    bits = None if sign else _binary(word.text, reader)
    if bits is None:
        raise _unknown(word.text)
    return bits


def _unknown(text: str) -> ReplayError:
    return ReplayError("value", "no constant that is certain", got=text[:40])


def _number(text: str, reader: Reader) -> int | Decimal | float | None:
    if text == ".":
        return _with_fraction("", reader)
    if _EXPONENT.fullmatch(text):
        return float(text)
    if _OPEN.fullmatch(text):
        return float(text + _exponent(reader))
    if not _DIGITS.fullmatch(text):
        return None
    return _with_fraction(text, reader) if reader.take(".") else int(text)


def _exponent(reader: Reader) -> str:
    """The exponent behind its letter, with its sign."""
    sign, word = reader.next().text, reader.next()
    if sign not in ("+", "-") or word.string or not _DIGITS.fullmatch(word.text) or len(word.text) > 3:
        raise _unknown(word.text)
    return sign + word.text


def _with_fraction(whole: str, reader: Reader) -> Decimal | float:
    word = reader.next() if reader else None
    if word is None or word.string or word.quoted:
        raise _unknown(f"{whole}.")
    text = f"{whole or '0'}.{word.text}"
    if _DIGITS.fullmatch(word.text):
        return Decimal(text)
    if _EXPONENT.fullmatch(word.text):
        return float(text)
    if _OPEN.fullmatch(word.text):
        return float(text + _exponent(reader))
    raise _unknown(text)


def _binary(text: str, reader: Reader) -> bytes | None:
    """``x'41'``, ``0x41``, ``b'01'`` and ``0b01``: strings of bytes."""
    if _HEX.fullmatch(text):
        return bytes.fromhex(text[2:])
    if _BITS.fullmatch(text):
        return _packed(text[2:])
    if text.upper() not in ("X", "B") or not reader or not reader.words[reader.pos].string:
        return None
    digits = reader.next().text
    if not (_HEX_DIGITS if text.upper() == "X" else _BIT_DIGITS).fullmatch(digits):
        return None
    return bytes.fromhex(digits) if text.upper() == "X" else _packed(digits)


def _packed(bits: str) -> bytes:
    return int(bits or "0", 2).to_bytes((len(bits) + 7) // 8, "big")
