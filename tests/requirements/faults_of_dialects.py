"""Planted faults of the dialect table: every cell says something else, and every boundary lies one version later.

Written down before the rows' tests: a fault is a whole wrong table. A boundary between equal values (where only the
evidence changes) can lie anywhere, so moving it is no fault.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.requirements.versions import SWITCHES, text_of
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.requirements.versions import Switch, Value

_OTHER: Final = {  # a value that some version has, where turning it round means nothing
    "ER_SLAVE_CORRUPT_EVENT": "ER_REPLICA_CORRUPT_EVENT",
    "MASTER STATUS": "BINARY LOG STATUS",
    "BINARY LOGS AND GTIDS": "MASTER",
    "SLAVE": "REPLICA",
    "slave_": "replica_",
    "OFF": "ON",
    "mysql_native_password": "caching_sha2_password",
    "on": "off",
    "off": "gone",
    "gone": "on",
    "old": "new",
    "bytes": "text",
    "STMT_END_F": "list",
    "expected": "observed",
    "fast": "exact",
    "1": "1.0",
    "low-byte": "zero",
    "of-datetime": "all",
    "any": "first",
}
_BACK: Final = {new: old for old, new in _OTHER.items()}


def _wrong(switch: Switch, value: Value) -> Value:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if value is None:
        return next(cell.value for cell in switch.cells if cell.value is not None)
    if switch.id in ("change_source_syntax", "reset_syntax"):
        return next(cell.value for cell in switch.cells if cell.value != value)
    return _OTHER.get(value) or _BACK[value]


def _faults(switch: Switch) -> Iterator[Fault]:
    for number, cell in enumerate(switch.cells):
        cells = list(switch.cells)
        cells[number] = replace(cell, value=_wrong(switch, cell.value))
        yield Fault(
            f"{switch.id} from {text_of(cell.since)}",
            "X1",
            "A cell says what its version does.",
            replace(switch, cells=tuple(cells)),
        )
        if number and switch.cells[number - 1].value != cell.value:
            major, minor, patch = cell.since
            cells = list(switch.cells)
            cells[number] = replace(cell, since=(major, minor, patch + 1))
            yield Fault(
                f"{switch.id} later than {text_of(cell.since)}",
                "X1",
                "A cell says what its version does.",
                replace(switch, cells=tuple(cells)),
            )


TABLE_FAULTS: Final = [fault for switch in SWITCHES.values() for fault in _faults(switch)]
