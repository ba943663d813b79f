"""The page of a fuzz run: findings that are new, known and fixed, and the edges of each target over its time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.report.html import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.runner.campaign import Campaign
    from fuzz.runner.findings import Store
    from fuzz.runner.run import TargetState

_WIDTH, _HEIGHT = 200, 40  # of a curve, in the units of its picture
_POINTS: Final = 100
_STYLE: Final = "th small, th code { overflow-wrap: anywhere; white-space: normal; }"


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
    )


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
