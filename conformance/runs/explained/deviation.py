"""A listed deviation in words: what differs, where it is expected, on which versions it was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.requirements.catalogue import REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.requirements.deviations import Deviation


def deviation_lines(entry: Deviation) -> Iterator[str]:
    """Yield the lines about an entry of the list; one that is indented by two blanks may be folded."""
    yield f"{entry.id}  a listed deviation"
    yield f"  {entry.reason}"
    yield from ("", "Requirements")
    for name in entry.requirements:
        yield f"  {name}: {REQUIREMENTS[name].statement}"
    yield from ("", "Versions", f"  expected in {entry.versions}")
    yield f"  seen on {', '.join(entry.observed) or 'no version'}"
    if entry.crash is not None:
        crash = entry.crash
        yield f"  the program ends while {crash.during}, at the damage {crash.damage}, with signal {crash.signal}"
        if entry.frames:
            yield f"  its place is known for the builds {', '.join(entry.frames)}"
    yield from ("", f"  binlog-lab replay deviation:{entry.id} --as sql")
