"""What the witness of a listed deviation shows: the deviation, another difference, or none.

No difference any more is an error of the list, or the deviation is mended in a later version.
Inside the versions on which an entry was observed the list is wrong, and the run says so with exit code 1. Behind them
the difference is ``fixed``: the requirement passes, and the report advises to end the entry's range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.requirements.versions import OBSERVED, after_observed, text_of
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.lab import Lab
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version


def record_gone(
    lab: Lab, entry: Deviation, *, check: str, version: Version, block: int, got: str, seconds: float = 0.0
) -> bool:
    """Write the records of an entry that is gone; whether that counts as a failure. ``got``: what was looked at."""
    failed = not after_observed(version)
    said = (
        f"the list is in error: {entry.id} was observed up to {OBSERVED}, and {text_of(version)} does not show it"
        if failed
        else f"gone in {text_of(version)}: narrow the range of {entry.id}, {entry.versions}"
    )
    lab.sink(
        CaseVerdict(
            case=entry.id,
            requirement=entry.requirements[0],
            verdict=Verdict.FIXED,
            subject=lab.subject,
            check=check,
            block=block,
            field=entry.id,
            expected=expected_of(entry),
            got=got,
            message=said,
            signature=f"{check}:{entry.id}",
            deviation=entry.id,
            failed=failed,
        )
    )
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=(entry.requirements[0],),
            block=block,
            cases=1,
            verdicts={str(Verdict.FIXED): 1},
            failed=int(failed),
            seconds=seconds,
        )
    )
    return failed


def record_shown(lab: Lab, entry: Deviation, *, check: str, block: int, seconds: float) -> None:
    """Write the record of an entry that its witness shows, and nothing else."""
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=entry.requirements,
            block=block,
            cases=1,
            verdicts={},
            deviating=1,
            deviations={entry.id: 1},
            seconds=seconds,
        )
    )


def record_other(lab: Lab, entry: Deviation, *, check: str, block: int, got: str, seconds: float) -> None:
    """Write the records of an entry whose witness shows another difference: a failure on every version."""
    lab.sink(
        CaseVerdict(
            case=entry.id,
            requirement=entry.requirements[0],
            verdict=Verdict.FAIL,
            subject=lab.subject,
            check=check,
            block=block,
            field=entry.id,
            expected=expected_of(entry),
            got=got,
            message="the witness of the listed deviation shows another difference",
            signature=f"{check}:{entry.id}",
        )
    )
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=entry.requirements,
            block=block,
            cases=1,
            verdicts={str(Verdict.FAIL): 1},
            mismatches=1,
            seconds=seconds,
        )
    )


def expected_of(entry: Deviation) -> str:
    """What shows an entry, in words."""
    if entry.crash is not None:
        return str(entry.crash)
    if entry.switch is not None:
        return f"the deviation that the switch {entry.switch} explains"
    return "the outcome that the Case writes out for this deviation"


def unexpected_pass(lab: Lab, check: str, gone: Sequence[Deviation]) -> None:
    """Records of listed deviations that nothing shows any more; the end of the check where the list is in error."""
    wrong = [
        entry.id
        for number, entry in enumerate(gone)
        if record_gone(
            lab, entry, check=f"{check}-listed", version=lab.version, block=number, got="no generated event shows it"
        )
    ]
    if wrong:
        pytest.fail(f"unexpected pass: listed deviations that are not shown: {', '.join(wrong)}", pytrace=False)
