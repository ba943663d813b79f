"""A sequence of DDL statements: a table is made, filled, and changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.sdi.columns import everything
from conformance.checks.sdi.tables import GENERAL, OWN, Shape, create_table, shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.checks.sdi.columns import Column, Has
    from generators.draw import Draw

_ROWS: Final = 12
_LONG: Final = 30  # one table of so many, the first one too, has dictionary information of several pages
_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
_MORE_ROWS: Final = (
    f"INSERT INTO {{t}} (id, s) {_NUMBERS.format(first=101, last=110)} SELECT i, concat('s', i % 3) FROM n"
)
_CHANGES: Final = (
    "ALTER TABLE {t} COMMENT = 'changed'",
    "ALTER TABLE {t} ADD COLUMN i1 varchar(20) DEFAULT 'instant', ALGORITHM=INSTANT",
    "ALTER TABLE {t} ADD COLUMN i2 int NOT NULL DEFAULT 5 FIRST, ALGORITHM=INSTANT",
    "ALTER TABLE {t} DROP COLUMN d1, ALGORITHM=INSTANT",
    "ALTER TABLE {t} DROP COLUMN d2",
    "ALTER TABLE {t} RENAME COLUMN r1 TO renamed, ALGORITHM=INPLACE",
    "ALTER TABLE {t} ADD KEY added (s, m1), ALGORITHM=INPLACE",
    "ALTER TABLE {t} ADD KEY added_functional ((id * 3 + 1))",
    "ALTER TABLE {t} DROP KEY k1",
    "ALTER TABLE {t} FORCE, ALGORITHM=INPLACE",
    "ALTER TABLE {t} FORCE, ALGORITHM=COPY",
    "ALTER TABLE {t} MODIFY m1 bigint NOT NULL DEFAULT 3, ALGORITHM=COPY",
    "ALTER TABLE {t} ALTER COLUMN m1 SET DEFAULT 9",
    "ALTER TABLE {t} ADD COLUMN a1 int GENERATED ALWAYS AS (id * 2) VIRTUAL",
    "ALTER TABLE {t} ADD CONSTRAINT CHECK (id <> -7) NOT ENFORCED",
    "ALTER TABLE {t} DEFAULT CHARACTER SET latin1",
    "ALTER TABLE {t} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "ALTER TABLE {t} STATS_PERSISTENT=0, STATS_SAMPLE_PAGES=7, MAX_ROWS=100000",
    "ALTER TABLE {t} ALTER COLUMN m1 SET INVISIBLE",
    "ALTER TABLE {t} ALTER INDEX u1 INVISIBLE",
    "OPTIMIZE TABLE {t}",
    "UPDATE {t} SET m1 = 55 WHERE id % 4 = 0",
    "DELETE FROM {t} WHERE id % 5 = 0",
    _MORE_ROWS,
    "TRUNCATE TABLE {t}",
    "RENAME TABLE {t} TO {other}.moved",
    "RENAME TABLE {t} TO {schema}.`new name`",
    "CREATE TABLE {schema}.alike LIKE {t}",
    "CREATE TABLE {schema}.chosen SELECT id, s FROM {t}",
)
_WHOLE: Final = (
    "ALTER TABLE {t} ROW_FORMAT=DYNAMIC",
    "ALTER TABLE {t} ROW_FORMAT=REDUNDANT",
    "ALTER TABLE {t} PARTITION BY HASH (id) PARTITIONS 2",
    "ALTER TABLE {t} ADD FULLTEXT KEY words (s)",
)
_IN_PARTITIONS: Final = (
    "ALTER TABLE {t} REMOVE PARTITIONING",
    "ALTER TABLE {t} COALESCE PARTITION 1",
    "ALTER TABLE {t} ADD PARTITION PARTITIONS 2",
    "ALTER TABLE {t} ADD PARTITION (PARTITION p9 VALUES LESS THAN (2000))",
    "ALTER TABLE {t} DROP PARTITION p0",
    "ALTER TABLE {t} TRUNCATE PARTITION ALL",
    "ALTER TABLE {t} REBUILD PARTITION ALL",
    "ALTER TABLE {t} REORGANIZE PARTITION",
)
_MOVES: Final = ("ALTER TABLE {t} TABLESPACE={tablespace}", "ALTER TABLE {t} TABLESPACE=innodb_file_per_table")
_RENAME: Final = "RENAME TABLE {t} TO "


@dataclass(frozen=True, slots=True, kw_only=True)
class DdlSequence:
    """``made``: statements that must succeed. ``changes``: a server may refuse those that do not fit the table."""

    number: int
    shape: Shape
    made: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def schema(self) -> str:
        return f"ddl_{self.number}"

    @property
    def schemas(self) -> tuple[str, str]:
        """The second one takes tables that are renamed."""
        return self.schema, f"{self.schema}_other"

    @property
    def tablespace(self) -> str:
        """The general tablespace of the sequence."""
        return f"{self.schema}_general"


def ddl_sequence(draw: Draw, page_size: int, number: int, has: Has = everything) -> DdlSequence:
    """One sequence. Its number decides the format of the table, everything else is drawn; a server that ``has`` less
    gets what it knows."""
    kind = shape(draw, page_size, number)
    schema, other, tablespace = f"ddl_{number}", f"ddl_{number}_other", f"ddl_{number}_general"
    block = f" FILE_BLOCK_SIZE={kind.block_size}" if kind.place == GENERAL and kind.format == "COMPRESSED" else ""
    statement, columns = create_table(draw, kind, "t", tablespace, has, long=not number % _LONG)
    made = (
        f"CREATE SCHEMA {schema}",
        f"CREATE SCHEMA {other} DEFAULT CHARACTER SET latin1",
        f"USE {schema}",
        f"CREATE TABLESPACE {tablespace} ADD DATAFILE '{tablespace}.ibd'{block}",
        "CREATE TABLE parent (id smallint PRIMARY KEY)",
        "INSERT INTO parent VALUES (1), (3), (5), (9), (55)",
        "SET foreign_key_checks = 0",
        statement,
        _rows(columns),
    )
    return DdlSequence(
        number=number, shape=kind, made=made, changes=tuple(_changes(draw, kind, schema, other, tablespace))
    )


def _rows(columns: Sequence[Column]) -> str:
    names = ", ".join(column.name for column in columns)
    values = ", ".join(column.value for column in columns)
    return f"INSERT INTO t ({names}) {_NUMBERS.format(first=1, last=_ROWS)} SELECT {values} FROM n"


def _changes(draw: Draw, kind: Shape, schema: str, other: str, tablespace: str) -> Iterator[str]:
    pool = [*_CHANGES, *(_IN_PARTITIONS if kind.partitioned else _WHOLE)]
    if kind.place == GENERAL or (kind.place == OWN and not kind.partitioned):
        pool += _MOVES
    table = f"{schema}.t"
    for text in draw.shuffled(pool)[: 1 + draw.below(8)]:
        yield text.format(t=table, schema=schema, other=other, tablespace=tablespace)
        if text.startswith(_RENAME):
            table = text.removeprefix(_RENAME).format(schema=schema, other=other)
