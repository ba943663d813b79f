"""Values of every column type in every character set, with the table that holds them, as SQL.

:data:`SHAPES` lists the kinds of columns once: every type, signed and unsigned, every precision that changes the stored
size, and every character type in every character set. Consecutive tables take consecutive shapes (in an order that
mixes them), so :data:`ROUND` tables have them all, whatever the seed. Values are edge values and random values.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.sql.formatting import format_document
from conformance.reference.tables.charsets import COLLATION_IDS, COLLATIONS, DEFAULT_COLLATIONS, bytes_of, text_of
from conformance.reference.tables.definitions import Column, Table
from generators import documents, scalars
from generators.draw import Stream, mix

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from generators.draw import Draw

COLUMNS: Final = 14  # of a table, besides its key
CHARSETS: Final = tuple(sorted({item.charset for item in COLLATIONS.values()} - {"binary"}))
_COLLATIONS: Final = {
    charset: tuple(item.name for item in COLLATIONS.values() if item.charset == charset) for charset in CHARSETS
}
TEXTS: Final = {"TINYTEXT": 255, "TEXT": 65_535, "MEDIUMTEXT": 1 << 24, "LONGTEXT": 1 << 32}
_BLOBS: Final = {"TINYBLOB": 255, "BLOB": 65_535, "MEDIUMBLOB": 1 << 24, "LONGBLOB": 1 << 32}
_WIDTHS: Final = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64}
_PRECISIONS: Final = (
    (1, 0),
    (1, 1),
    (5, 0),
    (5, 2),
    (9, 9),
    (10, 0),
    (18, 9),
    (19, 10),
    (30, 30),
    (38, 10),
    (65, 0),
    (65, 30),
)
GEOMETRY: Final = (
    "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
)  # fmt: skip
_MOST: Final = 6000  # bytes of a text or blob, but for a few of a page more than 65,535
_ODD: Final = ("", " ", "`", '"', "'", "\\", "é", "文", ",", "%s", "\t", "İ", "@1", "$.a")  # in names of columns
_BLOCKS: Final = (
    (0x20, 0x7E), (0xA0, 0xFF), (0x100, 0x17F), (0x370, 0x3FF), (0x400, 0x45F), (0x531, 0x589), (0x5D0, 0x5EA),
    (0x600, 0x6FF), (0x10D0, 0x10F6), (0xE00, 0xE5B), (0x2010, 0x2044), (0x2200, 0x22FF), (0x2460, 0x24FF),
    (0x2500, 0x257F), (0x3000, 0x30FF), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0xE000, 0xE757), (0xFF01, 0xFFEE),
    (0x0, 0xFFFF), (0x10000, 0x10FFFF),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of column: its type and its fixed attributes; the generator draws the rest."""

    type: str
    charset: str | None = None
    number: int = 0
    unsigned: bool = False

    @property
    def label(self) -> str:
        """The name under which a run counts this shape."""
        return " ".join(filter(None, (self.type, "UNSIGNED" if self.unsigned else "", self.charset or "")))


def _shapes() -> tuple[Shape, ...]:
    found = [Shape(kind, unsigned=unsigned) for kind in (*_WIDTHS, "FLOAT", "DOUBLE") for unsigned in (False, True)]
    found += [Shape("DECIMAL", number=place, unsigned=bool(place % 2)) for place in range(len(_PRECISIONS) + 12)]
    found += [Shape("BIT", number=bits) for bits in (1, 7, 8, 9, 31, 32, 33, 63, 64)]
    found += [Shape(kind, number=digits) for kind in ("TIME", "DATETIME", "TIMESTAMP") for digits in range(7)]
    found += [Shape(kind) for kind in ("YEAR", "DATE", "BINARY", "VARBINARY", *_BLOBS, *GEOMETRY)]
    found += [Shape(kind) for kind in ("JSON", "VECTOR") for _ in range(4)]
    found += [Shape(kind, "binary") for kind in ("ENUM", "SET")]
    characters = ("CHAR", "VARCHAR", *TEXTS, "ENUM", "SET")
    found += [Shape(kind, charset) for charset in CHARSETS for kind in characters]
    return tuple(Stream("row-values/shapes").shuffled(found))


SHAPES: Final = _shapes()
ROUND: Final = -(-len(SHAPES) // COLUMNS)
"""Tables that have every shape between them."""


def shapes_of(number: int) -> tuple[Shape, ...]:
    """The shapes of table ``number``."""
    return tuple(SHAPES[(number * COLUMNS + place) % len(SHAPES)] for place in range(COLUMNS))


def table(
    draw: Draw, number: int, *, schema: str, name: str, vectors: bool = True, collations: Container[str] = COLLATION_IDS
) -> Table:
    """Table ``number`` of a run: an integer key ``id``, and a column of each shape in its turn.

    Where a server has no ``vectors``, or none of the ``collations`` of a character set, BLOBs stand in their place.
    """
    columns = [Column(name="id", type="INT", nullable=False)]
    for place, shape in enumerate(shapes_of(number)):
        if not (vectors if shape.type == "VECTOR" else _offered(shape, collations)):
            shape = Shape("BLOB")
        columns.append(column(draw.fork("column", place), shape, f"c{place}{draw.choice(_ODD)}x", collations))
    return Table(schema=schema, name=name, columns=tuple(columns), primary_key=((0, 0),))


def _offered(shape: Shape, collations: Container[str]) -> bool:
    return shape.charset in (None, "binary") or any(name in collations for name in _COLLATIONS[shape.charset])


def column(draw: Draw, shape: Shape, name: str, collations: Container[str] = COLLATION_IDS) -> Column:
    """A column of this kind, with one of the ``collations``."""
    kind = shape.type
    given: dict[str, Any] = {"name": name, "type": kind, "unsigned": shape.unsigned}
    if shape.charset is not None:
        given["charset"] = shape.charset
        if shape.charset != "binary":
            given["collation"] = draw.choice([name for name in _COLLATIONS[shape.charset] if name in collations])
        if kind in ("ENUM", "SET"):
            count = draw.choice((1, 2, 8, 9, 17, 33, 63, 64) if kind == "SET" else (1, 2, 255, 256, 300))
            given["members"] = tuple(f"{place:03}{_suffix(draw, shape.charset)}" for place in range(count))
        elif kind in ("CHAR", "VARCHAR"):
            lengths = (0, 1, 20, 63, 64, 255) if kind == "CHAR" else (0, 1, 63, 64, 85, 86, 255, 256, 300)
            given["length"] = draw.choice(lengths)
    elif kind == "DECIMAL":
        if shape.number < len(_PRECISIONS):
            given["length"], given["scale"] = _PRECISIONS[shape.number]
        else:
            given["length"] = draw.integer(1, 65)
            given["scale"] = draw.below(min(30, given["length"]) + 1)
    elif kind == "BIT":
        given["length"] = shape.number
    elif kind in ("TIME", "DATETIME", "TIMESTAMP"):
        given["scale"] = shape.number or None
    elif kind in ("BINARY", "VARBINARY"):
        given["length"] = draw.choice((0, 1, 7, 254, 255, *((256, 700) if kind == "VARBINARY" else ())))
    elif kind == "VECTOR":
        given["length"] = draw.choice((1, 2, 5, 64, 100))
    return Column(**given)


def _suffix(draw: Draw, charset: str) -> str:
    """Ends a member: a letter or digit of the character set (a wide comma is equal to a comma in some collations)."""
    if charset == "binary":
        return draw.letters(draw.below(3), "abcXYZ'\\\"")
    code = character(draw, charset)
    text = text_of(code, DEFAULT_COLLATIONS[charset])
    same = text is not None and bytes_of(text, DEFAULT_COLLATIONS[charset]) == code
    return text if text and same and text.isalnum() else ""


# --- values ----------------------------------------------------------------------------------------------------------


def literal(draw: Draw, column: Column) -> str:
    """A value for a column as SQL; NULL now and then."""
    if column.nullable and draw.below(10) == 9:
        return "NULL"
    kind = column.type
    if kind in _WIDTHS:
        return _whole(draw, _WIDTHS[kind], unsigned=column.unsigned)
    if column.charset is not None and column.charset != "binary" and kind not in ("ENUM", "SET"):
        return f"_{column.charset} x'{_string(draw, column).hex()}'"
    if kind in _MAKERS:
        return _MAKERS[kind](draw, column)
    if kind in GEOMETRY:
        return _geometry(draw, kind)
    return f"x'{_binary(draw, column).hex()}'"


def _whole(draw: Draw, width: int, *, unsigned: bool) -> str:
    low, high = (0, (1 << width) - 1) if unsigned else (-(1 << width - 1), (1 << width - 1) - 1)
    if draw.below(2):
        return str(draw.integer(low, high))
    return str(draw.choice((0, 1, low, high, high // 2 + 1, max(low, -1))))


def _real(draw: Draw, column: Column) -> str:
    number = scalars.double(draw)
    if column.type == "FLOAT":
        if draw.below(2) or not abs(number) < 3.4e38:
            (number,) = struct.unpack("<f", draw.bits(32).to_bytes(4, "little"))
        if not isfinite(number):
            number = draw.choice((3.4028234663852886e38, 1.17549435e-38, 1e-45))
    text = repr(abs(number) if column.unsigned else number)
    return text if "e" in text else f"{text}e0"


def _decimal(draw: Draw, column: Column) -> str:
    precision, scale = column.length or 10, column.scale or 0
    style = draw.below(4)
    digits = "9" * precision if style == 0 else "0" * precision if style == 1 else f"{draw.below(10**precision)}"
    if style == 3:
        digits = digits[: draw.integer(1, precision)]
    digits = digits.zfill(precision)
    whole, fraction = digits[: precision - scale], digits[precision - scale :]
    sign = "-" if not column.unsigned and draw.below(2) else ""
    return f"{sign}{whole or '0'}" + (f".{fraction}" if scale else "")


def _year(draw: Draw, _: Column) -> str:
    return str(draw.choice((0, 1901, 2155, 2000, 1999, draw.integer(1901, 2155))))


def _day(draw: Draw) -> str:
    listed = (
        "0000-00-00",
        "2024-02-29",
        "2024-02-31",
        "2024-00-00",
        "2024-05-00",
        "9999-12-31",
        "0001-01-01",
        "1000-01-01",
    )
    if draw.below(3) == 0:
        return draw.choice(listed)
    return f"{draw.integer(1, 9999):04}-{draw.integer(1, 12):02}-{draw.integer(1, 31):02}"


def _fraction(draw: Draw, column: Column) -> str:
    digits = column.scale or 0
    if not digits:
        return ""
    return f".{draw.choice((0, 1, 10**digits - 1, draw.below(10**digits), draw.below(10**digits))):0{digits}}"


def _clock(draw: Draw, column: Column) -> str:
    return f"{draw.below(24):02}:{draw.below(60):02}:{draw.below(60):02}{_fraction(draw, column)}"


def _date(draw: Draw, _: Column) -> str:
    return f"'{_day(draw)}'"


def _time(draw: Draw, column: Column) -> str:
    sign = "-" if draw.below(2) else ""
    style = draw.below(5)
    if style == 0:
        return f"'{sign}838:59:59'"
    if style == 1:
        return f"'{sign}00:00:00{_fraction(draw, column)}'"
    return f"'{sign}{draw.below(838):02}:{draw.below(60):02}:{draw.below(60):02}{_fraction(draw, column)}'"


def _datetime(draw: Draw, column: Column) -> str:
    day = _day(draw)
    return f"'{day} {'00:00:00' if day == '0000-00-00' else _clock(draw, column)}'"


def _timestamp(draw: Draw, column: Column) -> str:
    if draw.below(8) == 7:
        return "'0000-00-00 00:00:00'"
    seconds = draw.choice((1, 2**31 - 2, 1_000_000_000, draw.below(2**31 - 1) + 1, draw.below(2**31 - 1) + 1))
    return f"FROM_UNIXTIME({seconds}{_fraction(draw, column)})"


def _bit(draw: Draw, column: Column) -> str:
    length = column.length or 1
    return f"b'{draw.choice((0, 1, (1 << length) - 1, draw.bits(length), draw.bits(length))):b}'"


def _enum(draw: Draw, column: Column) -> str:
    return str(draw.choice((1, len(column.members), 0, draw.integer(1, len(column.members)))))


def _set(draw: Draw, column: Column) -> str:
    every = (1 << len(column.members)) - 1
    return str(draw.choice((0, 1, every, draw.bits(len(column.members)), draw.bits(len(column.members)))))


_SIZES: Final = mix(
    (documents.Size.TINY, 10), (documents.Size.SMALL, 20), (documents.Size.TUNED, 2), (documents.Size.MEDIUM, 1)
)


def _json(draw: Draw, _: Column) -> str:
    return format_document(documents.document(draw, sizes=_SIZES))


def _vector(draw: Draw, column: Column) -> str:
    numbers = [
        struct.pack("<f", draw.integer(-(10**6), 10**6) / draw.choice((1, 7, 1000))) for _ in range(column.length or 1)
    ]
    return f"x'{b''.join(numbers[: draw.integer(1, len(numbers))]).hex()}'"


_MAKERS: Final[dict[str, Callable[[Draw, Column], str]]] = {
    "FLOAT": _real, "DOUBLE": _real, "DECIMAL": _decimal, "YEAR": _year, "DATE": _date, "TIME": _time,
    "DATETIME": _datetime, "TIMESTAMP": _timestamp, "BIT": _bit, "ENUM": _enum, "SET": _set, "JSON": _json,
    "VECTOR": _vector,
}  # fmt: skip


# --- strings ---------------------------------------------------------------------------------------------------------


def character(draw: Draw, charset: str) -> bytes:
    """The code of one character; in character sets of single bytes also of a byte that stands for none."""
    collation = DEFAULT_COLLATIONS[charset]
    style = draw.below(6)
    if COLLATIONS[collation].max_bytes == 1:
        return bytes((draw.below(128 if charset == "ascii" else 256),))
    if charset == "ucs2" and style == 5:
        return draw.bits(16).to_bytes(2, "big")  # surrogates are characters there
    for _ in range(6 if style else 0):
        first, last = draw.choice(_BLOCKS)
        text = chr(draw.integer(first, last))
        code = None if "\ud800" <= text <= "\udfff" else bytes_of(text, collation)
        if code is not None:
            return code
    return bytes_of(draw.letters(1, scalars.PRINTABLE), collation) or b"a"


def _string(draw: Draw, column: Column) -> bytes:
    """A string in the column's character set, not longer than the column."""
    assert column.charset is not None
    size = COLLATIONS[DEFAULT_COLLATIONS[column.charset]].max_bytes
    if column.type in TEXTS:
        count = _length(draw, TEXTS[column.type]) // size
    else:
        most = column.length if column.length is not None else 1
        count = draw.choice((most, 0, draw.below(most + 1), min(most, 5), min(most, 9)))
    few = [character(draw, column.charset) for _ in range(min(count, 12))]
    return b"".join((few * (count // len(few) + 1))[:count]) if few else b""


def _binary(draw: Draw, column: Column) -> bytes:
    most = _BLOBS.get(column.type) or column.length or 0
    count = min(most, _length(draw, most))
    value = scalars.octets(draw, count)
    return value[: count // 2] + bytes(count - count // 2) if draw.below(6) == 5 else value


def _length(draw: Draw, most: int) -> int:
    """Bytes of a string: short ones, the largest, and those at which a length needs another byte."""
    limit = min(most, _MOST)
    style = draw.below(40)
    if most > 65_535 and style == 39:
        return 65_536 + draw.below(3)
    return draw.choice((draw.below(40), draw.below(40), 0, 1, min(limit, 255), min(limit, 256), draw.below(limit + 1)))


# --- geometry --------------------------------------------------------------------------------------------------------


SRS: Final = (4326, 3857)
"""The spatial reference systems of values, beside the plane (0): a server can lack them."""


def _geometry(draw: Draw, kind: str) -> str:
    srid = draw.choice((0, 0, *SRS))
    name = draw.choice(GEOMETRY[1:]) if kind == "GEOMETRY" else kind
    return f"ST_GeomFromText('{_shape(draw, name, 2)}', {srid})"


def _shape(draw: Draw, name: str, depth: int) -> str:
    return f"{name} EMPTY" if name == "GEOMETRYCOLLECTION" and not depth else f"{name}({_inside(draw, name, depth)})"


def _inside(draw: Draw, name: str, depth: int) -> str:
    match name:
        case "POINT":
            return f"{draw.integer(-89, 89)} {draw.integer(-8900, 8900) / 100}"
        case "LINESTRING" | "MULTIPOINT":
            return ", ".join(_inside(draw, "POINT", 0) for _ in range(draw.integer(2, 4)))
        case "POLYGON":
            x, y, side = draw.integer(-80, 60), draw.integer(-80, 60), draw.integer(1, 9)
            return f"({x} {y}, {x + side} {y}, {x + side} {y + side}, {x} {y + side}, {x} {y})"
        case "MULTILINESTRING" | "MULTIPOLYGON":
            part = name.removeprefix("MULTI")
            return ", ".join(f"({_inside(draw, part, 0)})" for _ in range(draw.integer(1, 3)))
        case _:
            kinds = [draw.choice(GEOMETRY[1:]) for _ in range(draw.integer(1, 3))]
            return ", ".join(_shape(draw, inner, depth - 1) for inner in kinds)
