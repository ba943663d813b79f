"""P9: ``mysqlbinlog -v`` lives, whatever value stands in an event: objects and vectors that no server writes.

The client is a program of its own, so that its end costs nothing but a moment. Every file is made from the seed; one
that ends the client is stored with the report and nowhere else.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.mysqlbinlog_files import explaining, print_file, record, shrink_file
from conformance.harness.witnesses import unexpected_pass
from conformance.requirements.crashes import PRINTING
from conformance.requirements.versions import applies
from conformance.servers.errors import ServerUnavailable
from generators.damaged_values import PLACES, VECTOR, printed
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.bytes_case import BytesCase
    from conformance.harness.lab import Lab
    from conformance.judge.damage.mysqlbinlog import PrintedLog
    from conformance.requirements.deviations import Deviation

_FILES: Final = {"quick": 25, "full": 400, "soak": 5_000}  # for each place
_CHECK: Final = "printing/values"


def made(seed: str, profile: str, places: Iterable[str] = PLACES) -> Iterator[BytesCase]:
    """All files of a run."""
    for place in places:
        for number in range(_FILES[profile]):
            key = ("printed", seed, place, number)
            yield printed(Stream(*key), place, " ".join(map(str, key)))


def not_shown(lab: Lab, items: Iterable[PrintedLog]) -> list[Deviation]:
    """Listed ends of the client that no file showed."""
    shown = {entry.id for item in items if (entry := explaining(lab.deviations, lab.version, item)) is not None}
    return [
        entry
        for entry in lab.deviations
        if entry.crash is not None
        and entry.crash.during == PRINTING
        and applies(entry.versions, lab.version)
        and entry.id not in shown
    ]


@pytest.mark.requirement("P9")
def test_damaged_values_are_printed(lab: Lab) -> None:
    """Generated damage inside of values: the real client lives, names it, and prints the event behind it."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server's mysqlbinlog: damaged values are printed by the real client")
    try:
        program = server.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(f"needs the server's own mysqlbinlog: {error}")
    begun = time.perf_counter()
    places = [place for place in PLACES if place != VECTOR or lab.dialect.log.vector_type]
    items = [print_file(program, case) for case in made(lab.settings.seed, lab.settings.profile, places)]
    seconds = time.perf_counter() - begun
    failures = record(lab, _CHECK, items, seconds, lambda item: shrink_file(program, item))
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)
    unexpected_pass(lab, _CHECK, not_shown(lab, items))
