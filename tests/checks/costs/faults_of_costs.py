"""Faults for what the feature costs, written down before the checks (requirements FR14, requirements FR15, C1).

Of memory and instructions a fault is what a faulty server would be measured at; where a fault is not a failure for
sure, it must at least never be a pass.
"""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault

CAPTURE_FAULTS: Final = (
    Fault("capture/closed-log", "C1", "No diffs are collected without a binary log (condition 1).", {"no log": 4}),
    Fault("capture/statement-format", "C1",
          "No diffs are collected for a statement that is logged as such (condition 3).", {"STATEMENT format": 4}),
    Fault("capture/one-allocation", "C1", "Nothing is collected: not one allocation more.", {"no log": 3}),
    Fault("capture/always", "C1",
          "Without the option (condition 2) nothing is collected; a server whose counts are the same with it shows "
          "nothing.", {"off": 4, "no log": 4, "STATEMENT format": 4}, "inconclusive"),
    Fault("capture/blind", "C1", "A count that never moves shows nothing.",
          {"off": 0, "no log": 0, "STATEMENT format": 0, "on": 0}, "inconclusive"),
)  # fmt: skip
APPLIER_FAULTS: Final = (
    Fault("applier/one-allocation", "FR14", "On the replica: 0 when off.", {"off": 1}),
    Fault("applier/as-with-diffs", "FR14", "On the replica: 0 when off, whatever is used with it on.", {"off": 250}),
    Fault("applier/blind", "FR14",
          "A count that does not move with the option on shows nothing when it is 0 with it off.", {"on": 0},
          "inconclusive"),
)  # fmt: skip
RATIO_FAULTS: Final = (
    Fault("ratio/three-per-cent", "FR15", "At most 2 %: three are too many.", {"plus": 0.03}),
    Fault("ratio/just-above", "FR15", "At most 2 %: a little more is too much where the spread is small.",
          {"plus": 0.022}),
    Fault("ratio/noise", "FR15", "A spread too wide to tell is inconclusive, never pass.", {"spread": 0.1},
          "inconclusive"),
    Fault("ratio/lucky-median", "FR15", "A median below the bound by luck is inconclusive, never pass.",
          {"plus": 0.019, "spread": 0.004}, "inconclusive"),
    Fault("ratio/few-pairs", "FR15", "Too few pairs decide nothing.", {"pairs": 5}, "inconclusive"),
)  # fmt: skip
