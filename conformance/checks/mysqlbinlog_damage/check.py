"""P9 for damage in the frame of the diffs (mysqlbinlog-output 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.damaged_log import log_of_image
from conformance.cases.by_hand.injection import partial_image
from conformance.checks.mysqlbinlog_damage.generate import damaged
from conformance.checks.mysqlbinlog_damage.judge import judge
from conformance.servers.roles.mysqlbinlog import print_bytes
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("diffs")
def test_damaged_diffs_are_named(check: Check) -> None:
    """The real client reports damage in the frame of diffs, lives, and prints the next event."""
    check.needs_server("a server's mysqlbinlog: damaged events are printed by the real client")
    program = check.needs_programs("mysqlbinlog")
    draw = Stream("printed-damage", check.seed)
    with check.block(cases=check.size(), verdict=Verdict.DIFFERS) as block:
        for number in range(check.size()):
            damage = damaged(draw.fork(number))
            problem = judge(damage, print_bytes(program, log_of_image(partial_image(damage.diffs))))
            if problem is not None:
                block.differs(problem)
