"""Statements that read and change rows: every access path, and every way to name the new value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.rules.documents import PATHS, document_sql
from conformance.explore.rules.expressions import assigned, condition
from conformance.explore.rules.joins import JOIN_RULES
from conformance.explore.rules.tables import Table, row_values
from conformance.explore.rules.values import sets_of, where_of
from conformance.explore.steps import CLOSE, OPEN, Step, quoted

if TYPE_CHECKING:
    from generators.draw import Draw


_HINTS: Final = ("FORCE INDEX", "USE INDEX", "IGNORE INDEX")


def insert(draw: Draw, table: Table, _: list[Table]) -> Step:
    """Some new rows, now and then with a key that exists."""
    columns, rows = "", []
    for _number in range(draw.choice((1, 1, 2, 4))):
        table.rows += 1
        key = draw.integer(1, table.rows) if draw.chance(1, 10) else table.rows
        columns, values = row_values(draw, table, str(key))
        rows.append(values)
    verb = draw.choice(("INSERT", "INSERT", "INSERT", "REPLACE", "INSERT IGNORE"))
    return Step(f"{verb} INTO {table.name} {columns} VALUES {', '.join(rows)}", verb.lower().replace(" ", "-"))


def insert_on_duplicate(draw: Draw, table: Table, _: list[Table]) -> Step:
    """INSERT … ON DUPLICATE KEY UPDATE with the old value, the new value, or both."""
    columns, values = row_values(draw, table, str(draw.integer(1, table.rows + 2)))
    j = draw.choice(table.json)
    new = draw.choice(("", "new", "values"))
    source = {"": j, "new": f"n.{j}", "values": f"VALUES({j})"}[new]
    alias = " AS n" if new == "new" else ""
    old = f"{table.name}.{j}"
    others = [f"{table.name}.{name}" for name in table.columns]
    value = assigned(draw, old, others, source=source if new and draw.chance(1, 2) else old)
    sets = [f"{j} = {value}"]
    sets += [
        f"{more} = {assigned(draw, f'{table.name}.{more}', others)}"
        for more in draw.sample(table.json, draw.integer(0, len(table.json) - 1))
        if more != j
    ]
    sets += [f"{plain.name} = {draw.choice(plain.values)}" for plain in table.plain if draw.chance(1, 6)]
    return Step(
        f"INSERT INTO {table.name} {columns} VALUES {values}{alias} ON DUPLICATE KEY UPDATE {', '.join(sets)}",
        "insert-on-duplicate-key",
    )


def insert_select(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """INSERT … SELECT from a table or from JSON_TABLE."""
    base, j = table.rows + 1, table.json[0]
    table.rows += 40
    if draw.chance(1, 3):
        rows = "[" + ", ".join(f'{{"a": {n}}}' for n in range(draw.integer(1, 4))) + "]"
        return Step(
            f"INSERT INTO {table.name} (id, {j}) SELECT {base} + n, JSON_OBJECT('a', a, 'arr', JSON_ARRAY(n, a)) "
            f"FROM JSON_TABLE({quoted(rows)}, '$[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a')) AS x",
            "insert-json-table",
        )
    other = draw.choice(tables)
    if draw.chance(1, 4) and table.unique and other.unique:
        path = quoted(draw.choice(PATHS))
        return Step(
            f"INSERT INTO {table.name} (id, {j}) SELECT * FROM (SELECT id, {other.json[0]} AS v FROM {other.name} "
            f"ORDER BY id LIMIT {draw.integer(1, 5)}) d ON DUPLICATE KEY UPDATE "
            f"{j} = {OPEN}JSON_SET({table.name}.{j}, {path}, d.v){CLOSE}",
            "insert-select-on-duplicate-key",
        )
    head = draw.choice(("INSERT", "INSERT", "REPLACE", "INSERT IGNORE"))
    return Step(
        f"{head} INTO {table.name} (id, {j}) SELECT {base} + id, JSON_SET({other.json[0]}, '$.a', id) "
        f"FROM {other.name} WHERE id BETWEEN 1 AND 30 AND {where_of(draw, other)} ORDER BY id",
        "insert-select",
    )


def update(draw: Draw, table: Table, _: list[Table]) -> Step:
    """UPDATE of one table, with ORDER BY and LIMIT where the order is total, by an index or in some partitions."""
    ignore = "IGNORE " if draw.chance(1, 12) else ""
    order, shape = "", "update"
    if table.unique and draw.chance(1, 5):
        j = draw.choice(table.json)
        first = draw.choice(
            ("", f"{j}->'$.a', ", f"JSON_LENGTH({j}) DESC, ", f"{j}, ", *(f"{name}, " for name, _ in table.generated))
        )
        order = f" ORDER BY {first}id{draw.choice(('', ' DESC'))} LIMIT {draw.integer(1, 5)}"
        shape = "update-order-limit"
    target = table.name
    if table.view and draw.chance(1, 2):
        target, shape = table.view, "update-view"
    elif table.indexes and draw.chance(1, 6):
        target, shape = f"{target} {_HINTS[draw.below(len(_HINTS))]} ({draw.choice(table.indexes)})", "update-by-index"
    elif "(PARTITION p0" in table.partitions and draw.chance(1, 6):
        target, shape = f"{target} PARTITION ({draw.choice(('p0', 'p1', 'p0, p1'))})", "update-partition"
    table.last = Step(
        f"UPDATE {ignore}{target} SET {sets_of(draw, table)} WHERE {where_of(draw, table)}{order}",
        "update-ignore" if ignore else shape,
    )
    return table.last


def update_again(_: Draw, table: Table, _tables: list[Table]) -> Step | None:
    """The last update of the table once more: much of it changes nothing now."""
    return table.last and Step(table.last.text, "update-again")


def update_key(draw: Draw, table: Table, _: list[Table]) -> Step:
    """The key changes together with a document: of one row, or of many in an order that keeps them apart."""
    j = draw.choice(table.json)
    value = assigned(draw, j, table.columns)
    if draw.chance(1, 5):
        by = draw.integer(1, 4)
        where = f"id > {draw.integer(1, max(1, table.rows))}"
        table.rows += by
        return Step(
            f"UPDATE {table.name} SET id = id + {by}, {j} = {value} WHERE {where} ORDER BY id DESC", "update-keys"
        )
    where = f"id = {draw.integer(1, table.rows + 1)}"
    table.rows += 1
    return Step(f"UPDATE {table.name} SET id = {table.rows}, {j} = {value} WHERE {where}", "update-key")


def temporary(draw: Draw, table: Table, _: list[Table]) -> Step:
    """A temporary table with documents of this one, its updates, and its end. No log has them."""
    j = draw.choice(table.json)
    kind = draw.choice(("make", "make", "update", "update", "update", "read", "drop"))
    if kind == "make":
        return Step(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS temp SELECT id, {j} AS j FROM {table.name}", "temporary-make"
        )
    if kind == "read":
        return Step("SELECT COUNT(*), SUM(CRC32(j)) FROM temp", "select-temporary")
    if kind == "drop":
        return Step("DROP TEMPORARY TABLE IF EXISTS temp", "temporary-drop")
    where = condition(draw, "id", "j", table.rows)
    return Step(f"UPDATE temp SET j = {assigned(draw, 'j')} WHERE {where}", "temporary-update")


def function_call(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """An update that calls the function of a table in its new value: an update inside an update."""
    other, j = draw.choice(tables), draw.choice(table.json)
    call = f"touch_{other.name}({draw.integer(1, max(1, other.rows))})"
    path = quoted(draw.choice(("$.a", "$.b", "$.arr[0]")))
    return Step(
        f"UPDATE {table.name} SET {j} = {OPEN}JSON_SET({j}, {path}, {call}){CLOSE} WHERE {where_of(draw, table)}",
        "update-function",
    )


def interrupted(draw: Draw, table: Table, _: list[Table]) -> Step | None:
    """An update that kills itself at one of its rows: it is undone, and its transaction goes on."""
    if table.engine != "InnoDB":
        return None
    j, path = draw.choice(table.json), quoted(draw.choice(("$.a", "$.b", "$.arr[0]")))
    call = f"stop_{table.name}(id, {draw.integer(1, max(1, table.rows))})"
    return Step(
        f"UPDATE {table.name} SET {j} = {OPEN}JSON_SET({j}, {path}, {call}){CLOSE} WHERE {where_of(draw, table)}",
        "update-interrupted",
    )


def lock(draw: Draw, table: Table, _: list[Table]) -> Step:
    """A locking read, or a table lock with its end in the next statement that commits."""
    words = draw.choice(("FOR UPDATE", "FOR SHARE", "FOR UPDATE SKIP LOCKED"))
    return Step(f"SELECT COUNT(*) FROM {table.name} WHERE {where_of(draw, table)} {words}", "select-lock")


def select(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """A query whose answer must be the same in the twin; rows in a total order where there is one."""
    j = draw.choice(table.json)
    kind = draw.choice(("rows", "order", "group", "join", "distinct", "window"))
    where = where_of(draw, table)
    if kind == "order" and table.unique:
        first = draw.choice(
            (f"{j}->'$.a'", j, f"{j}->>'$.b'", f"JSON_LENGTH({j})", *(name for name, _ in table.generated))
        )
        limit = f" LIMIT {draw.integer(1, 6)}" if draw.chance(1, 2) else ""
        return Step(
            f"SELECT id, {first} FROM {table.name} WHERE {where} "
            f"ORDER BY {first}{draw.choice(('', ' DESC'))}, id{limit}",
            "select-order",
        )
    if kind == "group":
        return Step(
            f"SELECT {j}->>'$.a' AS a, COUNT(*), MAX(id) FROM {table.name} WHERE {where} GROUP BY a ORDER BY 3",
            "select-group",
        )
    if kind == "join" and len(tables) > 1:
        other = draw.choice(tables)
        return Step(
            f"SELECT COUNT(*), SUM(x.id) FROM {table.name} x JOIN {other.name} y "
            f"ON x.{j}->'$.a' = y.{other.json[0]}->'$.a'",
            "select-join",
        )
    if kind == "distinct":
        return Step(f"SELECT COUNT(DISTINCT {j}) FROM {table.name} WHERE {where}", "select-distinct")
    if kind == "window" and table.unique:
        return Step(
            f"SELECT id, FIRST_VALUE({j}->'$.a') OVER (ORDER BY {j}->'$.b', id) FROM {table.name} ORDER BY id",
            "select-window",
        )
    return Step(f"SELECT COUNT(*), SUM(id), MIN(id), MAX(id) FROM {table.name} WHERE {where}", "select")


def prepared(draw: Draw, table: Table, _: list[Table]) -> Step:
    """A statement with two parameters, prepared; what executes it is another step."""
    j = draw.choice(table.json)
    path = draw.choice(("'$.a'", "'$.b'", "'$.arr[0]'", "@p"))
    value = f"{OPEN}JSON_SET({{}}{j}, {path}, ?){CLOSE}"
    one = f"UPDATE {table.name} SET {j} = {value.format('')} WHERE id = ?"
    two = f"UPDATE {table.name} a JOIN {table.name} b ON a.id = b.id SET a.{j} = {value.format('a.')} WHERE b.id = ?"
    more = f"UPDATE {table.name} SET {sets_of(draw, table)} WHERE {j}->'$.a' = ? OR id = ?"
    text = draw.choice((one, more, two))
    return Step(f"PREPARE p FROM {quoted(text)}", "prepare")


def execute(draw: Draw, _table: Table, _: list[Table]) -> Step:
    """Execute what the session prepared last."""
    return Step(f"EXECUTE p USING @{draw.choice(('v', 'w'))}, @k", "execute")


def variables(draw: Draw, table: Table, _: list[Table]) -> Step:
    """The session's own variables."""
    value = draw.choice((str(draw.below(100)), quoted("text"), f"CAST({document_sql(draw)} AS JSON)", "NULL", "1.5"))
    name = draw.choice(("v", "w"))
    path = quoted(draw.choice(PATHS))
    return Step(f"SET @{name} = {value}, @k = {draw.integer(1, max(1, table.rows))}, @p = {path}", "set-variable")


def call(draw: Draw, table: Table, _: list[Table]) -> Step:
    """Call the routine of the table, which updates by its parameters."""
    value = draw.choice(
        (str(draw.below(100)), "NULL", f"CAST({document_sql(draw)} AS JSON)", "JSON_QUOTE('a b')", "@v")
    )
    return Step(f"CALL change_{table.name}({draw.integer(1, max(1, table.rows))}, {value})", "call")


DATA_RULES: Final = (
    (insert, 18), (insert_on_duplicate, 8), (insert_select, 3), (update, 38), (update_again, 3), (update_key, 4),
    (select, 8), (prepared, 2), (execute, 4), (variables, 3), (call, 4), (temporary, 5), (function_call, 3), (lock, 1),
    (interrupted, 2),
    *JOIN_RULES,
)  # fmt: skip
