"""Transactions of every kind that a binary log distinguishes, as SQL.

A unit is what a session does, with the number of transactions that its source logs for it (observed on 9.7.4,
transaction-boundaries D). All units use the tables of :func:`tables` and leave the session's settings as :data:`PLAIN`
has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw

PLAIN: Final = (
    "SET SESSION binlog_format = 'ROW', binlog_transaction_compression = OFF, binlog_rows_query_log_events = OFF, "
    "binlog_row_image = 'FULL'"
)
LOADED: Final = "lab-lines.txt"  # the file of LOAD DATA, in the directory of the data
LINES: Final = b"1\tone\n2\ttwo\n"
_OLD: Final = "SET SESSION binlog_format = 'ROW', binlog_rows_query_log_events = OFF, binlog_row_image = 'FULL'"
_STATEMENT_FORMAT: Final = "SET SESSION binlog_format = 'STATEMENT'"


class Unit(NamedTuple):
    """One unit. ``groups``: transactions in the log."""

    kind: str
    statements: tuple[str, ...]
    groups: int


def tables() -> tuple[str, ...]:
    """Make the tables of all units in the current schema."""
    columns = "(id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(400))"
    return (f"CREATE TABLE t {columns} ENGINE=InnoDB", f"CREATE TABLE m {columns} ENGINE=MyISAM")


def _insert(draw: Draw, table: str = "t") -> str:
    return f"INSERT INTO {table} (a, b) VALUES ({draw.below(1000)}, '{draw.letters(draw.below(12), 'abcdefgh')}')"


def _change(draw: Draw) -> str:
    number = draw.below(1000)
    return draw.choice((_insert(draw), f"UPDATE t SET a = a + 1 WHERE id % 7 = {number % 7}"))


def _multi_statement(draw: Draw) -> tuple[list[str], int]:
    return ["BEGIN", _insert(draw), *(_change(draw) for _ in range(1 + draw.below(3))), "COMMIT"], 1


def _savepoint(draw: Draw) -> tuple[list[str], int]:
    back = ["ROLLBACK TO SAVEPOINT s1"] if draw.chance(1, 2) else []
    return ["BEGIN", _insert(draw), "SAVEPOINT s1", _insert(draw), *back, _insert(draw), "COMMIT"], 1


def _ddl(draw: Draw) -> tuple[list[str], int]:
    between = draw.choice(
        ("ALTER TABLE d ADD COLUMN b INT", "TRUNCATE TABLE d", "CREATE INDEX i ON d (a)", "RENAME TABLE d TO e, e TO d",
         "ANALYZE TABLE d")
    )  # fmt: skip
    return ["CREATE TABLE d (a INT)", between, "DROP TABLE d"], 3


def _create_as_select(draw: Draw) -> tuple[list[str], int]:
    if draw.chance(1, 2):
        words = [_STATEMENT_FORMAT, f"SET @v = {draw.below(99)}", "CREATE TABLE c (id INT PRIMARY KEY) SELECT @v AS id"]
    else:
        words = ["CREATE TABLE c (id INT PRIMARY KEY) SELECT 1 AS id"]
    return [*words, "DROP TABLE c"], 2


def _xa(draw: Draw) -> tuple[list[str], int]:
    name = f"'lab{draw.below(1000)}','x',7"
    head = [f"XA START {name}", _insert(draw), _change(draw), f"XA END {name}"]
    end = draw.below(3)
    if end == 0:
        return [*head, f"XA COMMIT {name} ONE PHASE"], 1
    return [*head, f"XA PREPARE {name}", f"XA {'COMMIT' if end == 1 else 'ROLLBACK'} {name}"], 2


def _statement(draw: Draw, *values: str) -> tuple[list[str], int]:
    """A statement whose values stand in an event in front of it: INTVAR, RAND or USER_VAR."""
    insert = f"INSERT INTO t (a, b) VALUES ({draw.choice(values)})"
    sets = f"SET @v = {draw.below(99)}, @w = '{draw.letters(3, 'abc')}'"
    if draw.chance(1, 2):
        return [_STATEMENT_FORMAT, sets, insert], 1
    return [_STATEMENT_FORMAT, sets, "BEGIN", insert, "DELETE FROM t WHERE a = @v", insert, "COMMIT"], 1


def _temporary(draw: Draw) -> tuple[list[str], int]:
    words = "CREATE TEMPORARY TABLE p (a INT) ENGINE=InnoDB"
    return [_STATEMENT_FORMAT, words, f"INSERT INTO p VALUES ({draw.below(9)})", "DROP TEMPORARY TABLE p"], 3


def _load_data(draw: Draw) -> tuple[list[str], int]:
    return [f"LOAD DATA INFILE './{LOADED}' INTO TABLE t (a, b) SET a = a + {draw.below(9)}"], 1


def _compressed(draw: Draw) -> tuple[list[str], int]:
    many = f"INSERT INTO t (a, b) VALUES {', '.join([f'({draw.below(9)}, REPEAT(1, 300))'] * 8)}"
    return ["SET SESSION binlog_transaction_compression = ON", "BEGIN", many, _change(draw), "COMMIT"], 1


KINDS: Final[dict[str, Callable[[Draw], tuple[list[str], int]]]] = {
    "rows": lambda draw: ([_insert(draw)], 1),
    "rows-query": lambda draw: (["SET SESSION binlog_rows_query_log_events = ON", _insert(draw)], 1),
    "multi-statement": _multi_statement,
    "savepoint": _savepoint,
    "savepoint-statement": lambda draw: ([_STATEMENT_FORMAT, *_savepoint(draw)[0]], 1),
    "ddl": _ddl,
    "create-as-select": _create_as_select,
    "xa": _xa,
    "statement-intvar": lambda draw: _statement(draw, "1, 'x'", "LAST_INSERT_ID(), 'x'"),
    "statement-rand": lambda draw: _statement(draw, "RAND() * 9, 'x'", "RAND() * 100, @v"),
    "statement-user-var": lambda draw: _statement(draw, "@v, 'x'", "@v, @w"),
    "temporary": _temporary,
    "load-data": _load_data,
    "load-data-statement": lambda draw: ([_STATEMENT_FORMAT, *_load_data(draw)[0]], 1),
    "compressed": _compressed,
    "myisam": lambda draw: ([*([_STATEMENT_FORMAT] if draw.chance(1, 2) else []), _insert(draw, "m")], 1),
    "rotate": lambda draw: ([_insert(draw), "FLUSH BINARY LOGS", _insert(draw)], 2),
}
_ROTATING: Final = "rotate"


def unit(draw: Draw, kind: str, *, old: bool = False) -> Unit:
    """A unit of this kind; ``old``: for a server that cannot compress."""
    statements, groups = KINDS[kind](draw)
    return Unit(kind, (_OLD if old else PLAIN, *statements), groups)
