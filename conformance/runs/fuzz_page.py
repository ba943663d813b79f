"""The page of a fuzz run: findings that are new, known and fixed, and the edges of each target over its time.

Behind them stand the lines of code that its inputs reached first, and those that none reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.report.html import render
from fuzz.runner.source_lines import modules_of, with_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.runner.campaign import Campaign
    from fuzz.runner.findings import Store
    from fuzz.runner.run import TargetState

_WIDTH, _HEIGHT = 200, 40  # of a curve, in the units of its picture
_POINTS: Final = 100
_STYLE: Final = """th small, th code { overflow-wrap: anywhere; white-space: normal; }
.lines { margin: 0; border-top: 1px solid var(--line); }
.lines summary { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 14px; color: var(--ink); }
.lines summary::before { content: "▸"; color: var(--soft); } .lines[open] summary::before { content: "▾"; }
.lines summary::-webkit-details-marker { display: none; } .lines summary code { flex: 1 1 240px; }
.lines span { flex: none; min-width: 7.5em; font-variant-numeric: tabular-nums; }
.lines svg { flex: none; width: 80px; height: 6px; border-radius: 3px; background: var(--line); }
.source { margin: 4px 0 14px; padding: 8px 0; }
.source code { display: block; width: max-content; min-width: 100%; }
.source i { display: block; padding-right: 14px; font-style: normal; color: var(--soft); white-space: pre; }
.key b { white-space: nowrap; padding: 1px 6px; border-radius: 4px; font-weight: 400; }
.key .new, .source .new { color: var(--good); background: var(--good-bg); }
.key .never, .source .never { color: var(--bad); background: var(--bad-bg); }
"""


def page(campaign: Campaign, store: Store, headline: str) -> str:
    """The whole page. ``store``: where findings of earlier runs lie, too; ``headline``: the run in a sentence."""
    seen = [finding for state in campaign.states for finding in state.findings]
    paths = {finding.path for finding in seen}
    earlier = [finding for state in campaign.states for finding in store.of(state.target) if finding.path not in paths]
    return render(
        "conformance.report",
        "fuzz.html.j2",
        _STYLE,
        headline=headline,
        new=[finding for finding in seen if finding.is_new],
        known=[finding for finding in seen if not finding.is_new],
        unseen=[finding for finding in earlier if not finding.fixed],
        fixed=[finding for finding in earlier if finding.fixed],
        executions=sum(state.executions for state in campaign.states),
        troubles=[f"{state.target.name}: {text}" for state in campaign.states if (text := state.trouble or state.note)],
        targets=[_target(campaign, state) for state in campaign.states],
        **_lines(campaign),
    )


def _lines(campaign: Campaign) -> dict[str, Any]:
    modules = modules_of(campaign)
    return {
        "lines": sum(module.lines for module in modules),
        "lines_reached": sum(module.reached for module in modules),
        "lines_new": sum(len(module.new) for module in modules),
        "modules": list(with_source(module for module in modules if module.new or module.never)),
        "whole": [module.name for module in modules if module.lines and not (module.new or module.never)],
        "counted": sum(state.lines.inputs for state in campaign.states),
        "uncounted": list(filter(None, map(_uncounted, campaign.states))),
    }


def _uncounted(state: TargetState) -> str:
    """The reason why lines of a target are not counted, or not all of them."""
    if state.uncounted:
        return f"{state.target.name}: {state.uncounted}"
    if state.lines.left:
        return (
            f"{state.target.name}: there was no time for {state.lines.left:,} of its inputs, so more lines are reached"
        )
    return ""


def _target(campaign: Campaign, state: TargetState) -> dict[str, Any]:
    return {
        "name": state.target.name,
        "result": str(campaign.result(state)),
        "executions": state.executions,
        "edges": state.edges,
        "seconds": round(state.seconds, 1),
        "points": curve([(seconds, edges) for seconds, _, edges in state.history], state.seconds),
    }


def curve(history: Sequence[tuple[float, int]], seconds: float) -> str:
    """The points of a curve of edges over seconds: a step at each of some changes, up to the end of the run."""
    if not history or not seconds:
        return ""
    most = max(edges for _, edges in history) or 1
    shown = history[:: -(-len(history) // _POINTS)]
    shown = [*shown, history[-1], (seconds, history[-1][1])]
    return " ".join(
        f"{_WIDTH * min(1.0, at / seconds):.1f},{_HEIGHT - 1 - (_HEIGHT - 2) * edges / most:.1f}" for at, edges in shown
    )
