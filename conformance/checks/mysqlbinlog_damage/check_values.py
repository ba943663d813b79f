"""P9 for values that no server writes: objects and vectors, some of which end the client of 9.7.4.

The client is a program of its own, so that its end costs only a moment. The generator makes every file from the seed; a
file that ends the client is stored with the report and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.mysqlbinlog_damage.records import record_files
from conformance.harness.replay import print_file
from conformance.harness.witnesses import record_not_shown
from conformance.judge.damage import listed
from conformance.requirements.crashes import PRINTING
from conformance.requirements.versions import applies
from generators.damaged_values import PLACES, VECTOR, file_with_damage
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.bytes_case import BytesCase
    from conformance.harness.check import Check
    from conformance.harness.session import Lab
    from conformance.judge.damage.mysqlbinlog import PrintedLog
    from conformance.requirements.deviations import Deviation


@pytest.mark.check("values")
def test_damaged_values_are_printed(check: Check) -> None:
    """The real client lives, reports damage inside of values, and prints the next event."""
    check.needs_server("a server's mysqlbinlog: damaged values are printed by the real client")
    program = check.needs_programs("mysqlbinlog")
    with check.block(cases=None) as block:
        items = [print_file(program, case) for case in _files(check)]
        record_files(block, items, program)
    record_not_shown(check, not_shown(check.lab, items))


def _files(check: Check) -> Iterator[BytesCase]:
    """All files of a run."""
    for place in PLACES:
        if place == VECTOR and not check.lab.dialect.log.vector_type:
            continue
        for number in check.blocks():
            key = ("printed", check.seed, place, number)
            yield file_with_damage(Stream(*key), place, " ".join(map(str, key)))


def not_shown(lab: Lab, items: Iterable[PrintedLog]) -> list[Deviation]:
    """Listed ends of the client that no file showed."""
    explained = (listed.explaining(lab.deviations, lab.version, crash=item.crash) for item in items)
    shown = {entry.id for entry in explained if entry is not None}
    return [
        entry
        for entry in lab.deviations
        if entry.crash is not None
        and entry.crash.during == PRINTING
        and applies(entry.versions, lab.version)
        and entry.id not in shown
    ]
