"""Records of a run's files: their verdicts, and a smaller file for the first of each kind."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.cases.bytes_case import bytes_id
from conformance.cases.files import dump_case
from conformance.cases.shrinking import files as shrinking
from conformance.harness.replay import print_file
from conformance.judge.damage import listed
from conformance.judge.damage.nearest import nearest_crash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.bytes_case import BytesCase
    from conformance.harness.recorder import BlockRecord
    from conformance.judge.damage.mysqlbinlog import PrintedLog
    from conformance.servers.programs import Program


def shrink_file(program: Program, item: PrintedLog, seconds: float) -> dict[str, Any] | None:
    """The data of the smallest file found in the time that shows the same failure, if there is one."""
    last = item

    def fails(data: bytes) -> bool:
        nonlocal last
        smaller = print_file(program, _with(item.case, data))
        if (smaller.verdict, smaller.message, smaller.crash) == (item.verdict, item.message, item.crash):
            last = smaller
            return True
        return False

    shrinking.shrink_file(item.case.data, fails, seconds=seconds)
    return None if last is item else dump_case(last.case)


def _with(case: BytesCase, data: bytes) -> BytesCase:
    return replace(case, id=bytes_id(case.subject, data), data=data)


def record_files(block: BlockRecord, items: Iterable[PrintedLog], program: Program) -> None:
    """Record what the client did with these files, in an open block that counts its cases."""
    lab = block.check.lab
    for item in items:
        entry = listed.explaining(lab.deviations, lab.version, crash=item.crash)
        deviation = None if entry is None else entry.id
        signature = f"{block.check.id}:{deviation or item.message}"
        if block.judge(item.verdict, item.message, signature=signature, deviation=deviation):
            _show(block, item, signature, deviation, program)


def _show(block: BlockRecord, item: PrintedLog, signature: str, deviation: str | None, program: Program) -> None:
    lab = block.check.lab
    stored = lab.findings.store(dump_case(item.case))
    block.show(
        item.verdict,
        field=item.case.name,
        expected=item.expected,
        got=item.got,
        message=item.message,
        signature=signature,
        deviation=deviation,
        ends="" if item.crash is None else item.crash.ends,
        nearest="" if deviation is not None else nearest_crash(lab.deviations, item.crash),
        **stored.fields,
    )
    if deviation is None:
        block.find(signature, stored, partial(shrink_file, program, item), message=item.message)
