"""Every requirement that is judged within another one has a fault of its own, which the judge of the whole catches.

A fault stands in the lists beside this module, or is planted by another test that is marked with the part's id. What is
caught is printed by ``python -m tests.planted``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.requirements.catalogue import REQUIREMENTS
from tests.requirements import (
    parts_of_boundaries,
    parts_of_dictionary_information,
    parts_of_events,
    parts_of_replicas,
    parts_of_statements,
    parts_of_tables,
    parts_of_texts,
)

if TYPE_CHECKING:
    from tests.requirements.parts import PartFault

ROOT: Final = Path(__file__).parents[2]
FAULTS: Final[tuple[PartFault, ...]] = tuple(
    fault
    for module in (
        parts_of_events,
        parts_of_statements,
        parts_of_texts,
        parts_of_replicas,
        parts_of_tables,
        parts_of_boundaries,
        parts_of_dictionary_information,
    )
    for fault in module.FAULTS
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.requirement}-{fault.id}")
def test_a_fault_of_a_part_is_caught_and_nothing_else_is(fault: PartFault) -> None:
    assert not fault.judged(False), "the judge finds something where nothing is wrong"
    assert fault.judged(True), fault.sentence


def test_faults_of_parts_belong_to_parts_and_differ() -> None:
    assert [fault.id for fault in FAULTS if REQUIREMENTS[fault.requirement].within is None] == []
    names = [(fault.requirement, fault.id) for fault in FAULTS]
    assert len(set(names)) == len(names)


def test_every_part_has_a_fault_of_its_own() -> None:
    """Of the tests as they are collected; whether each fault is caught is for those tests to say."""
    program = (
        "import pytest; from tests.planted import Tally, parts; found = Tally(); "
        "pytest.main(['--collect-only', '-q', '-p', 'no:cacheprovider', 'tests'], plugins=[found]); "
        "print(*parts(found.by_requirement())[0], sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.endswith("part without a fault")] == []
    assert lines[-1].endswith("parts of requirements with a caught fault")
