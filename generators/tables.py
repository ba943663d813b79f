"""Tables and sessions for update Cases, and values for the columns that are not JSON.

Every table has an integer column ``id`` whose value tells its rows apart, whatever its key is.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.reference.portable import folded
from conformance.reference.tables import temporal
from conformance.reference.tables.definitions import Column, Table
from generators import scalars
from generators.borders.statements import JSON_COLUMNS, Border
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw

SELECTOR: Final = "id"

NAMES: Final = (
    "doc", "data", "payload", "J", "j_1", "select", "json", "$", "a b", "j`k", 'q"q', "it's", "1st", "1e5", "j.k", "ü",
    "文書", "x" * 64, "ж" * 64, "-- x", "/*", "@1", "%s", "\\",
)  # fmt: skip
"""Column names: plain ones, reserved words, and all that quoting makes legal. Different without regard to case."""


def table(
    draw: Draw, *, schema: str = "lab", name: str = "t", border: Border | None = None, json_count: int | None = None
) -> Table:
    """A table with one or more JSON columns, or with ``json_count``. ``border``: what its statements are going to aim
    at."""
    if json_count is None:
        json_count = draw.choice(JSON_COLUMNS if border is Border.COLUMNS else _JSON_COUNTS)
    taken: set[str] = {"id", "n", "k2", "vkey"}
    json_columns = [
        Column(name=_name(draw, taken, f"j{number or ''}"), type="JSON", nullable=draw.below(6) < 5)
        for number in range(json_count)
    ]
    # Few side columns beside many JSON columns: the images are long enough.
    sides = [_side(draw, taken, number) for number in range(draw.choice(_SIDE_COUNTS) if json_count < 5 else 1)]
    if border is Border.MOMENT:
        moments = [("moment", "TIMESTAMP"), ("moment2", "DATETIME")]
        sides += [Column(name=_name(draw, taken, plain), type=kind, scale=6) for plain, kind in moments]
    key = draw.choice(_KEYS)
    columns = [Column(name="n", type="INT", nullable=True), *json_columns, *sides]
    if key == "composite":
        columns.append(Column(name="k2", type=draw.choice(("INT", "BIGINT")), nullable=False))
    elif key == "varchar":
        columns.append(Column(name="vkey", type="VARCHAR", length=draw.choice((20, 63, 64)), nullable=False))
    if draw.below(3) == 2:
        columns = draw.shuffled(columns)
    identity = Column(name=SELECTOR, type="BIGINT" if key == "bigint" else "INT", nullable=key == "none")
    columns.insert(0 if draw.below(5) < 4 else draw.below(len(columns) + 1), identity)
    at = {column.name: index for index, column in enumerate(columns)}
    primary: tuple[tuple[int, int], ...] = ()
    unique: tuple[tuple[tuple[int, int], ...], ...] = ()
    match key:
        case "composite":
            parts = (SELECTOR, "k2") if draw.below(2) == 0 else ("k2", SELECTOR)
            primary = tuple((at[part], 0) for part in parts)
        case "varchar":
            primary = ((at["vkey"], 0),)
        case "unique":
            unique = (((at[SELECTOR], 0),),)
        case "none":
            pass
        case _:
            primary = ((at[SELECTOR], 0),)
    return Table(schema=schema, name=name, columns=tuple(columns), primary_key=primary, unique_keys=unique)


def session(draw: Draw) -> Session:
    """The settings of the session: mostly those that matter for partial JSON."""
    return Session(
        row_image=draw.choice(_IMAGES),
        partial_json=draw.below(100) < 88,
        compression=draw.below(100) >= 95,
        rows_query=draw.below(100) >= 92,
        foreign_key_checks=draw.below(100) < 92,
        unique_checks=draw.below(100) < 92,
    )


def sources(of: Table) -> tuple[str, ...]:
    """Columns whose value can be put into a document, apart from JSON columns (see ``cases`` for those)."""
    return tuple(column.name for column in of.columns if column.type in _VALUES)


def column_value(draw: Draw, column: Column) -> object:
    """A value for a column that is not JSON, in the Python form of ``reference.binlog.columns``; None is NULL."""
    make = _VALUES.get(column.type)
    if make is None:
        raise ValueError(f"no values for columns of type {column.type}")
    if column.nullable and column.name != SELECTOR and draw.below(10) == 9:
        return None
    return make(draw, column)


# ------------------------------------------------------------------------------------------------------------ columns


def _name(draw: Draw, taken: set[str], plain: str) -> str:
    name = plain if draw.below(8) < 7 else draw.choice(NAMES)
    while folded(name) in taken:
        # Never longer than the 64 characters of the longest listed name.
        name = f"{plain}_{len(taken)}"
    taken.add(folded(name))
    return name


def _side(draw: Draw, taken: set[str], number: int) -> Column:
    kind = draw.choice(_SIDES)
    name = _name(draw, taken, f"c{number}")
    nullable = draw.below(6) < 5
    match kind:
        case "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT":
            return Column(name=name, type=kind, unsigned=draw.below(2) == 1, nullable=nullable)
        case "DECIMAL":
            precision, scale = draw.choice(((10, 2), (5, 0), (1, 1), (18, 9), (19, 9), (20, 10), (65, 30), (30, 30)))
            return Column(name=name, type=kind, length=precision, scale=scale, nullable=nullable)
        case "BIT":
            return Column(name=name, type=kind, length=draw.choice((1, 7, 8, 9, 16, 63, 64)), nullable=nullable)
        case "TIME" | "DATETIME" | "TIMESTAMP":
            return Column(name=name, type=kind, scale=draw.choice((0, 1, 2, 3, 4, 5, 6)), nullable=nullable)
        case "CHAR" | "VARCHAR":
            charset = draw.choice((None, None, None, "latin1"))
            return Column(name=name, type=kind, length=draw.choice(_LENGTHS[kind]), charset=charset, nullable=nullable)
        case "BINARY" | "VARBINARY":
            return Column(name=name, type=kind, length=draw.choice(_LENGTHS[kind]), nullable=nullable)
        case "ENUM":
            return Column(name=name, type=kind, members=("a", "b c", "é", "1", ""), nullable=nullable)
        case "SET":
            members = draw.choice((("a", "b", "é"), tuple(f"m{member}" for member in range(9))))
            return Column(name=name, type=kind, members=members, nullable=nullable)
        case _:
            return Column(name=name, type=kind, nullable=nullable)


# ------------------------------------------------------------------------------------------------------------- values

_BYTES_OF: Final = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "BIGINT": 8}


def _integer(draw: Draw, column: Column) -> int:
    bits = 8 * _BYTES_OF[column.type]
    low, high = (0, (1 << bits) - 1) if column.unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    style = draw.below(4)
    if style < 2:
        return draw.below(100)
    if style == 2:
        return draw.choice((high, low, high // 2 + 1, 0, 1))
    return draw.integer(low, high)


def _decimal(draw: Draw, column: Column) -> Decimal:
    precision, scale = column.length or 10, column.scale or 0
    digits = draw.below(10 ** draw.integer(1, precision))
    # A negative zero is stored as zero.
    return Decimal((int(digits != 0 and draw.below(4) == 3), tuple(map(int, str(digits))), -scale))


def _float(draw: Draw, _: Column) -> float:
    value = draw.choice((0.0, 1.5, 1.1, -0.25, 1e10, 3.4e38, 1e-30, 100.0, 16777216.0)) if draw.below(2) else (
        draw.integer(-999, 999) / 8
    )  # fmt: skip
    (stored,) = struct.unpack("<f", struct.pack("<f", value))
    assert isinstance(stored, float)
    return stored


def _double(draw: Draw, _: Column) -> float:
    return scalars.double(draw)


def _bit(draw: Draw, column: Column) -> int:
    return draw.bits(column.length or 1)


def _year(draw: Draw, _: Column) -> int:
    return draw.choice((2024, 1901, 2155, 0, 1970, 2000))


def _date(draw: Draw, _: Column) -> temporal.Date:
    return temporal.Date(draw.choice((2024, 1000, 9999, 1970)), draw.integer(1, 12), draw.integer(1, 28))


def _micros(draw: Draw, column: Column) -> int:
    unit = 10 ** (6 - (column.scale or 0))
    return draw.below(10**6 // unit) * unit if draw.below(2) else 0


def _time(draw: Draw, column: Column) -> temporal.Time:
    hours = draw.choice((0, 12, 23, 100, 838))
    minutes, seconds = draw.below(60), draw.below(60)
    micros = _micros(draw, column) if hours < 838 else 0
    negative = bool(hours or minutes or seconds or micros) and draw.below(4) == 3
    return temporal.Time(negative, hours, minutes, seconds, micros)


def _datetime(draw: Draw, column: Column) -> temporal.Datetime:
    day = _date(draw, column)
    return temporal.Datetime(*day, draw.below(24), draw.below(60), draw.below(60), _micros(draw, column))


def _timestamp(draw: Draw, column: Column) -> temporal.Timestamp:
    # The range of the type is 1970-01-01 00:00:01 to 2038-01-19 03:14:07 UTC.
    seconds = draw.choice((1, 2**31 - 1, 1709210096)) if draw.below(2) else draw.integer(1, 2**31 - 2)
    return temporal.Timestamp(seconds, _micros(draw, column) if seconds < 2**31 - 1 else 0)


def _characters(draw: Draw, column: Column) -> bytes:
    if column.name == "vkey":
        return draw.letters(draw.integer(1, 8), scalars.LOWER).encode()
    length = column.length or draw.choice((0, 1, 10, 200))
    length = min(length, draw.choice((0, 1, 5, 30, 127, 255)))
    if column.charset == "latin1":
        return draw.letters(min(length, 8), "abcé ÿß'\\").rstrip(" ").encode("latin1")
    text = scalars.text(draw, length)
    # Trailing spaces of a CHAR are not stored.
    return text.rstrip(" ").encode() if column.type == "CHAR" else text.encode()


def _octets(draw: Draw, column: Column) -> bytes:
    limit = column.length or 255
    size = limit if draw.below(2) else draw.below(min(limit, 70) + 1)
    value = scalars.octets(draw, size)
    # A BINARY is filled up with zeros, which row events cut off again.
    return value.rstrip(b"\0") if column.type == "BINARY" else value


def _set(draw: Draw, column: Column) -> int:
    return draw.bits(len(column.members))


_VALUES: Final[dict[str, Callable[[Draw, Column], object]]] = {
    **dict.fromkeys(_BYTES_OF, _integer),
    "DECIMAL": _decimal,
    "FLOAT": _float,
    "DOUBLE": _double,
    "BIT": _bit,
    "YEAR": _year,
    "DATE": _date,
    "TIME": _time,
    "DATETIME": _datetime,
    "TIMESTAMP": _timestamp,
    **dict.fromkeys(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"), _characters),
    **dict.fromkeys(("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"), _octets),
    "ENUM": lambda draw, column: 1 + draw.below(len(column.members)),
    "SET": _set,
}
_SIDES: Final = mix(
    ("INT", 4), ("BIGINT", 4), ("TINYINT", 2), ("SMALLINT", 2), ("MEDIUMINT", 2), ("DECIMAL", 6), ("FLOAT", 4),
    ("DOUBLE", 4), ("BIT", 4), ("YEAR", 3), ("DATE", 3), ("TIME", 3), ("DATETIME", 4), ("TIMESTAMP", 5), ("CHAR", 3),
    ("VARCHAR", 5), ("TINYTEXT", 1), ("TEXT", 5), ("MEDIUMTEXT", 1), ("LONGTEXT", 1), ("BINARY", 4), ("VARBINARY", 3),
    ("TINYBLOB", 2), ("BLOB", 4), ("MEDIUMBLOB", 2), ("LONGBLOB", 2), ("ENUM", 3), ("SET", 3),
)  # fmt: skip
_LENGTHS: Final = {
    "CHAR": (1, 10, 63, 64, 255),
    "VARCHAR": (1, 63, 64, 255, 1000),
    "BINARY": (1, 2, 16, 255),
    "VARBINARY": (1, 255, 256, 1000),
}
_JSON_COUNTS: Final = mix((1, 62), (2, 20), (3, 8), (4, 2), (5, 1), (7, 1), (8, 1), (9, 2), (10, 1), (17, 2))
_SIDE_COUNTS: Final = mix((0, 3), (1, 5), (2, 6), (3, 4), (5, 2), (8, 1))
_KEYS: Final = mix(("int", 50), ("bigint", 10), ("composite", 12), ("varchar", 8), ("unique", 8), ("none", 12))
_IMAGES: Final = mix((RowImage.FULL, 45), (RowImage.MINIMAL, 40), (RowImage.NOBLOB, 15))
