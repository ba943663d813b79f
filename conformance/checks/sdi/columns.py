"""Columns of every type that InnoDB stores, each with a default and a value for row ``i``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from generators.draw import Draw

Has: TypeAlias = "Callable[[str], bool]"

_OFF_PAGE: Final = 1_000  # bytes from which a column can leave its page
_PREFIX: Final = {"REDUNDANT": 790, "COMPACT": 790}  # bytes that an off-page value leaves in its record
_REFERENCE: Final = 42  # the same in the other row formats


class ColumnKind(NamedTuple):
    """A type, its default (none: an empty text), an expression over ``i``, the most bytes of a value, and what of a
    server it needs."""

    type: str
    default: str
    value: str
    size: int
    needs: str = ""


KINDS: Final = (
    ColumnKind("int", "0", "i", 4),
    ColumnKind("tinyint", "-1", "i % 100", 1),
    ColumnKind("smallint unsigned", "65535", "i", 2),
    ColumnKind("mediumint", "NULL", "-i", 3),
    ColumnKind("bigint unsigned", "18446744073709551615", "i * 1000000007", 8),
    ColumnKind("decimal(20,5)", "1.50000", "i / 7", 10),
    ColumnKind("float", "1.5", "i / 4", 4),
    ColumnKind("double", "-2.25", "i / 8", 8),
    ColumnKind("bit(9)", "b'101'", "i", 2),
    ColumnKind("date", "'2020-02-29'", "'2000-01-01' + INTERVAL i DAY", 3),
    ColumnKind("time(3)", "'-12:30:00.125'", "sec_to_time(i)", 5),
    ColumnKind("datetime(6)", "CURRENT_TIMESTAMP(6)", "'2001-01-01' + INTERVAL i MINUTE", 8),
    ColumnKind(
        "timestamp(2) NULL", "CURRENT_TIMESTAMP(2) ON UPDATE CURRENT_TIMESTAMP(2)", "'2002-02-02 02:02:02.25'", 5
    ),
    ColumnKind("year", "'1999'", "1970 + i % 100", 1),
    ColumnKind("char(10)", "'a''b'", "concat('c', i)", 40),
    ColumnKind("char(5) CHARACTER SET utf16", "'ж'", "concat('w', i % 1000)", 20),
    ColumnKind("varchar(40) CHARACTER SET latin1 COLLATE latin1_german2_ci", "'ä\\\\n'", "concat('ß', i)", 40),
    ColumnKind("varchar(300)", "''", "repeat('v', i % 300)", 1_200),
    ColumnKind("binary(8)", "'x'", "concat('b', i)", 8),
    ColumnKind("varbinary(70)", "0xFF00", "repeat(x'80', i % 70)", 70),
    ColumnKind("tinyblob", "", "repeat('t', i)", _OFF_PAGE),  # the row may be too large by the prefix of any BLOB
    ColumnKind("tinytext", "", "concat('tiny', i)", _OFF_PAGE),
    ColumnKind("text", "(concat('a', 'b'))", "repeat('text', i * 40)", _OFF_PAGE),
    ColumnKind("mediumblob", "", "repeat('m', i * 300)", _OFF_PAGE),
    ColumnKind("longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "", "repeat('ü', i)", _OFF_PAGE),
    ColumnKind("json", "(json_array(1, 'x'))", "json_object('a', json_array(i, i + 1))", _OFF_PAGE),
    ColumnKind("enum('a','b''c','é')", "'é'", "1 + i % 3", 1),
    ColumnKind("set('x','y','z')", "'x,z'", "i % 8", 1),
    ColumnKind("vector(3)", "", "to_vector('[1, 2.5, -3]')", _OFF_PAGE, "statement VECTOR"),
    ColumnKind("geometry", "", "st_geomfromtext('LINESTRING(0 0, 1 2)')", _OFF_PAGE),
    ColumnKind("point SRID 4326", "", "st_srid(point(1, 2), 4326)", _OFF_PAGE, "srs 4326"),
)
_SPATIAL: Final = ("geometry", "point")


class Column(NamedTuple):
    """A column of a table. ``value``: empty for a generated one."""

    name: str
    definition: str
    value: str


def everything(_: str) -> bool:
    """The answers of a server that lacks nothing (``conformance.harness.needs.questions``)."""
    return True


def columns(draw: Draw, room: int, row_format: str, *, spatial: bool, has: Has = everything) -> Iterator[Column]:
    """Columns that fit into ``room`` bytes of a record, of the types that a server ``has``."""
    off_page = _PREFIX.get(row_format, _REFERENCE)
    for number, kind in enumerate(draw.shuffled(KINDS)[: 3 + draw.below(12)]):
        room -= min(kind.size, off_page) + 2
        if room < 0:
            return
        if kind.type.startswith(_SPATIAL) and not spatial:
            continue
        if kind.needs and not has(kind.needs):
            continue
        clauses = [kind.type]
        if kind.default and draw.chance(1, 2):
            if kind.default != "NULL" and draw.chance(1, 3):
                clauses.append("NOT NULL")
            clauses.append(f"DEFAULT {kind.default}")
        if draw.chance(1, 6) and has("statement INVISIBLE"):
            clauses.append("INVISIBLE")
        if draw.chance(1, 6):
            clauses.append(f"COMMENT '{comment(draw, 8)}'")
        yield Column(f"c{number}" if draw.chance(7, 8) else f"`c {number}``ü`", " ".join(clauses), kind.value)


def comment(draw: Draw, length: int) -> str:
    """Text that does not compress, with a quote and a backslash in it."""
    return draw.letters(length, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") + "''\\\\é"
