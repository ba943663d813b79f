"""Which listed deviation explains an outcome: by its switch, or the end of a program by its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.requirements.versions import applies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version


def explaining(
    deviations: Iterable[Deviation], version: Version, *, crash: Crash | None, switch: str | None = None
) -> Deviation | None:
    """The first of the list that does. A crash is explained by nothing but its signature."""
    for entry in deviations:
        known = entry.crash == crash if crash is not None else switch is not None and entry.switch == switch
        if known and applies(entry.versions, version):
            return entry
    return None
