"""Records of a run's files: their verdicts, and a smaller file for the first of each kind."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.bytes_case import bytes_id
from conformance.cases.files import dump_case
from conformance.cases.shrinking import files as shrinking
from conformance.harness.replay import print_file
from conformance.judge.damage import listed
from conformance.judge.damage.nearest import nearest_crash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.cases.bytes_case import BytesCase
    from conformance.harness.recorder import BlockRecord
    from conformance.judge.damage.mysqlbinlog import PrintedLog
    from conformance.servers.programs import Program

_SECONDS: Final = 10.0  # for shrinking one file


def shrink_file(program: Program, item: PrintedLog, *, seconds: float = _SECONDS) -> PrintedLog:
    """The smallest file found in the time that shows the same failure."""
    last = item

    def fails(data: bytes) -> bool:
        nonlocal last
        smaller = print_file(program, _with(item.case, data))
        if (smaller.verdict, smaller.message, smaller.crash) == (item.verdict, item.message, item.crash):
            last = smaller
            return True
        return False

    shrinking.shrink_file(item.case.data, fails, seconds=seconds)
    return last


def _with(case: BytesCase, data: bytes) -> BytesCase:
    return replace(case, id=bytes_id(case.subject, data), data=data)


def record_files(block: BlockRecord, items: Iterable[PrintedLog], smaller: Callable[[PrintedLog], PrintedLog]) -> None:
    """Record what the client did with these files, in an open block that counts its cases. ``smaller`` shrinks the
    first Case of a finding."""
    lab = block.check.lab
    for item in items:
        entry = listed.explaining(lab.deviations, lab.version, crash=item.crash)
        deviation = None if entry is None else entry.id
        signature = f"{block.check.id}:{deviation or item.message}"
        if block.judge(item.verdict, item.message, signature=signature, deviation=deviation):
            _show(block, item, signature, deviation, smaller)


def _show(
    block: BlockRecord,
    item: PrintedLog,
    signature: str,
    deviation: str | None,
    smaller: Callable[[PrintedLog], PrintedLog],
) -> None:
    lab = block.check.lab
    kept = lab.stored
    stored = kept.store(dump_case(item.case))
    block.show(
        item.verdict,
        case=item.case.id,
        field=item.case.name,
        expected=item.expected,
        got=item.got,
        message=item.message,
        signature=signature,
        replay=None if stored is None else kept.replay_of(stored),
        deviation=deviation,
        case_file=None if stored is None else str(stored),
        nearest="" if deviation is not None else nearest_crash(lab.deviations, item.crash),
    )
    if deviation is None and stored is not None and kept.first(signature):
        small = smaller(item)
        path = kept.store(dump_case(small.case)) or stored
        block.found(
            signature,
            small.case.id,
            path,
            kept.replay_of(path),
            size_before=len(json.dumps(dump_case(item.case))),
            size_after=len(json.dumps(dump_case(small.case))),
            message=item.message,
        )
