"""Faults for what the feature costs, written down before the checks (requirements FR14, requirements FR15, C1).

Of memory and instructions a fault is what a faulty server would be measured at; where a fault is not a failure for
sure, it must at least never be a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFault:
    """``counts``: what is changed of a perfect server's figures; ``verdict``: what must come of it."""

    id: str
    requirement: str
    sentence: str
    verdict: str = "fail"
    counts: dict[str, object] = field(default_factory=dict)


CAPTURE_FAULTS: Final = (
    CostFault(id="capture/closed-log", requirement="C1", counts={"no log": 4},
              sentence="No diffs are collected without a binary log (condition 1)."),
    CostFault(id="capture/statement-format", requirement="C1", counts={"STATEMENT format": 4},
              sentence="No diffs are collected for a statement that is logged as such (condition 3)."),
    CostFault(id="capture/one-allocation", requirement="C1", counts={"no log": 3},
              sentence="Nothing is collected: not one allocation more."),
    CostFault(id="capture/always", requirement="C1", verdict="inconclusive",
              counts={"off": 4, "no log": 4, "STATEMENT format": 4},
              sentence="Without the option (condition 2) nothing is collected; a server whose counts are the same with "
                       "it shows nothing."),
    CostFault(id="capture/blind", requirement="C1", verdict="inconclusive",
              counts={"off": 0, "no log": 0, "STATEMENT format": 0, "on": 0},
              sentence="A count that never moves shows nothing."),
)  # fmt: skip
APPLIER_FAULTS: Final = (
    CostFault(id="applier/one-allocation", requirement="FR14", counts={"off": 1},
              sentence="On the replica: 0 when off."),
    CostFault(id="applier/as-with-diffs", requirement="FR14", counts={"off": 250},
              sentence="On the replica: 0 when off, whatever is used with it on."),
    CostFault(id="applier/blind", requirement="FR14", verdict="inconclusive", counts={"on": 0},
              sentence="A count that does not move with the option on shows nothing when it is 0 with it off."),
)  # fmt: skip
RATIO_FAULTS: Final = (
    CostFault(id="ratio/three-per-cent", requirement="FR15", counts={"plus": 0.03},
              sentence="At most 2 %: three are too many."),
    CostFault(id="ratio/just-above", requirement="FR15", counts={"plus": 0.022},
              sentence="At most 2 %: a little more is too much where the spread is small."),
    CostFault(id="ratio/noise", requirement="FR15", verdict="inconclusive", counts={"spread": 0.1},
              sentence="A spread too wide to tell is inconclusive, never pass."),
    CostFault(id="ratio/lucky-median", requirement="FR15", verdict="inconclusive",
              counts={"plus": 0.019, "spread": 0.004},
              sentence="A median below the bound by luck is inconclusive, never pass."),
    CostFault(id="ratio/few-pairs", requirement="FR15", verdict="inconclusive", counts={"pairs": 5},
              sentence="Too few pairs decide nothing."),
)  # fmt: skip
