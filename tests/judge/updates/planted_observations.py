"""Doctored observations: what a server that errs would leave, and what the judge must say about each.

``python -m tests.judge.updates.planted_observations`` (from the repository's root) prints one line per fault and
``caught/planted`` at the end.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from conformance.judge.updates.compare import judge
from tests.judge.doctoring import NUMBERS, script
from tests.judge.perfect_server import observe
from tests.judge.updates.faults_of_logs import LOG_FAULTS
from tests.judge.updates.faults_of_rows import ROW_FAULTS

if TYPE_CHECKING:
    from conformance.judge.updates.mismatch import Judgement
    from tests.faults.fault import Fault

FAULTS: Final = [*ROW_FAULTS, *LOG_FAULTS]


def judged(fault: Fault) -> Judgement:
    """Judge one doctored observation."""
    made = script(**fault.run)
    return judge(made, observe(made, **fault.change))


def verdict(fault: Fault) -> str:
    """Empty if the fault is caught as it should be, else what is wrong."""
    judgement = judged(fault)
    if not judgement.mismatches:
        return "not caught"
    first = judgement.mismatches[0]
    step = None if fault.at is None else NUMBERS[fault.at]
    if first.kind != fault.verdict or not first.field.startswith(fault.says):
        return f"caught as {first.kind} {first.field}: {first.message}"
    if fault.at is not None and first.step != step:
        return f"step {step} is to blame, not {first.step}"
    return ""


def main() -> int:
    """Print what is caught."""
    missed = 0
    for fault in FAULTS:
        try:
            problem = verdict(fault)
        except Exception as error:  # noqa: BLE001 - a judge that breaks has not caught anything
            problem = f"the judge broke: {type(error).__name__}: {error}"
        missed += bool(problem)
        sys.stdout.write(f"{fault.id:60} {problem or 'caught'}\n")
    sys.stdout.write(f"{len(FAULTS) - missed}/{len(FAULTS)} caught/planted\n")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
