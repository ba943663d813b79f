"""Which server version has which dialect, and what versions the observed facts stand for. No version test elsewhere."""

from __future__ import annotations

import re
from typing import Final

from conformance.reference.dialect import MYSQL, Dialect

Version = tuple[int, int, int]

# The event-39 code, the diff encoding, the evaluation, the in-place rules and the decision are the same from 8.0.3
# (versions sheet, 0.1); 9.7.4 is where they were observed.
FIRST: Final[Version] = (8, 0, 3)
OBSERVED: Final = "9.7.4"  # where the listed deviations were seen
LAST_OBSERVED: Final[Version] = (9, 7, 99)
_NO_END: Final[Version] = (1 << 16, 0, 0)


def dialect_of(version: Version) -> Dialect:
    """The dialect of a server version."""
    if version < FIRST:
        raise ValueError(f"MySQL {'.'.join(map(str, version))} has no partial JSON updates (they came with 8.0.3)")
    return MYSQL


def dialect_name(version: Version) -> str:
    """Its name, or that there is none."""
    return dialect_of(version).name if version >= FIRST else "none"


def parse_range(text: str) -> tuple[Version, Version]:
    """``A..B`` with both ends in it, ``A..`` without an end, or one version. Raises ``ValueError``."""
    first, dots, last = text.partition("..")
    begin = _version(first)
    if not dots:
        return begin, begin
    return begin, _version(last) if last else _NO_END


def applies(versions: str, version: Version) -> bool:
    """Whether a version lies in a range of versions."""
    first, last = parse_range(versions)
    return first <= version <= last


def _version(text: str) -> Version:
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text.strip())
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    return int(match[1]), int(match[2]), int(match[3])


def in_observed_range(version: Version) -> bool:
    """Whether a difference from observed behaviour counts as a failure."""
    return FIRST <= version <= LAST_OBSERVED
