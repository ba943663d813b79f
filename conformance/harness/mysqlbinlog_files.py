"""Files given to mysqlbinlog: run, judged, made smaller, and recorded (P9)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.bytes_case import bytes_id
from conformance.cases.files import dump_case
from conformance.cases.shrinking import files as shrinking
from conformance.judge.damage import listed
from conformance.judge.damage.mysqlbinlog import HUNG, Printed, judge_print
from conformance.judge.damage.nearest import nearest_crash
from conformance.requirements.versions import in_observed_range
from conformance.servers.roles.mysqlbinlog import print_bytes
from conformance.stream import Block, CaseVerdict, Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.cases.bytes_case import BytesCase
    from conformance.harness.lab import Lab
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version

REQUIREMENT: Final = "P9"
_SHOWN: Final = 3  # Cases of one signature with a record of their own
_SECONDS: Final = 10.0  # for shrinking one file


def print_file(program: Sequence[str], case: BytesCase) -> Printed:
    """Run the client on a file and judge what it does."""
    end = print_bytes(program, case.data)
    return judge_print(case, HUNG if end.status is None else end.status, end.text, end.peak)


def explaining(deviations: Iterable[Deviation], version: Version, item: Printed) -> Deviation | None:
    """The listed deviation that has this crash as its signature."""
    return listed.explaining(deviations, version, crash=item.crash)


def shrink_file(program: Sequence[str], item: Printed, *, seconds: float = _SECONDS) -> Printed:
    """The smallest file found in the time that shows the same."""
    last = item

    def fails(data: bytes) -> bool:
        nonlocal last
        again = print_file(program, _with(item.case, data))
        if (again.verdict, again.message, again.crash) == (item.verdict, item.message, item.crash):
            last = again
            return True
        return False

    shrinking.shrink_file(item.case.data, fails, seconds=seconds)
    return last


def _with(case: BytesCase, data: bytes) -> BytesCase:
    return replace(case, id=bytes_id(case.subject, data), data=data)


def record(
    lab: Lab, check: str, items: Sequence[Printed], seconds: float, smaller: Callable[[Printed], Printed]
) -> int:
    """Write the records; the number of failures. ``smaller`` shrinks the first Case of a finding."""
    verdicts: Counter[str] = Counter()
    deviations: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    failures = 0
    for item in items:
        entry = explaining(lab.deviations, lab.version, item)
        if entry is not None:
            deviations[entry.id] += 1
        else:
            verdicts[str(item.verdict)] += 1
            failures += item.verdict.failing and (item.verdict is not Verdict.DIFFERS or in_observed_range(lab.version))
        if item.verdict is Verdict.PASS:
            continue
        signature = f"{check}:{entry.id if entry is not None else item.message}"
        seen[signature] += 1
        if seen[signature] <= _SHOWN:
            _show(lab, check, item, signature, entry, smaller)
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=(REQUIREMENT,),
            block=0,
            cases=len(items),
            verdicts=dict(verdicts),
            failed=failures,
            mismatches=len(items) - verdicts[str(Verdict.PASS)] - sum(deviations.values()),
            deviating=sum(deviations.values()),
            deviations=dict(deviations),
            seconds=seconds,
        )
    )
    return failures


def _show(
    lab: Lab,
    check: str,
    item: Printed,
    signature: str,
    entry: Deviation | None,
    smaller: Callable[[Printed], Printed],
) -> None:
    stored = lab.store(dump_case(item.case))
    lab.sink(
        CaseVerdict(
            case=item.case.id,
            requirement=REQUIREMENT,
            verdict=item.verdict,
            subject=lab.subject,
            check=check,
            block=0,
            field=item.case.name,
            expected=item.expected,
            got=item.got,
            message=item.message,
            signature=signature,
            replay=None if stored is None else lab.replay_of(stored),
            deviation=None if entry is None else entry.id,
            case_file=None if stored is None else str(stored),
            nearest="" if entry is not None else nearest_crash(lab.deviations, item.crash),
        )
    )
    if entry is None and stored is not None and lab.first(signature):
        small = smaller(item)
        path = lab.store(dump_case(small.case)) or stored
        lab.sink(
            Finding(
                signature=signature,
                case=small.case.id,
                case_file=str(path),
                replay=lab.replay_of(path),
                requirement=REQUIREMENT,
                subject=lab.subject,
                check=check,
                size_before=len(json.dumps(dump_case(item.case))),
                size_after=len(json.dumps(dump_case(small.case))),
                message=item.message,
            )
        )
