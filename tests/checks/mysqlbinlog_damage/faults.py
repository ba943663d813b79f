"""Faults of mysqlbinlog at a damaged event, as (exit status, text): from requirements P9."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault

DAMAGE_FAULTS: Final = [
    Fault("damage/silent", "P9", "The text says that the event is damaged.",
          lambda shown: (shown[0], b"### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2=@2\n")),
    Fault("damage/dies", "P9", "The program lives to the end of the file.", lambda shown: (-11, shown[1])),
    Fault("damage/fails", "P9", "Reported damage is no failure of the program: it ends with exit status 0.",
          lambda shown: (1, shown[1])),
    Fault("damage/other", "P9", "The text names the damage that is there.",
          lambda shown: (shown[0], shown[1].replace(b"@2=Error ", b"@2=Error reading path length while "))),
    Fault("damage/sound diffs", "P9", "Nothing of the damaged list is printed as if it were sound.",
          lambda shown: (shown[0], shown[1].replace(b"@2=Error", b"@2=JSON_REMOVE(@2, '$.a')Error", 1))),
    Fault("damage/next event", "P9", "The event behind the damaged one is printed as it is.",
          lambda shown: (shown[0], shown[1].replace(b"'$.after'", b"'$.afters'"))),
]  # fmt: skip
