"""The planted faults of the data source are caught."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.runner import each
from tests.scenarios.binlog_checks import (
    FILES,
    NAMES,
    check_batches,
    check_damage_in_rows,
    check_damaged,
    check_events,
    check_lines,
    check_modes,
    check_reported,
    check_split,
    check_truncated,
    relay_of_another,
    with_and_without_gtids,
)
from tests.scenarios.faults_of_binlogs import SOURCE_FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.fault import Fault


def check(by: str, folder: Path) -> None:
    """The check that must notice."""
    match by:
        case "split":
            for path in (*FILES, relay_of_another(folder / "relay"), with_and_without_gtids(folder / "mixed")):
                check_split(path, (1, 900))
        case "lines":
            for path in FILES:
                check_lines(path)
        case "events":
            for path in FILES:
                check_events(path)
        case "damage":
            check_truncated(NAMES["14-rotate-b"], folder / "cut", range(0, 1074, 37))
            (folder / "others").mkdir()
            check_reported(folder / "others")
            check_damaged(NAMES["14-rotate-b"], folder / "damaged", 97)
            check_damage_in_rows(folder / "rows")
        case "modes":
            check_modes(folder)
        case _:
            assert by == "batches"
            check_batches(NAMES["02-partial-off-same-sql"])


@pytest.mark.sampled(8)
@each(SOURCE_FAULTS)
def test_a_fault_of_the_data_source_is_caught(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.change(monkeypatch)
    with pytest.raises(AssertionError):
        check(fault.at, tmp_path)


@pytest.mark.parametrize("by", sorted({fault.at for fault in SOURCE_FAULTS}))
def test_without_a_fault_each_check_holds(by: str, tmp_path: Path) -> None:
    check(by, tmp_path)
