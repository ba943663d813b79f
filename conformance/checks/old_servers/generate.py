"""Updates of a table without JSON columns: an old server knows every word of their statements.

The server writes event 39 for such tables too (requirements 0.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from generators.draw import Draw

ROWS: Final = 20
COLUMNS: Final = {
    "a": "SMALLINT",
    "b": "BIGINT UNSIGNED",
    "c": "DECIMAL(18,9)",
    "d": "DOUBLE",
    "e": "VARCHAR(300)",
    "f": "VARBINARY(20)",
    "g": "DATETIME(3)",
    "h": "TIME(6)",
    "i": "YEAR",
    "k": "BIT(9)",
    "l": "DATE",
    "m": "BLOB",
}
OFF, ON = "plain", "diffs"  # the tables whose updates are logged without and with the option


def create(table: str) -> str:
    """Make the table, in words that servers of all versions know."""
    columns = ", ".join(f"{name} {kind} NULL" for name, kind in COLUMNS.items())
    return (
        f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, {columns}) "
        "ENGINE=InnoDB DEFAULT CHARSET=latin1"
    )


def insert(draw: Draw, table: str, first: int = 1, count: int = ROWS) -> str:
    """Rows with made-up values."""
    rows = (
        f"({number}, 0, {', '.join(value(draw, name) for name in COLUMNS)})" for number in range(first, first + count)
    )
    return f"INSERT INTO {table} VALUES {', '.join(rows)}"


def update(draw: Draw, table: str) -> str:
    """An update of one or several rows; ``n`` grows, so that every row changes."""
    names = draw.sample(tuple(COLUMNS), 1 + draw.below(4))
    changes = ", ".join(f"{name}={value(draw, name)}" for name in names)
    first = 1 + draw.below(ROWS)
    return f"UPDATE {table} SET n=n+1, {changes} WHERE id BETWEEN {first} AND {first + draw.choice((0, 0, 2, 9))}"


def value(draw: Draw, column: str) -> str:
    """A literal for a column."""
    if draw.below(8) == 7:
        return "NULL"
    match column:
        case "a":
            return str(draw.integer(-32768, 32767))
        case "b":
            return str(draw.choice((0, 1, 2**63, 2**64 - 1, draw.bits(64))))
        case "c":
            return f"{draw.integer(-(10**9) + 1, 10**9 - 1)}.{draw.below(10**9):09}"
        case "d":
            return f"{draw.integer(-9999, 9999) / 8!r}e0"
        case "e":
            return f"'{draw.letters(draw.below(300), 'abc XYZ09_')}'"
        case "f" | "m":
            return f"x'{draw.bits(8 * 20):040x}'" if column == "f" else f"x'{draw.bits(8 * 300):0600x}'"
        case "g":
            return f"'{draw.integer(1000, 9999)}-{_day(draw)} {_clock(draw)}.{draw.below(1000):03}'"
        case "h":
            return f"'{'-' * draw.below(2)}{draw.below(800)}:{_clock(draw)[3:]}.{draw.below(10**6):06}'"
        case "i":
            return str(draw.choice((0, 1901, 2155, 2024)))
        case "k":
            return f"b'{draw.bits(9):09b}'"
        case _:
            return f"'{draw.integer(1000, 9999)}-{_day(draw)}'"


def _day(draw: Draw) -> str:
    return f"{draw.integer(1, 12):02}-{draw.integer(1, 28):02}"


def _clock(draw: Draw) -> str:
    return f"{draw.below(24):02}:{draw.below(60):02}:{draw.below(60):02}"


def change(draw: Draw, number: int) -> str:
    """Statement ``number`` of a log: rows inserted, deleted or, mostly, updated."""
    match draw.below(6):
        case 4:
            return insert(draw, OFF, first=1_000 + 10 * number, count=1 + draw.below(3))
        case 5:
            return f"DELETE FROM {OFF} WHERE id >= 1000 AND id % 10 = {draw.below(3)}"
        case _:
            return update(draw, OFF)
