"""Statements that read and change rows: every access path, and every way to name the new value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.rules.documents import PATHS, document_sql
from conformance.explore.rules.expressions import assigned, condition
from conformance.explore.rules.tables import Table, row_values
from conformance.explore.steps import Step, quoted

if TYPE_CHECKING:
    from generators.draw import Draw


def _where(draw: Draw, table: Table, alias: str = "") -> str:
    dot = f"{alias}." if alias else ""
    extra = tuple(f"{dot}{name} IS NOT NULL" for name, _ in table.generated)
    extra += tuple(f"{dot}{plain.name} = {plain.values[0]}" for plain in table.plain if plain.type != "POINT")
    return condition(draw, f"{dot}id", f"{dot}{draw.choice(table.json)}", table.rows, extra=extra)


def _sets(draw: Draw, table: Table, alias: str = "", *, source: str = "") -> str:
    """Assignments: JSON columns most often, others at times, one column twice at times."""
    dot = f"{alias}." if alias else ""
    columns = draw.sample(table.json, draw.integer(1, len(table.json)))
    if draw.chance(1, 12):
        columns = [*columns, columns[0]]
    text = next((f"{dot}{plain.name}" for plain in table.plain if "CHAR" in plain.type), "")
    words = [
        f"{dot}{column} = {assigned(draw, f'{dot}{column}', source=source if draw.chance(1, 3) else '', column=text)}"
        for column in columns
    ]
    if table.plain and draw.chance(1, 4):
        plain = draw.choice(table.plain)
        words.append(f"{dot}{plain.name} = {draw.choice(plain.values)}")
    return ", ".join(words)


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
    value = assigned(draw, old, source=source if new and draw.chance(1, 2) else old)
    return Step(
        f"INSERT INTO {table.name} {columns} VALUES {values}{alias} ON DUPLICATE KEY UPDATE {j} = {value}",
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
    head = draw.choice(("INSERT", "INSERT", "REPLACE", "INSERT IGNORE"))
    return Step(
        f"{head} INTO {table.name} (id, {j}) SELECT {base} + id, JSON_SET({other.json[0]}, '$.a', id) "
        f"FROM {other.name} WHERE id BETWEEN 1 AND 30 AND {_where(draw, other)} ORDER BY id",
        "insert-select",
    )


def update(draw: Draw, table: Table, _: list[Table]) -> Step:
    """UPDATE of one table, with ORDER BY and LIMIT where the order is total."""
    ignore = "IGNORE " if draw.chance(1, 12) else ""
    order, shape = "", "update"
    if table.unique and draw.chance(1, 5):
        j = draw.choice(table.json)
        first = draw.choice(("", f"{j}->'$.a', ", f"JSON_LENGTH({j}) DESC, ", f"{j}, "))
        order = f" ORDER BY {first}id{draw.choice(('', ' DESC'))} LIMIT {draw.integer(1, 5)}"
        shape = "update-order-limit"
    target = table.view if table.view and draw.chance(1, 2) else table.name
    if target == table.view and target:
        shape = "update-view"
    return Step(
        f"UPDATE {ignore}{target} SET {_sets(draw, table)} WHERE {_where(draw, table)}{order}",
        "update-ignore" if ignore else shape,
    )


def update_key(draw: Draw, table: Table, _: list[Table]) -> Step:
    """The key changes together with a document."""
    j = draw.choice(table.json)
    table.rows += 1
    where = f"id = {draw.integer(1, table.rows)}"
    return Step(f"UPDATE {table.name} SET id = {table.rows}, {j} = {assigned(draw, j)} WHERE {where}", "update-key")


def update_join(draw: Draw, table: Table, tables: list[Table]) -> Step | None:
    """UPDATE of one or two tables by a join on unique keys."""
    others = [one for one in tables if one.unique and one is not table]
    if not others or not table.unique:
        return None
    other = draw.choice(others)
    sets = _sets(draw, table, "a", source=f"b.{other.json[0]}")
    if draw.chance(1, 2):
        sets += f", {_sets(draw, other, 'b')}"
    return Step(
        f"UPDATE {table.name} a JOIN {other.name} b ON a.id = b.id SET {sets} WHERE {_where(draw, table, 'a')}",
        "update-join",
    )


def update_self_join(draw: Draw, table: Table, _: list[Table]) -> Step:
    """UPDATE of one table under two names: a row may change under both. The order of the join decides what it becomes.

    Without a unique key the join is by key as well, and rows change once for each partner.
    """
    on = draw.choice(("a.id = b.id", "a.id = b.id + 1"))
    sets = f"{_sets(draw, table, 'a')}, {_sets(draw, table, 'b')}"
    return Step(
        f"UPDATE {table.name} a JOIN {table.name} b ON {on} SET {sets} WHERE {_where(draw, table, 'a')}",
        "update-self-join",
    )


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
        f"UPDATE {table.name} SET {j} = ⟦JSON_SET({j}, {path}, {call})⟧ WHERE {_where(draw, table)}", "update-function"
    )


def lock(draw: Draw, table: Table, _: list[Table]) -> Step:
    """A locking read, or a table lock with its end in the next statement that commits."""
    words = draw.choice(("FOR UPDATE", "FOR SHARE", "FOR UPDATE SKIP LOCKED"))
    return Step(f"SELECT COUNT(*) FROM {table.name} WHERE {_where(draw, table)} {words}", "select-lock")


def update_subquery(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """The new value or the condition comes from a subquery, a CTE or a derived table."""
    other, j = draw.choice(tables), draw.choice(table.json)
    kind = draw.choice(("value", "where", "cte", "derived"))
    path = quoted(draw.choice(PATHS[:60]))
    if kind == "where":
        inner = f"SELECT * FROM (SELECT id FROM {other.name} WHERE {_where(draw, other)}) d"
        return Step(f"UPDATE {table.name} SET {_sets(draw, table)} WHERE id IN ({inner})", "update-subquery")
    if kind == "cte" and table.unique:
        return Step(
            f"WITH w AS (SELECT id, {other.json[0]} AS v FROM {other.name} WHERE {_where(draw, other)}) "
            f"UPDATE {table.name} SET {_sets(draw, table)} WHERE id IN (SELECT id FROM w)",
            "update-cte",
        )
    if kind == "derived" and table.unique and other.unique:
        return Step(
            f"UPDATE {table.name} a JOIN (SELECT id, {other.json[0]} AS v FROM {other.name}) d ON a.id = d.id "
            f"SET a.{j} = ⟦JSON_SET(a.{j}, {path}, d.v)⟧ WHERE {_where(draw, table, 'a')}",
            "update-derived",
        )
    value = f"(SELECT MAX(id) FROM (SELECT id FROM {other.name}) d)"
    return Step(
        f"UPDATE {table.name} SET {j} = ⟦JSON_SET({j}, {path}, {value})⟧ WHERE {_where(draw, table)}",
        "update-subquery-value",
    )


def delete(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """DELETE of few rows, of one table or by a join."""
    others = [one for one in tables if one.unique and one is not table]
    if others and table.unique and draw.chance(1, 5):
        other = draw.choice(others)
        return Step(
            f"DELETE a FROM {table.name} a JOIN {other.name} b ON a.id = b.id WHERE a.id % 7 = {draw.below(7)} "
            f"AND {_where(draw, table, 'a')}",
            "delete-join",
        )
    if table.unique and draw.chance(1, 4):
        return Step(f"DELETE FROM {table.name} WHERE {_where(draw, table)} ORDER BY id LIMIT 2", "delete-order-limit")
    return Step(f"DELETE FROM {table.name} WHERE id = {draw.integer(1, max(1, table.rows))}", "delete")


def select(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """A query whose answer must be the same in the twin; rows in a total order where there is one."""
    j = draw.choice(table.json)
    kind = draw.choice(("rows", "order", "group", "join", "distinct", "window"))
    where = _where(draw, table)
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
    """A prepared statement made and executed in one go is two steps; this is the first."""
    j = draw.choice(table.json)
    path = draw.choice(("$.a", "$.b", "$.arr[0]"))
    return Step(
        f"PREPARE p FROM {quoted(f'UPDATE {table.name} SET {j} = ⟦JSON_SET({j}, {quoted(path)}, ?)⟧ WHERE id = ?')}",
        "prepare",
    )


def execute(draw: Draw, _table: Table, _: list[Table]) -> Step:
    """Execute what the session prepared last."""
    return Step(f"EXECUTE p USING @{draw.choice(('v', 'w'))}, @k", "execute")


def variables(draw: Draw, table: Table, _: list[Table]) -> Step:
    """The session's own variables."""
    value = draw.choice((str(draw.below(100)), quoted("text"), f"CAST({document_sql(draw)} AS JSON)", "NULL", "1.5"))
    name = draw.choice(("v", "w"))
    return Step(f"SET @{name} = {value}, @k = {draw.integer(1, max(1, table.rows))}", "set-variable")


def call(draw: Draw, table: Table, _: list[Table]) -> Step:
    """Call the routine of the table, which updates by its parameters."""
    value = draw.choice(
        (str(draw.below(100)), "NULL", f"CAST({document_sql(draw)} AS JSON)", "JSON_QUOTE('a b')", "@v")
    )
    return Step(f"CALL change_{table.name}({draw.integer(1, max(1, table.rows))}, {value})", "call")


DATA_RULES: Final = (
    (insert, 18), (insert_on_duplicate, 8), (insert_select, 3), (update, 40), (update_key, 4), (update_join, 6),
    (update_subquery, 7), (delete, 6), (select, 8), (prepared, 2), (execute, 4), (variables, 3), (call, 4),
    (update_self_join, 3), (temporary, 5), (function_call, 3), (lock, 1),
)  # fmt: skip
