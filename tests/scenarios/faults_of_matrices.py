"""Faults for scenario matrices, written down before the worker, the budgets and the aggregation that must notice them.

Each says the sentence that it breaks. How a fault is planted stands beside the test that plants it.
"""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault

WORKER_FAULTS: Final = (
    Fault("diffs/95-of-100-lost", "FR11", "Where diffs are smaller the log shrinks by the difference.", None,
          at="size-budget", says="rows-with-diffs"),
    Fault("diffs/95-of-100-lost", "FR11", "The same, whatever the images hold.", None, at="images", says="diffs"),
    Fault("diffs/95-of-100-lost", "FR11", "The same in compressed transactions.", None, at="compression", says="diffs"),
    Fault("diffs/3-bytes-longer", "FR11", "A diff is path and value plus a bounded number of bytes.", None,
          at="size-budget", says="def1-constant"),
    Fault("diffs/paths-quoted", "FR11", "Def1 counts the path as the statement has it.", None, at="size-budget",
          says="def1-constant"),
    Fault("decision/length-not-counted", "FR12", "E counts the four length bytes: D < F is not enough.", None,
          at="break-even", says="border"),
    Fault("decision/one-byte-late", "FR11", "E < F is partial: one byte of saving is enough.", None, at="break-even",
          says="border"),
    Fault("decision/never", "FR11", "Where diffs are smaller the log shrinks by the difference.", None,
          at="size-budget", says="border"),
    Fault("options/of-3-bytes", "FR12", "A row without diffs grows by one byte, its options.", None, at="size-budget",
          says="full-plus-one"),
    Fault("bits/of-one-byte", "FR11", "There is a partial bit for each JSON column of the table.", None, at="images",
          says="bits"),
    Fault("off/a-byte-longer", "FR13", "With the option off the log is what it was before the feature.", None,
          at="size-budget", says="off-unchanged"),
    Fault("before/minimal-is-whole", "FR11", "A MINIMAL before image has the key's columns alone.", None, at="images",
          says="minimal-before"),
    Fault("apply/last-diff-forgotten", "FR4", "Every diff is applied.", None, at="equivalence",
          says="equal-afterwards"),
    Fault("apply/string-for-date", "FR4", "What a diff writes has the type that the source wrote.", None,
          at="equivalence", says="equal-afterwards"),
    Fault("apply/invalid-document", "FR5", "What an applier makes of any document is a document.", None, at="safety",
          says="refused-or-readable"),
    Fault("apply/other-error", "FR5", "Damage is answered with one of the five numbers.", None, at="safety",
          says="refused-or-readable"),
    Fault("damage/any-operation", "FR5", "A damaged event is refused.", None, at="safety", says="damage-is-met"),
    Fault("payload/never", "FR11", "Where compression is on the events are in a payload.", None, at="compression",
          says="payload-only-when-on"),
    Fault("payload/a-byte-lost", "FR11", "A compressed transaction holds the same events.", None, at="compression",
          says="events-are-the-same"),
    Fault("stream/by-block", "FR11", "A scenario depends on matrix, cell and index alone.", None, at="size-budget",
          says="digest"),
)  # fmt: skip
"""What a faulty worker, or the reference under it, would do. ``at``: the matrix that must notice, ``says``: the budget
that fails, or ``digest`` for a result that depends on how the work was cut. How one is planted says the fault of the
same id in :mod:`tests.faults.spark`."""

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
