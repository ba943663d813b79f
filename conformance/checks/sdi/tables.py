"""CREATE TABLE for tables of every kind: keys, generated columns, constraints, options, partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.sdi.columns import Column, columns, comment, everything
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.checks.sdi.columns import Has
    from generators.draw import Draw

ROW_FORMATS: Final = ("DYNAMIC", "COMPACT", "REDUNDANT", "COMPRESSED")
PAGE_COMPRESSION: Final = "page compression"
OWN, GENERAL, SYSTEM = "file-per-table", "general", "system"
_LARGEST: Final = 16_384  # the page size up to which ROW_FORMAT=COMPRESSED exists
_BLOCK: Final = 4_096  # of a file system: page compression saves whole blocks of a larger page
_OVERHEAD: Final = 750  # bytes of a page or a record that no column of ours uses, and columns that every table has
_SUB: Final = (
    "HASH (id) SUBPARTITIONS 2", "LINEAR HASH (id + 1) SUBPARTITIONS 3", "KEY (s) SUBPARTITIONS 2",
    "LINEAR KEY ALGORITHM=2 (id, s) SUBPARTITIONS 2",
)  # fmt: skip
_SUBPARTITIONED: Final = (
    "RANGE (id) {sub} (PARTITION p0 VALUES LESS THAN (7) COMMENT 'it''s', PARTITION pm VALUES LESS THAN MAXVALUE)",
    "LIST (id % 3) {sub} (PARTITION p0 VALUES IN (0, 1), PARTITION `p 1` VALUES IN (2, NULL, -1))",
    "RANGE COLUMNS (s) {sub} (PARTITION pa VALUES LESS THAN ('s1'), PARTITION pz VALUES LESS THAN (MAXVALUE))",
    "LIST COLUMNS (s) {sub} (PARTITION pa VALUES IN ('s0', 's2'), PARTITION pb VALUES IN ('s1'))",
)
_NAMED: Final = (
    "RANGE (id) SUBPARTITION BY HASH (id) (PARTITION p0 VALUES LESS THAN (5) (SUBPARTITION a MAX_ROWS=9, SUBPARTITION b"
    " COMMENT 'sub'), PARTITION p1 VALUES LESS THAN (1000) (SUBPARTITION c, SUBPARTITION d))"
)
_BY_PRIMARY: Final = "KEY ()"
_PREFIX: Final = "d2(3)"
_PARTITIONED: Final = (
    "HASH (id) PARTITIONS 3",
    "HASH (id DIV 2 + 1) (PARTITION h0 COMMENT 'first', PARTITION h1)",
    "LINEAR HASH (id) PARTITIONS 2",
    f"{_BY_PRIMARY} PARTITIONS 2",
    "KEY ALGORITHM=1 (id) PARTITIONS 2",
    "LINEAR KEY ALGORITHM=2 (id, s) PARTITIONS 3",
    "RANGE (id) (PARTITION p0 VALUES LESS THAN (5) MIN_ROWS=1 MAX_ROWS=7, PARTITION p1 VALUES LESS THAN (1000))",
    "RANGE COLUMNS (id, s) (PARTITION p0 VALUES LESS THAN (8, 'm'), PARTITION pm VALUES LESS THAN (MAXVALUE, 'x'))",
    "LIST (id % 2) (PARTITION even VALUES IN (0), PARTITION odd VALUES IN (1, -1))",
    "LIST COLUMNS (s) (PARTITION pa VALUES IN ('s0', 's1'), PARTITION pb VALUES IN ('s2', NULL))",
)
_OPTIONS: Final = (
    "STATS_PERSISTENT=0", "STATS_PERSISTENT=1 STATS_AUTO_RECALC=0 STATS_SAMPLE_PAGES=9", "AVG_ROW_LENGTH=100",
    "MIN_ROWS=2 MAX_ROWS=1000", "PACK_KEYS=1", "CHECKSUM=1", "DELAY_KEY_WRITE=1", "AUTO_INCREMENT=77",
    "COMMENT='a table''s \\\\ comment'", "AUTOEXTEND_SIZE=4M",
)  # fmt: skip
_CHARSETS: Final = mix(
    ("", 6), ("DEFAULT CHARSET=latin1", 1), ("COLLATE=utf8mb4_general_ci", 1), ("DEFAULT CHARSET=binary", 1),
    ("COLLATE=utf8mb4_ja_0900_as_cs_ks", 1),
)  # fmt: skip
_PLACES: Final = mix((OWN, 8), (GENERAL, 2), (SYSTEM, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The properties that decide which statements a table can meet. ``format``: a row format, or page compression."""

    page_size: int
    format: str
    block_size: int  # bytes of a page in the file
    place: str
    partitioned: bool

    @property
    def row_format(self) -> str:
        return "DYNAMIC" if self.format == PAGE_COMPRESSION else self.format


def formats(page_size: int) -> tuple[str, ...]:
    """The formats of tables with this page size."""
    listed = ROW_FORMATS if page_size <= _BLOCK else (*ROW_FORMATS, PAGE_COMPRESSION)
    return tuple(item for item in listed if item != "COMPRESSED" or page_size <= _LARGEST)


def shape(draw: Draw, page_size: int, number: int) -> Shape:
    """Every format in turn."""
    listed = formats(page_size)
    kind = listed[number % len(listed)]
    block = page_size
    if kind == "COMPRESSED":
        block = draw.choice([size for size in (4096, 8192, 2048, 16384, 1024) if size <= page_size])
    place = draw.choice(_PLACES)
    if kind == PAGE_COMPRESSION or (kind == "COMPRESSED" and (place == SYSTEM or block == page_size)):
        place = OWN
    partitioned = place == OWN and draw.chance(2, 5)
    return Shape(page_size=page_size, format=kind, block_size=block, place=place, partitioned=partitioned)


def create_table(
    draw: Draw, shape: Shape, name: str, tablespace: str, has: Has = everything, *, long: bool = False
) -> tuple[str, list[Column]]:
    """CREATE TABLE as a server that ``has`` those things knows it, and the columns that its rows have values for.

    Every table has ``id`` and ``s``, on which it can be partitioned, and columns for ALTER TABLE: ``d1`` and ``d2`` to
    drop, ``m1`` to modify, ``r1`` to rename. ``long``: its dictionary information does not fit into a page; else
    that is drawn.
    """
    common = [
        Column("id", "int NOT NULL", "i"),
        Column("s", "varchar(10) NOT NULL", "concat('s', i % 3)"),
        Column("d1", "int DEFAULT 3", "i"),
        Column("d2", "varchar(12) DEFAULT 'd'", "concat('d', i)"),
        Column("m1", "smallint NOT NULL DEFAULT 1", "i"),
        Column("r1", "char(3) COMMENT 'r'", "'r'"),
    ]
    room = min(shape.page_size, shape.block_size, _LARGEST) // 2 - _OVERHEAD
    drawn = list(columns(draw, room, shape.row_format, spatial=not shape.partitioned, has=has))
    if draw.chance(1, 8) or long:
        drawn += _long_comments(draw, shape.page_size)
    together = common + drawn
    parts = [f"{column.name} {column.definition}" for column in together]
    parts += _generated(draw)
    keys = list(_keys(draw, shape, together, has))
    parts += keys
    if draw.chance(1, 4) and has("statement DROP CHECK"):
        enforced = draw.choice(("", " NOT ENFORCED"))
        parts.append(f"CONSTRAINT `{name} positive` CHECK (id > -5 and s <> 'it''s\\\\'){enforced}")
    if not shape.partitioned and draw.chance(1, 6):
        parts.append(f"CONSTRAINT {name}_parent FOREIGN KEY (m1) REFERENCES parent (id) {draw.choice(_RULES)}")
    options = " ".join(_table_options(draw, shape, tablespace))
    return f"CREATE TABLE {name} (\n  {', '.join(parts)}\n) {options}{_partitions(draw, shape, keys)}", together


_RULES: Final = ("", "ON DELETE CASCADE", "ON UPDATE RESTRICT ON DELETE NO ACTION")


def _long_comments(draw: Draw, page_size: int) -> Iterator[Column]:
    """Columns whose comments make the dictionary information longer than half a page."""
    for number in range(page_size * 3 // 4 // 700 + 1):
        yield Column(f"l{number}", f"tinyint COMMENT '{comment(draw, 900)}'", "NULL")


def _generated(draw: Draw) -> Iterator[str]:
    if draw.chance(1, 3):
        yield "v1 int GENERATED ALWAYS AS (id + 1) VIRTUAL"
    if draw.chance(1, 4):
        yield "v2 varchar(30) CHARACTER SET utf8mb4 AS (concat(id, 'it''s \\\\', 'é')) VIRTUAL COMMENT 'v'"
    if draw.chance(1, 4):
        yield "v3 varchar(30) CHARACTER SET latin1 GENERATED ALWAYS AS (upper(d2)) STORED"


def _keys(draw: Draw, shape: Shape, together: list[Column], has: Has) -> Iterator[str]:
    primary = draw.choice(("id, s", "s, id DESC", "s(2), id")) if not shape.partitioned else "id, s"
    if draw.chance(7, 8):
        yield f"PRIMARY KEY ({primary})"
    if draw.chance(1, 3):
        yield "UNIQUE KEY u1 (id, s) COMMENT 'unique'"
    if draw.chance(1, 3):
        yield "KEY k1 (m1 DESC, id) USING BTREE"
    if draw.chance(1, 5):
        yield f"KEY k2 ({_PREFIX}, m1) INVISIBLE"
    if draw.chance(1, 4):
        yield "KEY functional ((id * 2), (lower(s)) DESC)"
    json = next((column.name for column in together if column.definition.startswith("json")), None)
    if json and draw.chance(1, 2) and has("statement ARRAY"):
        yield f"KEY multi ((CAST({json}->'$.a' AS UNSIGNED ARRAY)))"


def _table_options(draw: Draw, shape: Shape, tablespace: str) -> Iterator[str]:
    if shape.format == PAGE_COMPRESSION:
        yield f"COMPRESSION='{draw.choice(('zlib', 'lz4'))}'"
    elif shape.format == "COMPRESSED":
        yield f"ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE={shape.block_size // 1024}"
    elif shape.format != "DYNAMIC" or draw.chance(1, 2):
        yield f"ROW_FORMAT={shape.format}"
    if shape.place != OWN:
        yield f"TABLESPACE={tablespace if shape.place == GENERAL else 'innodb_system'}"
    for option in draw.sample(_OPTIONS, draw.below(3)):
        if not option.startswith("AUTOEXTEND") or (shape.place == OWN and shape.page_size <= _LARGEST):
            yield option
    yield draw.choice(_CHARSETS)


def _partitions(draw: Draw, shape: Shape, keys: Sequence[str]) -> str:
    """KEY () needs a unique key, and is refused if any key has a prefix of a column (9.7.4, errors 1488 and 6123)."""
    if not shape.partitioned:
        return ""
    if draw.chance(1, 3):
        text = draw.choice((*_SUBPARTITIONED, _NAMED))
        return f"\nPARTITION BY {text.format(sub=f'SUBPARTITION BY {draw.choice(_SUB)}')}"
    text = draw.choice(_PARTITIONED)
    fits = any(key.startswith(("PRIMARY", "UNIQUE")) for key in keys) and not any(_PREFIX in key for key in keys)
    if not fits:
        text = text.replace(_BY_PRIMARY, "KEY (s)")
    return f"\nPARTITION BY {text}"
