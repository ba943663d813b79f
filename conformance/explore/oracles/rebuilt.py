"""A copy: a table filled anew from the stored columns has the same generated values."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import (
    Rows,
    TableFacts,
    differing_columns,
    first_difference,
    ordered,
    rows_query,
)
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.world import World


def compare_copies(world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Rows]) -> Iterator[Problem]:
    """Fill a copy of each table with generated columns, and hold its rows against the table's."""
    schema = world.schema("x")
    own = world.own
    for table in tables.values():
        if not any(column.expression for column in table.columns):
            continue
        names = ", ".join(f"`{column.name}`" for column in table.columns if not column.expression)
        copy = "binlog_lab_copy"
        try:
            own.execute("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = OFF")
            own.execute(f"CREATE TABLE `{schema}`.{copy} LIKE `{schema}`.`{table.name}`")
            own.execute(f"INSERT INTO `{schema}`.{copy} ({names}) SELECT {names} FROM `{schema}`.`{table.name}`")
            query = rows_query(table, schema).replace(f"`{table.name}`", copy)
            copied = ordered(list(own.execute(query).rows))
        except SqlError:
            continue  # rows that the table took in another mode
        finally:
            with suppress(SqlError):
                own.execute(f"DROP TABLE IF EXISTS `{schema}`.{copy}")
        if copied != rows[table.name]:
            kind = differing_columns(table, rows[table.name], copied)
            show = (rows_query(table, ""), rows_query(table, "").replace(f"`{table.name}`", copy))
            make = (
                f"CREATE TABLE {copy} LIKE `{table.name}`",
                f"INSERT INTO {copy} ({names}) SELECT {names} FROM `{table.name}`",
            )
            yield Problem("generated", kind, first_difference(table, rows[table.name], copied), (*make, *show))
