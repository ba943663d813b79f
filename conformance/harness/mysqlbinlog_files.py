"""Files given to mysqlbinlog: run, judged, and compared with the listed deviations (P9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.judge.damage import listed
from conformance.judge.damage.mysqlbinlog import HUNG, PrintedLog, judge_print
from conformance.servers.roles.mysqlbinlog import print_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.cases.bytes_case import BytesCase
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version


def print_file(program: Sequence[str], case: BytesCase) -> PrintedLog:
    """Run the client on a file and judge what it does."""
    end = print_bytes(program, case.data)
    return judge_print(case, HUNG if end.status is None else end.status, end.text, end.peak)


def explaining(deviations: Iterable[Deviation], version: Version, item: PrintedLog) -> Deviation | None:
    """The listed deviation that has this crash as its signature."""
    return listed.explaining(deviations, version, crash=item.crash)
