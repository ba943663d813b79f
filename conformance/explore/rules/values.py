"""Assignments and conditions of a statement on a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.explore.rules.expressions import assigned, condition

if TYPE_CHECKING:
    from conformance.explore.rules.tables import Table
    from generators.draw import Draw


def where_of(draw: Draw, table: Table, alias: str = "") -> str:
    """A condition on rows of a table."""
    dot = f"{alias}." if alias else ""
    extra = tuple(f"{dot}{name} IS NOT NULL" for name, _ in table.generated)
    extra += tuple(f"{dot}{name} > {7 if kind == 'INT' else 0}" for name, kind in table.generated if kind != "JSON")
    extra += tuple(
        f"{dot}{plain.name} = {plain.values[0]}" for plain in table.plain if plain.type not in ("POINT", "LINESTRING")
    )
    return condition(draw, f"{dot}id", f"{dot}{draw.choice(table.json)}", table.rows, extra=extra)


def sets_of(draw: Draw, table: Table, alias: str = "", *, source: str = "") -> str:
    """Assignments: JSON columns most often, others at times, one column twice at times, in any order."""
    dot = f"{alias}." if alias else ""
    columns = draw.sample(table.json, draw.integer(1, len(table.json)))
    if draw.chance(1, 12):
        columns = [*columns, columns[0]]
    others = [f"{dot}{name}" for name in table.columns]
    words = [
        f"{dot}{column} = {assigned(draw, f'{dot}{column}', others, source=source if draw.chance(1, 3) else '')}"
        for column in columns
    ]
    if table.plain and draw.chance(1, 4):
        some = draw.sample(table.plain, draw.integer(1, min(2, len(table.plain))))
        words += [f"{dot}{plain.name} = {draw.choice((*plain.values, 'DEFAULT'))}" for plain in some]
        words = draw.shuffled(words)
    return ", ".join(words)
