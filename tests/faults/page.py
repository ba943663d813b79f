# ruff: noqa: E501 - Markdown has one sentence a line
"""``python -m tests.faults --page`` writes ``docs/planted-faults.md``: how many faults of each kind there are, and what
the last recorded runs of the benches found."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.faults.catalogue import FAULTS, ORACLE_FAULTS, ROOT
from tests.faults.census import KINDS, by_kind, by_requirement
from tests.faults.servers.catalogue import NO_SERVER, SERVER_FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.fault import Fault
    from tests.planted import Planted

PAGE: Final = ROOT / "docs" / "planted-faults.md"
RESULTS: Final = ROOT / "tests" / "faults" / "results"
_HEAD: Final = """# Planted faults

A check that cannot fail is a defect, so the kit plants faults and asks whether its checks see them.
This page is written by `python -m tests.faults --page`; a test compares it with the count of all faults.
"""
_BY_KIND: Final = """## By kind

`python -m tests.faults` prints this count and the next one.
What several tests of a kind plant is one fault.
"""
_BY_REQUIREMENT: Final = """## By requirement

A fault may break several requirements.
The faults of the reference break rules of the [sheets](spec/index.md), which stand further below.
"""
_BY_SHEET: Final = """## By sheet

Each fault of the reference names the rule that it breaks.
"""
_ORACLES: Final = """## What the fuzz targets find alone

`python -m tests.faults --oracles --results tests/faults/results/oracles.json` gives each fault to the targets, without any test.
First come the stored inputs of all targets, then 60 seconds of CPU for each target that runs the faulty module.
The table has the first target that finds the fault, and the seconds of CPU until then.
"""
_SERVERS: Final = """## Faulty servers

`python -m tests.faults --servers --results tests/faults/results/servers.json` runs the kit's checks on each of these servers.
A relay stands between a real server and the lab, and alters what passes, or what the lab reads in a data file.
For requirements about the kit's own model a function of the model is altered.
A fault is caught if the requirement fails, and if the words of the failure name what is wrong.
Each run has the checks that judge the requirement, and goes through the report to the rows of `results.json`.
Exactly the rows that are due have to be red there; the last columns are of the last recorded run of each.
"""
_NO_SERVER: Final = """## Requirements without a faulty server

These are judged, but not on what a relay in front of a server could alter.
Their planted faults are of the other kinds.
"""


def page(faults: Sequence[Planted]) -> str:
    """The whole page."""
    parts = [
        [_HEAD],
        [_BY_KIND, *_kinds(faults)],
        [_BY_REQUIREMENT, *_requirements(faults)],
        [_BY_SHEET, *_sheets()],
        [_ORACLES, *_oracles()],
        [_SERVERS, *_servers()],
        [_NO_SERVER, *_without_server()],
    ]
    return "\n".join("\n".join(part) for part in parts) + "\n"


def _kinds(faults: Sequence[Planted]) -> list[str]:
    counts = by_kind(faults)
    rows = [
        f"| {kind.id} | {kind.what} | {counts[kind.id]:,} | `{kind.command}` |" for kind in KINDS if kind.id in counts
    ]
    return [
        "| kind | a fault is | faults | what plants them |",
        "|---|---|---:|---|",
        *rows,
        f"| **together** | | **{len(faults):,}** | |",
        "",
    ]


def _requirements(faults: Sequence[Planted]) -> list[str]:
    found = by_requirement(faults)
    kinds = [kind.id for kind in KINDS if any(kind.id in counts for counts in found.values())]
    lines = [f"| requirement | {' | '.join(kinds)} | together |", f"|---|{'---:|' * (len(kinds) + 1)}"]
    for name, counts in found.items():
        cells = (str(counts[kind] or "") for kind in kinds)
        lines.append(f"| {name} | {' | '.join(cells)} | {counts.total()} |")
    return [*lines, ""]


def _sheet(fault: Fault) -> str:
    """The sheet of a rule such as ``jsonb 2: ...``."""
    return fault.sentence.split(maxsplit=1)[0].rstrip(":,;")


def _sheets() -> list[str]:
    reference, oracles = (Counter(map(_sheet, faults)) for faults in (FAULTS, ORACLE_FAULTS))
    rows = [
        f"| {sheet} | {reference[sheet] or ''} | {oracles[sheet] or ''} |" for sheet in sorted({*reference, *oracles})
    ]
    return ["| sheet | reference | oracles |", "|---|---:|---:|", *rows, ""]


def recorded(name: str) -> dict[str, Any]:
    """The rows of a recorded run, by fault."""
    path = RESULTS / f"{name}.json"
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return rows


def _oracles() -> list[str]:
    rows = recorded("oracles")
    found = {fault.id: rows[fault.id]["outcomes"]["fuzzing"] for fault in ORACLE_FAULTS if fault.id in rows}
    lines = ["| fault | breaks | found by | seconds |", "|---|---|---|---:|"]
    for fault in ORACLE_FAULTS:
        by, seconds = found.get(fault.id, (None, 0.0))
        lines.append(
            f"| `{fault.id}` | {fault.sentence} | {_finder(by) if fault.id in found else 'not run'} | {seconds:.1f} |"
        )
    caught = sum(by is not None for by, _ in found.values())
    cost = sum(seconds for _, seconds in found.values())
    return [f"{caught} of {len(ORACLE_FAULTS)} are found, in {cost:.0f} seconds of CPU together.", "", *lines, ""]


def _finder(by: str | None) -> str:
    """A target, and how: ``atheris TARGET: ...`` or ``TARGET: INPUT (...)``."""
    if by is None:
        return "nobody"
    target, _, rest = by.partition(":")
    if target.startswith("atheris "):
        return f"`{target.removeprefix('atheris ')}`, by fuzzing"
    return f"`{target}`, by a {'seed' if rest.strip().startswith('seed-') else 'stored input'}"


def _servers() -> list[str]:
    rows = recorded("servers")
    lines = ["| server | breaks | what it does | last run | red and not due |", "|---|---|---|---|---|"]
    for fault in SERVER_FAULTS:
        row = rows.get(fault.id)
        outcome = "not run" if row is None else "caught" if {*fault.requirements} <= {*row["red"]} else "**lives**"
        beyond = ", ".join(name for name in (row or {"red": ()})["red"] if name not in fault.due)
        lines.append(f"| `{fault.id}` | {', '.join(fault.requirements)} | {fault.sentence} | {outcome} | {beyond} |")
    ran = [(fault, {*rows[fault.id]["red"]}) for fault in SERVER_FAULTS if fault.id in rows]
    caught = sum({*fault.requirements} <= red for fault, red in ran)
    requirements = {name for fault in SERVER_FAULTS for name in fault.requirements}
    counts = (
        f"Rows of their reports: {sum(len(fault.due & red) for fault, red in ran):,} due and red, "
        f"{sum(len(fault.due - red) for fault, red in ran):,} due and not red, "
        f"{sum(len(red - fault.due) for fault, red in ran):,} red and not due."
    )
    return [
        f"{caught} of {len(SERVER_FAULTS)} are caught, for {len(requirements)} requirements.",
        counts,
        "",
        *lines,
        "",
    ]


def _without_server() -> list[str]:
    rows = [f"| {reason} | {'; '.join(names)} |" for reason, names in NO_SERVER.items()]
    return ["| reason | requirements |", "|---|---|", *rows]
