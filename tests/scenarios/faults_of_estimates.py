"""Faults for ``matrix estimate``, written down before the difference, the bounds and the sums that must not have them.

Each says the sentence that it breaks. How a fault is planted stands beside the test that plants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class EstimateFault:
    """A fault of the estimate. ``by``: what notices it.

    - ``bounds``: the real cost lies outside
    - ``leaves``: more than 1 % off for updates of leaves
    - ``rows``: a row of the log has another size
    - ``sums``: totals or percentiles differ
    """

    id: str
    requirement: str
    sentence: str
    by: str


ESTIMATE_FAULTS: Final = (
    EstimateFault("least/subtree-is-never-replaced", "FR11",
                  "One REPLACE of a container may be shorter than one diff for each of its leaves.", "bounds"),
    EstimateFault("least/arrays-by-position", "FR11",
                  "An element that was removed is one REMOVE, whatever stands behind it.", "bounds"),
    EstimateFault("most/as-the-leaves", "FR12",
                  "A statement that sets the whole document is logged whole, however little it changed.", "bounds"),
    EstimateFault("border/length-bytes-not-counted", "FR12",
                  "Diffs are logged only if they and their four length bytes are smaller than the document.", "bounds"),
    EstimateFault("same-bytes/logged-whole", "FR11", "A document whose bytes did not change is an empty list of diffs.",
                  "bounds"),
    EstimateFault("root/as-diffs", "FR12", "There is no diff for the root.", "bounds"),
    EstimateFault("leaves/container-instead-of-leaf", "FR11", "An update of a leaf is a diff of that leaf.", "leaves"),
    EstimateFault("leaves/path-not-counted", "FR11", "A diff is path and value plus a bounded number of bytes.",
                  "leaves"),
    EstimateFault("whole/holes-not-counted", "FR12", "A document is logged with its holes.", "rows"),
    EstimateFault("row/value-options-forgotten", "FR12", "A row without diffs grows by one byte, its options.", "rows"),
    EstimateFault("row/partial-bits-forgotten", "FR11", "Partial bits are one for each JSON column of the table.",
                  "rows"),
    EstimateFault("row/document-stays-in-minimal-before", "FR11",
                  "A MINIMAL before image has the key's columns alone.", "rows"),
    EstimateFault("events/one-for-each-row", "FR11", "Rows of a statement share events up to 8192 bytes.", "rows"),
    EstimateFault("sums/unjudged-are-judged", "FR11", "What could not be judged is in no saving.", "sums"),
    EstimateFault("sums/a-file-is-left-out", "FR11", "Totals are those of all files.", "sums"),
    EstimateFault("sums/percentile-of-another-column", "FR11", "Percentiles are of one column of one table.", "sums"),
    EstimateFault("sums/worst-is-the-best", "FR11", "The worst rows are those that cost most.", "sums"),
)  # fmt: skip
