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
]
