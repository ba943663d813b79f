"""All faulty servers, whose requirements they break, and why the other judged requirements have none."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from conformance.requirements.catalogue import REQUIREMENTS
from tests.faults.servers.by_area.appliers import APPLIER_FAULTS
from tests.faults.servers.by_area.conditions import CONDITION_FAULTS
from tests.faults.servers.by_area.data_files import DATA_FILE_FAULTS
from tests.faults.servers.by_area.interface import INTERFACE_FAULTS
from tests.faults.servers.by_area.lob_versions import LOB_VERSION_FAULTS
from tests.faults.servers.by_area.memory import MEMORY_FAULTS
from tests.faults.servers.by_area.models import MODEL_FAULTS
from tests.faults.servers.by_area.printed import PRINTED_FAULTS
from tests.faults.servers.by_area.replicas import REPLICA_FAULTS
from tests.faults.servers.by_area.sdi_records import SDI_RECORD_FAULTS
from tests.faults.servers.by_area.starts import START_FAULTS
from tests.faults.servers.by_area.tables import TABLE_FAULTS
from tests.faults.servers.by_area.updates import UPDATE_FAULTS

if TYPE_CHECKING:
    from tests.faults.fault import Fault

SERVER_FAULTS: Final = (
    *UPDATE_FAULTS,
    *CONDITION_FAULTS,
    *MEMORY_FAULTS,
    *INTERFACE_FAULTS,
    *START_FAULTS,
    *TABLE_FAULTS,
    *PRINTED_FAULTS,
    *REPLICA_FAULTS,
    *APPLIER_FAULTS,
    *DATA_FILE_FAULTS,
    *LOB_VERSION_FAULTS,
    *SDI_RECORD_FAULTS,
    *MODEL_FAULTS,
)


# Reasons, and the requirements or beginnings of families (``LOB*``) that they are for.
_REASONS: Final = {
    "judged on subjects, of which faulty ones are planted": ("DEC*", "DAT*"),
    "need a server from before the feature, or one that still writes events of version 1": (
        *("FR10", "D4", "W2a", "W2b", "W2c", "W2.text", "X1", "X2", "TMX1", "TMX2", "SDI16"),
    ),
}


def _named(pattern: str) -> list[str]:
    """The requirements of a family that have checks of their own and no faulty server, or the one that is named."""
    judged = [name for name, row in REQUIREMENTS.items() if row.explanation is None]
    family, planted = pattern.removesuffix("*"), by_requirement()
    others = [name for name in judged if family != pattern and name.startswith(family) and name not in planted]
    return [*others, *(name for name in judged if name == pattern)]


def by_requirement() -> dict[str, list[Fault]]:
    """Requirement -> the faulty servers that break it, in the order of the catalogue of requirements."""
    found: dict[str, list[Fault]] = defaultdict(list)
    for fault in SERVER_FAULTS:
        for requirement in fault.requirements:
            found[requirement].append(fault)
    return {name: found[name] for name in REQUIREMENTS if name in found}


NO_SERVER: Final = {
    reason: tuple(name for pattern in patterns for name in _named(pattern)) for reason, patterns in _REASONS.items()
}
