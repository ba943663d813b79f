"""Cases for A5: a replica whose other columns have values of their own, and updates of the document beside them.

A column outside the after-image keeps the replica's value, and one inside gets the source's. Where both servers hold
the same value nobody could tell the two apart. Values and their texts are written down here.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.sql_case import REPLICA, Outcome, SqlCase, SqlStatement

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Column(NamedTuple):
    """A column that is not JSON. ``ours`` and ``theirs``: SQL literals of the source and of the replica, which are also
    what ``read`` gives, without their quotes."""

    name: str
    type: str
    ours: str
    theirs: str
    read: str = "{}"
    large: bool = False  # NOBLOB leaves it out


_COLUMNS: Final = (
    _Column("i", "INT", "1", "-7"),
    _Column("u", "BIGINT UNSIGNED", "18446744073709551615", "7"),
    _Column("d", "DECIMAL(20,4)", "1.5000", "-99.0625"),
    _Column("f", "DOUBLE", "0.5", "-0.25"),
    _Column("b", "BIT(9)", "300", "5", "{}+0"),
    _Column("y", "YEAR", "2024", "1999"),
    _Column("da", "DATE", "'2024-02-29'", "'1999-12-31'"),
    _Column("ti", "TIME(3)", "'12:30:01.500'", "'-01:00:00.250'"),
    _Column("dt", "DATETIME(6)", "'2024-02-29 12:30:01.000001'", "'1999-12-31 23:59:59.999999'"),
    _Column("ts", "TIMESTAMP NULL", "'2024-02-29 12:30:01'", "'1999-12-31 23:59:59'"),
    _Column("c", "CHAR(10)", "'ours'", "'theirs'"),
    _Column("v", "VARCHAR(300)", "'ours'", "'theirs'"),
    _Column("vb", "VARBINARY(20)", "'00FF'", "'FF00FF'", "HEX({})"),
    _Column("e", "ENUM('ours','theirs')", "'ours'", "'theirs'"),
    _Column("s", "SET('a','b','c')", "'a,c'", "'b'"),
    _Column("x", "TEXT", "'ours'", "'theirs'", large=True),
    _Column("lb", "LONGBLOB", "'00FF'", "'FF00FF'", "HEX({})", large=True),
)
_DOCUMENT: Final = '{"a": 1, "pad": "' + "p" * 60 + '"}'
_CHANGED: Final = {"i": "9", "x": "'new'"}  # what statements give some of the columns
_SET: Final = "j=JSON_SET(j,'$.a',2)"
_STATEMENTS: Final = {"document": (_SET,), "number": (_SET, "i"), "text": (_SET, "x"), "no-document": ("i",)}
_READ: Final = f"SELECT id, {', '.join(column.read.format(column.name) for column in _COLUMNS)} FROM t ORDER BY id"
_ZONE: Final = "SET SESSION time_zone='+00:00'"


def cases() -> Iterator[SqlCase]:
    """A Case for each row image, with the option on and off, and for each statement."""
    for image, partial, name in product(RowImage, (True, False), _STATEMENTS):
        yield _case(
            image, _STATEMENTS[name], f"a5-{image.lower()}-{'on' if partial else 'off'}-{name}", partial=partial
        )


def _literal(column: _Column, value: str) -> str:
    return f"x{value}" if column.read.startswith("HEX") else value


def _values(*, theirs: bool) -> dict[str, str]:
    return {column.name: _literal(column, column.theirs if theirs else column.ours) for column in _COLUMNS}


def _case(image: RowImage, assigned: tuple[str, ...], name: str, *, partial: bool) -> SqlCase:
    changed = {word: _CHANGED[word] for word in assigned if word in _CHANGED}
    own = ", ".join(f"{column}={value}" for column, value in _values(theirs=True).items())
    row = f"'{_DOCUMENT}', {', '.join(_values(theirs=False).values())}"
    assignments = ", ".join(f"{word}={changed[word]}" if word in changed else word for word in assigned)
    definitions = ", ".join(f"{column.name} {column.type}" for column in _COLUMNS)

    def there(sql: str, *, at_once: bool = True) -> SqlStatement:
        return SqlStatement(sql=sql, node=REPLICA, at_once=at_once)

    return SqlCase(
        id=name,
        requirements=("A5",),
        needs=("2S",),
        schema=True,
        statements=(
            *(SqlStatement(sql=sql) for sql in Session(row_image=image, partial_json=partial).statements()),
            SqlStatement(sql=f"CREATE TABLE t (id INT PRIMARY KEY, j JSON, {definitions})"),
            SqlStatement(sql=f"INSERT INTO t VALUES (1, {row}), (2, {row})"),
            there(_ZONE, at_once=False),
            there("SET SESSION sql_log_bin=0"),
            there(f"UPDATE t SET {own}"),
            SqlStatement(sql=f"UPDATE t SET {assignments} WHERE id=1"),
            SqlStatement(
                sql=_READ,
                node=REPLICA,
                judges="A5",
                outcomes=(Outcome(rows=(_expected("1", image, changed), _expected("2", None, {}))),),
                note="columns outside the after-image keep the replica's values, and those inside get the source's",
            ),
        ),
    )


def _expected(key: str, image: RowImage | None, changed: dict[str, str]) -> tuple[str, ...]:
    """The replica's row. ``image``: the row image of the update that met it; ``None`` for a row that none met."""
    cells = [key]
    for column in _COLUMNS:
        inside = image is RowImage.FULL or (image is RowImage.NOBLOB and not column.large)
        value = changed.get(column.name, column.ours if inside else column.theirs)
        cells.append(value.strip("'"))
    return tuple(cells)
