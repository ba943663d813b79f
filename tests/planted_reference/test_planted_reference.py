"""The catalogue of planted faults: every text stands in its module once, and no area is forgotten."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.planted_reference.catalogue import FAULTS
from tests.reference import planted_faults
from tests.reference.kit import Fault, faulty_code, source


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_changes_its_module_once_and_for_another_program(fault: Fault) -> None:
    changed = faulty_code(fault)  # exactly once, and still Python
    assert changed.co_code or changed.co_consts
    assert compile(source(fault.module), changed.co_filename, "exec") != changed


def test_faults_are_many_everywhere_and_counted_once() -> None:
    modules = Counter(fault.module for fault in FAULTS)
    assert len(FAULTS) >= 200
    assert len(modules) >= 50
    names = [fault.id for fault in (*FAULTS, *planted_faults.FAULTS)]
    assert len(set(names)) == len(names)
