"""Files given to mysqlbinlog: run, judged, made smaller, and recorded (P9)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.bytes_case import bytes_id
from conformance.cases.files import dump_case
from conformance.cases.shrinking import files as shrinking
from conformance.harness.check import Check
from conformance.judge.damage import listed
from conformance.judge.damage.mysqlbinlog import HUNG, Printed, judge_print
from conformance.judge.damage.nearest import nearest_crash
from conformance.servers.roles.mysqlbinlog import print_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.cases.bytes_case import BytesCase
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.session import Lab
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version

REQUIREMENT: Final = "P9"
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


def record_files(block: BlockRecord, items: Iterable[Printed], smaller: Callable[[Printed], Printed]) -> None:
    """What the client did with these files, in an open block that counts its cases. ``smaller`` shrinks the first
    Case of a finding."""
    lab = block.check.lab
    for item in items:
        entry = explaining(lab.deviations, lab.version, item)
        deviation = None if entry is None else entry.id
        signature = f"{block.check.id}:{deviation or item.message}"
        if block.judge(item.verdict, item.message, signature=signature, deviation=deviation):
            _show(block, item, signature, deviation, smaller)


def record(
    lab: Lab, check: str, items: Sequence[Printed], seconds: float, smaller: Callable[[Printed], Printed]
) -> int:
    """Passing: :func:`record_files` for rooms that do not use the recorder yet."""
    running = Check(lab, check, (REQUIREMENT,))
    with running.block(cases=None, seconds=seconds) as block:
        record_files(block, items, smaller)
    return running.failures.count


def _show(
    block: BlockRecord, item: Printed, signature: str, deviation: str | None, smaller: Callable[[Printed], Printed]
) -> None:
    lab = block.check.lab
    recorder = lab.recorder
    stored = recorder.store(dump_case(item.case))
    block.show(
        item.verdict,
        case=item.case.id,
        field=item.case.name,
        expected=item.expected,
        got=item.got,
        message=item.message,
        signature=signature,
        replay=None if stored is None else recorder.replay_of(stored),
        deviation=deviation,
        case_file=None if stored is None else str(stored),
        nearest="" if deviation is not None else nearest_crash(lab.deviations, item.crash),
    )
    if deviation is None and stored is not None and recorder.first(signature):
        small = smaller(item)
        path = recorder.store(dump_case(small.case)) or stored
        block.found(
            signature,
            small.case.id,
            path,
            recorder.replay_of(path),
            size_before=len(json.dumps(dump_case(item.case))),
            size_after=len(json.dumps(dump_case(small.case))),
            message=item.message,
        )
