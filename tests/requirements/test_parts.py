"""Every requirement that is judged within another one has a fault of its own, which the judge of the whole catches.

A fault stands in the lists beside this module, or is planted by another test that is marked with the part's id. What is
caught is printed by ``python -m tests.planted``.
"""

from __future__ import annotations

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
    from tests.faults.fault import Fault

FAULTS: Final[tuple[Fault, ...]] = tuple(
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


@pytest.mark.sampled(50)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.requirement}-{fault.id}")
def test_a_fault_of_a_part_is_caught_and_nothing_else_is(fault: Fault) -> None:
    assert not fault.change(False), "the judge finds something where nothing is wrong"
    assert fault.change(True), fault.sentence


def test_faults_of_parts_belong_to_parts_and_differ() -> None:
    assert [fault.id for fault in FAULTS if REQUIREMENTS[fault.requirement].within is None] == []
    names = [(fault.requirement, fault.id) for fault in FAULTS]
    assert len(set(names)) == len(names)
