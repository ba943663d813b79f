"""The end of a run in some 25 lines: names of what is not passed, and counts of the rest. ``-v`` prints it all."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from conformance.report import wording
from conformance.stream import MODEL
from conformance.verdict import SEVERITY, Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.report.results import Summary

ROWS_SHOWN: Final = 5  # failing requirements with a line of their own
FAILURES_SHOWN: Final = 3
MORE: Final = "-v prints every requirement, listed deviation and exercised rule"
WARNING: Final = "color(130)"  # an orange that can be read on light and dark ground


def style(verdict: Verdict) -> str:
    """The colour of a verdict."""
    if verdict.failing:
        return "red"
    return "green" if verdict in (Verdict.PASS, Verdict.FIXED) else WARNING


def line(console: Console, text: str, style: str = "") -> None:
    """Print one line, which ends with … where the terminal does."""
    console.print(text, style=style or None, markup=False, no_wrap=True, overflow="ellipsis")


def requirements(console: Console, summary: Summary) -> None:
    """Print the failing requirements, then the others of each verdict: those that passed by number, others by name."""
    rows = {name: row for name, row in summary.requirement_rows().items() if row[2]}
    failing = [
        name for verdict in SEVERITY for name, row in rows.items() if row[1].failed and row[1].verdict is verdict
    ]
    for name in failing[:ROWS_SHOWN]:
        info, total, _ = rows[name]
        words = f"{total.verdict}, {wording.cell_words(total)}: {wording.titled(info)}"
        line(console, f"{wording.GLYPHS[total.verdict]} {name:<7} {words}", style(total.verdict))
    if len(failing) > ROWS_SHOWN:
        left = " ".join(failing[ROWS_SHOWN:])
        line(console, f"✗ {len(failing) - ROWS_SHOWN} more fail: {left}", "red")
    by_verdict: defaultdict[Verdict, list[str]] = defaultdict(list)
    of_model = 0
    for name, (info, total, _) in rows.items():
        if total.verdict is Verdict.PASS and info.judged_on == MODEL:
            of_model += 1
        elif not total.failed:
            by_verdict[total.verdict].append(name)
    for verdict in Verdict:
        names = by_verdict[verdict]
        apart = f"  and {of_model} on the kit's own model" if of_model else ""
        named = apart if verdict is Verdict.PASS else f"  {' '.join(names)}"
        if names or (of_model and verdict is Verdict.PASS):
            line(console, f"{wording.GLYPHS[verdict]} {verdict:<14} {len(names):>3}{named}", style(verdict))
    line(console, wording.coverage(summary), "dim")


def columns(console: Console, summary: Summary) -> None:
    """Print a line for each of several servers: how many requirements have which verdict there."""
    rows = summary.requirement_rows().values()
    for name, subject in summary.columns.items():
        found = [cells[name].verdict for _, _, cells in rows if name in cells]
        counts = " · ".join(f"{found.count(verdict)} {verdict}" for verdict in Verdict if verdict in found)
        line(console, f"{name}, {subject.version or 'could not run'}: {counts or 'nothing judged'}")


def deviations(console: Console, summary: Summary) -> None:
    """Print the names of the listed deviations that were met, of those without a witness of this version first."""
    entries = summary.deviations()
    met = [entry for entry in entries if entry["verdict"] == "deviates"]
    for kind, words in ((False, f" ({wording.UNCONFIRMED})"), (True, "")):
        mine = [entry for entry in met if bool(entry["confirmed"]) is kind]
        if mine:
            cases = wording.plural(sum(entry["cases"] for entry in mine), "case")
            names = ", ".join(dict.fromkeys(entry["id"] for entry in mine))
            count = wording.plural(len({entry["id"] for entry in mine}), "listed deviation")
            line(console, f"{count} for {cases}{words}: {names}", WARNING)
    for entry in entries:
        if entry["verdict"] != "deviates":
            line(console, f"listed deviation {entry['id']} is gone", WARNING)


def census(console: Console, summary: Summary) -> None:
    """Print whether all rules were exercised, and which parts of the mix were not reached."""
    groups = summary.census.groups()
    if not groups or (summary.matrix and not summary.columns):
        return
    if not summary.census:
        line(console, "census: nothing counted, the generated updates are not in this selection", "dim")
        return
    count, missing = sum(len(group.rules) for group in groups), summary.census.not_exercised()
    if missing:
        line(console, f"census: {len(missing)} of {count} rules not exercised: {', '.join(missing)}", WARNING)
    else:
        line(console, f"census: all {count} rules exercised", "dim")
    short = [part.sentence for part in summary.census.mix() if not part.reached]
    if short:
        line(console, f"less than a representative run has: {'; '.join(short)}", WARNING)
