# ruff: noqa: E501 - Markdown has one sentence a line
"""``python -m tests.requirements.versions_page`` (from the repository's root) writes ``docs/versions.md``: the dialect
table, and what exercises each row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.judge.probes import has_probe, value_words
from conformance.requirements.versions import MARKS, SWITCHES, text_of
from tests.live import ROOT
from tests.requirements.dialect_rows import ANSWERED, ROWS
from tests.requirements.faults_of_dialects import TABLE_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.requirements.versions import Cell
    from tests.requirements.dialect_rows import Check

PAGE: Final = ROOT / "docs" / "versions.md"
_HEAD: Final = """# What differs between MySQL versions

This page is written by `python -m tests.requirements.versions_page` from the table in `conformance/requirements/dialects.toml` and the tests in `tests/requirements/dialect_rows.py`; a test compares the two.
A dialect is what the table says of a version; nothing else in the project asks for a version.
`binlog-lab predict --dialect V` and `binlog-lab decode --dialect V` take any version of the table, suffixes stripped; years (26.7) count as newer than everything that was observed.

Each cell holds from its version to the next one.
The letters say how a cell is known:

MARKS

A cell with **?** is an assumption: check the value before you rely on it.
Every conformance run asks its servers for the rows marked *asked* and writes the answers beside the table's into the report.
An answer that contradicts a cell without **?** is a finding about the table.
The run goes on with what the server showed, except for the bytes of events and documents: there the table stands, and the server fails.

A fault is one wrong cell, or a boundary one version late; each of them makes a test of its row fail.
"""


def page() -> str:
    """The whole page."""
    faults = {row: sum(fault.change.id == row for fault in TABLE_FAULTS) for row in SWITCHES}
    tests = sum(len(checks) for checks in ROWS.values())
    probes = sum(cell.probe for switch in SWITCHES.values() for cell in switch.cells)
    cells = sum(len(switch.cells) for switch in SWITCHES.values())
    lines = [
        _HEAD.replace("MARKS", "\n".join(f"- **{mark}**: {words}" for mark, words in MARKS.items())),
        (
            f"{len(SWITCHES)} rows, {cells} cells ({probes} with ?), {tests} tests of rows, {sum(faults.values())} faults, "
            f"{sum(map(has_probe, SWITCHES))} rows asked of live servers."
        ),
        "",
        "| row | what it says | from version: value (how it is known) | tests | faults |",
        "|---|---|---|---|---|",
    ]
    for row, switch in SWITCHES.items():
        values = "<br>".join(map(_cell, switch.cells))
        names = "<br>".join(_tests(ROWS[row]))
        asked = "<br>*asked*" if has_probe(row) else ""
        lines.append(f"| `{row}` | {switch.what}{asked} | {values} | {names} | {faults[row]} |")
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    return f"{text_of(cell.since)}: `{value_words(cell.value)}` ({'**?** ' if cell.probe else ''}{cell.mark})"


def _tests(checks: Iterable[Check]) -> Iterator[str]:
    """Each test, and in one phrase the versions that answered when they were asked."""
    asked = []
    for check in checks:
        words = _test(check.__name__, check.__doc__)
        if words.startswith(ANSWERED):
            asked.append(words.removeprefix(ANSWERED))
        else:
            yield words
    if asked:
        yield f"{ANSWERED}{', '.join(asked)}"


def _test(name: str, words: str | None) -> str:
    """A function of its own by its name; one of a family by what it says."""
    return f"`{name}`" if name != "check" else " ".join(re.sub(r"\s+", " ", words or "").split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
