"""Table definitions of every kind that the server takes, for checks of what TABLE_MAP says about a table.

The definitions have every type and attribute, special names, long member lists, and all character sets. They have keys
with prefixes, invisible and generated columns, and generated primary keys. Tables have 1 to 1,017 columns (InnoDB's
limit). The columns' defaults and :func:`row_values` are enough for every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.charsets import BINARY, COLLATIONS
from conformance.reference.tables.definitions import Column, Table, collation_id
from generators import list_members
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw

COLUMNS: Final = 1_017
"""As many as InnoDB takes, generated ones and the generated key included."""

_ROW_BYTES: Final = 60_000  # of the 65,535 that the server allows a row without its BLOBs
_FILLED_BYTES: Final = 3_000  # of NOT NULL columns of fixed size: they must fit into half a page
_KEY_BYTES: Final = 3_000  # of the 3,072 that InnoDB allows a key
_KEY_PARTS: Final = 16
_NAME_LENGTH: Final = 64

_NAMES: Final = (
    "c", "id", "select", "PRIMARY", "$", "a b", "b`k", "``", 'q"q', "it's", "1st", "1e5", "t.k", "ü", "文書",
    "-- x", "/*", "*/", "@1", "%s", "\\", "\\n", "a\nb", "tab\t", "\x7f", "\u00a0", "(", "c, d", ")", "# Columns(", "Ω",
    "ÿ", "\uffee", "x" * 50, "ж" * 50, "字" * 58, " lead", "\x01", "\r",
)  # fmt: skip


@dataclass(slots=True)
class _Room:
    """The room that the columns chosen so far leave in a row."""

    row: int = _ROW_BYTES
    filled: int = _FILLED_BYTES


def definition(draw: Draw, *, schema: str = "lab", name: str = "t", count: int | None = None) -> Table:
    """A table of ``count`` columns, or of a drawn number, mostly a small one."""
    if count is None:
        count = _count(draw)
    generated_key = count < COLUMNS and draw.below(8) == 7
    collation = _collation(draw) if draw.below(3) else None
    charset = COLLATIONS[collation].charset if collation is not None else "utf8mb4"
    palette = tuple(_collation(draw) for _ in range(1 + draw.below(3)))
    table = Table(
        schema=schema,
        name=name,
        columns=(),
        charset=charset,
        collation=COLLATIONS[collation].name if collation is not None and draw.below(4) else None,
        generated_primary_key=generated_key,
    )
    room = _Room()
    kinds = draw.choice(_FAMILIES)
    columns = [_column(draw, table, number, palette, kinds, room) for number in range(count)]
    if all(column.invisible for column in columns):
        columns[0] = replace(columns[0], invisible=False)
    table = replace(table, columns=tuple(columns))
    if not generated_key and draw.below(5):
        table = _with_key(draw, table)
    return replace(table, other_keys=_other_keys(draw, table))


def row_values(table: Table) -> dict[str, str]:
    """SQL values of the columns without a default; every other column takes its own (no strict mode)."""
    return {
        column.name: _NEEDED[column.type](column)
        for column in table.columns
        if not column.nullable and column.generated_sql is None and column.type in _NEEDED
    }


_WKT: Final = {
    "GEOMETRY": "POINT(1 1)",
    "POINT": "POINT(1 1)",
    "LINESTRING": "LINESTRING(0 0, 1 1)",
    "POLYGON": "POLYGON((0 0, 0 1, 1 1, 0 0))",
    "MULTIPOINT": "MULTIPOINT((0 0))",
    "MULTILINESTRING": "MULTILINESTRING((0 0, 1 1))",
    "MULTIPOLYGON": "MULTIPOLYGON(((0 0, 0 1, 1 1, 0 0)))",
    "GEOMETRYCOLLECTION": "GEOMETRYCOLLECTION(POINT(1 1))",
}


def _geometry_value(column: Column) -> str:
    srid = 4326 if column.spelled is not None and "4326" in column.spelled else 0
    return f"ST_GeomFromText('{_WKT[column.type]}', {srid})"


_NEEDED: Final[dict[str, Callable[[Column], str]]] = {
    **dict.fromkeys(_WKT, _geometry_value),
    "JSON": lambda _: "'{}'",
    "VECTOR": lambda _: "TO_VECTOR('[1]')",
}


# ------------------------------------------------------------------------------------------------------------ columns


def _count(draw: Draw) -> int:
    low, high = draw.choice(_COUNTS)
    return draw.integer(low, high)


def _collation(draw: Draw) -> int:
    """A collation of any character set; the usual sets come more often."""
    if draw.below(3) == 0:
        return draw.choice(_USUAL)
    return draw.choice(_CHARACTER_COLLATIONS)


def _column(
    draw: Draw, table: Table, number: int, palette: tuple[int, ...], kinds: tuple[str, ...], room: _Room
) -> Column:
    kind = draw.choice(kinds)
    column = _typed(draw, kind, table, palette)
    column = replace(column, name=_name(draw, number))
    if draw.below(4) == 3:
        column = replace(column, nullable=False)
    size = row_size(table, column)
    if not column.nullable and column.type in ("CHAR", "BINARY"):
        if size > room.filled:
            column = replace(column, nullable=True)
        else:
            room.filled -= size
    if size > room.row:
        return Column(name=column.name, type="TINYINT", nullable=column.nullable)
    room.row -= size
    if draw.below(12) == 11:
        column = _generated(draw, column)
    if draw.below(8) == 7:
        column = replace(column, invisible=True)
    return column


def _name(draw: Draw, number: int) -> str:
    """A column name. Names differ without regard to case and accents: the number at the end is enough."""
    if draw.below(4):
        return f"c{number}"
    name = draw.choice(_NAMES) if draw.below(3) else "".join(chr(_bmp(draw)) for _ in range(1 + draw.below(20)))
    tail = f"_{number}"
    if draw.below(6) == 5:
        name = (name * _NAME_LENGTH)[: _NAME_LENGTH - len(tail)]
    return name + tail


def _bmp(draw: Draw) -> int:
    """A character that a name may have: none beyond 16 bits, no surrogate, no NUL."""
    code = 1 + draw.below(0xFFFE)
    return code if not 0xD800 <= code < 0xE000 else code - 0x800


def _typed(draw: Draw, kind: str, table: Table, palette: tuple[int, ...]) -> Column:
    """A column of this type, without a name yet."""
    plain = Column(name="", type=kind)
    if kind in _INTEGERS:
        return _integer(draw, plain)
    match kind:
        case "DECIMAL":
            return _decimal(draw, plain)
        case "FLOAT" | "DOUBLE":
            return _floating(draw, plain)
        case "BIT":
            return replace(plain, length=draw.choice((None, 1, 7, 8, 9, 16, 33, 63, 64)))
        case "YEAR":
            return replace(plain, spelled=draw.choice((None, None, "YEAR(4)")))
        case "TIME" | "DATETIME" | "TIMESTAMP":
            return replace(plain, scale=draw.choice((None, 0, 1, 2, 3, 4, 5, 6)))
        case "BINARY" | "VARBINARY":
            return replace(plain, length=draw.choice(_LENGTHS[kind]))
        case "VECTOR":
            return replace(plain, length=draw.choice((None, 1, 2, 3, 250, 251, 2048, 2049, 16383)))
        case "CHAR" | "VARCHAR":
            return _characters(draw, replace(plain, length=draw.choice(_LENGTHS[kind])), palette)
        case "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT":
            return _characters(draw, plain, palette)
        case "ENUM" | "SET":
            column = _characters(draw, plain, palette)
            collation = collation_id(table, column) or BINARY
            return replace(column, members=list_members.members(draw, kind, collation))
        case _ if kind in _WKT:
            spelled = f"{kind} SRID 4326" if draw.below(6) == 5 else None
            return replace(plain, spelled="GEOMCOLLECTION" if kind == _COLLECTION and draw.below(3) == 2 else spelled)
        case _:
            return plain


def _integer(draw: Draw, column: Column) -> Column:
    unsigned = draw.below(2) == 1
    width = draw.choice((None, None, None, 1, 5, 255))
    other = draw.choice(_INTEGERS[column.type])
    if width is None and other == column.type:
        return replace(column, unsigned=unsigned)
    if width is not None and other != "BOOL" and draw.below(2):
        return replace(column, unsigned=True, spelled=f"{other}({width}) ZEROFILL")
    if other == "BOOL":
        return replace(column, spelled=other)
    return replace(column, unsigned=unsigned, spelled=other if width is None else f"{other}({width})")


def _decimal(draw: Draw, column: Column) -> Column:
    unsigned = draw.below(2) == 1
    style = draw.below(5)
    if style == 3:
        return replace(column, unsigned=unsigned)
    if style == 4:
        other = draw.choice(("NUMERIC", "DEC", "FIXED"))
        return replace(column, unsigned=unsigned, length=12, scale=3, spelled=f"{other}(12, 3)")
    precision = 1 + draw.below(65)
    return replace(column, unsigned=unsigned, length=precision, scale=draw.below(min(precision, 30) + 1))


def _floating(draw: Draw, column: Column) -> Column:
    unsigned = draw.below(2) == 1
    if column.type == "FLOAT":
        length, spelled = draw.choice(((None, None), (24, None), (25, None), (53, None), (None, "FLOAT(7,3)"),
                                       (None, "FLOAT4")))  # fmt: skip
        return replace(column, unsigned=unsigned, length=length, spelled=spelled)
    spelled = draw.choice((None, None, "DOUBLE PRECISION", "REAL", "DOUBLE(10,4)", "FLOAT8"))
    return replace(column, unsigned=unsigned, spelled=spelled)


def _characters(draw: Draw, column: Column, palette: tuple[int, ...]) -> Column:
    """A column with the table's character set, one of the table's few sets, or any set."""
    style = draw.below(6)
    if style < 2:
        return column
    number = draw.choice(palette) if style < 5 else _collation(draw)
    known = COLLATIONS[number]
    match draw.below(3):
        case 0:
            return replace(column, charset=known.charset, collation=known.name)
        case 1:
            return replace(column, collation=known.name)
        case _:
            return replace(column, charset=known.charset)


def _generated(draw: Draw, column: Column) -> Column:
    """A generated column whose value is a constant: NULL, or a number."""
    if column.spelled is not None and "SRID" in column.spelled:
        return column
    if column.type in _INTEGERS and draw.below(2):
        return replace(column, generated_sql="1", stored=draw.below(2) == 1)
    return replace(column, nullable=True, generated_sql="NULL", stored=draw.below(2) == 1)


def row_size(table: Table, column: Column) -> int:
    """Bytes that the server counts for a column in a row."""
    collation = collation_id(table, column)
    width = COLLATIONS[collation].max_bytes if collation is not None else 1
    match column.type:
        case "CHAR" | "BINARY":
            return (column.length if column.length is not None else 1) * width
        case "VARCHAR" | "VARBINARY":
            return (column.length or 0) * width + 2
        case "BIT" | "SET" | "DECIMAL":
            return 32
        case _:
            return 12


# --------------------------------------------------------------------------------------------------------------- keys


def _with_key(draw: Draw, table: Table) -> Table:
    """The table with a primary key, if a column can be in one."""
    able = [index for index, column in enumerate(table.columns) if _key_size(table, column, 0) is not None]
    if not able:
        return table
    wanted = min(draw.choice((1, 1, 2, 2, 3, 5, _KEY_PARTS)), len(able), _KEY_PARTS)
    left = _KEY_BYTES
    parts: list[tuple[int, int]] = []
    for index in draw.shuffled(draw.sample(able, wanted)):
        column = table.columns[index]
        prefix = _prefix(draw, table, column)
        size = _key_size(table, column, prefix) or 0
        if size > left:
            continue
        left -= size
        parts.append((index, prefix))
    columns = list(table.columns)
    for index, _ in parts:
        columns[index] = replace(columns[index], nullable=columns[index].nullable and draw.below(2) == 0)
    if (
        parts
        and (first := columns[parts[0][0]]).type in _INTEGERS
        and first.generated_sql is None
        and draw.below(3) == 2
    ):
        columns[parts[0][0]] = replace(first, auto_increment=True)
    # A nullable column in the key is declared without a word, and is NOT NULL.
    return replace(table, columns=tuple(columns), primary_key=tuple(parts))


def _prefix(draw: Draw, table: Table, column: Column) -> int:
    if column.type in _LONG:
        collation = collation_id(table, column) or BINARY
        most = 255 // COLLATIONS[collation].max_bytes if column.type.startswith("TINY") else 191
        return draw.choice((1, 5, most))
    if column.type in ("CHAR", "VARCHAR", "BINARY", "VARBINARY") and (column.length or 1) > 1 and draw.below(2):
        return draw.choice((1, 1 + draw.below((column.length or 1) - 1), column.length or 1))
    return 0


def _key_size(table: Table, column: Column, prefix: int) -> int | None:
    """Bytes of a column in a key; ``None`` if it cannot be in one."""
    if column.type in (*_WKT, "JSON", "VECTOR") or (column.generated_sql is not None and not column.stored):
        return None
    if column.generated_sql == "NULL" or column.length == 0:
        return None
    collation = collation_id(table, column)
    width = COLLATIONS[collation].max_bytes if collation is not None else 1
    if column.type in _LONG:
        return prefix * width + 2
    if column.type in ("CHAR", "VARCHAR", "BINARY", "VARBINARY"):
        return (prefix or column.length or 1) * width + 2
    return 40


def _other_keys(draw: Draw, table: Table) -> tuple[str, ...]:
    """Further keys. A key over an expression has a hidden column, which no event describes."""
    if len(table.columns) + table.generated_primary_key >= COLUMNS or draw.below(10) < 9:
        return ()
    for column in table.columns:
        if column.type in _INTEGERS and column.generated_sql is None and not column.auto_increment:
            return (f"KEY ((({quote_identifier(column.name)}) + 1))",)
    return ()


# ------------------------------------------------------------------------------------------------------------- tables

_INTEGERS: Final = {
    "TINYINT": ("TINYINT", "BOOL", "INT1"),
    "SMALLINT": ("SMALLINT", "INT2"),
    "MEDIUMINT": ("MEDIUMINT", "INT3", "MIDDLEINT"),
    "INT": ("INT", "INTEGER", "INT4"),
    "BIGINT": ("BIGINT", "INT8"),
}
_COLLECTION: Final = "GEOMETRYCOLLECTION"
_LONG: Final = frozenset(
    ("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")
)  # fmt: skip
_LENGTHS: Final = {
    "CHAR": (None, 1, 10, 63, 64, 85, 86, 127, 128, 255, 0),
    "VARCHAR": (1, 10, 63, 64, 85, 86, 127, 128, 255, 256, 1000, 0),
    "BINARY": (None, 1, 2, 16, 127, 128, 255, 0),
    "VARBINARY": (1, 16, 255, 256, 1000, 0),
}
_COUNTS: Final = mix(
    ((1, 4), 150), ((5, 12), 480), ((13, 40), 300), ((41, 130), 55), ((245, 260), 12), ((261, 1016), 2),
    ((COLUMNS, COLUMNS), 1),
)  # fmt: skip
_NUMBERS: Final = ("INT", "BIGINT", "TINYINT", "SMALLINT", "MEDIUMINT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR", "BIT")
_TIMES: Final = ("DATE", "TIME", "DATETIME", "TIMESTAMP")
_TEXTS: Final = ("VARCHAR", "CHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT")
_OCTETS: Final = ("VARBINARY", "BINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB")
_LISTS: Final = ("ENUM", "SET")
_ALL: Final = (
    *_NUMBERS, *_TIMES, *_TEXTS, *_OCTETS, *_LISTS * 6, *_WKT, "JSON", "VECTOR", "VECTOR",
)  # fmt: skip
# Most tables have columns of every type; some have many of a kind, where the choice between two forms is made.
_FAMILIES: Final = mix(
    (_ALL, 10), (_NUMBERS, 1), (_TEXTS, 2), (_LISTS, 2), ((*_TEXTS, *_OCTETS, "VECTOR"), 2), (tuple(_WKT), 1),
    (("VECTOR", "BLOB"), 1),
)  # fmt: skip
_USUAL: Final = (255, 45, 46, 8, 33, 11, BINARY)
_CHARACTER_COLLATIONS: Final = tuple(number for number in sorted(COLLATIONS) if number != BINARY)
