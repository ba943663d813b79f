"""Columns of every type, and values for them in the Python form of ``reference.tables.columns``.

``generators.tables`` and ``generators.row_values`` draw most of them. Added here are values that need no ordinary
session: zero dates, dates that do not exist, empty ENUM values, years of zero, and text in every character set.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.reference.jsonb import opaque, values
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import Opaque
from conformance.reference.tables import temporal
from conformance.reference.tables.charsets import COLLATION_IDS, DEFAULT_COLLATIONS, bytes_of, text_of
from generators import documents, row_values, scalars, tables
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.tables.columns import Value
    from conformance.reference.tables.definitions import Column
    from generators.draw import Draw

LONG: Final = "文" * 60  # more than 127 bytes: a length of two bytes in some encodings, of one in the log's
DOCUMENTS: Final = mix((documents.Size.TINY, 20), (documents.Size.SMALL, 8), (documents.Size.BORDER, 1))
_JSON: Final = row_values.Shape("JSON")
_SHAPES: Final = {
    kind: tuple(shape for shape in row_values.SHAPES if shape.type == kind)
    for kind in sorted({shape.type for shape in row_values.SHAPES})
}
_MEMBERS: Final = 9  # of an ENUM or SET: more would be most of the log
_SHORT: Final = 40  # characters of a text, but for a long one now and then
_LENGTHS: Final = (_SHORT, 255, 256, 300)  # of long texts: around what one byte can count
_DAYS: Final = ((2024, 2, 29), (0, 0, 0), (2024, 0, 0), (2024, 5, 0), (2024, 2, 31), (1, 1, 1), (9999, 12, 31))
_GEOMETRIES: Final = (
    struct.pack("<IBIdd", 0, 1, 1, 1.0, -2.5),
    struct.pack("<IBIIdddd", 4326, 1, 2, 2, 0.0, 0.0, 1.0, 1e-7),
    struct.pack("<IBII", 0, 1, 7, 0),
)  # a point, a line, an empty collection: SRID, byte order, type, contents


def column(draw: Draw, number: int) -> Column:
    """A column: JSON in one of three, else any type; its name is mostly plain."""
    shape = _JSON if draw.below(3) == 2 else draw.choice(draw.choice(tuple(_SHAPES.values())))
    name = draw.choice((*tables.NAMES, LONG)) if draw.below(8) == 7 else "c"
    made = row_values.column(draw, shape, f"{name[:62]}{number}")
    if len(made.members) > _MEMBERS:
        made = replace(made, members=made.members[:_MEMBERS])
    return made


def stands_alone(made: Column) -> bool:
    """Whether a table should have no other column: behind a type or a name that a reader does not know, all that it
    reads is chance, and one defect would have many places.
    """
    return made.type == "VECTOR" or made.name.startswith(LONG)


def document(draw: Draw) -> JsonValue:
    """A document for a JSON column, now and then with a value that only a column of its type brings into one."""
    if draw.below(6) == 5:
        return {"k": draw.choice(_FROM_COLUMNS)(draw)}
    return documents.document(draw, sizes=DOCUMENTS)


_FROM_COLUMNS: Final[tuple[Callable[[Draw], Opaque], ...]] = (
    lambda draw: Opaque(values.BLOB, scalars.octets(draw, draw.below(20))),
    lambda draw: Opaque(values.BIT, scalars.octets(draw, 1 + draw.below(8))),
    lambda draw: opaque.timestamp(*_DAYS[0], draw.below(24), draw.below(60), draw.below(60), draw.below(10**6)),
)


def value(draw: Draw, made: Column) -> Value | None:
    """A value for a column, NULL now and then."""
    if made.nullable and draw.below(10) == 9:
        return None
    kind = made.type
    if kind == "JSON":
        return encode(document(draw))
    if kind in _MAKERS:
        found: Value = _MAKERS[kind](draw, made)
        return found
    if kind in row_values.GEOMETRY:
        return draw.choice(_GEOMETRIES)
    if made.charset is not None and made.charset != "binary" and not made.members:
        return _text(draw, made)
    return cast("Value | None", tables.column_value(draw, made))


def _text(draw: Draw, made: Column) -> bytes:
    """Characters of the column's character set. A CHAR is stored without the spaces that fill it."""
    assert made.charset is not None
    most = min(made.length if made.length is not None else _SHORT, _SHORT)
    collation = DEFAULT_COLLATIONS[made.charset] if made.collation is None else COLLATION_IDS[made.collation]
    codes = [row_values.character(draw, made.charset) for _ in range(draw.below(most + 1))]
    if len(codes) == _SHORT and (made.length or row_values.TEXTS.get(made.type, 0)) >= _LENGTHS[-1]:
        codes = (codes * _LENGTHS[-1])[: draw.choice(_LENGTHS)]
    text = b"".join(code for code in codes if _is_text(code, collation))
    if made.type == "CHAR":
        text = text.rstrip(b" ")
    return text if _is_text(text, collation) else b""  # a few characters are none behind others


def _is_text(data: bytes, collation: int) -> bool:
    """Whether a server that reads the bytes as text writes the same bytes again."""
    text = text_of(data, collation)
    return text is not None and bytes_of(text, collation) == data


def _day(draw: Draw) -> tuple[int, int, int]:
    if draw.below(3) == 0:
        return draw.choice(_DAYS)
    return draw.integer(1, 9999), draw.integer(1, 12), draw.integer(1, 28)


def _micros(draw: Draw, made: Column) -> int:
    unit: int = 10 ** (6 - (made.scale or 0))
    return draw.below(10**6 // unit) * unit


def _datetime(draw: Draw, made: Column) -> temporal.Datetime:
    day = _day(draw)
    if not any(day):
        return temporal.Datetime(*day)
    return temporal.Datetime(*day, draw.below(24), draw.below(60), draw.below(60), _micros(draw, made))


def _time(draw: Draw, made: Column) -> temporal.Time:
    hour, minute, second, micro = draw.below(838), draw.below(60), draw.below(60), _micros(draw, made)
    return temporal.Time(any((hour, minute, second, micro)) and draw.below(2) == 1, hour, minute, second, micro)


def _timestamp(draw: Draw, made: Column) -> temporal.Timestamp:
    seconds = draw.choice((1_000_000_000, 0, 1, 2**31 - 2, 1 + draw.below(2**31 - 2)))
    return temporal.Timestamp(seconds, _micros(draw, made) if seconds else 0)


def _vector(draw: Draw, made: Column) -> bytes:
    count = draw.integer(1, min(made.length or 1, 5))
    return struct.pack(f"<{count}f", *(draw.integer(-99, 99) / 8 for _ in range(count)))


_MAKERS: Final[dict[str, Any]] = {
    "DATE": lambda draw, _: temporal.Date(*_day(draw)),
    "DATETIME": _datetime,
    "TIME": _time,
    "TIMESTAMP": _timestamp,
    "ENUM": lambda draw, made: draw.below(len(made.members) + 1),
    "SET": lambda draw, made: draw.bits(len(made.members)),
    "VECTOR": _vector,
    "BINARY": lambda draw, made: scalars.octets(draw, draw.below(min(made.length or 0, 20) + 1)).rstrip(b"\0"),
    "VARBINARY": lambda draw, made: scalars.octets(draw, draw.below(min(made.length or 0, 300) + 1)),
}
