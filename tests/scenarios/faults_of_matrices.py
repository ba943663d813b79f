"""Faults for scenario matrices, written down before the worker, the budgets and the aggregation that must notice them.

Each says the sentence that it breaks. How a fault is planted stands beside the test that plants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class MatrixFault:
    """``matrix``: the one that must notice; ``by``: the budget that fails, or ``digest`` for a result that depends on
    how the work was cut. The id is that of the catalogue of :mod:`tests.faults.spark`, which says how it is planted.
    """

    id: str
    requirement: str
    sentence: str
    matrix: str
    by: str


WORKER_FAULTS: Final = (
    MatrixFault("diffs/95-of-100-lost", "FR11", "Where diffs are smaller the log shrinks by the difference.",
                "size-budget", "rows-with-diffs"),
    MatrixFault("diffs/95-of-100-lost", "FR11", "The same, whatever the images hold.", "images", "diffs"),
    MatrixFault("diffs/95-of-100-lost", "FR11", "The same in compressed transactions.", "compression", "diffs"),
    MatrixFault("diffs/3-bytes-longer", "FR11", "A diff is path and value plus a bounded number of bytes.",
                "size-budget", "def1-constant"),
    MatrixFault("diffs/paths-quoted", "FR11", "Def1 counts the path as the statement has it.",
                "size-budget", "def1-constant"),
    MatrixFault("decision/length-not-counted", "FR12", "E counts the four length bytes: D < F is not enough.",
                "break-even", "border"),
    MatrixFault("decision/one-byte-late", "FR11", "E < F is partial: one byte of saving is enough.",
                "break-even", "border"),
    MatrixFault("decision/never", "FR11", "Where diffs are smaller the log shrinks by the difference.",
                "size-budget", "border"),
    MatrixFault("options/of-3-bytes", "FR12", "A row without diffs grows by one byte, its options.",
                "size-budget", "full-plus-one"),
    MatrixFault("bits/of-one-byte", "FR11", "There is a partial bit for each JSON column of the table.",
                "images", "bits"),
    MatrixFault("off/a-byte-longer", "FR13", "With the option off the log is what it was before the feature.",
                "size-budget", "off-unchanged"),
    MatrixFault("before/minimal-is-whole", "FR11", "A MINIMAL before image has the key's columns alone.",
                "images", "minimal-before"),
    MatrixFault("apply/last-diff-forgotten", "FR4", "Every diff is applied.", "equivalence", "equal-afterwards"),
    MatrixFault("apply/string-for-date", "FR4", "What a diff writes has the type that the source wrote.",
                "equivalence", "equal-afterwards"),
    MatrixFault("apply/invalid-document", "FR5", "What an applier makes of any document is a document.",
                "safety", "refused-or-readable"),
    MatrixFault("apply/other-error", "FR5", "Damage is answered with one of the five numbers.",
                "safety", "refused-or-readable"),
    MatrixFault("damage/any-operation", "FR5", "A damaged event is refused.", "safety", "damage-is-met"),
    MatrixFault("payload/never", "FR11", "Where compression is on the events are in a payload.",
                "compression", "payload-only-when-on"),
    MatrixFault("payload/a-byte-lost", "FR11", "A compressed transaction holds the same events.",
                "compression", "events-are-the-same"),
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
