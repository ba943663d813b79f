"""``binlog-lab restarts``: clients that are cut off everywhere, and what they lose and repeat."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click

from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from conformance.harness.restarts.run import Restarts

_HEADS: Final = ("client", "log", "goes on by", "cut off", "restarts", "exact", "right", "lost", "repeated", "not back")


@click.command(name="restarts")
@click.argument("subjects", metavar="SUBJECT…", nargs=-1, required=True)
@click.option("--boundaries", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
              help="Boundaries of events at which to cut each client off.")  # fmt: skip
@click.option("--seed", default="1", show_default=True, help="Chooses the logs.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
def command(subjects: tuple[str, ...], boundaries: int, seed: str, form: str) -> int:
    """Cut clients off at every event of a log, and count the rows that they lose or repeat.

    SUBJECT is a built-in client (binlog-lab subjects list) or 'wire:PROGRAM …'. The lab is the source; no MySQL server
    is needed. It breaks the connection in front of each event and inside some. A client with the capability 'stop' is
    also stopped behind each event with rows. It comes back with the position or GTIDs that it stored itself. Its rows
    are compared with those that it reads without a cut.

    Exit code 1: a client lost rows, or did not come back. Repeated rows are shown, and are no failure.
    """
    from conformance.harness.restarts.run import run_restarts
    from conformance.subjects.answers import SubjectUnavailable
    from conformance.subjects.specs import SubjectSpecError

    found: list[Restarts] = []
    for subject in subjects:
        try:
            found.append(run_restarts(subject, boundaries, seed, narrate))
        except SubjectSpecError as problem:
            raise Usage(str(problem)) from problem
        except SubjectUnavailable as problem:
            raise CouldNotRun(f"{subject}: {problem}") from problem
    if form == "json":
        click.echo(json.dumps([_data(one) for one in found], indent=1))
    else:
        click.echo(_table(found, markdown=form == "markdown"))
    bad = any(tally.lost or tally.not_back for one in found for tally in one.tallies.values())
    return int(ExitCode.NONCONFORMANT if bad else ExitCode.OK)


def _data(one: Restarts) -> dict[str, object]:
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


def _table(found: list[Restarts], *, markdown: bool) -> str:
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
