"""Faults for scenario matrices, written down before the worker, the budgets and the aggregation that must notice them.

Each says the sentence that it breaks. How a fault is planted stands beside the test that plants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class MatrixFault:
    """``matrix``: the one that must notice; ``by``: the budget that fails, or ``wrong rows`` for the worker's own
    comparison, ``digest`` for a result that depends on how the work was cut."""

    id: str
    requirement: str
    sentence: str
    matrix: str
    by: str


WORKER_FAULTS: Final = (
    MatrixFault("diffs/longer-than-they-are", "FR11", "A diff is path and value plus a bounded number of bytes.",
                "size-budget", "def1-constant"),
    MatrixFault("partial/length-bytes-not-counted", "FR12", "E counts the four length bytes: D < F is not enough.",
                "break-even", "border"),
    MatrixFault("partial/one-byte-too-late", "FR11", "E < F is partial: one byte of saving is enough.",
                "break-even", "border"),
    MatrixFault("partial/never", "FR11", "Where diffs are smaller the log shrinks by the difference.",
                "size-budget", "border"),
    MatrixFault("full/value-options-of-three-bytes", "FR12", "A row without diffs grows by one byte, its options.",
                "size-budget", "full-plus-one"),
    MatrixFault("partial/bits-of-one-byte", "FR11", "Partial bits are one for each JSON column of the table.",
                "images", "wrong rows"),
    MatrixFault("off/one-byte-more", "FR13", "With the option off the log is what it was before the feature.",
                "size-budget", "off-unchanged"),
    MatrixFault("image/whole-before-image", "FR11", "A MINIMAL before image has the key's columns alone.",
                "images", "minimal-before"),
    MatrixFault("apply/last-diff-forgotten", "FR4", "Every diff is applied.", "equivalence", "wrong rows"),
    MatrixFault("apply/string-for-date", "FR4", "What a diff writes has the type that the source wrote.",
                "equivalence", "wrong rows"),
    MatrixFault("apply/invalid-document", "FR5", "What an applier makes of any document is a document.",
                "safety", "wrong rows"),
    MatrixFault("apply/other-error", "FR5", "Damage is answered with one of the five numbers.", "safety", "wrong rows"),
    MatrixFault("payload/a-byte-lost", "FR11", "A compressed transaction holds the same events.",
                "compression", "wrong rows"),
    MatrixFault("stream/by-block", "FR11", "A scenario depends on matrix, cell and index alone.",
                "size-budget", "digest"),
)  # fmt: skip
"""What a faulty worker, or the reference under it, would do."""

BUDGET_FAULTS: Final = ("always", "off-by-one", "of-another-option")
"""What a budget rule may be that cannot fail, or fails too late: each rule must fail on rows that break it by one."""

AGGREGATION_FAULTS: Final = (
    "a-cell-is-left-out", "wrong-rows-are-left-out", "a-row-is-counted-twice", "a-block-is-missing",
    "one-column-is-not-in-the-digest", "a-finished-cell-is-added-again",
)  # fmt: skip
"""What may go wrong between the worker's rows and the verdict."""

FIGURE_FAULTS: Final = (
    "a-setting-has-the-sums-of-another", "words-are-shifted-by-one", "rows-without-an-event-are-left-out-of-the-sizes",
    "one-row-image-for-all", "per-mille-are-rounded-up", "the-overhead-of-partial-events-alone",
    "the-last-class-is-left-out", "tables-without-a-key-are-with-the-others", "the-unique-key-is-none",
)  # fmt: skip
"""What may go wrong between the rows and the figures of a report: sums by setting, heat map, histograms."""

LIVE_FAULTS: Final = ("model-never-partial", "size-in-a-row-is-off-by-one", "an-event-is-a-byte-longer")
"""What a comparison with a real server must notice: a model that decides otherwise, a row of the matrix whose size is
not that of the server's event, a server whose event differs by a byte."""
