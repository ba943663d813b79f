"""The listed deviation that explains an outcome: by its switch, or by the signature of a program's end.

The place of a program's end is known on the builds where it was observed. There, the same signal at the same damage in
another place is new. On an unlisted build within the range of versions the place is unconfirmed; wherever the kit shows
the outcome, it says so.
"""

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
    """The first listed deviation that explains the outcome. Only its signature explains a crash."""
    for entry in deviations:
        known = is_known(entry, crash) if crash is not None else switch is not None and entry.switch == switch
        if known and applies(entry.versions, version):
            return entry
    return None


def is_known(entry: Deviation, crash: Crash) -> bool:
    """Whether it is the listed crash: its place counts where the entry has frames of the build."""
    if entry.crash is None or entry.crash.kind != crash.kind:
        return False
    return crash.frames in entry.frames.get(crash.build, (crash.frames,))


def about_place(deviations: Iterable[Deviation], version: Version, crash: Crash | None) -> str:
    """A note on the place of a crash whose signal and damage are listed; empty if the place is as listed."""
    for entry in deviations:
        if crash is None or entry.crash is None or entry.crash.kind != crash.kind:
            continue
        if not applies(entry.versions, version) or entry.no_frames:
            continue
        if crash.build not in entry.frames:
            return f"its place is unconfirmed: {entry.id} lists no stack of build {crash.build or 'unknown'}"
        if crash.frames not in entry.frames[crash.build]:
            return f"this is not the place of {entry.id}" if crash.frames else f"no stack to tell it from {entry.id}"
    return ""
