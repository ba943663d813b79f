"""The check of files that do not match passes on a real server, and each planted fault makes SDI66 red alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.sdi import check_mismatches
from conformance.checks.sdi.check_mismatches import MATCH, Given
from conformance.stream import CaseVerdict
from tests.faults.fault import Fault
from tests.faults.runner import plant_in
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recorded import Recorded

pytestmark = pytest.mark.live


def of(mismatch: str, described: bool, **changes: Any) -> Callable[[Given], Given]:
    """Another answer about one file."""
    return lambda given: (
        replace(given, **changes) if (given.mismatch, given.described) == (mismatch, described) else given
    )


FAULTS: Final = [
    Fault("taken", "SDI66", "A file of another type, with its description, is refused.",
          of("type", True, error=0, later=0, rows=((b"1", b"5"),))),
    Fault("taken-other-index", "SDI66", "A file without an index is refused.", of("one index fewer", True, error=0)),
    Fault("read", "SDI66", "A file that was refused is not read.", of("format COMPACT", False, later=0)),
    Fault("silent", "SDI66", "A file that nobody looked at is taken with a warning.", of("sign", False, warnings=())),
    Fault("refuses-all", "SDI66", "A file that matches is taken.", of(MATCH, True, error=1808)),
    Fault("loses-a-row", "SDI66", "A file that matches is taken with its rows.",
          of(MATCH, False, rows=((b"1", b"5"),))),
    Fault("file-says-nothing", "SDI66", "The file tells the mismatch.",
          lambda given: replace(given, file=replace(given.file, objects=()))),
    Fault("file-tells-another-mismatch", "SDI66", "The file tells that mismatch and no other.",
          lambda given: replace(given, mismatch={"length": "not null"}.get(given.mismatch, given.mismatch))),
]  # fmt: skip


def test_a_sound_server_passes(recorded: Recorded) -> None:
    run(check_mismatches.test_files_that_do_not_match, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("sdi/mismatches/file") == recorded.cases("sdi/mismatches/server") == 32


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.id, marks=pytest.mark.nightly if place else ())
        for place, fault in enumerate(FAULTS)
    ],
)
def test_a_server_that_takes_what_does_not_match_makes_sdi66_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, check_mismatches, "observe", fault.change)
    recorded.fails(check_mismatches.test_files_that_do_not_match)
    assert recorded.red == {"SDI66"}
