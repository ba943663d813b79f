"""The display of a run: a live table on a terminal, plain lines elsewhere, and the table at the end."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from conformance.messages import counted
from fuzz.runner.campaign import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from fuzz.runner.campaign import Campaign
    from fuzz.runner.run import TargetState

PLAIN_SECONDS: Final = 5.0
PLAIN_WIDTH: Final = 120
_BAR: Final = 16
_STYLES: Final = {
    Result.CLEAN: "green",
    Result.FINDINGS: "bold red",
    Result.NOT_RUN: "red",
    Result.INCOMPLETE: "yellow",
}
_GLYPHS: Final = {Result.CLEAN: "✓", Result.FINDINGS: "✗", Result.NOT_RUN: "!", Result.INCOMPLETE: "○"}


@contextmanager
def display(file: TextIO) -> Iterator[Callable[[Campaign], None]]:
    """A function that shows the campaign's progress at each call."""
    if not file.isatty():
        yield Plain(file)
        return
    from rich.live import Live

    from conformance.report.terminal import console_on

    with Live(console=console_on(file), refresh_per_second=5, transient=True) as live:
        yield lambda campaign: live.update(living(campaign, live.console.size.height))


class Plain:
    """Lines: one when a target begins to fuzz, one every few seconds while it fuzzes, one at its end."""

    def __init__(self, file: TextIO, *, seconds: float = PLAIN_SECONDS) -> None:
        self._file = file
        self._seconds = seconds
        self._told: dict[str, tuple[str, float]] = {}

    def __call__(self, campaign: Campaign) -> None:
        """Print the news since the last call."""
        for state in campaign.states:
            phase, last = self._told.get(state.target.name, ("waiting", 0.0))
            now = time.monotonic()
            due = state.phase == "fuzzing" and now - last >= self._seconds
            if state.phase == "waiting" or (state.phase == phase and not due):
                continue
            if state.phase != "starting":
                print(line(state), file=self._file, flush=True)
            self._told[state.target.name] = (state.phase, now)


def line(state: TargetState) -> str:
    """One target in one line."""
    if state.trouble:
        return f"{state.target.name}: could not run: {state.trouble}"
    return (
        f"{state.target.name}: {state.phase}, {state.executions:,} executions, {state.rate:,.0f}/s,"
        f" {state.edges or 0:,} edges, corpus {state.corpus:,}, findings {len(state.findings)}"
    )


def print_table(campaign: Campaign, file: TextIO) -> None:
    """The table at the end."""
    from conformance.report.terminal import console_on

    console = console_on(file, highlight=False, width=None if file.isatty() else PLAIN_WIDTH, emoji=False)
    scale = campaign.scale
    table = _table(*(["of empty"] if scale else []), "result")
    for state in campaign.states:
        result = campaign.result(state)
        ratio = [f"1/{scale / state.rate:,.1f}" if state.rate else ""] if scale else []
        table.add_row(*_figures(state), *ratio, f"[{_STYLES[result]}]{_GLYPHS[result]} {result}[/]")
    console.print(table)
    for state in campaign.states:
        for text in filter(None, (state.trouble, state.note)):
            console.print(f"{state.target.name}: {text}", markup=False)
        for finding in state.findings:
            age = "" if finding.is_new else f" (known since {finding.first_seen})"
            alone = f" ({finding.doubt})" if finding.doubt else ""
            console.print(
                f"{state.target.name}: {finding.signature}{age}{alone}", style="red", markup=False, soft_wrap=True
            )
            console.print(f"  {finding.size:,} bytes: {finding.replay}", markup=False, soft_wrap=True)


def total(campaign: Campaign) -> str:
    """The result of the run in a sentence."""
    executions = sum(state.executions for state in campaign.states)
    processor = sum(state.processor for state in campaign.states)
    ended = ", interrupted" if campaign.interrupted else ""
    return (
        f"{counted(len(campaign.states), 'target')}, {executions:,} executions in {campaign.seconds:,.0f} s"
        f" ({processor:,.0f} s of the processor), {_progress(campaign)},"
        f" seed {campaign.budget.seed}{ended}"
    )


def _progress(campaign: Campaign) -> str:
    """How far the work on the findings has come."""
    found = [finding for state in campaign.states for finding in state.findings]
    shrunk = sum(finding.shrunk or finding.size < finding.size_before for finding in found)
    confirmed = sum(finding.reproduced for finding in found)
    number = counted(len(found), "finding")
    if all(finding.shrunk and finding.reproduced for finding in found):
        return number
    rest = ", the rest as first seen" if shrunk < len(found) else ""
    return f"{number} ({confirmed} confirmed, {shrunk} shrunk{rest})"


def _table(*more: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("target", no_wrap=True)
    for name in ("executions", "exec/s", "edges", "corpus", "findings"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in more:
        table.add_column(name, no_wrap=True, justify="right" if name == "of empty" else "left")
    return table


def _figures(state: TargetState) -> list[str]:
    return [
        state.target.name,
        f"{state.executions:,}",
        f"{state.rate:,.0f}",
        f"{state.edges:,}" if state.edges is not None else "none",
        f"{state.corpus:,}",
        str(len(state.findings)),
    ]


def living(campaign: Campaign, height: int) -> Table:
    """The live table: targets that run, targets that are done, as many as the screen holds."""
    table = _table("")
    running = [state for state in campaign.states if state.phase not in ("waiting", "done")]
    done = [state for state in campaign.states if state.phase == "done"]
    waiting = len(campaign.states) - len(running) - len(done)
    room = max(1, height - len(running) - 3)
    for state in done[-room:]:
        result = campaign.result(state)
        table.add_row(*_figures(state), f"[{_STYLES[result]}]{_GLYPHS[result]} {result}[/]")
    for state in running:
        share = _share(campaign, state)
        bar = "█" * round(share * _BAR) + "░" * (_BAR - round(share * _BAR))
        table.add_row(*_figures(state), f"[cyan]{bar}[/] {100 * share:3.0f} %  {state.phase}", style="bold")
    table.caption = f"{waiting} targets wait; {campaign.seconds:,.0f} s; Ctrl-C ends the run"
    table.caption_justify = "left"
    return table


def _share(campaign: Campaign, state: TargetState) -> float:
    """The share of its budget that a target has spent."""
    budget = campaign.budget
    if budget.runs is not None:
        return min(1.0, state.executions / budget.runs)
    return min(1.0, state.seconds / budget.seconds) if budget.seconds else 0.0
