"""Full-text indexes: each gives for a word the rows that the index of a copy gives, which was filled anew."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import IndexFacts, TableFacts, ordered, shown
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.world import World

_COPY: Final = "binlog_lab_words"
_WORDS: Final = 5  # that are asked of each index
_WORD: Final = re.compile(r"[a-z]{3,20}", re.IGNORECASE)


def compare_words(world: World, tables: Mapping[str, TableFacts]) -> Iterator[Problem]:
    """Ask each full-text index of the source for words of its own columns, before and after the table is copied."""
    for table in tables.values():
        indexes = [index for index in table.indexes if index.kind == "FULLTEXT"]
        if indexes:
            with suppress(SqlError):  # rows that the table took in another mode
                yield from _compare(world, table, indexes)


def _compare(world: World, table: TableFacts, indexes: list[IndexFacts]) -> Iterator[Problem]:
    own, schema = world.own, world.schema("x")
    stored = ", ".join(f"`{column.name}`" for column in table.columns if not column.expression)
    make = (
        f"CREATE TABLE {{}}{_COPY} LIKE {{}}`{table.name}`",
        f"INSERT INTO {{}}{_COPY} ({stored}) SELECT {stored} FROM {{}}`{table.name}`",
    )
    try:
        own.execute("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = OFF")
        for statement in make:
            own.execute(statement.replace("{}", f"`{schema}`."))
        for index in indexes:
            names = ", ".join(f"`{text}`" for text, _, _ in index.parts)
            for word in _words(world, table, names):
                ask = (
                    f"SELECT {', '.join(shown(column) for column in table.columns)} FROM {{}} "
                    f"WHERE MATCH ({names}) AGAINST ('+{word}' IN BOOLEAN MODE)"
                )
                one, other = (
                    ordered(list(own.execute(ask.format(f"`{schema}`.`{name}`")).rows)) for name in (table.name, _COPY)
                )
                if one != other:
                    yield Problem(
                        "fulltext", "rows",
                        f"table {table.name}, index {index.name}, word {word}: {len(one)} rows, {len(other)} in a copy",
                        (*(each.replace("{}", "") for each in make), ask.format(table.name), ask.format(_COPY)),
                    )  # fmt: skip
                    return
    finally:
        with suppress(SqlError):
            own.execute(f"DROP TABLE IF EXISTS `{schema}`.{_COPY}")


def _words(world: World, table: TableFacts, names: str) -> list[str]:
    """Words of the indexed columns, in the order of the alphabet."""
    rows = world.own.execute(
        f"SELECT LEFT(CONCAT_WS(' ', {names}), 200) FROM `{world.schema('x')}`.`{table.name}` USE INDEX ()"
    ).texts()
    return sorted({word.lower() for (text,) in rows for word in _WORD.findall(text or "")})[:_WORDS]
