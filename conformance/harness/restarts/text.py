"""The losses and repetitions of clients, as a table or as objects for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.harness.restarts.run import Restarts

_HEADS: Final = ("client", "log", "goes on by", "cut off", "restarts", "exact", "right", "lost", "repeated", "not back")


def as_data(one: Restarts) -> dict[str, object]:
    """The tallies of a client as an object for JSON."""
    return {
        "client": one.client,
        "version": one.version,
        "boundaries": one.boundaries,
        "restarts": one.restarts,
        "not_read": one.unread,
        "tallies": [
            {
                "log": log, "by": by, "way": str(way), "restarts": tally.restarts, "exact": tally.exact,
                "right": tally.right, "lost": tally.lost, "repeated": tally.repeated, "strange": tally.strange,
                "not_back": tally.not_back, "example": tally.example,
            }
            for (log, by, way), tally in one.tallies.items()
        ],
    }  # fmt: skip


def as_table(found: list[Restarts], *, markdown: bool) -> str:
    """The tallies of clients as a table of text, or of Markdown."""
    rows: list[tuple[str, ...]] = [_HEADS]
    for one in found:
        name = f"{one.client} {one.version}".strip()
        for (log, by, way), tally in one.tallies.items():
            numbers = (tally.restarts, tally.exact, tally.right, tally.lost, tally.repeated, tally.not_back)
            rows.append((name, log, by, str(way), *(f"{number:,}" for number in numbers)))
    notes = [f"{one.client} reads no {log} log: {why}" for one in found for log, why in one.unread.items()]
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + "---|" * len(_HEADS))
        return "\n".join([*lines, *(f"\n{note}" for note in notes)])
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADS))]
    lines = [
        "  ".join(
            cell.ljust(width) if place < 4 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([*lines, *notes])
