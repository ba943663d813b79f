"""The catalogue of planted faults: every text stands in its module once, and no area is forgotten."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from tests.planted_reference.__main__ import Kept, Outcome, run_child, selected
from tests.planted_reference.catalogue import FAULTS
from tests.planted_reference.tools import Step, fuzz_steps, property_files, store_inputs, vector_steps
from tests.reference import planted_faults
from tests.reference.kit import Fault, faulty_code, source

if TYPE_CHECKING:
    from pathlib import Path

# One of each kind, for every run of the tests; all of them at night.
SAMPLE: Final = (
    "decimal-seven-digits",
    "packed-three-bytes",
    "catalog-without-its-zero",
    "year-zero-is-1900",
    "marker-over-the-old-one",
    "calls-from-outside",
)


@pytest.mark.parametrize("edit", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_changes_its_module_once_and_for_another_program(edit: Fault) -> None:
    changed = faulty_code(edit)  # exactly once, and still Python
    assert changed.co_code or changed.co_consts
    assert compile(source(edit.module), changed.co_filename, "exec") != changed


def test_faults_are_many_everywhere_and_counted_once() -> None:
    modules = Counter(fault.module for fault in FAULTS)
    assert len(FAULTS) >= 200
    assert len(modules) >= 50
    names = [fault.id for fault in (*FAULTS, *planted_faults.FAULTS)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_of_each_kind_is_killed_in_a_process_of_its_own(name: str) -> None:
    (fault,) = selected([name])
    step = min(vector_steps(fault), key=lambda step: step.cost)
    assert run_child(fault.id, step).by, fault.breaks


def test_the_sound_reference_is_no_finding_and_a_faulty_one_is(tmp_path: Path) -> None:
    store_inputs(tmp_path)
    (fault,) = selected(["view-into-the-head"])
    (replay,) = fuzz_steps(fault, tmp_path, tmp_path, reached={}, runs=0, rng=1)
    assert run_child("-", replay).by is None
    assert run_child(fault.id, replay).by
    (slow,) = [path for path in property_files() if path.stem == "test_jsonb_properties"]
    assert run_child("-", Step("properties", "slow", 3, ("pytest", str(slow))), seconds=1).by == "slow: hangs"


def test_what_is_selected_must_exist() -> None:
    with pytest.raises(SystemExit, match="nothing"):
        selected(["nothing"])
    assert {fault.module for fault in selected(["partial.update"])} == {"partial.update"}


def test_a_run_goes_on_from_what_is_kept_of_the_same_text(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "results.json")
    first, second = selected(["decimal-seven-digits", "decimal-sign-bit"])
    kept.store(first, {"vectors": Outcome("a test", 1.5)})
    again = Kept(tmp_path / "results.json")
    assert again.of(first) == {"vectors": Outcome("a test", 1.5)}
    assert again.of(second) == {}
    assert again.of(first._replace(new=first.new + " ")) == {}
