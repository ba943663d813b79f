"""An estimate from a log written with partial JSON off, held against the log of the same updates with it on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.logs.parts import Part
from scenarios.estimate.inline import measure

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.estimate.meter import Measurement


@dataclass(slots=True)
class Comparison:
    """``outside``: fields and rows whose real cost is not between the bounds; ``wrong``: sizes that the estimate takes
    for facts and that are others. Totals are bytes of row events, headers and checksums included; those of ``fields``
    are of the JSON columns in after images alone."""

    rows: int = 0
    fields: int = 0
    outside: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    off: int = 0
    real: int = 0
    least: int = 0
    leaves: int = 0
    most: int = 0
    real_fields: int = 0
    leaf_fields: int = 0

    @property
    def error(self) -> float:
        """The error of ``leaves``, as a share of the real cost: of the events or of the fields, whichever is larger."""
        events = abs(self.leaves - self.real) / self.real
        return max(events, abs(self.leaf_fields - self.real_fields) / (self.real_fields or 1))


def compare(off: Path, on: Path, image: str = "FULL") -> Comparison:
    """``off`` has FULL images, ``on`` those of ``image``."""
    found = Comparison()
    guessed, real = list(measure(Part(str(off)))), list(measure(Part(str(on))))
    if image == "FULL":
        _fields(guessed, real, found)
    rows = [item for item in guessed if item.kind == "row" and item.word == image]
    logged: dict[tuple[int, int, int], Measurement] = {}
    for item in real:
        if item.kind == "row":
            logged.setdefault((item.position, item.inner, item.number), item)
    if len(rows) != len(logged):
        found.wrong.append(f"{len(rows)} rows in the one log, {len(logged)} in the other")
    for guess, truth in zip(rows, logged.values(), strict=False):
        found.rows += 1
        if not guess.least <= truth.logged <= guess.most or not guess.least <= guess.leaves <= guess.most:
            found.outside.append(f"row at {guess.position}: {truth.logged} not in {guess.least}..{guess.most}")
        if image == "FULL" and guess.whole != guess.logged:
            found.wrong.append(f"row at {guess.position}: {guess.logged} bytes, the estimate says {guess.whole}")
        found.off += guess.whole + guess.whole_heads
        found.real += truth.logged + truth.logged_heads
        found.least += guess.least + guess.least_heads
        found.leaves += guess.leaves + guess.leaves_heads
        found.most += guess.most + guess.most_heads
    packed = sum(item.most + item.most_heads for item in real if item.kind == "row" and item.word == image)
    if image == "FULL" and packed != found.real:
        found.wrong.append(f"on: {found.real} bytes of events, packed by the rule they are {packed}")
    if not found.least <= found.real <= found.most:
        found.outside.append(f"total: {found.real} not in {found.least}..{found.most}")
    for what, total, items, word in (
        ("off", found.off, guessed, "UPDATE_ROWS_EVENT"), ("on", found.real, real, "PARTIAL_UPDATE_ROWS_EVENT"),
    ):  # fmt: skip
        size = sum(item.logged for item in items if item.kind == "event" and item.word == word)
        if size != total and (what == "on" or image == "FULL"):
            found.wrong.append(f"{what}: {size} bytes of events, the rows say {total}")
    return found


def _fields(guessed: list[Measurement], real: list[Measurement], found: Comparison) -> None:
    guesses, truths = ([item for item in items if item.kind == "column"] for items in (guessed, real))
    if len(guesses) != len(truths):
        found.wrong.append(f"{len(guesses)} fields in the one log, {len(truths)} in the other")
    for guess, truth in zip(guesses, truths, strict=False):
        found.fields += 1
        found.real_fields += truth.logged
        found.leaf_fields += guess.leaves
        where = f"{guess.column_name} at {guess.position} row {guess.number}"
        if not guess.least <= truth.logged <= guess.most or not guess.least <= guess.leaves <= guess.most:
            found.outside.append(f"{where}: {truth.logged} not in {guess.least}..{guess.most}")
        if guess.whole != guess.logged:
            found.wrong.append(f"{where}: {guess.logged} bytes, the estimate says {guess.whole}")
