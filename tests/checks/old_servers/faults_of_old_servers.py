"""Faults of an old server: its answers, its applier and its rows, written down from requirements FR10, X1 and X2."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault

OLD_FAULTS: Final = [
    Fault("old/accepts", "FR10", "A BINLOG statement with an event of type 39 is an error on an old server.",
          lambda answer: (None, *answer[1:])),
    Fault("old/changes-the-row", "FR10", "Nothing of the event of type 39 is applied.",
          lambda answer: (answer[0], [*answer[1][:-1], (b"0", *answer[1][-1][1:])])),
]  # fmt: skip
RELAY_FAULTS: Final = [
    Fault("relay/runs-on", "FR10", "The old applier stops with an error.", lambda stop: (0, *stop[1:])),
    Fault("relay/position", "FR10", "The applier's position stays before the failing transaction.",
          lambda stop: (stop[0], stop[1] + 1, *stop[2:])),
    Fault("relay/earlier-updates", "X2",
          "What stands before the event of type 39 was applied, the event itself was not.",
          lambda stop: (*stop[:2], stop[2][:-1])),
    Fault("relay/other-value", "X2",
          "An old applier gives the rows of the updates that a new server logs with the option off.",
          lambda stop: (*stop[:2], [*stop[2][:-1], (*stop[2][-1][:-1], b"?")])),
]  # fmt: skip
ROWS_FAULTS: Final = [
    Fault("rows/lost", "X1", "All rows are there after an old server's log was applied by a new one.",
          lambda rows: rows[:-1]),
    Fault("rows/value", "X1", "Rows are the same after an old server's log was applied by a new one.",
          lambda rows: [*rows[:-1], (*rows[-1][:-1], b"?")]),
]  # fmt: skip
UPDATE_FAULTS: Final = [
    Fault("old/lost-update", "X2", "An old server applies every update that a new one logs with the option off.",
          lambda answer: (answer[0], [*answer[1][:-1], (answer[1][-1][0], b"-1", *answer[1][-1][2:])])),
    Fault("old/refuses-update", "X2", "An old server takes every row event that is logged with the option off.",
          lambda answer: (1105, answer[1])),
]  # fmt: skip
