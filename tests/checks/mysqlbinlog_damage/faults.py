"""Faults of mysqlbinlog at a damaged event, as (exit status, text): from requirements P9."""

from __future__ import annotations

from typing import Final

from tests.checks.fault import Fault

DAMAGE_FAULTS: Final = [
    Fault(
        id="damage/silent",
        requirement="P9",
        sentence="The text says that the event is damaged.",
        change=lambda shown: (shown[0], b"### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2=@2\n"),
    ),
    Fault(
        id="damage/dies",
        requirement="P9",
        sentence="The program lives to the end of the file.",
        change=lambda shown: (-11, shown[1]),
    ),
    Fault(
        id="damage/fails",
        requirement="P9",
        sentence="Reported damage is no failure of the program: it ends with exit status 0.",
        change=lambda shown: (1, shown[1]),
    ),
    Fault(
        id="damage/other",
        requirement="P9",
        sentence="The text names the damage that is there.",
        change=lambda shown: (shown[0], shown[1].replace(b"@2=Error ", b"@2=Error reading path length while ")),
    ),
    Fault(
        id="damage/sound diffs",
        requirement="P9",
        sentence="Nothing of the damaged list is printed as if it were sound.",
        change=lambda shown: (shown[0], shown[1].replace(b"@2=Error", b"@2=JSON_REMOVE(@2, '$.a')Error", 1)),
    ),
    Fault(
        id="damage/next event",
        requirement="P9",
        sentence="The event behind the damaged one is printed as it is.",
        change=lambda shown: (shown[0], shown[1].replace(b"'$.after'", b"'$.afters'")),
    ),
]
