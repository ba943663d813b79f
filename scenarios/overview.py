"""What the rows say beside the verdicts: sums by setting and cell, distributions, points. Small tables, by SQL.

Every figure is a sum or a count of integers, so it depends neither on the order of rows nor on where they lie.
Ratios are per mille of the event without the option.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scenarios.sql import RAW, rows_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.budgets import Store
    from scenarios.matrix import Matrix, Setting

Heat: TypeAlias = "dict[tuple[Setting, int], tuple[int, int, int]]"
POINTS: Final = 1500  # of the scatter plot
SHARES: Final = (1, 10, 50, 100, 250, 500, 750, 1000)
"""Borders of the update share in per mille of the document: the last class is everything above."""


@dataclass(frozen=True, slots=True)
class Line:
    """One value of a setting: rows, bytes with the option and without, and per mille at the deciles and the ends."""

    value: Setting
    rows: int
    on: int
    off: int
    percentiles: tuple[int, ...]  # of event_on / event_off: 1 %, 10 %, 50 %, 90 %, 99 %

    @property
    def saving(self) -> float:
        """Share of the bytes that the option saves; negative where it costs."""
        return 1 - self.on / self.off if self.off else 0.0


@dataclass(frozen=True, slots=True)
class Overview:
    """``heat``: by row image (all rows: an empty name), (size, class of share) to (rows, on, off).
    ``points``: (full, diffs, logged as diffs)."""

    bytes: int = 0
    lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    heat: Mapping[str, Heat] = field(default_factory=dict)
    points: Sequence[tuple[int, int, int]] = ()
    overhead: Mapping[int, int] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    cells: Mapping[int, dict[str, int]] = field(default_factory=dict)


PERCENTILES: Final = (1, 10, 50, 90, 99)


def overview(matrix: Matrix, store: Store) -> Overview:
    """All of it; nothing for engines without events."""
    if "event_on" not in matrix.columns:
        return Overview()
    view = rows_view(matrix)
    cells = {
        int(cell): {"event_on": int(on), "event_off": int(off), "diff_size": int(diffs), "full_size": int(full)}
        for cell, on, off, diffs, full in store.query(
            "SELECT `cell`, sum(`event_on`), sum(`event_off`), sum(`diff_size`), sum(`full_size`)"
            f" FROM {RAW} GROUP BY `cell`"
        )
    }
    lines = {name: _lines(store, view, name) for name in (*matrix.axes, *matrix.ranges)}
    return Overview(
        bytes=sum(entry["event_on"] + entry["event_off"] for entry in cells.values()),
        lines=lines,
        heat=_heats(matrix, store, view) if "size" in matrix.axes else {},
        points=_points(matrix, store),
        overhead={int(bytes_): int(rows) for bytes_, rows in store.query(_OVERHEAD)},
        sizes={int(bits): int(rows) for bits, rows in store.query(_sizes_query())},
        cells=cells,
    )


_EXTRA: Final = "`event_on` - `event_off` + `partial_full` - `partial_diff`"
_OVERHEAD: Final = (
    f"SELECT {_EXTRA} AS extra, count(*) FROM {RAW} WHERE `event_on` > 0 GROUP BY {_EXTRA} ORDER BY extra"
)


def _sizes_query() -> str:
    """Documents by the power of two that they reach."""
    cases = " ".join(f"WHEN `document` >= {1 << bits} THEN {bits}" for bits in range(24, 2, -1))
    inner = f"SELECT CASE {cases} ELSE 2 END AS bits FROM {RAW} WHERE `document` > 0"
    return f"SELECT bits, count(*) FROM ({inner}) AS sized GROUP BY bits ORDER BY bits"


def _lines(store: Store, view: str, name: str) -> tuple[Line, ...]:
    ratio = "CAST(`event_on` * 1000 / `event_off` AS BIGINT)"
    inner = f"SELECT `{name}` AS setting, `event_on`, `event_off`, {ratio} AS ratio FROM {view} WHERE `event_off` > 0"
    answer = store.query(
        f"SELECT setting, ratio, count(*), sum(`event_on`), sum(`event_off`) FROM ({inner}) AS part"
        " GROUP BY setting, ratio ORDER BY setting, ratio"
    )
    found: dict[Any, list[tuple[int, int, int, int]]] = {}
    for setting, permille, rows, on, off in answer:
        found.setdefault(setting, []).append((int(permille), int(rows), int(on), int(off)))
    return tuple(
        Line(
            setting,
            sum(part[1] for part in parts),
            sum(part[2] for part in parts),
            sum(part[3] for part in parts),
            percentiles([part[:2] for part in parts]),
        )
        for setting, parts in found.items()
    )


def percentiles(histogram: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Those of ``PERCENTILES`` from (value, count) in order of the values: the least value that reaches each."""
    total = sum(count for _, count in histogram)
    out: list[int] = []
    reached = 0
    wanted = list(PERCENTILES)
    for value, count in histogram:
        reached += count
        while wanted and reached * 100 >= wanted[0] * total:
            out.append(value)
            wanted.pop(0)
    return tuple(out)


def _heats(matrix: Matrix, store: Store, view: str) -> dict[str, Heat]:
    """A before image that is whole takes as much as all that can be saved, so each row image is by itself."""
    images = matrix.words("image") if "image" in {*matrix.axes, *matrix.ranges} else None
    if images is None:
        return {"": _heat(store, view, "")}
    return {image: _heat(store, view, f" AND `image` = '{image}'") for image in images}


def _heat(store: Store, view: str, condition: str) -> Heat:
    cases = " ".join(
        f"WHEN `diff_size` * 1000 < {border} * `full_size` THEN {number}" for number, border in enumerate(SHARES)
    )
    inner = (
        f"SELECT `size`, CASE {cases} ELSE {len(SHARES)} END AS share, `event_on`, `event_off`"
        f" FROM {view} WHERE `diffs` > 0{condition}"
    )
    answer = store.query(
        f"SELECT `size`, share, count(*), sum(`event_on`), sum(`event_off`) FROM ({inner}) AS part"
        " GROUP BY `size`, share ORDER BY `size`, share"
    )
    return {(size, int(share)): (int(rows), int(on), int(off)) for size, share, rows, on, off in answer}


def _points(matrix: Matrix, store: Store) -> list[tuple[int, int, int]]:
    """The first scenarios of each cell."""
    each = max(1, POINTS // matrix.cells)
    answer = store.query(
        f"SELECT `full_size`, `diff_size`, `partial_columns` FROM {RAW} WHERE `diffs` > 0 AND `scenario` < {each}"
        f" ORDER BY `cell`, `scenario` LIMIT {POINTS}"
    )
    return [(int(full), int(diffs), int(partial > 0)) for full, diffs, partial in answer]


def as_data(seen: Overview) -> dict[str, Any]:
    """For ``results.json``: what is keyed by numbers becomes lists."""
    return {
        "bytes": seen.bytes,
        "lines": {
            name: [
                {
                    "value": line.value,
                    "rows": line.rows,
                    "on": line.on,
                    "off": line.off,
                    "percentiles": line.percentiles,
                }
                for line in lines
            ]
            for name, lines in seen.lines.items()
        },
        "heat": {image: [[*key, *sums] for key, sums in heat.items()] for image, heat in seen.heat.items()},
        "points": seen.points,
        "overhead": list(seen.overhead.items()),
        "sizes": [{"from": 1 << bits, "scenarios": number} for bits, number in seen.sizes.items()],
    }


def from_data(data: Mapping[str, Any]) -> Overview:
    """Back from it; the sums by cell stand elsewhere in the file."""
    return Overview(
        bytes=data["bytes"],
        lines={
            name: tuple(Line(**{**line, "percentiles": tuple(line["percentiles"])}) for line in lines)
            for name, lines in data["lines"].items()
        },
        heat={
            image: {(size, share): (rows, on, off) for size, share, rows, on, off in heat}
            for image, heat in data["heat"].items()
        },
        points=[(full, diffs, partial) for full, diffs, partial in data["points"]],
        overhead=dict(data["overhead"]),
        sizes={each["from"].bit_length() - 1: each["scenarios"] for each in data["sizes"]},
    )
