"""Planted faults of the reference: how many the vectors kill (fuzzing 7).

``python -m tests.reference.planted_faults`` (from the repository's root) prints one line per fault, with the vector
that killed it, and ``killed/planted`` at the end; exit status 1 if one lives. Each fault breaks one clause of the
docs/spec/jsonb.md or docs/spec/partial-update.md. Left out because they change nothing that a server can store: the
first two steps of the space test (partial-update 3.1), which the later ones contain, and the encoder's shortcut for
large children (jsonb 2.1).
"""

from __future__ import annotations

import sys
from typing import Final

from tests.reference.faults_of_jsonb import JSONB_FAULTS
from tests.reference.faults_of_updates import UPDATE_FAULTS
from tests.reference.kit import Fault, original, planted
from tests.reference.vectors import vectors

FAULTS: Final = [*JSONB_FAULTS, *UPDATE_FAULTS]


def killer(fault: Fault) -> str | None:
    """The vector that fails on the faulty copy first; ``None`` if the fault lives."""
    try:
        with planted(fault) as kit:
            for vector in vectors():
                try:
                    vector.run(kit)
                except Exception as error:  # noqa: BLE001 - whatever a faulty copy raises kills it
                    return f"{vector.id} ({type(error).__name__})"
    except ImportError as error:
        return f"import ({error})"
    return None


def main() -> int:
    """Print what kills what."""
    kit = original()
    for vector in vectors():
        vector.run(kit)
    lives = 0
    for fault in FAULTS:
        try:
            found = killer(fault)
        except AssertionError as error:  # the code has moved away from the fault
            sys.stdout.write(f"{error}\n")
            lives += 1
            continue
        lives += found is None
        verdict = "LIVES" if found is None else f"killed by {found}"
        sys.stdout.write(f"{fault.id:32} {fault.module:14} {verdict}\n")
    sys.stdout.write(f"{len(FAULTS) - lives}/{len(FAULTS)} killed/planted by {len(vectors())} vectors\n")
    return int(lives > 0)


if __name__ == "__main__":
    sys.exit(main())
