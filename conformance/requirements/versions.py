"""Which server version has which dialect, and what versions the observed facts stand for. No version test elsewhere."""

from __future__ import annotations

from typing import Final

from conformance.reference.dialect import MYSQL, Dialect

Version = tuple[int, int, int]

# The event-39 code, the diff encoding, the evaluation, the in-place rules and the decision are the same from 8.0.3
# (versions sheet, 0.1); 9.7.4 is where they were observed.
FIRST: Final[Version] = (8, 0, 3)
LAST_OBSERVED: Final[Version] = (9, 7, 99)


def dialect_of(version: Version) -> Dialect:
    """The dialect of a server version."""
    if version < FIRST:
        raise ValueError(f"MySQL {'.'.join(map(str, version))} has no partial JSON updates (they came with 8.0.3)")
    return MYSQL


def dialect_name(version: Version) -> str:
    """Its name, or that there is none."""
    return dialect_of(version).name if version >= FIRST else "none"


def in_observed_range(version: Version) -> bool:
    """Whether a difference from observed behaviour counts as a failure."""
    return FIRST <= version <= LAST_OBSERVED
