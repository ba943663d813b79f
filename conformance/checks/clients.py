"""Files given to mysqlbinlog: run, judged, made smaller, and recorded (P9)."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.cases.bytes_case import bytes_id
from conformance.cases.files import dump_case
from conformance.cases.injection import Injection
from conformance.cases.shrink_event import shrink_injection
from conformance.judge.crashes import crash_of_client, damage_of_log, rows_in
from conformance.requirements.versions import applies, in_observed_range
from conformance.stream import Block, CaseVerdict, Finding, Verdict
from generators.printed import BEHIND, log_of_image, log_of_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.cases.bytes_case import BytesCase
    from conformance.checks.lab import Lab
    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version

REQUIREMENT: Final = "P9"
# Observed on 9.7.4, for damage in a diff and in a whole document.
_WORDS: Final = (
    b"while printing JSON diff",
    b"Corrupted replication event was detected",
    b"Failed to format JSON object as string",
    b"Invalid JSON",
)
_END: Final = b"PSEUDO_SLAVE_MODE=0*/;"
_SHOWN: Final = 3  # Cases of one signature with a record of their own
_SECONDS: Final = 10.0  # for shrinking one file
_PATIENCE: Final = 30.0  # seconds for one file
_HUNG: Final = 1 << 16  # no exit status


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One file and what became of it. Without ``message`` all is well."""

    case: BytesCase
    verdict: Verdict = Verdict.PASS
    message: str = ""
    expected: str = ""
    got: str = ""
    crash: Crash | None = None


def print_file(program: Sequence[str], case: BytesCase) -> Printed:
    """Run the client on a file and judge what it does."""
    with TemporaryDirectory(prefix="binlog-lab-") as directory:
        path = Path(directory) / "damaged.binlog"
        path.write_bytes(case.data)
        command = [*program, "--no-defaults", "-v", "--base64-output=decode-rows", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return judge_print(case, _HUNG, b"")
    return judge_print(case, done.returncode, done.stdout)


def judge_print(case: BytesCase, status: int, text: bytes) -> Printed:
    """It lives, says that something is wrong, and goes on with the good event.

    A key entry that is wrong is not noticed by 9.7.4 where it does not kill (observed: the key is printed as ""), and
    no more is asked for there.
    """
    crash = crash_of_client(case.data, status)
    if crash is not None:
        return Printed(
            case=case,
            verdict=Verdict.CRASH,
            message=f"mysqlbinlog dies ({crash})",
            expected="a text to its end",
            got=f"signal {crash.signal}",
            crash=crash,
        )
    if status == _HUNG:
        return Printed(
            case=case, verdict=Verdict.TIMEOUT, message="mysqlbinlog does not end", expected="an end", got="none"
        )
    lines = "\n".join(line for line in text.decode("utf-8", "replace").split("\n") if line.startswith("###"))
    if not text.rstrip().endswith(_END) or f"'{BEHIND}'".encode() not in text:
        message, expected = "mysqlbinlog broke off", "the event behind it"
    elif not damage_of_log(case.data) and not any(words in text for words in _WORDS):
        message, expected = "mysqlbinlog does not say that the value is damaged", "words about the damage"
    else:
        return Printed(case=case)
    return Printed(case=case, verdict=Verdict.DIFFERS, message=message, expected=expected, got=lines)


def explaining(deviations: Iterable[Deviation], version: Version, item: Printed) -> Deviation | None:
    """The listed deviation that has this crash as its signature."""
    for entry in deviations:
        if item.crash is not None and entry.crash == item.crash and applies(entry.versions, version):
            return entry
    return None


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

    is_update, row = next(rows_in(item.case.data), (False, b""))
    if is_update:
        event = Injection(name="", stored=None, image=row)
        shrink_injection(event, lambda smaller: fails(log_of_image(smaller.image)), seconds=seconds)
    else:
        size = int.from_bytes(row[:4], "little")
        any(fails(log_of_vector(row[4 : 4 + smaller])) for smaller in (1, 2, 3) if smaller < size)
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
