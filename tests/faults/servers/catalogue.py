"""All faulty servers, and whose requirements they break."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tests.faults.servers.conditions import CONDITION_FAULTS
from tests.faults.servers.interface import INTERFACE_FAULTS
from tests.faults.servers.replicas import REPLICA_FAULTS
from tests.faults.servers.tables import TABLE_FAULTS
from tests.faults.servers.updates import UPDATE_FAULTS

if TYPE_CHECKING:
    from tests.faults.servers.fault import ServerFault

SERVER_FAULTS: Final = (*UPDATE_FAULTS, *CONDITION_FAULTS, *INTERFACE_FAULTS, *TABLE_FAULTS, *REPLICA_FAULTS)


def by_requirement() -> dict[str, list[ServerFault]]:
    """Requirement -> the faulty servers that break it, in the order of the catalogue of requirements."""
    from conformance.requirements.catalogue import REQUIREMENTS

    found: dict[str, list[ServerFault]] = defaultdict(list)
    for fault in SERVER_FAULTS:
        for requirement in fault.breaks:
            found[requirement].append(fault)
    return {name: found[name] for name in REQUIREMENTS if name in found}
