"""Statistics of the rows beside the verdicts: sums by setting and cell, distributions, points. Small tables, by SQL.

Every figure is a sum or a count of integers, so it depends neither on the order of rows nor on their place. Ratios are
per mille of the event without the option.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from scenarios.sql import RAW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.budgets import Store
    from scenarios.matrix import Matrix, Setting

Heat: TypeAlias = "dict[tuple[Setting, int], tuple[int, int, int]]"
KEYLESS: Final = "none"
TABLES: Final = ("tables with a primary or unique key", "tables without a key")
POINTS: Final = 1500  # points of the scatter plot
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
        """The share of the bytes that the option saves; negative if it costs bytes."""
        return 1 - self.on / self.off if self.off else 0.0


@dataclass(frozen=True, slots=True)
class Overview:
    """All statistics of a run.

    ``heat``: by row image and kind of table (all rows: an empty name), (size, class of share) to (rows, on, off).
    ``points``: (full, diffs, logged as diffs).
    """

    bytes: int = 0
    lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    heat: Mapping[str, Heat] = field(default_factory=dict)
    points: Sequence[tuple[int, int, int]] = ()
    overhead: Mapping[int, int] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    cells: Mapping[int, dict[str, int]] = field(default_factory=dict)


PERCENTILES: Final = (1, 10, 50, 90, 99)


def overview(matrix: Matrix, store: Store) -> Overview:
    """The whole overview; None for engines without events."""
    if "event_on" not in matrix.columns:
        return Overview()
    cells = {
        int(cell): {"event_on": int(on), "event_off": int(off), "diff_size": int(diffs), "full_size": int(full)}
        for cell, on, off, diffs, full in store.query(
            "SELECT `cell`, sum(`event_on`), sum(`event_off`), sum(`diff_size`), sum(`full_size`)"
            f" FROM {RAW} GROUP BY `cell`"
        )
    }
    names = [*matrix.axes, *matrix.ranges]
    *settings, overhead, sizes = _histograms(store, names)
    return Overview(
        bytes=sum(entry["event_on"] + entry["event_off"] for entry in cells.values()),
        lines={name: _lines(matrix, name, found) for name, found in zip(names, settings, strict=True)},
        heat=_heats(matrix, store) if "size" in matrix.axes else {},
        points=_points(matrix, store),
        overhead={part.value: part.rows for part in overhead},
        sizes={part.value: part.rows for part in sizes},
        cells=cells,
    )


class _Part(NamedTuple):
    """Rows with one value and one ratio in per mille."""

    value: int
    ratio: int
    rows: int
    on: int
    off: int


_EXTRA: Final = "`event_on` - `event_off` + `partial_full` - `partial_diff`"
_RATIO: Final = "CAST(`event_on` * 1000 / `event_off` AS BIGINT)"


def _histograms(store: Store, names: Sequence[str]) -> list[list[_Part]]:
    """Histograms of each setting, of the event's bytes beside the exchanged ones, and of the documents by power of two.

    One question asks for all, as each question costs a job; this function sorts the answer, which would cost another
    job.
    """
    bits = " ".join(f"WHEN `document` >= {1 << bits} THEN {bits}" for bits in range(24, 2, -1))
    wanted = [(f"`{name}`", _RATIO, "`event_off` > 0") for name in names]
    wanted += [(_EXTRA, "0", "`event_on` > 0"), (f"CASE {bits} ELSE 2 END", "0", "`document` > 0")]
    union = " UNION ALL ".join(
        f"SELECT {place} AS place, {value} AS counted, {ratio} AS ratio, `event_on`, `event_off`"
        f" FROM {RAW} WHERE {where}"
        for place, (value, ratio, where) in enumerate(wanted)
    )
    answer = store.query(
        f"SELECT place, counted, ratio, count(*), sum(`event_on`), sum(`event_off`) FROM ({union}) AS parts"
        " GROUP BY place, counted, ratio"
    )
    found: list[list[_Part]] = [[] for _ in wanted]
    for place, *part in sorted(answer):
        found[place].append(_Part(*map(int, part)))
    return found


def _lines(matrix: Matrix, name: str, parts: Sequence[_Part]) -> tuple[Line, ...]:
    """One line for each value of a setting, in the order of the matrix."""
    words = matrix.words(name)
    by_value: dict[int, list[_Part]] = {}
    for part in parts:
        by_value.setdefault(part.value, []).append(part)
    return tuple(
        Line(
            value if words is None else words[value],
            sum(part.rows for part in found),
            sum(part.on for part in found),
            sum(part.off for part in found),
            percentiles([(part.ratio, part.rows) for part in found]),
        )
        for value, found in by_value.items()
    )


def percentiles(histogram: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The percentiles of ``PERCENTILES`` from (value, count) in order of the values: the least value reaching each."""
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


def _heats(matrix: Matrix, store: Store) -> dict[str, Heat]:
    """A heat map for each row image, with a key and without.

    A whole before image takes as many bytes as all possible savings, and a table without a key always has one.
    """
    settings = {*matrix.axes, *matrix.ranges}
    images = matrix.words("image") if "image" in settings else None
    keys = matrix.words("key") if "key" in settings else None
    image = "0" if images is None else "`image`"
    key = "0" if keys is None or KEYLESS not in keys else f"CASE WHEN `key` = {keys.index(KEYLESS)} THEN 1 ELSE 0 END"
    cases = " ".join(
        f"WHEN `diff_size` * 1000 < {border} * `full_size` THEN {number}" for number, border in enumerate(SHARES)
    )
    inner = (
        f"SELECT {image} AS image, {key} AS keyless, `size`, CASE {cases} ELSE {len(SHARES)} END AS share,"
        f" `event_on`, `event_off` FROM {RAW} WHERE `diffs` > 0"
    )
    answer = store.query(
        f"SELECT image, keyless, `size`, share, count(*), sum(`event_on`), sum(`event_off`) FROM ({inner}) AS part"
        " GROUP BY image, keyless, `size`, share"
    )
    splits = ("",) if keys is None else TABLES
    out: dict[str, Heat] = {_heat_name(word, split): {} for word in images or ("",) for split in splits}
    for place, keyless, size, share, rows, on, off in sorted(answer):
        name = _heat_name(images[place] if images else "", splits[keyless])
        out[name][int(size), int(share)] = (int(rows), int(on), int(off))
    return out


def _heat_name(image: str, split: str) -> str:
    return ", ".join(part for part in (image and f"row image {image}", split) if part)


def _points(matrix: Matrix, store: Store) -> list[tuple[int, int, int]]:
    """The points of the first scenarios of each cell."""
    each = max(1, POINTS // matrix.cells)
    answer = store.query(
        f"SELECT `full_size`, `diff_size`, `partial_columns` FROM {RAW} WHERE `diffs` > 0 AND `scenario` < {each}"
        f" ORDER BY `cell`, `scenario` LIMIT {POINTS}"
    )
    return [(int(full), int(diffs), int(partial > 0)) for full, diffs, partial in answer]


def as_data(seen: Overview) -> dict[str, Any]:
    """The overview for ``results.json``: dictionaries keyed by numbers become lists."""
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
    """The overview from ``results.json``; the file has the sums by cell elsewhere."""
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
