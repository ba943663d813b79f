"""Tables with features in combination, as their CREATE statements and what later rules must know of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.explore.rules.documents import document_sql
from conformance.explore.steps import Step
from generators.draw import mix

if TYPE_CHECKING:
    from generators.draw import Draw


@dataclass(frozen=True, slots=True)
class PlainColumn:
    """A column that is neither JSON nor generated. ``values``: literals that fit it."""

    name: str
    type: str
    values: tuple[str, ...]


@dataclass(slots=True)
class Table:
    """A table as the rules know it. ``unique``: no two rows share an ``id``; ``rows``: keys go up to about this."""

    name: str
    json: list[str]
    plain: list[PlainColumn] = field(default_factory=list)
    generated: list[tuple[str, str]] = field(default_factory=list)  # name, expression
    indexes: list[str] = field(default_factory=list)
    unique: bool = True
    partitions: str = ""
    engine: str = "InnoDB"
    parent: str = ""
    view: str = ""
    stored: list[str] = field(default_factory=list)  # generated columns with texts that a FULLTEXT index may have
    last: Step | None = None  # the update of it that was drawn last
    joined: str = ""  # a view of this table and another one
    features: list[str] = field(default_factory=list)
    rows: int = 0
    serial: int = 0

    def named(self, column: str) -> bool:
        """Whether it has this plain column."""
        return any(plain.name == column for plain in self.plain)

    @property
    def columns(self) -> list[str]:
        """The columns whose values a JSON function may take; the first ones are JSON."""
        return [*self.json, *(plain.name for plain in self.plain), *(name for name, _ in self.generated)]

    def fresh(self, word: str) -> str:
        """A name that this table has not used yet."""
        self.serial += 1
        return f"{word}{self.serial}"


_PLAIN: Final = (
    ("INT", ("0", "1", "-5", "7", "NULL")),
    ("VARCHAR(40)", ("'a'", "'abc'", "'zz top'", "NULL", "'é'")),
    ("BIGINT UNSIGNED", ("0", "18446744073709551615", "5", "NULL")),
    ("DECIMAL(12,3)", ("1.5", "-0.125", "NULL", "99999.999")),
    ("DOUBLE", ("0.5", "-1e100", "NULL", "3")),
    ("DATETIME(6)", ("'2024-02-29 01:02:03.000004'", "NULL", "'1999-12-31'")),
    ("TIMESTAMP(3) NULL", ("'2024-02-29 01:02:03.004'", "NULL", "'2001-01-01'")),
    ("DATE", ("'2024-02-29'", "NULL")),
    ("TIME(2)", ("'-12:30:00.25'", "'800:00:00'", "NULL")),
    ("YEAR", ("1999", "NULL", "2155")),
    ("ENUM('x','y','z')", ("'x'", "'z'", "NULL")),
    ("SET('p','q','r')", ("'p,r'", "''", "NULL")),
    ("BIT(9)", ("b'101'", "511", "NULL")),
    ("VARBINARY(30)", ("x'00ff'", "'ab'", "NULL")),
    ("CHAR(10) CHARACTER SET latin1", ("'a'", "'b '", "NULL")),
    ("TEXT", ("'text'", "REPEAT('t', 9000)", "NULL", "'a b c'")),
    ("BLOB", ("x'00'", "REPEAT('b', 500)", "NULL")),
    ("FLOAT", ("0.5", "-2", "NULL")),
    ("TINYINT", ("1", "-128", "NULL")),
    ("MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", ("'m'", "REPEAT('é', 300)", "NULL")),
    ("POINT", ("POINT(1, 2)", "NULL")),
    ("SMALLINT UNSIGNED", ("0", "65535", "NULL")),
    ("MEDIUMINT NOT NULL DEFAULT 4", ("-8388608", "8388607", "4")),
    ("BINARY(6)", ("x'00ff'", "'abcdef'", "NULL")),
    ("LONGTEXT", ("'long'", "REPEAT('l', 20000)", "NULL")),
    ("TINYBLOB", ("x'00'", "''", "NULL")),
    ("MEDIUMBLOB", ("x'00'", "REPEAT('m', 70000)", "NULL")),
    ("LINESTRING", ("LINESTRING(POINT(0, 0), POINT(1, 2))", "NULL")),
    ("VARCHAR(60) COLLATE utf8mb4_0900_as_cs NOT NULL DEFAULT ''", ("'A'", "'a'", "'ü'")),
    ("CHAR(3) CHARACTER SET utf16", ("'a'", "'xyz'", "NULL")),
)  # fmt: skip
_GENERATED: Final = (
    ("VARCHAR(64)", "LEFT({j}->>'$.a', 64)"),
    ("INT", "JSON_LENGTH({j})"),
    ("JSON", "JSON_EXTRACT({j}, '$.b')"),
    ("VARCHAR(20)", "JSON_TYPE({j}->'$.c')"),
    ("INT", "JSON_DEPTH({j})"),
    ("JSON", "JSON_SET({j}, '$.a', 1)"),
    ("BIGINT", "CRC32(LEFT({j}, 100))"),
    ("VARCHAR(100)", "LEFT(JSON_UNQUOTE(JSON_KEYS({j})), 100)"),
    ("TEXT", "JSON_UNQUOTE({j}->'$.b')"),
    ("DOUBLE", "JSON_VALUE({j}, '$.a' RETURNING DOUBLE NULL ON EMPTY NULL ON ERROR)"),
    ("TINYINT", "JSON_CONTAINS_PATH({j}, 'one', '$.arr', '$.b')"),
    ("VARCHAR(80)", "CONCAT_WS('/', LEFT({j}->>'$.a', 30), LEFT({other}->>'$.b', 30))"),
    ("JSON", "JSON_ARRAY({j}->'$.a', {other}->'$.c')"),
    ("BINARY(16)", "UNHEX(MD5({j}))"),
    ("JSON", "JSON_REMOVE({j}, '$.pad')"),
)
_FUNCTIONAL: Final = (
    "(CAST(LEFT({j}->>'$.a', 40) AS CHAR(40)))", "(JSON_LENGTH({j}))",
    "(CAST(LEFT({j}->>'$.b', 50) AS CHAR(50)) ) DESC",
    "(JSON_TYPE({j}->'$.c')), id", "(SHA2({j}, 256))", "(JSON_VALUE({j}, '$.a' RETURNING SIGNED))",
    "id DESC, (JSON_DEPTH({j})), (JSON_LENGTH({j}))", "(LEFT(CONCAT({j}->>'$.a', {other}->>'$.a'), 60))",
    "(JSON_CONTAINS_PATH({j}, 'one', '$.c')), (CAST({j}->>'$.b' AS CHAR(10)))",
)  # fmt: skip
_MULTI_VALUED: Final = (
    "(CAST({j}->'$.arr' AS UNSIGNED ARRAY))", "(CAST({j}->'$.arr' AS CHAR(20) ARRAY))",
    "id, (CAST({j}->'$.arr' AS SIGNED ARRAY))", "(CAST({j}->'$.arr' AS DECIMAL(10,2) ARRAY)), id",
    "(CAST({j}->'$.arr' AS BINARY(12) ARRAY))", "(CAST({j}->'$.arr[*]' AS UNSIGNED ARRAY)), (JSON_LENGTH({j}))",
)  # fmt: skip
_UNIQUE: Final = ("(JSON_LENGTH({j}))", "(CAST({j}->'$.arr' AS UNSIGNED ARRAY))", "(LEFT({j}->>'$.a', 40))")
_PARTITIONS: Final = (
    "HASH (id) PARTITIONS 3", "KEY (id) PARTITIONS 2", "LINEAR HASH (id) PARTITIONS 4",
    ("RANGE (id) (PARTITION p0 VALUES LESS THAN (8), PARTITION p1 VALUES LESS THAN (20), "
    "PARTITION p2 VALUES LESS THAN MAXVALUE)"),
    "LIST (id % 3) (PARTITION p0 VALUES IN (0), PARTITION p1 VALUES IN (1), PARTITION p2 VALUES IN (2, -1, -2))",
    "RANGE COLUMNS (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (MAXVALUE))",
    ("RANGE (id) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (12), "
    "PARTITION p1 VALUES LESS THAN MAXVALUE)"),
    ("LIST COLUMNS (id) SUBPARTITION BY KEY (id) SUBPARTITIONS 2 (PARTITION p0 VALUES IN (1, 2, 3, 4, 5), "
    "PARTITION p1 VALUES IN (6, 7, 8, 9, 10, 11, 12, 13, 14, 15))"),
    "LINEAR KEY (id) PARTITIONS 3",
)  # fmt: skip
# A row moves to another partition when the column of these changes.
_MOVING: Final = (
    "HASH (part) PARTITIONS 3", "LIST (part) (PARTITION p0 VALUES IN (0, 2, 4), PARTITION p1 VALUES IN (1, 3))",
    "RANGE (part) (PARTITION p0 VALUES LESS THAN (2), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "KEY (part) PARTITIONS 4",
    ("RANGE COLUMNS (part) SUBPARTITION BY HASH (part) SUBPARTITIONS 3 (PARTITION p0 VALUES LESS THAN (3), "
    "PARTITION p1 VALUES LESS THAN (MAXVALUE))"),
)  # fmt: skip
_KEYS: Final = mix(
    ("primary", 10),
    ("auto", 4),
    ("unique", 3),
    ("composite", 2),
    ("none", 3),
    ("generated", 2),
    ("invisible", 1),
    ("moving", 2),
    ("moving-none", 1),
)
_CHECKS: Final = (
    "JSON_VALID({j})", 'JSON_SCHEMA_VALID(\'{{"type": ["object", "array", "null", "number", "string"]}}\', {j})',
    "JSON_SCHEMA_VALID('{{\"type\": \"object\"}}', {j}) OR id % 2 = 0", "JSON_DEPTH({j}) < 12",
)  # fmt: skip


def draw_table(draw: Draw, name: str, others: list[Table]) -> tuple[Table, Step]:
    """A table and its CREATE TABLE. ``others``: tables that it may refer to."""
    table = Table(name, ["j", "doc", "j3", "j4", "j5"][: draw.choice((1, 1, 1, 2, 2, 2, 3, 5))])
    key = draw.choice(_KEYS)
    lines = [_id_column(key, table)]
    for at, number in enumerate(draw.sample(range(len(_PLAIN)), draw.choice((0, 1, 1, 2, 3, 5)))):
        kind, values = _PLAIN[number]
        table.plain.append(PlainColumn(f"c{at}", kind, values))
        lines.append(f"c{at} {kind}")
    for column in table.json:
        lines.insert(draw.integer(1, len(lines)), f"{column} JSON{_json_attributes(draw, table)}")
    _generated(draw, table, lines)
    if key == "composite":
        lines.append("PRIMARY KEY (id, k2)")
    options = _engine(draw, table)
    if key.startswith("moving"):
        table.plain.append(PlainColumn("part", "INT NOT NULL", ("0", "1", "2", "3", "4")))
        lines.append("part INT NOT NULL DEFAULT 0")
        if key == "moving":
            lines.append("PRIMARY KEY (id, part)")
        if table.engine == "InnoDB":
            table.partitions = draw.choice(_MOVING)
            table.features.append("partitioned/by a column that changes")
            options += f" PARTITION BY {table.partitions}"
    elif table.engine == "InnoDB" and draw.chance(1, 5) and key != "none":
        table.partitions = draw.choice(_PARTITIONS)
        table.features.append(f"partitioned/{table.partitions.split(' ')[0].lower()}")
        options += f" PARTITION BY {table.partitions}"
    _secondary_indexes(draw, table, lines)
    if draw.chance(1, 6):
        lines.append(f"CONSTRAINT {name}_check CHECK ({draw.choice(_CHECKS).format(j=table.json[0])})")
        table.features.append("check")
    _foreign_key(draw, table, lines, others)
    if draw.chance(1, 12):
        lines.append("hidden INT INVISIBLE DEFAULT 7")
        table.features.append("invisible-column")
    return table, Step(
        f"CREATE TABLE {name} ({', '.join(lines)}){options}", "create-table", features=(*table.features,)
    )


def _id_column(key: str, table: Table) -> str:
    table.features.append(f"key/{key}")
    if key in ("none", "generated", "moving", "moving-none"):
        table.unique = False
        return "id INT NOT NULL"
    return {
        "primary": "id INT PRIMARY KEY",
        "auto": "id INT AUTO_INCREMENT PRIMARY KEY",
        "unique": "id INT NOT NULL UNIQUE",
        "composite": "id INT NOT NULL UNIQUE, k2 INT NOT NULL DEFAULT 3",
        "invisible": "id INT INVISIBLE NOT NULL PRIMARY KEY",
    }[key]


def _json_attributes(draw: Draw, table: Table) -> str:
    choice = draw.choice(mix(("", 8), (" NOT NULL", 2), (" DEFAULT (JSON_OBJECT('a', 1))", 2), (" INVISIBLE", 1)))
    if choice:
        table.features.append("json" + choice.split(" (")[0].lower().replace(" ", "-"))
    return choice


def _generated(draw: Draw, table: Table, lines: list[str]) -> None:
    for at in range(draw.choice((0, 0, 1, 1, 2, 3))):
        kind, text = draw.choice(_GENERATED)
        expression = text.format(j=draw.choice(table.json), other=draw.choice(table.json))
        storage = draw.choice(("VIRTUAL", "STORED"))
        table.generated.append((f"g{at}", kind))
        table.features.append(f"generated/{storage.lower()}")
        if storage == "STORED" and kind.startswith(("TEXT", "VARCHAR")):
            table.stored.append(f"g{at}")
        lines.insert(draw.integer(1, len(lines)), f"g{at} {kind} AS ({expression}) {storage}")
    if table.generated and draw.chance(1, 5):  # one of another one
        name, kind = table.generated[-1]
        storage = draw.choice(("VIRTUAL", "STORED"))
        table.generated.append(("gg", "INT"))
        table.features.append("generated/of a generated column")
        lines.append(f"gg INT AS ({'JSON_LENGTH' if kind == 'JSON' else 'LENGTH'}({name})) {storage}")


def _engine(draw: Draw, table: Table) -> str:
    choice = draw.choice(
        mix(("", 12), (" ROW_FORMAT=COMPACT", 1), (" ROW_FORMAT=REDUNDANT", 1), (" ROW_FORMAT=COMPRESSED", 1),
            (" COMPRESSION='zlib'", 1), (" COMPRESSION='lz4'", 1), (" ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4", 1),
            (" STATS_PERSISTENT=0", 1), (" ENGINE=MyISAM", 1))
    )  # fmt: skip
    if choice:
        table.features.append(choice.strip().lower())
    if "MyISAM" in choice:
        table.engine = "MyISAM"
    return choice


def index_definition(draw: Draw, table: Table) -> tuple[str, str] | None:
    """A secondary index as a clause, and its feature."""
    name, j = table.fresh("i"), draw.choice(table.json)
    kind = draw.choice(
        mix(("functional", 4), ("multi-valued", 4), ("generated", 3), ("plain", 3), ("fulltext", 2), ("unique", 1))
    )
    if kind == "functional":
        text = f"INDEX {name} ({draw.choice(_FUNCTIONAL).format(j=j, other=draw.choice(table.json))})"
    elif kind == "unique":
        text = f"UNIQUE INDEX {name} (id, {draw.choice(_UNIQUE).format(j=j)}{', part' * (table.named('part'))})"
    elif kind == "multi-valued":
        if table.engine != "InnoDB":
            return None
        text = f"INDEX {name} ({draw.choice(_MULTI_VALUED).format(j=j)})"
    elif kind == "generated":
        usable = [column for column, type_ in table.generated if type_ not in ("JSON", "TEXT")]
        usable += [f"{column}(20)" for column, type_ in table.generated if type_ == "TEXT"]
        if not usable:
            return None
        chosen = draw.sample(usable, draw.integer(1, len(usable)))
        if draw.chance(1, 4):
            chosen = [f"{column}{draw.choice(('', ' DESC'))}" for column in (*chosen, "id")]
        text = f"INDEX {name} ({', '.join(chosen)})"
    else:
        texts = [column.name for column in table.plain if "TEXT" in column.type or "CHAR" in column.type]
        numbers = [column.name for column in table.plain if column.type in ("INT", "DATE", "YEAR", "TINYINT")]
        if kind == "fulltext":
            texts += table.stored
            if not texts or table.partitions:
                return None
            text = f"FULLTEXT INDEX {name} ({draw.choice(texts)})"
        elif numbers:
            text = f"INDEX {name} ({', '.join(numbers)})"
        elif texts:
            text = f"INDEX {name} ({texts[0]}(10))"
        else:
            return None
    return text, f"index/{kind}"


def _secondary_indexes(draw: Draw, table: Table, lines: list[str]) -> None:
    for _ in range(draw.choice((0, 1, 1, 2, 3))):
        definition = index_definition(draw, table)
        if definition is not None:
            lines.append(definition[0])
            table.indexes.append(definition[0].split("INDEX ")[1].split(" ")[0])
            table.features.append(definition[1])


def _foreign_key(draw: Draw, table: Table, lines: list[str], others: list[Table]) -> None:
    parents = [one for one in others if one.unique and not one.partitions and one.engine == "InnoDB"]
    if not parents or table.partitions or table.engine != "InnoDB" or not draw.chance(1, 3):
        return
    parent = draw.choice(parents)
    action = draw.choice(("CASCADE", "SET NULL", "RESTRICT"))
    lines.append("parent_id INT")
    lines.append(
        f"CONSTRAINT {table.name}_parent FOREIGN KEY (parent_id) REFERENCES {parent.name} (id) "
        f"ON DELETE {action} ON UPDATE {action}"
    )
    table.parent = parent.name
    table.features.append(f"foreign-key/{action.lower().replace(' ', '-')}")


def row_values(draw: Draw, table: Table, key: str) -> tuple[str, str]:
    """Columns and values of one row, as two lists in parentheses."""
    names, values = ["id"], [key]
    for column in table.json:
        names.append(column)
        values.append(document_sql(draw) if draw.chance(19, 20) else "NULL")
    for plain in table.plain:
        names.append(plain.name)
        values.append(draw.choice(plain.values))
    if table.parent:
        names.append("parent_id")
        values.append(draw.choice(("NULL", str(draw.integer(1, 12)))))
    return f"({', '.join(names)})", f"({', '.join(values)})"
