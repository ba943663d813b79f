"""The worklog's table of event types: the kit's markers keep to it, and each cell that is marked otherwise is told."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.boundaries import check, event_table
from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.event_table import SENTENCES, Held, cells_of
from conformance.harness.profiles import SIZES
from conformance.reference.boundaries import source, unmarked
from conformance.reference.boundaries.markers import BoundaryType
from conformance.reference.event_types import EventType
from conformance.stream import Block, CaseVerdict
from tests.checks.boundaries.faults_of_event_table import END, EVENT_TABLE_FAULTS, IGNORE, SELF, START
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.faults.fault import Fault
    from tests.recorded import Recorded

    Markers = list[int]

LOGS: Final = Path(__file__).parents[2] / "data" / "binlogs"
WITH_CHECKSUMS: Final = sorted(path.stem for path in LOGS.glob("*.binlog") if "checksum-none" not in path.stem)


@cache
def log(name: str, *, gtids: bool = True) -> tuple[bytes, ...]:
    events = boundaries.split_log((LOGS / f"{name}.binlog").read_bytes())
    return tuple(events if gtids else boundaries.without_gtids(events))


def held(events: Sequence[bytes], markers: Sequence[int]) -> Held:
    found = Held()
    found.add("log", events, markers)
    return found


@pytest.mark.parametrize("name", WITH_CHECKSUMS)
def test_the_markers_of_the_kit_are_those_of_the_table(name: str) -> None:
    found = held(log(name), boundaries.markers_of(boundaries.mark_events(log(name))))
    assert {sentence: problems for sentence, problems in found.problems.items() if problems} == {}
    assert {"TD1", "TD2", "TD3", "TD4", "TD5", "TS1"} <= set(found.cells)


def test_the_cells_of_a_log_in_statement_format() -> None:
    cells = [
        None if cell is None else (cell.marker, cell.sentence)
        for cell in cells_of(log("13-statement-format", gtids=False))
    ]
    assert cells[:2] == [(IGNORE, "TD1"), (SELF, "TD2")]
    assert (START, "TS2") in cells
    assert cells[cells.index((START, "TS2")) + 1] == (END, "TS2")
    assert cells[-1] == (SELF, "TD2")  # a real ROTATE or STOP


@pytest.fixture
def one_unit(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One transaction of each kind; the receiver that the check starts ends with the test."""
    monkeypatch.setitem(SIZES["boundaries/real"], "quick", 1)
    monkeypatch.setitem(SIZES["boundaries/real/dumps"], "quick", 1)
    yield
    if recorded.lab._receiver is not None:
        recorded.lab._receiver.close()


@pytest.mark.live
@pytest.mark.usefixtures("one_unit")
def test_real_transactions_pass(recorded: Recorded) -> None:
    run(check.test_real_transactions_of_every_kind, recorded.lab)
    assert [item for item in recorded.of(CaseVerdict) if item.verdict != "not-applicable"] == []
    assert {name for name in SENTENCES if recorded.cases(f"boundaries/real/table/{name}")} == set(SENTENCES)


@pytest.mark.live
@pytest.mark.parametrize("requirement", ["TD1", "TS2"])
@pytest.mark.usefixtures("one_unit")
def test_markers_that_are_not_those_of_the_table_make_their_row_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, requirement: str
) -> None:
    """All faults of a requirement at once: a run takes as long for one. ``test_each_fault...`` has them one by one."""
    add = Held.add

    def altered(self: Held, where: str, events: Sequence[bytes], markers: Markers) -> None:
        for fault in EVENT_TABLE_FAULTS:
            if fault.requirement == requirement:
                markers = fault.change((events, markers))
        add(self, where, events, markers)

    monkeypatch.setattr(event_table.Held, "add", altered)
    recorded.fails(check.test_real_transactions_of_every_kind, "not that of the worklog's table")
    assert {item.requirements for item in recorded.of(Block) if item.failures} == {(requirement,)}


def _streams() -> list[tuple[Any, Markers]]:
    streams = [log(name, gtids=gtids) for name in WITH_CHECKSUMS for gtids in (True, False)]
    return [(events, boundaries.markers_of(boundaries.mark_events(events))) for events in streams]


@each(EVENT_TABLE_FAULTS)
def test_each_fault_is_told_under_its_sentence_alone(fault: Fault) -> None:
    found = Held()
    changed = 0
    for events, markers in _streams():
        other = fault.change((events, markers))
        changed += other != markers
        found.add("log", events, other)
    assert changed, "no recorded log has such an event"
    assert {name for name, problems in found.problems.items() if problems} == {fault.requirement}


@pytest.mark.planted("TD1")
def test_one_fault_in_both_tables_of_the_kit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kit marks and guesses by the same wrong table, its own comparison finds nothing."""
    self_contained = BoundaryType.SELF_CONTAINED
    monkeypatch.setitem(source.CONSTRUCTED, EventType.FORMAT_DESCRIPTION, self_contained)
    monkeypatch.setitem(unmarked.GUESSES, unmarked.Role.ASIDE, (self_contained,) * 3)
    events = log("01-partial-minimal")
    marked = boundaries.mark_events(events)
    groups = len(boundaries.transactions_of(events))
    assert boundaries.judge_marks(events, marked, groups, "coin") == []
    found = held(events, boundaries.markers_of(marked))
    assert [problem.field for problem in found.problems["TD1"]] == ["log, event 0 Format_description_log_event"]
