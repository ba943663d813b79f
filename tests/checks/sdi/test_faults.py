"""The judges of shipped dictionary information accept what a server left, and find each planted fault in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.checks.sdi.faults_of_sdi import FAULTS, WITHIN
from tests.checks.sdi.observed_files import judged, observe_all

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from tests.checks.sdi.observed_files import Observed
    from tests.faults.fault import Fault

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def seen(server: ProcessServer) -> Observed:
    return observe_all(server)


def test_what_the_server_left_is_sound(seen: Observed) -> None:
    assert [problem for problems in judged(seen).values() for problem in problems] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_is_found_under_its_requirement(seen: Observed, fault: Fault) -> None:
    assert list(judged(fault.change(seen))[WITHIN.get(fault.requirement, fault.requirement)])
