"""The figures of a report are sums over its rows: computed once more here, row by row; planted faults are caught."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from scenarios import overview as module
from scenarios.inline import SqliteStore, all_rows
from scenarios.matrix import Matrix, load_matrix
from scenarios.overview import PERCENTILES, SHARES, Overview, overview
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return load_matrix("size-budget")


@pytest.fixture(scope="module")
def good(matrix: Matrix) -> list[list[int]]:
    """Rows of every small cell, among them some without an event and one with a wrong verdict."""
    counts = [4 if int(matrix.cell(cell)["size"]) <= 4096 else 0 for cell in range(matrix.cells)]
    rows = [list(row) for row in all_rows(matrix, counts)]
    for place, name in enumerate(matrix.columns):
        if name in matrix.module.MEASURES and name != "document":
            rows[3][place] = rows[7][place] = 0
    rows[3][matrix.columns.index("verdict")] = 1
    rows[7][matrix.columns.index("verdict")] = 11
    return rows


def by_hand(matrix: Matrix, rows: Sequence[Row]) -> Overview:
    """The same figures without SQL."""
    named = [
        row | {name: words[row[name]] for name in (*matrix.axes, *matrix.ranges) if (words := matrix.words(name))}
        for row in rows
    ]
    lines = {}
    for name in (*matrix.axes, *matrix.ranges):
        found: dict[Any, list[Row]] = defaultdict(list)
        for raw, row in zip(rows, named, strict=True):
            if row["event_off"]:
                found[raw[name], row[name]].append(row)
        lines[name] = tuple(
            module.Line(
                value,
                len(mine),
                sum(row["event_on"] for row in mine),
                sum(row["event_off"] for row in mine),
                tuple(_percentiles([row["event_on"] * 1000 // row["event_off"] for row in mine])),
            )
            for (_, value), mine in sorted(found.items(), key=lambda item: item[0][0])
        )
    heat: dict[str, Any] = {
        f"row image {image}, tables {key}": defaultdict(lambda: (0, 0, 0))
        for image in ("FULL", "MINIMAL", "NOBLOB")
        for key in ("with a primary or unique key", "without a key")
    }
    for row in named:
        if row["diffs"]:
            share = bisect_right(SHARES, row["diff_size"] * 1000 / row["full_size"])
            key = "without a key" if row["key"] == "none" else "with a primary or unique key"
            name = f"row image {row['image']}, tables {key}"
            before = heat[name][row["size"], share]
            heat[name][row["size"], share] = (
                before[0] + 1, before[1] + row["event_on"], before[2] + row["event_off"],
            )  # fmt: skip
    return Overview(
        bytes=sum(row["event_on"] + row["event_off"] for row in rows),
        lines=lines,
        heat={name: dict(entry) for name, entry in heat.items()},
        overhead=Counter(
            row["event_on"] - row["event_off"] + row["partial_full"] - row["partial_diff"]
            for row in rows
            if row["event_on"]
        ),
        sizes=Counter(max(2, row["document"].bit_length() - 1) for row in rows if row["document"]),
    )


def _percentiles(ratios: list[int]) -> list[int]:
    ratios.sort()
    return [ratios[-(-wanted * len(ratios) // 100) - 1] for wanted in PERCENTILES]


def seen_of(matrix: Matrix, rows: Sequence[Sequence[int]]) -> Overview:
    with closing(SqliteStore(matrix, rows)) as store:
        return overview(matrix, store)


def differs(matrix: Matrix, rows: Sequence[Sequence[int]]) -> list[str]:
    """The parts of an overview that are not those of the rows."""
    seen = seen_of(matrix, rows)
    mine = by_hand(matrix, [dict(zip(matrix.columns, row, strict=True)) for row in rows])
    return [
        name for name in ("bytes", "lines", "heat", "overhead", "sizes") if getattr(seen, name) != getattr(mine, name)
    ]


def test_the_figures_are_those_of_the_rows(matrix: Matrix, good: list[list[int]]) -> None:
    assert differs(matrix, good) == []


FIGURE_FAULTS = tuple(
    Fault(name, "FR11 FR12", sentence, words)
    for name, sentence, words in (
        ("a-setting-has-the-sums-of-another", "Sums are by setting.",
         ("SELECT 1 AS place, `shape`", "SELECT 1 AS place, `update` / 2")),
        ("rows-without-an-event-are-left-out-of-the-sizes", "Sizes are of all rows.",
         ("WHERE `document` > 0", "WHERE `event_on` > 0")),
        ("one-row-image-for-all", "Each image has its sums.", ("SELECT `image` AS image", "SELECT 0 AS image")),
        ("tables-without-a-key-are-with-the-others", "Tables without a key are apart.",
         ("WHEN `key` = 2 THEN 1", "WHEN `key` = 3 THEN 1")),
        ("the-unique-key-is-none", "A unique key is one.", ("WHEN `key` = 2 THEN 1", "WHEN `key` > 0 THEN 1")),
        ("per-mille-are-rounded-up", "Per mille are rounded down.",
         ("`event_on` * 1000 / `event_off`", "(`event_on` * 1000 + `event_off` - 1) / `event_off`")),
        ("the-overhead-of-partial-events-alone", "The overhead is that of all events.",
         ("WHERE `event_on` > 0", "WHERE `partial_columns` > 0")),
        ("the-last-class-is-left-out", "Every row is in a class.",
         (f"ELSE {len(SHARES)} END AS share", f"ELSE {len(SHARES) - 1} END AS share")),
    )
)  # fmt: skip
"""Words of a query, and those in their place."""


@each(FIGURE_FAULTS)
def test_a_fault_of_the_figures_is_caught(
    fault: Fault, matrix: Matrix, good: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = SqliteStore.query
    met = []

    def planted(self: SqliteStore, text: str) -> list[tuple[Any, ...]]:
        met.append(fault.change[0] in text)
        return query(self, text.replace(*fault.change))

    monkeypatch.setattr(SqliteStore, "query", planted)
    assert differs(matrix, good)
    assert any(met)


@pytest.mark.planted("FR11", "FR12")
def test_words_that_are_shifted_by_one_are_seen(
    matrix: Matrix, good: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = seen_of(matrix, good)
    plant_in(monkeypatch, Matrix, "words", lambda found: found and (*found[1:], found[0]))
    assert seen_of(matrix, good).lines != seen.lines
