"""Statements that change rows of several tables, or of one table under several names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.rules.documents import PATHS
from conformance.explore.rules.values import sets_of, where_of
from conformance.explore.steps import CLOSE, OPEN, Step, quoted

if TYPE_CHECKING:
    from conformance.explore.rules.tables import Table
    from generators.draw import Draw


def _partners(table: Table, tables: list[Table]) -> list[Table]:
    """Other tables that a join on ``id`` pairs with one row each."""
    return [one for one in tables if one.unique and one is not table] if table.unique else []


def update_join(draw: Draw, table: Table, tables: list[Table]) -> Step | None:
    """UPDATE of one, two or three tables by a join on unique keys; an outer join has rows with nothing to change."""
    others = _partners(table, tables)
    if not others:
        return None
    other = draw.choice(others)
    join = draw.choice(("JOIN", "JOIN", "LEFT JOIN", "STRAIGHT_JOIN"))
    sets = sets_of(draw, table, "a", source=f"b.{other.json[0]}")
    if draw.chance(1, 2):
        sets += f", {sets_of(draw, other, 'b')}"
    third = ""
    if draw.chance(1, 3):
        last = draw.choice(others)
        third = f" {draw.choice(('JOIN', 'LEFT JOIN'))} {last.name} c ON c.id = a.id + 1"
        if last is not other and draw.chance(1, 2):
            sets += f", {sets_of(draw, last, 'c')}"
    ignore = "IGNORE " if draw.chance(1, 10) else ""
    return Step(
        f"UPDATE {ignore}{table.name} a {join} {other.name} b ON a.id = b.id{third} SET {sets} "
        f"WHERE {where_of(draw, table, 'a')}",
        "update-left-join" if "LEFT" in join + third else "update-join",
    )


def update_self_join(draw: Draw, table: Table, _: list[Table]) -> Step:
    """UPDATE of one table under two names: a row may change under both. The order of the join decides what it becomes.

    Without a unique key the join is by key as well, and rows change once for each partner.
    """
    on = draw.choice(("a.id = b.id", "a.id = b.id + 1"))
    sets = f"{sets_of(draw, table, 'a')}, {sets_of(draw, table, 'b')}"
    return Step(
        f"UPDATE {table.name} a JOIN {table.name} b ON {on} SET {sets} WHERE {where_of(draw, table, 'a')}",
        "update-self-join",
    )


def update_by_list(draw: Draw, table: Table, _: list[Table]) -> Step:
    """UPDATE by a join with a derived list: JSON_TABLE, VALUES or a window over the table itself."""
    j = draw.choice(table.json)
    path = quoted(draw.choice(PATHS))
    numbers = ", ".join(str(draw.integer(1, max(2, table.rows))) for _ in range(3))
    kind = draw.choice(("json-table", "values", "window"))
    source = {
        "json-table": f"JSON_TABLE('[{numbers}]', '$[*]' COLUMNS (n INT PATH '$', o FOR ORDINALITY)) d",
        "values": f"(VALUES ROW({draw.integer(1, 9)}, 1), ROW({table.rows}, 2)) d (n, o)",
        "window": f"(SELECT id AS n, ROW_NUMBER() OVER (ORDER BY id DESC) AS o FROM {table.name}) d",
    }[kind]
    source = f"(SELECT n, MIN(o) AS o FROM {source} GROUP BY n) d"  # a number twice would leave two values to choose
    return Step(
        f"UPDATE {table.name} a JOIN {source} ON a.id = d.n SET a.{j} = {OPEN}JSON_SET(a.{j}, {path}, d.o){CLOSE}",
        f"update-by-{kind}",
    )


def update_joined_view(draw: Draw, table: Table, tables: list[Table]) -> Step | None:
    """UPDATE through a view of two tables, which the workload makes first; one table changes at a time."""
    others = _partners(table, tables)
    if not others:
        return None
    if not table.joined:
        other = draw.choice(others)
        table.joined = f"vj_{table.name}"
        columns = ", ".join(f"a.{name}" for name in table.json)
        return Step(
            f"CREATE OR REPLACE VIEW {table.joined} AS SELECT a.id, {columns}, b.{other.json[0]} AS other "
            f"FROM {table.name} a JOIN {other.name} b ON a.id = b.id",
            "create-joined-view",
        )
    j = draw.choice((*table.json, "other"))
    value = f"{OPEN}JSON_SET({j}, {quoted(draw.choice(PATHS))}, JSON_EXTRACT({table.json[0]}, '$.b')){CLOSE}"
    return Step(
        f"UPDATE {table.joined} SET {j} = {value} WHERE id < {draw.integer(2, max(3, table.rows))}",
        "update-joined-view",
    )


def update_subquery(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """The new value or the condition comes from a subquery, a CTE or a derived table."""
    other, j = draw.choice(tables), draw.choice(table.json)
    kind = draw.choice(("value", "where", "cte", "derived"))
    path = quoted(draw.choice(PATHS[:60]))
    if kind == "where":
        inner = f"SELECT * FROM (SELECT id FROM {other.name} WHERE {where_of(draw, other)}) d"
        return Step(f"UPDATE {table.name} SET {sets_of(draw, table)} WHERE id IN ({inner})", "update-subquery")
    if kind == "cte" and table.unique:
        return Step(
            f"WITH w AS (SELECT id, {other.json[0]} AS v FROM {other.name} WHERE {where_of(draw, other)}) "
            f"UPDATE {table.name} SET {sets_of(draw, table)} WHERE id IN (SELECT id FROM w)",
            "update-cte",
        )
    if kind == "derived" and table.unique and other.unique:
        return Step(
            f"UPDATE {table.name} a JOIN (SELECT id, {other.json[0]} AS v FROM {other.name}) d ON a.id = d.id "
            f"SET a.{j} = {OPEN}JSON_SET(a.{j}, {path}, d.v){CLOSE} WHERE {where_of(draw, table, 'a')}",
            "update-derived",
        )
    value = f"(SELECT MAX(id) FROM (SELECT id FROM {other.name}) d)"
    return Step(
        f"UPDATE {table.name} SET {j} = {OPEN}JSON_SET({j}, {path}, {value}){CLOSE} WHERE {where_of(draw, table)}",
        "update-subquery-value",
    )


def delete(draw: Draw, table: Table, tables: list[Table]) -> Step:
    """DELETE of few rows, of one table or by a join."""
    others = _partners(table, tables)
    if others and draw.chance(1, 5):
        other = draw.choice(others)
        both = ", b" if draw.chance(1, 4) else ""
        return Step(
            f"DELETE a{both} FROM {table.name} a JOIN {other.name} b ON a.id = b.id WHERE a.id % 7 = {draw.below(7)} "
            f"AND {where_of(draw, table, 'a')}",
            "delete-join",
        )
    if table.unique and draw.chance(1, 4):
        return Step(f"DELETE FROM {table.name} WHERE {where_of(draw, table)} ORDER BY id LIMIT 2", "delete-order-limit")
    return Step(f"DELETE FROM {table.name} WHERE id = {draw.integer(1, max(1, table.rows))}", "delete")


JOIN_RULES: Final = (
    (update_join, 6), (update_subquery, 7), (delete, 6), (update_self_join, 3), (update_by_list, 3),
    (update_joined_view, 2),
)  # fmt: skip
