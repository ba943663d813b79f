"""The reference's replay: the rows that ``binlog-lab apply`` makes of the log are the rows of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.logged import logged_events
from conformance.explore.oracles.problem import Problem
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.tables_text import rows_text

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from conformance.explore.oracles.tables import ColumnFacts, TableFacts
    from conformance.explore.world import World

_HEX: Final = frozenset(
    {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "point", "linestring", "geometry"}
)


def apply_log(world: World, tables: Mapping[str, TableFacts], tried: Counter[str]) -> Iterator[Problem]:
    """Replay the log of the episode, and hold its tables against the server's.

    What the replay cannot follow (some DDL) it refuses; then nothing is compared, and ``tried`` counts the refusal. A
    column of a VIRTUAL expression is not compared: its value in the log is the server's own affair.
    """
    replay = Replay()
    try:
        for event in logged_events(world):
            replay.event(event)
        replay.finish()
    except ReplayError as error:
        tried[f"apply/refused {error.code}"] += 1
        return
    except CodecError as error:
        yield Problem("apply", f"refused: {error.code}", str(error)[:400])
        return
    schema = world.schema("x")
    for name, table in tables.items():
        state = replay.tables.get((schema, name))
        columns = [column for column in table.columns if not column.expression]
        if state is None:
            yield Problem("apply", "no table", f"table {name} is not in the log")
            continue
        names = state.column_names()
        if set(names) < {column.name for column in columns}:
            tried["apply/refused columns"] += 1
            continue
        try:
            places = [names.index(column.name) for column in columns]
            applied = sorted([tuple(row[place] for place in places) for row in rows_text(state)], key=repr)
        except ReplayError:
            tried["apply/refused value"] += 1
            continue
        except (CodecError, ValueError) as error:
            yield Problem("apply", "a value without text", f"table {name}: {error}")
            continue
        words = ", ".join(_text(column) for column in columns)
        there = sorted(world.own.execute(f"SELECT {words} FROM `{schema}`.`{name}`").texts(), key=repr)
        if applied != there:
            missing = [row for row in there if row not in applied][:1]
            more = [row for row in applied if row not in there][:1]
            query = f"SELECT {words} FROM `{name}`"
            yield Problem(
                "apply", "rows", f"table {name}: server {missing!r}"[:500] + f", apply {more!r}"[:500], (query,)
            )


def _text(column: ColumnFacts) -> str:
    """The column's value in the text of a replay."""
    name = f"`{column.name}`"
    if column.type in _HEX:
        return f"HEX({name})"
    return f"{name} + 0" if column.type == "bit" else name
