"""Generated changes for a real MariaDB: tables of all its column types, and statements that change their rows.

A seed gives the same statements every time. Nothing here knows how changes are logged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from generators.draw import Stream

_WORDS: Final = ("a", "it''s", "ö€", "back\\\\slash", "line\\nend", "😀", "", "tab\\t", "x" * 130, "%_")
_TABLES: Final = 4
_ROWS: Final = 60  # of a table; above them more rows are deleted than inserted
_IMAGES: Final = ("FULL", "MINIMAL", "NOBLOB")


def _whole(low: int, high: int) -> Callable[[Stream], str]:
    return lambda draw: str(draw.choice((low, high, low + draw.below(high - low + 1), min(high, draw.below(9)))))


def _text(draw: Stream) -> str:
    return f"'{draw.choice(_WORDS)}{draw.choice(_WORDS)}'"


def _plain(draw: Stream) -> str:
    return f"'{'abc xyz'[draw.below(4) : 4 + draw.below(3)]}'"


def _bytes(most: int) -> Callable[[Stream], str]:
    return lambda draw: f"x'{bytes(draw.below(256) for _ in range(draw.below(most + 1))).hex()}'"


def _date(draw: Stream) -> str:
    return f"{1971 + draw.below(66)}-{1 + draw.below(12):02}-{1 + draw.below(28):02}"


def _time(draw: Stream, digits: int) -> str:
    fraction = f".{draw.below(10**digits):0{digits}}" if digits else ""
    return f"{draw.below(24):02}:{draw.below(60):02}:{draw.below(60):02}{fraction}"


def _document(draw: Stream) -> str:
    document = {f"k{key}": [draw.below(9), "vé" * draw.below(40), None, {"d": draw.below(99) / 8}] for key in range(3)}
    return "'" + json.dumps(document, ensure_ascii=draw.below(2) == 0).replace("\\", "\\\\") + "'"


def _moment(digits: int) -> Callable[[Stream], str]:
    return lambda draw: f"'{_date(draw)} {_time(draw, digits)}'"


# Each type with the SQL of a value.
TYPES: Final[tuple[tuple[str, Callable[[Stream], str]], ...]] = (
    ("TINYINT", _whole(-128, 127)),
    ("TINYINT UNSIGNED", _whole(0, 255)),
    ("SMALLINT", _whole(-32768, 32767)),
    ("SMALLINT UNSIGNED", _whole(0, 65535)),
    ("MEDIUMINT", _whole(-(1 << 23), (1 << 23) - 1)),
    ("MEDIUMINT UNSIGNED", _whole(0, (1 << 24) - 1)),
    ("INT", _whole(-(1 << 31), (1 << 31) - 1)),
    ("INT UNSIGNED", _whole(0, (1 << 32) - 1)),
    ("BIGINT", _whole(-(1 << 63), (1 << 63) - 1)),
    ("BIGINT UNSIGNED", _whole(0, (1 << 64) - 1)),
    ("FLOAT", lambda draw: repr((draw.below(20001) - 10000) / 16)),
    ("DOUBLE", lambda draw: repr((draw.below(1 << 40) - (1 << 39)) / (1 << draw.below(60)))),
    ("DECIMAL(20,6)", lambda draw: f"{draw.below(2 * 10**9) - 10**9}.{draw.below(10**6):06}"),
    ("DECIMAL(65,30)", lambda draw: f"-{draw.below(10**20)}.{draw.below(10**20)}"),
    ("YEAR", lambda draw: str(draw.choice((0, 1901 + draw.below(255))))),
    ("DATE", lambda draw: f"'{_date(draw)}'"),
    ("TIME", lambda draw: f"'{draw.choice(('-', ''))}{_time(draw, 0)}'"),
    ("TIME(3)", lambda draw: f"'{draw.choice(('-', ''))}{draw.below(839)}{_time(draw, 3)[2:]}'"),
    ("DATETIME", _moment(0)),
    ("DATETIME(6)", _moment(6)),
    ("TIMESTAMP NULL", _moment(0)),
    ("TIMESTAMP(2) NULL", _moment(2)),
    ("CHAR(12)", _plain),
    ("CHAR(200) CHARACTER SET utf8mb4", _text),
    ("VARCHAR(40) CHARACTER SET latin1", _plain),
    ("VARCHAR(1000)", _text),
    ("BINARY(7)", _bytes(7)),
    ("VARBINARY(300)", _bytes(30)),
    ("TINYTEXT CHARACTER SET latin1", _plain),
    ("TEXT", _text),
    ("MEDIUMTEXT", _text),
    ("LONGTEXT", lambda draw: f"REPEAT({_text(draw)}, {draw.below(40)})"),
    ("TINYBLOB", _bytes(9)),
    ("BLOB", _bytes(99)),
    ("LONGBLOB", lambda draw: f"REPEAT({_bytes(9)(draw)}, {draw.below(400)})"),
    ("ENUM('ä','b','c')", lambda draw: draw.choice(("'ä'", "'b'", "'c'"))),
    ("SET('x','y','z')", lambda draw: draw.choice(("'x'", "'x,z'", "''", "'x,y,z'"))),
    ("BIT(12)", lambda draw: f"b'{draw.below(1 << 12):b}'"),
    ("BIT(64)", lambda draw: f"b'{draw.below(1 << 64):b}'"),
    ("JSON", _document),
    (
        "UUID",
        lambda draw: f"'{draw.below(1 << 32):08x}-{draw.below(1 << 16):04x}-11f1-a07d-{draw.below(1 << 48):012x}'",
    ),
    (
        "INET6",
        lambda draw: draw.choice(("'::'", "'::1'", f"'2001:db8::{draw.below(65536):x}:0:1'", "'::ffff:1.2.3.4'")),
    ),
    ("INET4", lambda draw: f"'10.{draw.below(256)}.0.{draw.below(256)}'"),
    ("POINT", lambda draw: f"POINT({draw.below(99)}, {draw.below(99) / 4})"),
    ("TEXT COMPRESSED", lambda draw: f"REPEAT({_text(draw)}, {draw.below(30)})"),
    ("VARCHAR(2000) COMPRESSED", lambda draw: f"REPEAT({_plain(draw)}, {draw.below(60)})"),
    ("VARBINARY(2000) COMPRESSED", lambda draw: f"REPEAT({_bytes(5)(draw)}, {draw.below(60)})"),
)


@dataclass(slots=True)
class Column:
    """A column of a table: its name, and how its values are drawn."""

    name: str
    value: Callable[[Stream], str]


@dataclass(slots=True)
class Made:
    """A table: its name, its columns behind the key, and the next key."""

    name: str
    columns: list[Column]
    next: int = 1


def statements(draw: Stream) -> Iterator[str]:
    """Statements without end: first those that make the tables."""
    tables = []
    for number in range(_TABLES):
        made = Made(f"t{number}", [])
        tables.append(made)
        yield from _create(made, draw.fork("table", number), number)
    for number in range(1 << 40):
        part = draw.fork("step", number)
        if not number % 40:
            yield f"SET SESSION binlog_row_image = {part.choice(_IMAGES)}"
        yield from _step(tables[part.below(_TABLES)], part)


def _create(made: Made, draw: Stream, number: int) -> Iterator[str]:
    # All types in turn, so that every seed has every one of them.
    made.columns = [Column(f"c{place}", value) for place, (_, value) in enumerate(TYPES) if place % _TABLES == number]
    words = ", ".join(f"c{place} {kind}" for place, (kind, _) in enumerate(TYPES) if place % _TABLES == number)
    key = "id INT PRIMARY KEY" if number else "id INT, KEY (id)"  # the first table has no primary key
    extra = ", doubled BIGINT AS (id * 2) PERSISTENT" if number == 1 else ""
    engine = "MyISAM" if number == 3 else "InnoDB PAGE_COMPRESSED = 1" if number == 2 else "InnoDB"
    replace = "OR REPLACE " if draw.below(2) else ""
    yield f"CREATE {replace}TABLE {made.name} ({key}, {words}{extra}) ENGINE = {engine} CHARACTER SET utf8mb4"


def _step(made: Made, draw: Stream) -> Iterator[str]:
    kind = draw.below(20)
    if kind < 14:
        yield _change(made, draw)
    elif kind < 18:
        yield "BEGIN"
        yield _change(made, draw.fork(1))
        if draw.below(3) == 0:
            yield "SAVEPOINT sp"
            yield _change(made, draw.fork(2))
            yield "ROLLBACK TO sp"
        yield _change(made, draw.fork(3))
        yield draw.choice(("COMMIT", "COMMIT", "ROLLBACK"))
    elif kind == 18:
        name = f"'x{draw.below(1 << 30)}'"
        yield f"XA START {name}"
        yield _change(made, draw.fork(1))
        yield f"XA END {name}"
        yield f"XA PREPARE {name}"
        yield f"XA {draw.choice(('COMMIT', 'ROLLBACK'))} {name}"
    elif draw.below(6) == 0:
        name = f"n{len(made.columns)}"
        yield f"ALTER TABLE {made.name} ADD COLUMN {name} INT DEFAULT NULL"
        made.columns.append(Column(name, _whole(-5, 5)))
    elif draw.below(4) == 0:
        yield f"TRUNCATE TABLE {made.name}"
    else:
        yield draw.choice(
            ("SET GLOBAL binlog_checksum = NONE", "SET GLOBAL binlog_checksum = CRC32", "FLUSH BINARY LOGS")
        )


def _change(made: Made, draw: Stream) -> str:
    last = made.next - 1
    kind = draw.below(10)
    if kind < 4 or last < 3:
        return _insert(made, draw, "INSERT")
    low = max(1, last - draw.below(_ROWS))
    where = draw.choice((f"id = {low}", f"id BETWEEN {low} AND {low + draw.below(6)}", f"id > {max(last - 3, low)}"))
    if kind < 8:
        chosen = [draw.choice(made.columns) for _ in range(1 + draw.below(3))]
        sets = {column.name: "NULL" if draw.below(9) == 0 else column.value(draw) for column in chosen}
        return f"UPDATE {made.name} SET {', '.join(f'{name} = {value}' for name, value in sets.items())} WHERE {where}"
    if kind == 8 and made.name != "t0":
        made.next = low
        return _insert(made, draw, "REPLACE", most=max(last - low, 0))
    return f"DELETE FROM {made.name} WHERE {where}"


def _insert(made: Made, draw: Stream, verb: str, most: int = 0) -> str:
    count = 1 + draw.below(4)
    names = ", ".join(["id", *(column.name for column in made.columns)])
    rows = []
    for _ in range(count):
        values = ["NULL" if draw.below(12) == 0 else column.value(draw) for column in made.columns]
        rows.append(f"({', '.join([str(made.next), *values])})")
        made.next += 1
    if verb == "REPLACE":
        made.next = max(made.next, made.next - count + most + 1)
    return f"{verb} INTO {made.name} ({names}) VALUES {', '.join(rows)}"
