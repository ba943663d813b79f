"""Faults of the kit's own model, which no server has: a function of it is another one, and the report's rows about the
model have to be red."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.boundaries import check_told_files, marked_files
from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.event_table import Held
from conformance.checks.sdi_design.life import Life
from conformance.reference.boundaries import unmarked
from tests.checks.boundaries.faults_of_boundaries import (
    MARK_FAULTS,
    OWN_MARK_FAULTS,
    TABLE_FAULTS,
    TEXT_FAULTS,
    marking,
)
from tests.checks.boundaries.faults_of_event_table import EVENT_TABLE_FAULTS
from tests.checks.boundaries.faults_of_told_files import TOLD_FAULTS
from tests.checks.sdi_design.faults_of_sdi_design import CALL_FAULTS, CALL_PARTS, GUARANTEE_FAULTS, PURGE_FAULTS
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pytest

_CALLS: Final = "test_calls_of_the_interface"
_CRASHES: Final = "test_a_copy_is_readable"
_PURGE: Final = "test_two_purge_threads"
# The cells of the worklog's table of event types that are marked otherwise, too.
_CELLS: Final = {"marks/rows-unmarked": ("TD4",), "marks/ddl-self-behind-gtid": ("TS1",)}
_PART_OF_SDI24: Final = frozenset(("SDI26", "SDI35"))
# A version that a reader may not see is a wrong answer of a call as well; and of these calls a reader sees the change.
_ALSO: Final = {"SDI24": ("SDI42",), "SDI41": ("SDI24",), "SDI45": ("SDI24",), "SDI47": ("SDI24",)}


_MARKED: Final = {
    "marks/rows-unmarked": "ROWS_EVENT; expected a marker; got none",
    "marks/ddl-self-behind-gtid": "a real transaction is refused",
    "marks/take-room": "takes room or changes more",
}


def _fault(name: str, breaks: str, does: str, says: str, plant: Plant, checks: str, *also: str) -> Fault:
    return Fault(f"model-{name.replace('/', '-')}", breaks, does, plant, at=checks, also=" ".join(also), says=says)


def _settling_never(plant: Plant) -> Plant:
    """A fault that shows at a crash, and not only at the comparison behind each change."""

    def planted(patch: pytest.MonkeyPatch) -> None:
        plant(patch)
        patch.setattr(Life, "settle", lambda _: None)

    return planted


def _of_calls() -> Iterator[Fault]:
    for fault in CALL_FAULTS:
        yield _of(fault, "another answer", fault.change, _CALLS, *_ALSO.get(fault.requirement, ()))
    for part, name, sentence, plant in CALL_PARTS:
        whole = "SDI24" if part in _PART_OF_SDI24 else "SDI42"
        also = _ALSO.get(part, _ALSO.get(whole, ()))
        yield _fault(f"{part}-{name}", whole, f"Not so: {sentence}", "gives another answer", plant, _CALLS, *also)


def _of(fault: Fault, says: str, plant: Plant, checks: str, *also: str) -> Fault:
    return _fault(fault.id, fault.requirement, f"Not so: {fault.sentence}", says, plant, checks, *also)


def _marked(change: Callable[[list[bytes]], list[bytes]]) -> Plant:
    """Transactions are marked otherwise, for whoever marks them."""
    real = boundaries.mark_events

    def plant(patch: pytest.MonkeyPatch) -> None:
        def changed(events: Any) -> list[bytes]:
            marked = real(events)
            return change(marked) if marked else marked

        patch.setattr(boundaries, "mark_events", changed)

    return plant


def _in_cells(change: Callable[[tuple[Sequence[bytes], list[int]]], list[int]]) -> Plant:
    """The markers are otherwise where they are held against the worklog's table."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        add = Held.add

        def altered(held: Held, where: str, events: Sequence[bytes], markers: list[int]) -> None:
            add(held, where, events, change((events, markers)))

        patch.setattr(Held, "add", altered)

    return plant


def _printed(change: Callable[[bytes], bytes]) -> Plant:
    """The kit prints another text of a marked file."""
    real = marked_files.text_of
    return lambda patch: patch.setattr(marked_files, "text_of", lambda *words: change(real(*words)))


def _parsing(parser: object) -> Plant:
    """Another transition table."""
    return lambda patch: patch.setattr(unmarked, "BoundaryParser", parser)


def _telling(told: object) -> Plant:
    """The kit's ``decode`` tells something else."""
    return lambda patch: patch.setattr(check_told_files, "told", told)


MODEL_FAULTS: Final = (
    *_of_calls(),
    *(_of(fault, "leaves no copy", _settling_never(fault.change), _CRASHES) for fault in GUARANTEE_FAULTS),
    *(_of(fault, "do no harm", fault.change, _PURGE) for fault in PURGE_FAULTS),
    *(
        _fault(fault.id, "TL1 TN1 TN2", f"Not so: {fault.sentence}", _MARKED[fault.id], _marked(fault.change),
               "test_real_transactions_of_every_kind", *_CELLS.get(fault.id, ()))
        for fault in MARK_FAULTS
    ),
    *(
        _of(fault, "not that of the worklog's table", _in_cells(fault.change), "test_real_transactions_of_every_kind")
        for fault in EVENT_TABLE_FAULTS
    ),
    *(
        _of(fault, "does not show the marker", _printed(fault.change), "test_marked_files_are_printed")
        for fault in TEXT_FAULTS
    ),
    *(_of(fault, "other events are told", _parsing(fault.change(None)), "test_corrupted_markers")
      for fault in TABLE_FAULTS),
    *(
        _fault(f"told-{told.__name__}", "TI3", "The kit's decode tells of other events, or in other words.",
               "told otherwise than the worklog says", _telling(told), "test_files_with_broken_markers")
        for told in TOLD_FAULTS
    ),
    *(
        _of(fault, "otherwise than the worklog's table", partial(marking, change=fault.change),
            "test_real_transactions_of_every_kind")
        for fault in OWN_MARK_FAULTS
    ),
)  # fmt: skip
