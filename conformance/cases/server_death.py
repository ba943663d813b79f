"""The death of a server in one text, as an outcome keeps it: signal, place, and build.

``signal 11 in Json_dom::parse < read_json_diff (build cc8a18826385)``: names of functions, innermost first. Where names
are unknown, ends of addresses stand behind a colon: ``signal 11: 581,506``.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

UPPER: Final = 4
"""Frames that tell the place, counted from the innermost. With more of them, every way to one fault would be another
place (a document is read by many statements); with fewer, all that is reported by one function would be one."""
_BEHIND: Final = " < "
_DEATH: Final = re.compile(r"signal ([0-9]+)(?: in (.+?))?(?:: \S*)?(?: \(build ([0-9a-f]+)\))?")


class Death(NamedTuple):
    """``frames``: at most :data:`UPPER` names; ``build``: first digits of the program's identity. Both may be empty."""

    signal: int
    frames: tuple[str, ...]
    build: str


def format_death(signal: str, frames: tuple[str, ...], build: str, addresses: str) -> str:
    """``addresses`` stand in for frames without names."""
    place = f" in {_BEHIND.join(frames)}" if frames else f": {addresses}"
    return f"signal {signal}{place}" + (f" (build {build})" if build else "")


def parse_death(text: str) -> Death | None:
    """The death in the text; ``None`` if the text does not have the signal."""
    found = _DEATH.fullmatch(text)
    if found is None:
        return None
    signal, frames, build = found.groups()
    return Death(int(signal), tuple(frames.split(_BEHIND)) if frames else (), build or "")
