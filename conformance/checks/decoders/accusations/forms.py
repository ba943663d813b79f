"""The forms that a value may have in a library, as Python source: what a script compares the library's answer with.

They are made from what the log has and from the vendor's documentation, not from an adapter's answer. A value that has
one of the forms is right. What is not known here has no form, and then a script decides nothing.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
import struct
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.decoding.binary import bytes_of_form
from conformance.judge.decoding.numbers import number_in, number_of

if TYPE_CHECKING:
    from decimal import Decimal

    from conformance.judge.decoding.log_columns import LogColumn

_TEMPORAL: Final = ("DATE", "TIME", "DATETIME", "TIMESTAMP")
_TEXT: Final = ("CHAR", "VARCHAR", "TEXT")
_CLOCK: Final = re.compile(r"(-?)(\d+):(\d+):(\d+)(?:\.(\d+))?")
_MOMENT: Final = re.compile(r"(\d+)-(\d+)-(\d+)(?: (\d+):(\d+):(\d+)(?:\.(\d+))?)?")
_TELLING: Final = {
    "DECIMAL": ("Decimal",), "DATE": ("date",), "TIME": ("timedelta", "time"), "DATETIME": ("datetime",),
    "TIMESTAMP": (), "DOUBLE": ("float",), "INTEGER": (), "UNSIGNED INTEGER": (), "OPAQUE": ("bytes",),
    "BLOB": ("bytes",), "BIT": ("bytes",),
}  # fmt: skip
_ZEROS: Final = 6  # digits of a fraction


def of_column(column: LogColumn, expected: Any, stored: Any, *, whole: bool = False) -> list[str]:
    """The forms of a column's value. ``stored``: as the log has it, where it is bytes.

    ``whole``: a value of BINARY has the zeros that the log cuts off.
    """
    kind = column.type
    if expected is None:
        return ["None"]
    if kind == "JSON":
        return [repr(stored)] if isinstance(stored, bytes) else []
    if kind in ("ENUM", "SET"):
        return _members(column, expected)
    if kind == "BIT":
        raw = bytes_of_form(expected) or b""
        bits = int.from_bytes(raw, "big")
        return [repr(bits), repr(f"{bits:0{column.length}b}"), repr(raw)]
    if kind in _TEMPORAL and isinstance(expected, str):
        return of_moment(kind, expected)
    number = number_in(expected) if isinstance(expected, str) and kind in ("DECIMAL", "YEAR") else number_of(expected)
    if number is not None:
        return _numbers(kind, expected, number)
    if isinstance(expected, str):
        return _texts(expected, stored)
    data = bytes_of_form(expected)
    return [] if data is None else _bytes(kind, data, whole=whole)


def of_leaf(expected: Any) -> list[str]:
    """The forms of a value inside a document, in the tagged form."""
    if expected is None or isinstance(expected, bool):
        return [repr(expected)]
    if isinstance(expected, list):
        return ["list", "tuple"]
    if isinstance(expected, str):
        return [repr(expected), repr(expected.encode("utf-8", "surrogatepass"))]
    number = number_of(expected)
    if number is not None:
        if number != number.to_integral_value():
            return [f"Decimal({str(number)!r})", repr(float(number)), repr(str(expected))]
        if _is_negative_zero(number):
            return [repr(-0.0), repr(str(expected))]
        exact = [repr(float(number))] if int(float(number)) == number else []  # no integer that a double rounds
        return [repr(int(number)), *exact, repr(str(expected))]
    kind = expected.get("$type") if isinstance(expected, dict) else None
    if kind is None:
        return ["dict"]
    text, data = expected.get("text"), bytes_of_form({"hex": expected["hex"]}) if "hex" in expected else None
    if kind in _TEMPORAL and text is not None:
        return of_moment(kind, text)
    if text is not None and (number := number_in(text)) is not None:
        return _numbers(kind, text, number)
    if data is None:
        return []
    coded = base64.b64encode(data).decode()
    out = [repr(data), repr(coded), repr(f"base64:type{expected.get('field_type')}:{coded}")]
    if kind == "BIT":
        out.append(repr(int.from_bytes(data, "big")))
    try:
        return [*out, repr(data.decode())]
    except UnicodeDecodeError:
        return out


def telling(kind: str) -> tuple[str, ...]:
    """The names of Python types that say this JSON type of MySQL."""
    return _TELLING.get(kind, ())


def of_moment(kind: str, text: str) -> list[str]:
    """The forms of a date or time: MySQL's text with any number of zeros in the fraction, Python's own types, or
    microseconds since 1970."""
    whole, _, fraction = text.partition(".")
    cut = fraction.rstrip("0")
    digits = {fraction, cut, fraction.ljust(_ZEROS, "0")}
    texts = sorted(f"{whole}.{digit}" if digit else whole for digit in digits)
    out = [repr(one) for one in texts]
    micro = int(fraction.ljust(_ZEROS, "0") or "0")
    try:
        if found := _CLOCK.fullmatch(text):
            sign, hours, minutes, seconds, _ = found.groups()
            total = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 10**_ZEROS + micro
            total = -total if sign else total
            out += [f"dt.timedelta(microseconds={total})", repr(total)]
        elif found := _MOMENT.fullmatch(text):
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
            at = dt.datetime(year, month, day, hour, minute, second, micro, tzinfo=dt.UTC)
            out += _since_1970(kind, at)
    except ValueError:  # a date that no calendar has, such as 0000-00-00, has its text, and a TIMESTAMP its number
        out += ["0", "'0'"] if kind == "TIMESTAMP" else []
    return out


def _since_1970(kind: str, at: dt.datetime) -> list[str]:
    clock = at.replace(tzinfo=None)
    micros = (clock - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # noqa: DTZ001 - no zone in MySQL
    out = [f"dt.date({at.year}, {at.month}, {at.day})"] if kind == "DATE" else []
    out += [f"dt.{clock!r}".replace("dt.datetime.datetime", "dt.datetime"), repr(micros)]
    if kind == "TIMESTAMP":
        seconds, rest = divmod(micros, 10**_ZEROS)
        out += [repr(seconds), *(repr(f"{seconds}.{rest:06}"[: len(str(seconds)) + 1 + size]) for size in range(1, 7))]
        out += [repr(str(seconds))]
    return out


def _numbers(kind: str, expected: Any, number: Decimal) -> list[str]:
    out = [f"Decimal({str(number)!r})", repr(str(expected))]
    if number.is_finite() and number == number.to_integral_value() and not _is_negative_zero(number):
        out.append(repr(int(number)))
        out.append(repr(str(int(number))))
    if kind == "FLOAT":
        out.append(repr(struct.unpack("<f", struct.pack("<f", float(number)))[0]))
    if kind in ("FLOAT", "DOUBLE"):
        out.append(repr(float(number)))
    return out


def _is_negative_zero(number: Decimal) -> bool:
    """Whether no integer is the same number."""
    return not number and number.is_signed()


def _members(column: LogColumn, expected: Any) -> list[str]:
    many = column.type == "SET"
    names = column.members
    if isinstance(expected, dict) and "index" in expected:
        index = int(number_of(expected["index"]) or 0)
        chosen = [name for bit, name in enumerate(names) if (index >> bit & 1 if many else bit + 1 == index)]
    elif many:
        chosen = [name for name in names if name in str(expected).split(",")]
        index = sum(1 << names.index(name) for name in chosen)
    else:
        chosen = [str(expected)]
        index = names.index(str(expected)) + 1 if expected in names else 0
    out = [repr(index)] if index or not expected else []
    if many:
        shown = "{" + ", ".join(map(repr, chosen)) + "}" if chosen else "set()"
        return [*out, shown, repr(",".join(chosen)), *(["'empty set'"] if not chosen else [])]
    return [*out, *(repr(name) for name in chosen)]


def _texts(expected: str, stored: Any) -> list[str]:
    """A text, its bytes, and the bytes as mysql-event-stream documents them: UTF-8 with ``surrogateescape``."""
    out = [repr(expected)]
    data = stored if isinstance(stored, bytes) else None
    if data is not None:
        out += [repr(data), repr(data.decode("utf-8", "surrogateescape"))]
    return out


def _bytes(kind: str, data: bytes, *, whole: bool) -> list[str]:
    out = [repr(data), repr(data.decode("utf-8", "surrogateescape"))]
    if kind == "BINARY" and not whole:  # the log cuts off the zeros that fill the column
        cut = data.rstrip(b"\0")
        out += [repr(cut), repr(cut.decode("utf-8", "surrogateescape"))]
    if kind == "VECTOR":
        out.append(repr(list(struct.unpack(f"<{len(data) // 4}f", data))))
    return out
