"""Faults of an old server: its answers, its applier and its rows, written down from requirements FR10, X1 and X2."""

from __future__ import annotations

from typing import Final

from tests.checks.fault import Fault

OLD_FAULTS: Final = [
    Fault(
        id="old/accepts",
        requirement="FR10",
        sentence="A BINLOG statement with an event of type 39 is an error on an old server.",
        change=lambda answer: (None, *answer[1:]),
    ),
    Fault(
        id="old/changes-the-row",
        requirement="FR10",
        sentence="Nothing of the event of type 39 is applied.",
        change=lambda answer: (answer[0], [*answer[1][:-1], (b"0", *answer[1][-1][1:])]),
    ),
]
RELAY_FAULTS: Final = [
    Fault(
        id="relay/runs-on",
        requirement="FR10",
        sentence="The old applier stops with an error.",
        change=lambda stop: (0, *stop[1:]),
    ),
    Fault(
        id="relay/position",
        requirement="FR10",
        sentence="The applier's position stays before the failing transaction.",
        change=lambda stop: (stop[0], stop[1] + 1, *stop[2:]),
    ),
    Fault(
        id="relay/earlier-updates",
        requirement="X2",
        sentence="What stands before the event of type 39 was applied, the event itself was not.",
        change=lambda stop: (*stop[:2], stop[2][:-1]),
    ),
    Fault(
        id="relay/other-value",
        requirement="X2",
        sentence="An old applier gives the rows of the updates that a new server logs with the option off.",
        change=lambda stop: (*stop[:2], [*stop[2][:-1], (*stop[2][-1][:-1], b"?")]),
    ),
]
ROWS_FAULTS: Final = [
    Fault(
        id="rows/lost",
        requirement="X1",
        sentence="All rows are there after an old server's log was applied by a new one.",
        change=lambda rows: rows[:-1],
    ),
    Fault(
        id="rows/value",
        requirement="X1",
        sentence="Rows are the same after an old server's log was applied by a new one.",
        change=lambda rows: [*rows[:-1], (*rows[-1][:-1], b"?")],
    ),
]
UPDATE_FAULTS: Final = [
    Fault(
        id="old/lost-update",
        requirement="X2",
        sentence="An old server applies every update that a new one logs with the option off.",
        change=lambda answer: (answer[0], [*answer[1][:-1], (answer[1][-1][0], b"-1", *answer[1][-1][2:])]),
    ),
    Fault(
        id="old/refuses-update",
        requirement="X2",
        sentence="An old server takes every row event that is logged with the option off.",
        change=lambda answer: (1105, answer[1]),
    ),
]
