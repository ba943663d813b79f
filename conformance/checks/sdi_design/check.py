"""WL#7053's model under judgement: its calls, the guarantee of a readable copy, and purge with two threads, which the
worklog excepts (innodb-sdi A.2 to innodb-sdi A.10).

No server takes part. The verdicts are about the kit's model: no released server has the two copies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi_design.calls import called
from conformance.checks.sdi_design.guarantee import GuaranteeBroken
from conformance.checks.sdi_design.life import Life, Wrong, purge_with_two_threads
from conformance.judge.problem import Problem
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_CALLS: Final = 250  # of one sequence
_STEPS: Final = 100  # of one life


@pytest.mark.check("calls")
def test_calls_of_the_interface(check: Check) -> None:
    """Every call answers as the worklog says, in transactions of two sessions; readers also inside a rollback."""
    for number in range(0, check.size(), _CALLS):
        with check.block(number, cases=_CALLS) as block:
            block.differs(*called(Stream("sdi-design", check.seed, number), _CALLS))


@pytest.mark.check("crashes")
def test_a_copy_is_readable_after_a_crash_at_any_moment(check: Check) -> None:
    """Without concurrent purge an offline reader finds a copy of before or of after, and recovery finds the commit."""
    points = files = crashes = 0
    for number in range(0, check.size(), _STEPS):
        life = Life(Stream("sdi-crashes", check.seed, number))
        with check.block(number, cases=_STEPS) as block:
            try:
                for _ in range(_STEPS):
                    life.step()
            except (GuaranteeBroken, Wrong) as error:
                words = "a crash leaves no copy" if isinstance(error, GuaranteeBroken) else "the change went wrong"
                block.differs(Problem("life", "a copy of before or of after", str(error), words))
        points += life.guarantee.points
        files += life.guarantee.files
        crashes += life.crashes
    check.narrate(f"SDI34: {check.size()} steps, a crash judged at {points} moments ({files} files read)")
    check.narrate(f"  {crashes} crashes with recovery")


@pytest.mark.check("purge")
def test_two_purge_threads_can_leave_no_copy(check: Check) -> None:
    """The guarantee has the exception that the worklog names: two threads purge, and neither has flushed."""
    found = [
        broken
        for number in check.blocks()
        if (broken := purge_with_two_threads(Stream("sdi-purge", check.seed, number))) is not None
    ]
    with check.block(cases=check.size()) as block:
        if not found:
            block.differs(Problem("purge", "a crash that leaves no copy", "none", "two purge threads do no harm"))
    check.narrate(f"SDI62: {len(found)} of {check.size()} lives with two purge threads end without a copy")
    if found:
        check.narrate(f"  {min(map(str, found), key=len)}")
