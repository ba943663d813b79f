"""Turns measurements into figures: a few questions in the SQL that Spark and SQLite have in common.

All sums are of whole numbers. A percentile is the smallest value that so many of a hundred rows do not exceed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Query = Callable[[str], Sequence[Sequence[Any]]]

TABLE: Final = "estimate_measurements"
PERCENTS: Final = (50, 90, 99)
WORST: Final = 5
COSTS: Final = ("whole", "least", "leaves", "members", "most")


class Costs(NamedTuple):
    """Sums of bytes: with the option off, and with it on in the three ways and between the two bounds."""

    whole: int
    least: int
    leaves: int
    members: int
    most: int


class Worst(NamedTuple):
    """The most expensive row, and its place."""

    file: str
    position: int
    inner: int
    row: int
    logged: int
    whole: int
    leaves: int


@dataclass(slots=True)
class Column:
    """The figures of a JSON column. Sums and percentiles cover the rows that were judged.

    ``exact``: rows for which only one cost is possible. ``unjudged``: rows and bytes logged, by reason.
    ``percentiles``: for rows whose document changed.
    """

    name: str
    rows: int
    judged: int
    changed: int
    exact: int
    before: int
    logged: int
    costs: Costs
    unjudged: dict[str, tuple[int, int]] = field(default_factory=dict)
    percentiles: dict[str, tuple[int, ...]] = field(default_factory=dict)
    worst: list[Worst] = field(default_factory=list)


@dataclass(slots=True)
class ImageSums:
    """Sums over all updated rows of a table with one row image, with the events around them.

    ``assumed``: rows of tables whose key the log does not name.
    """

    rows: int
    assumed: int
    logged: int
    costs: Costs


@dataclass(slots=True)
class Table:
    """The figures of a table. ``unjudged``: rows with a JSON column that could not be judged."""

    schema: str
    name: str
    columns: list[Column] = field(default_factory=list)
    images: dict[str, ImageSums] = field(default_factory=dict)
    unjudged: int = 0


class Events(NamedTuple):
    """Events of one kind in one file. ``inside``: events in compressed payloads, with bytes before compression."""

    file: str
    word: str
    inside: bool
    amount: int
    size: int


class Trouble(NamedTuple):
    """A problem of a file. ``damage``: something could not be read, which is more than a note."""

    file: str
    position: int
    code: str
    message: str
    damage: bool


@dataclass(slots=True)
class Figures:
    """All figures about the logs."""

    tables: list[Table]
    events: list[Events]
    troubles: list[Trouble]


_NOTES: Final = frozenset(("in-use", "zeros"))  # and the half event at the end of an open file
_JUDGED: Final = "`kind` = 'column' AND `word` = ''"
_COLUMN: Final = "`schema_name`, `table_name`, `column_name`"


def figures(query: Query) -> Figures:
    """Ask all questions."""
    tables: dict[tuple[str, str], Table] = {}
    columns: dict[tuple[str, str, str], Column] = {}

    def table(schema: str, name: str) -> Table:
        return tables.setdefault((schema, name), Table(schema, name))

    for schema, name, column, *numbers in query(_columns_query()):
        rows, judged, changed, exact, before, logged, *costs = numbers
        found = Column(column, rows, judged, changed, exact, before, logged, Costs(*costs))
        columns[schema, name, column] = found
        table(schema, name).columns.append(found)
    for schema, name, column, reason, rows, logged in query(_reasons_query()):
        columns[schema, name, column].unjudged[reason] = (rows, logged)
    for measure, expression in (
        ("whole", "`whole`"), ("leaves", "`leaves`"), ("saved", "`whole` - `leaves`"),
    ):  # fmt: skip
        for schema, name, column, *values in query(_percentiles_query(expression)):
            columns[schema, name, column].percentiles[measure] = tuple(values)
    for schema, name, column, *values in query(_worst_query()):
        columns[schema, name, column].worst.append(Worst(*values))
    for schema, name, image, rows, assumed, logged, *costs in query(_rows_query()):
        if image and schema:
            table(schema, name).images[image] = ImageSums(rows, assumed, logged, Costs(*costs))
        else:
            table(schema, name).unjudged += rows
    events = [
        Events(file, word, bool(inside), amount, size) for file, word, inside, amount, size in query(_events_query())
    ]
    told = [(file, at, code, text) for file, at, code, text in query(_problems_query())]
    open_ = {file for file, _, code, _ in told if code == "in-use"}
    troubles = [
        Trouble(*item, item[2] not in _NOTES and not (item[2] == "truncated" and item[0] in open_)) for item in told
    ]
    return Figures([tables[key] for key in sorted(tables)], events, troubles)


def _sum(what: str, condition: str = "") -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN {what} ELSE 0 END), 0)" if condition else f"sum({what})"


def _columns_query() -> str:
    judged = "`word` = ''"
    counts = [
        "count(*)", _sum("1", judged), _sum("`changed`", judged), _sum("1", f"{judged} AND `least` = `most`"),
        *(_sum(f"`{name}`", judged) for name in ("before", "logged", *COSTS)),
    ]  # fmt: skip
    where = "WHERE `kind` = 'column'"
    return f"SELECT {_COLUMN}, {', '.join(counts)} FROM {TABLE} {where} GROUP BY {_COLUMN} ORDER BY {_COLUMN}"


def _reasons_query() -> str:
    return (
        f"SELECT {_COLUMN}, `word`, count(*), sum(`logged`) FROM {TABLE} WHERE `kind` = 'column' AND `word` <> ''"
        f" GROUP BY {_COLUMN}, `word` ORDER BY {_COLUMN}, `word`"
    )


def _percentiles_query(expression: str) -> str:
    ranked = (
        f"SELECT {_COLUMN}, {expression} AS `measure`,"
        f" row_number() OVER (PARTITION BY {_COLUMN} ORDER BY {expression}) AS `place`,"
        f" count(*) OVER (PARTITION BY {_COLUMN}) AS `total` FROM {TABLE} WHERE {_JUDGED} AND `changed` = 1"
    )
    values = ", ".join(
        f"min(CASE WHEN `place` * 100 >= {percent} * `total` THEN `measure` END)" for percent in PERCENTS
    )
    return f"SELECT {_COLUMN}, {values} FROM ({ranked}) AS `ranked` GROUP BY {_COLUMN} ORDER BY {_COLUMN}"


def _worst_query() -> str:
    place = "`file`, `position`, `inner`, `number`"
    ranked = (
        f"SELECT {_COLUMN}, {place}, `logged`, `whole`, `leaves`,"
        f" row_number() OVER (PARTITION BY {_COLUMN} ORDER BY `leaves` DESC, {place}) AS `place`"
        f" FROM {TABLE} WHERE {_JUDGED} AND `changed` = 1"
    )
    return (
        f"SELECT {_COLUMN}, {place}, `logged`, `whole`, `leaves` FROM ({ranked}) AS `ranked` WHERE `place` <= {WORST}"
        f" ORDER BY {_COLUMN}, `place`"
    )


def _rows_query() -> str:
    sums = [_sum(f"`{name}` + `{name}_heads`") for name in ("logged", *COSTS)]
    key = "`schema_name`, `table_name`, `word`"
    counts = ", ".join(["count(*)", _sum("`amount`"), *sums])
    return f"SELECT {key}, {counts} FROM {TABLE} WHERE `kind` = 'row' GROUP BY {key} ORDER BY {key}"


def _events_query() -> str:
    key = "`file`, `word`, `number`"
    return (
        f"SELECT {key}, sum(`amount`), sum(`logged`) FROM {TABLE} WHERE `kind` = 'event' GROUP BY {key} ORDER BY {key}"
    )


def _problems_query() -> str:
    key = "`file`, `position`, `column_name`, `word`"
    return f"SELECT {key} FROM {TABLE} WHERE `kind` = 'problem' GROUP BY {key} ORDER BY {key}"
