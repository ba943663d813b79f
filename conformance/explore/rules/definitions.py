"""Rules for triggers, views, routines, ALTER TABLE on tables with rows, and settings of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.rules.expressions import assigned, partial_call
from conformance.explore.rules.tables import PlainColumn, Table, index_definition
from conformance.explore.steps import CLOSE, OPEN, PURGE, RESTART, Step
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from generators.draw import Draw

AUDIT: Final = Step("CREATE TABLE audit (what VARCHAR(20), id INT, d JSON)", "create-audit")


def objects(draw: Draw, table: Table, tables: list[Table]) -> Iterator[Step]:
    """Triggers, a view and a routine of a table, some of them."""
    j = table.json[0]
    if draw.chance(1, 3):
        for timing, event in draw.sample(
            [(t, e) for t in ("BEFORE", "AFTER") for e in ("INSERT", "UPDATE", "DELETE")], draw.integer(1, 3)
        ):
            yield _trigger(draw, table, tables, timing, event)
    if draw.chance(1, 3):
        table.view = f"v_{table.name}"
        check = draw.choice(("", " WITH CHECK OPTION"))
        hidden = [*table.json, *(plain.name for plain in table.plain), *(name for name, _ in table.generated)]
        yield Step(
            f"CREATE VIEW {table.view} AS SELECT id, {', '.join(hidden)} FROM {table.name} WHERE id > 0{check}",
            "create-view", features=("view",),
        )  # fmt: skip
    last = table.json[-1]
    by_variable = (
        f"BEGIN DECLARE d JSON; SELECT MIN({last}->'$.a') INTO d FROM {table.name} WHERE id > k; "
        f"UPDATE {table.name} SET {last} = {OPEN}JSON_SET({last}, '$.b', d, '$.c', v){CLOSE} WHERE id = k; "
        f"UPDATE {table.name} SET {j} = {OPEN}JSON_REMOVE({j}, '$.a'){CLOSE} WHERE id = k + 1; END"
    )
    in_a_loop = (
        "BEGIN DECLARE n INT DEFAULT 0; WHILE n < 3 DO "
        f"UPDATE {table.name} SET {j} = {OPEN}JSON_SET({j}, CONCAT('$.arr[', n, ']'), v){CLOSE} WHERE id = k + n; "
        "SET n = n + 1; END WHILE; END"
    )
    at_once = f"UPDATE {table.name} SET {j} = {OPEN}JSON_SET({j}, '$.a', v, '$.b', k){CLOSE} WHERE id IN (k, k + 1)"
    body = draw.choice((at_once, at_once, by_variable, in_a_loop))
    yield Step(
        f"CREATE PROCEDURE change_{table.name} (k INT, v JSON) {body}",
        "create-procedure", features=("routine",),
    )  # fmt: skip
    if table.engine == "InnoDB":  # other rows would stay changed
        yield Step(
            f"CREATE FUNCTION stop_{table.name} (k INT, n INT) RETURNS INT DETERMINISTIC NO SQL BEGIN "
            "IF k = n THEN KILL QUERY CONNECTION_ID(); END IF; RETURN k; END",
            "create-function", features=("function that kills",),
        )  # fmt: skip
    yield Step(
        f"CREATE FUNCTION touch_{table.name} (k INT) RETURNS INT MODIFIES SQL DATA BEGIN "
        f"UPDATE {table.name} SET {j} = {OPEN}JSON_SET({j}, '$.c', k){CLOSE} WHERE id = k; RETURN k; END",
        "create-function", features=("function",),
    )  # fmt: skip


def _trigger(draw: Draw, table: Table, tables: list[Table], timing: str, event: str) -> Step:
    row = "OLD" if event == "DELETE" else "NEW"
    j = draw.choice(table.json)
    others = [one for one in tables if one is not table and not one.parent]
    bodies = [f"INSERT INTO audit VALUES ('{timing} {event}', {row}.id, {row}.{j}->'$.a')"]
    if timing == "BEFORE" and event != "DELETE":
        value = draw.choice((f"{OPEN}{partial_call(draw, f'NEW.{j}')}{CLOSE}", f"JSON_INSERT(NEW.{j}, '$.t', 1)"))
        bodies.append(f"SET NEW.{j} = {value}")
        bodies += [f"SET NEW.{plain.name} = {plain.values[0]}" for plain in table.plain[:1]]
        bodies += [f"SET NEW.{one} = NEW.{j}, NEW.{j} = JSON_REMOVE(NEW.{j}, '$.b')" for one in table.json[1:2]]
    if others:
        other = draw.choice(others)
        o = other.json[0]
        bodies.append(f"UPDATE {other.name} SET {o} = {OPEN}JSON_SET({o}, '$.a', {row}.id){CLOSE} WHERE id = {row}.id")
    if others and draw.chance(1, 4):
        bodies = [f"BEGIN {'; '.join(draw.sample(bodies, 2))}; END"]
    shape = f"trigger/{timing.lower()}-{event.lower()}"
    return Step(
        f"CREATE TRIGGER {table.fresh('g_' + table.name)} {timing} {event} ON {table.name} "
        f"FOR EACH ROW {draw.choice(bodies)}",
        "create-trigger", features=(shape,),
    )  # fmt: skip


def alter(draw: Draw, table: Table) -> Step:
    """DDL on a table that holds rows. If it succeeds, :func:`learnt` tells the rules how the table changed."""
    j = draw.choice(table.json)
    name, new = table.name, table.fresh("n")
    kinds = [
        (f"ALTER TABLE {name} ADD COLUMN {new} INT DEFAULT 5, ALGORITHM=INSTANT", "alter/add-instant"),
        (f"ALTER TABLE {name} ADD COLUMN {new} JSON", "alter/add-json"),
        (f"ALTER TABLE {name} ADD COLUMN {new} JSON DEFAULT (JSON_OBJECT('a', 1)) AFTER {j}", "alter/add-json-default"),
        (f"ALTER TABLE {name} ADD COLUMN {new} VARCHAR(30) DEFAULT 'd' FIRST", "alter/add-first"),
        (f"ALTER TABLE {name} ADD COLUMN {new} VARCHAR(50) AS (LEFT({j}->>'$.a', 50)) VIRTUAL", "alter/add-virtual"),
        (f"ALTER TABLE {name} ADD COLUMN {new} VARCHAR(50) AS (LEFT({j}->>'$.b', 50)) STORED", "alter/add-stored"),
        (f"ALTER TABLE {name} FORCE", "alter/rebuild"),
        (
            f"ALTER TABLE {name} MODIFY {j} JSON{draw.choice((' FIRST', ' COMMENT {0}x{0}'.format(chr(39))))}",
            "alter/modify-json",
        ),
        (f"OPTIMIZE TABLE {name}", "optimize"),
        (f"ANALYZE TABLE {name}", "analyze"),
        (f"ALTER TABLE {name} ROW_FORMAT={draw.choice(('DYNAMIC', 'COMPACT', 'REDUNDANT'))}", "alter/row-format"),
        (f"ALTER TABLE {name} ENGINE=InnoDB, ALGORITHM=COPY", "alter/copy"),
        (f"ALTER TABLE {name} COMMENT 'x{new}'", "alter/comment"),
    ]
    if table.indexes:
        kinds.append((f"ALTER TABLE {name} DROP INDEX {draw.choice(table.indexes)}", "alter/drop-index"))
    definition = index_definition(draw, table)
    if definition is not None:
        kinds += [(f"ALTER TABLE {name} ADD {definition[0]}", "alter/add-index")] * 3
    dropped = [plain.name for plain in table.plain]
    if dropped:
        kinds += [
            (f"ALTER TABLE {name} DROP COLUMN {draw.choice(dropped)}", "alter/drop-column"),
            (f"ALTER TABLE {name} DROP COLUMN {draw.choice(dropped)}, ALGORITHM=INSTANT", "alter/drop-instant"),
        ]
    if table.partitions.startswith("RANGE (id) (") and table.rows:
        kinds += [
            ((f"ALTER TABLE {name} REORGANIZE PARTITION p0, p1 INTO (PARTITION p0 VALUES LESS THAN (5), "
             "PARTITION p1 VALUES LESS THAN (20))"), "alter/reorganize"),
            (f"ALTER TABLE {name} REBUILD PARTITION p0", "alter/rebuild-partition"),
            (f"ALTER TABLE {name} TRUNCATE PARTITION p2", "alter/truncate-partition"),
        ]  # fmt: skip
    elif table.partitions.startswith(("HASH", "KEY")):
        kinds += [
            (f"ALTER TABLE {name} ADD PARTITION PARTITIONS 1", "alter/add-partition"),
            (f"ALTER TABLE {name} COALESCE PARTITION 1", "alter/coalesce"),
        ]
    text, shape = draw.choice(kinds)
    return Step(text, shape)


def exchange(draw: Draw, table: Table) -> list[Step]:
    """The steps that exchange a partition for a table of the same columns, which has some rows of its own."""
    if "(PARTITION p0" not in table.partitions or "SUBPARTITION" in table.partitions:
        return []
    with_or_without = draw.choice(("WITH", "WITHOUT"))
    return [
        Step("DROP TABLE IF EXISTS exchanged", "drop-table"),
        Step(f"CREATE TABLE exchanged LIKE {table.name}", "create-table-like"),
        Step("ALTER TABLE exchanged REMOVE PARTITIONING", "alter/remove-partitioning"),
        Step(
            f"ALTER TABLE {table.name} EXCHANGE PARTITION p0 WITH TABLE exchanged {with_or_without} VALIDATION",
            "alter/exchange",
        ),
        Step(
            f"UPDATE exchanged SET {table.json[0]} = {OPEN}JSON_SET({table.json[0]}, '$.a', 1){CLOSE}",
            "update-exchanged",
        ),
        Step(f"ALTER TABLE {table.name} EXCHANGE PARTITION p0 WITH TABLE exchanged", "alter/exchange"),
    ]


def locked(draw: Draw, table: Table) -> list[Step]:
    """The steps that change a table under LOCK TABLES; what it leads to by triggers and keys is locked with it."""
    j = draw.choice(table.json)
    return [
        Step(f"LOCK TABLES {table.name} WRITE", "lock-tables"),
        Step(f"UPDATE {table.name} SET {j} = {assigned(draw, j, table.columns)} WHERE id > 1", "update-locked"),
        Step("UNLOCK TABLES", "unlock-tables"),
    ]


def learnt(table: Table, text: str) -> None:
    """Change the rules' description of a table as its ALTER TABLE did."""
    words = text.replace(",", "").split()
    if " DROP COLUMN " in text:
        table.plain = [plain for plain in table.plain if plain.name != words[5]]
        table.view = ""  # it names the column
    elif " DROP INDEX " in text:
        table.indexes.remove(words[-1])
    elif " INDEX " in text:
        table.indexes.append(text.split("INDEX ")[1].split(" ", maxsplit=1)[0])
    elif " ADD COLUMN " in text:
        name, kind = words[5], words[6]
        if kind == "JSON":
            table.json.append(name)
        elif text.endswith(("VIRTUAL", "STORED")):
            table.generated.append((name, kind))
        else:
            table.plain.append(PlainColumn(name, kind, ("1", "'2'", "NULL")))


_SETTINGS: Final = mix(
    ("binlog_row_image = {image}", 8), ("binlog_row_value_options = {options}", 5),
    ("binlog_transaction_compression = {switch}", 3), ("binlog_rows_query_log_events = {switch}", 2),
    ("sql_mode = {mode}", 3), ("time_zone = {zone}", 2), ("optimizer_switch = {optimizer}", 3),
    ("transaction_isolation = {isolation}", 2), ("sql_generate_invisible_primary_key = {switch}", 1),
    ("foreign_key_checks = {switch}", 1), ("binlog_format = {format}", 1),
    ("big_tables = {switch}", 1), ("sort_buffer_size = {buffer}", 1), ("max_sort_length = {length}", 1),
    ("join_buffer_size = {buffer}", 1), ("session_track_gtids = 'OWN_GTID'", 1),
    ("tmp_table_size = {table}", 1), ("binlog_transaction_compression_level_zstd = {level}", 1),
    ("innodb_strict_mode = {switch}", 1), ("read_buffer_size = {buffer}", 1),
    ("explicit_defaults_for_timestamp = {switch}", 1),
)  # fmt: skip
_CHOICES: Final = {
    "image": ("'FULL'", "'MINIMAL'", "'NOBLOB'", "'FULL'"),
    "options": ("'PARTIAL_JSON'", "'PARTIAL_JSON'", "'PARTIAL_JSON'", "''"),
    "switch": ("ON", "OFF"),
    "mode": ("DEFAULT", "''", "'STRICT_TRANS_TABLES'", "'ANSI_QUOTES'", "'PAD_CHAR_TO_FULL_LENGTH'"),
    "zone": ("'+00:00'", "'+05:30'", "'-11:00'"),
    "optimizer": ("'default'", "'derived_merge=off'", "'index_merge=off'", "'mrr_cost_based=off'",
                  "'block_nested_loop=off'", "'use_index_extensions=off'", "'prefer_ordering_index=off'",
                  "'subquery_to_derived=on'", "'index_condition_pushdown=off'", "'condition_fanout_filter=off'",
                  "'materialization=off'", "'mrr=on,mrr_cost_based=off'", "'batched_key_access=on'",
                  "'use_invisible_indexes=on'"),
    "isolation": ("'REPEATABLE-READ'", "'READ-COMMITTED'", "'SERIALIZABLE'"),
    "format": ("'ROW'", "'ROW'", "'MIXED'"),
    "buffer": ("DEFAULT", "262144"),
    "table": ("DEFAULT", "1024"),
    "level": ("1", "10"),
    "length": ("DEFAULT", "16", "64"),
}  # fmt: skip


_SERVER: Final = ("restart", "purge", "metadata", "checksum", "flush")


def setting(draw: Draw) -> Step:
    """A session option that changes between statements."""
    text = draw.choice(_SETTINGS)
    name = text.split(" ")[0]
    values = {key: draw.choice(choices) for key, choices in _CHOICES.items() if f"{{{key}}}" in text}
    return Step(f"SET SESSION {text.format(**values)}", f"setting/{name}")


def server(draw: Draw, *, restarts: bool) -> Step:
    """A statement about the whole server, a setting of it, or another act of an administrator.

    ``restarts``: whether it has replicas that may restart.
    """
    kind = draw.choice(_SERVER if restarts else _SERVER[1:])
    if kind == "restart":
        return Step(f"{RESTART}{draw.choice((1, 2, 3, 8, 16))}", "restart-replica", alone=True)
    if kind == "purge":
        return Step(PURGE, "purge", alone=True)
    if kind == "metadata":
        value = draw.choice(("FULL", "MINIMAL"))
        return Step(f"SET GLOBAL binlog_row_metadata = '{value}'", "setting/binlog_row_metadata", alone=True)
    if kind == "checksum":
        value = draw.choice(("CRC32", "NONE"))
        return Step(f"SET GLOBAL binlog_checksum = '{value}'", "setting/binlog_checksum", alone=True)
    return Step(draw.choice(("FLUSH LOGS", "FLUSH TABLES", "FLUSH STATUS", "FLUSH BINARY LOGS")), "flush")
