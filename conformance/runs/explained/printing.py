"""Requirements and listed deviations by their ids, which ``explain`` prints where its argument is no log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.messages import did_you_mean
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.deviations import load_deviations
from conformance.runs.explained.deviation import deviation_lines
from conformance.runs.explained.requirement import requirement_lines
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDEST = 110


def lines_about(name: str) -> Iterator[str] | None:
    """The lines about a requirement or deviation by the name of no file; ``None`` where it is no id.

    Raises :class:`Usage` for a name that is nearly an id.
    """
    if name in REQUIREMENTS:
        return requirement_lines(name)
    listed = {entry.id: entry for entry in load_deviations()}
    if name in listed:
        return deviation_lines(listed[name])
    near = "" if "/" in name else did_you_mean(name, [*REQUIREMENTS, *listed])
    if near:
        raise Usage(f"{name}: no such file, requirement or deviation{near}")
    return None


def print_lines(lines: Iterator[str]) -> None:
    """Print the lines, folded to the width of the terminal."""
    import shutil

    width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
    for line in lines:
        prose = line.startswith("  ") and not line.startswith(("    ", "  binlog-lab "))
        more = "    " if line.startswith("  - ") else "  "
        click.echo(click.wrap_text(line.strip(), width, "  ", more) if prose else line)
