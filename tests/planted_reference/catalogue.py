"""All planted faults of the reference that this package knows, and the look at their texts.

Written from docs/spec, and from faults that were found (CHANGELOG), before the fuzz targets were
tuned. A fault that survives means a missing vector, property or target; it is no reason to take it out. The faults that
the vectors of :mod:`tests.reference` kill on each run (:mod:`tests.reference.planted_faults`) are others, and not
counted here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.planted_reference import (
    faults_of_documents,
    faults_of_events,
    faults_of_rows,
    faults_of_streams,
    faults_of_texts,
)

if TYPE_CHECKING:
    from tests.reference.kit import Fault

FAULTS: Final[tuple[Fault, ...]] = (
    *faults_of_documents.FAULTS,
    *faults_of_events.FAULTS,
    *faults_of_rows.FAULTS,
    *faults_of_streams.FAULTS,
    *faults_of_texts.FAULTS,
)

# Edits that change nothing that can be seen, with the reason: never counted.
EQUIVALENT: Final[dict[str, str]] = {
    "the test for exact paths in apply": "a leg with a wildcard finds nothing, so the same 3648 comes two lines later",
    "the counts of GTID sets against the bytes left": "reading the first entry too many says the same",
    "the counts of TRANSACTION_CONTEXT and VIEW_CHANGE": "reading the first item too many says the same",
    "the number of members against the bytes left": "reading the first member too many says the same",
    "the length of an index in a path (paths.index)": "the comparison of the number follows",
    "bytes behind a zstd frame in a later piece": "the decompressor refuses them itself, with another code",
    "the order in which equal_stored looks at suspects": "it decides which difference is found first, not whether",
}
