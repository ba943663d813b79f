"""What the witness of a listed deviation shows: the deviation, another difference, or none.

None is an error of the list inside the versions on which the entry was observed (exit code 1). Behind them the
difference is ``fixed``: the requirement passes, and the report advises to end the entry's range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from conformance.requirements.versions import OBSERVED, after_observed, text_of
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.harness.lab import Lab
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What was run to see whether an entry of the list is still there, and the records of what came out."""

    lab: Lab
    entry: Deviation
    check: str
    block: int
    seconds: float = 0.0

    def shown(self) -> None:
        """The entry is there, and nothing else."""
        self._block(self.entry.requirements, verdicts={}, deviating=1, deviations={self.entry.id: 1})

    def other(self, got: str) -> None:
        """Another difference: a failure on every version. ``got``: which."""
        self._verdict(Verdict.FAIL, got, "the witness of the listed deviation shows another difference")
        self._block(self.entry.requirements, verdicts={str(Verdict.FAIL): 1}, mismatches=1)

    def gone(self, version: Version, got: str) -> bool:
        """No difference; whether that counts as a failure. ``got``: what was looked at."""
        entry, failed = self.entry, not after_observed(version)
        said = (
            f"the list is in error: {entry.id} was observed up to {OBSERVED}, and {text_of(version)} does not show it"
            if failed
            else f"gone in {text_of(version)}: narrow the range of {entry.id}, {entry.versions}"
        )
        self._verdict(Verdict.FIXED, got, said, deviation=entry.id, failed=failed)
        self._block(entry.requirements[:1], verdicts={str(Verdict.FIXED): 1}, failed=int(failed))
        return failed

    def _verdict(self, verdict: Verdict, got: str, message: str, **more: Any) -> None:
        entry = self.entry
        record = CaseVerdict(
            case=entry.id, requirement=entry.requirements[0], verdict=verdict, subject=self.lab.subject,
            check=self.check, block=self.block, field=entry.id, expected=expected_of(entry), got=got, message=message,
            signature=f"{self.check}:{entry.id}", **more,
        )  # fmt: skip
        self.lab.sink(record)

    def _block(self, requirements: tuple[str, ...], *, verdicts: dict[str, int], **more: Any) -> None:
        record = Block(
            check=self.check, subject=self.lab.subject, requirements=requirements, block=self.block, cases=1,
            verdicts=verdicts, seconds=self.seconds, **more,
        )  # fmt: skip
        self.lab.sink(record)


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
        if Witness(lab=lab, entry=entry, check=f"{check}-listed", block=number).gone(
            lab.version, "no generated event shows it"
        )
    ]
    if wrong:
        pytest.fail(f"unexpected pass: listed deviations that are not shown: {', '.join(wrong)}", pytrace=False)
