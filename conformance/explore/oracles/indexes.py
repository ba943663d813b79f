"""Indexes: each gives the rows of its table in the order of a sort, and CHECK TABLE finds nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import IndexFacts, TableFacts, shown
from conformance.explore.steps import quoted
from conformance.explore.world import SIDES, World
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.servers.wire.connection import Connection

    Answer = tuple[tuple[bytes | None, ...], ...]

_MEMBERS: Final = 6  # members of arrays that are looked up in each multi-valued index


def compare_indexes(world: World, tables: Mapping[str, TableFacts]) -> Iterator[Problem]:
    """Ask each secondary index of the source for the rows that a scan gives."""
    yield from indexes_of(world.own, world.schema("x"), tables)


def indexes_of(connection: Connection, schema: str, tables: Mapping[str, TableFacts]) -> Iterator[Problem]:
    """Ask each secondary index of a server's schema."""
    for table in tables.values():
        for index in table.indexes:
            if index.kind != "BTREE" or index.name == "PRIMARY":
                continue
            with suppress(SqlError):  # an index that cannot be forced for this question
                yield from _compare(connection, schema, table, index)


def _compare(connection: Connection, schema: str, table: TableFacts, index: IndexFacts) -> Iterator[Problem]:
    if index.multi_valued:
        yield from _multi_valued(connection, schema, table, index)
        return
    plain = [f"`{text}`" if not expression else f"({text})" for text, expression, _ in index.parts]
    order = ", ".join(f"{text}{' DESC' if part[2] else ''}" for text, part in zip(plain, index.parts, strict=True))
    chosen = ", ".join(plain)
    kind = "functional" if any(part[1] for part in index.parts) else "plain"
    show, answers = _both_ways(connection, schema, table, index, chosen, f"ORDER BY {order}")
    if answers[0] == answers[1]:
        return
    same = sorted(map(repr, answers[0])) == sorted(map(repr, answers[1]))
    what = "order" if same else "rows"
    at = next((n for n, (a, b) in enumerate(zip(*answers, strict=False)) if a != b), min(map(len, answers)))
    yield Problem(
        "index", f"{what} of a {kind} index",
        f"table {table.name}, index {index.name} ({order}): {len(answers[0])} rows by the index, "
        f"{len(answers[1])} by a scan; row {at}: {answers[0][at:at + 1]!r} and {answers[1][at:at + 1]!r}"[:700],
        show,
    )  # fmt: skip


def _both_ways(
    connection: Connection, schema: str, table: TableFacts, index: IndexFacts, chosen: str, rest: str
) -> tuple[tuple[str, str], tuple[Answer, Answer]]:
    """The query by the index and by a scan, as the current schema has the table; and what both of them answer."""
    by_index, by_scan = (
        (f"SELECT {chosen} FROM ", f"`{table.name}` {hint} {rest}")
        for hint in (f"FORCE INDEX (`{index.name}`)", "USE INDEX ()")
    )
    first, second = (connection.execute(f"`{schema}`.".join(parts)).rows for parts in (by_index, by_scan))
    return ("".join(by_index), "".join(by_scan)), (first, second)


def _multi_valued(connection: Connection, schema: str, table: TableFacts, index: IndexFacts) -> Iterator[Problem]:
    text = next(text for text, expression, _ in index.parts if expression)
    array = text[text.index("(") + 1 : text.rindex(" as ")]
    words = ", ".join(shown(column) for column in table.columns)
    number = " as char(" not in text
    # A string that looks like a time equals a time of a document by the index alone: MEMBER OF compares by type.
    fit = (
        "JSON_TYPE(m) = 'STRING' AND NOT REGEXP_LIKE(JSON_UNQUOTE(m), '[0-9]')"
        if not number
        else "JSON_TYPE(m) IN ('INTEGER', 'UNSIGNED INTEGER')"
    )
    members = connection.execute(
        f"SELECT DISTINCT JSON_UNQUOTE(m) FROM `{schema}`.`{table.name}` USE INDEX (), "
        f"JSON_TABLE(IF(JSON_TYPE({array}) = 'ARRAY', {array}, '[]'), '$[*]' COLUMNS (m JSON PATH '$')) AS d "
        f"WHERE {fit} ORDER BY 1 LIMIT {_MEMBERS}"
    ).rows
    # An index of numbers takes TRUE for 1 and rounds 1.5 to 2, and MEMBER OF does not (observed on 9.7.4): arrays with
    # booleans and fractions are left out.
    typed = (
        f" AND NOT JSON_CONTAINS({array}, 'true') AND NOT JSON_CONTAINS({array}, 'false') AND NOT EXISTS (SELECT 1 "
        f"FROM JSON_TABLE({array}, '$[*]' COLUMNS (m JSON PATH '$')) AS d WHERE JSON_TYPE(m) IN ('DOUBLE', 'DECIMAL'))"
        if number
        else ""
    )
    for (member,) in members:
        value = (member or b"").decode() if number else quoted((member or b"").decode())
        rest = f"WHERE {value} MEMBER OF ({array}){typed}"
        show, (one, other) = _both_ways(connection, schema, table, index, words, rest)
        if sorted(map(repr, one)) != sorted(map(repr, other)):
            yield Problem(
                "index", "rows of a multi-valued index",
                f"table {table.name}, index {index.name} ({text}), member {value}: "
                f"{len(one)} rows by the index, {len(other)} by a scan",
                show,
            )  # fmt: skip
            return


def check_tables(world: World, tables: Mapping[str, TableFacts]) -> Iterator[Problem]:
    """CHECK TABLE EXTENDED of all tables on both sides."""
    for side in SIDES[: 1 + world.twins]:
        names = ", ".join(f"`{world.schema(side)}`.`{name}`" for name in tables)
        for row in world.own.execute(f"CHECK TABLE {names} EXTENDED").texts():
            if row[2] != "status" or row[3] != "OK":
                table, text = (row[0] or "").rpartition(".")[2], row[3] or ""
                words = "entries" if "entries" in text else "".join(c for c in text if not c.isdigit())[:60]
                yield Problem("check-table", f"{row[2]}: {words}", f"table {table}, side {side}: {text}",
                              (f"CHECK TABLE {table} EXTENDED",))  # fmt: skip
