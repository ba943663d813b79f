"""Faults for scenario matrices, written down before the worker, the budgets and the aggregation that must notice them.

Each says the sentence that it breaks.
"""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault
from tests.faults.spark.catalogue import FAULTS


def _worker(name: str, breaks: str, sentence: str, *, matrix: str, by: str) -> Fault:
    """``matrix``: the one that must notice; ``by``: the budget that fails, or ``digest`` for a result that depends on
    how the work was cut. The fault of the same name in Spark's workers says how it is planted."""
    planted = FAULTS.get(name)
    return Fault(name, breaks, sentence, planted and planted.change, at=matrix, says=by)


WORKER_FAULTS: Final = (
    _worker("diffs/95-of-100-lost", "FR11", "Where diffs are smaller the log shrinks by the difference.",
            matrix="size-budget", by="rows-with-diffs"),
    _worker("diffs/95-of-100-lost", "FR11", "The same, whatever the images hold.", matrix="images", by="diffs"),
    _worker("diffs/95-of-100-lost", "FR11", "The same in compressed transactions.", matrix="compression", by="diffs"),
    _worker("diffs/3-bytes-longer", "FR11", "A diff is path and value plus a bounded number of bytes.",
            matrix="size-budget", by="def1-constant"),
    _worker("diffs/paths-quoted", "FR11", "Def1 counts the path as the statement has it.", matrix="size-budget",
            by="def1-constant"),
    _worker("decision/length-not-counted", "FR12", "E counts the four length bytes: D < F is not enough.",
            matrix="break-even", by="border"),
    _worker("decision/one-byte-late", "FR11", "E < F is partial: one byte of saving is enough.", matrix="break-even",
            by="border"),
    _worker("decision/never", "FR11", "Where diffs are smaller the log shrinks by the difference.",
            matrix="size-budget", by="border"),
    _worker("options/of-3-bytes", "FR12", "A row without diffs grows by one byte, its options.", matrix="size-budget",
            by="full-plus-one"),
    _worker("bits/of-one-byte", "FR11", "There is a partial bit for each JSON column of the table.", matrix="images",
            by="bits"),
    _worker("off/a-byte-longer", "FR13", "With the option off the log is what it was before the feature.",
            matrix="size-budget", by="off-unchanged"),
    _worker("before/minimal-is-whole", "FR11", "A MINIMAL before image has the key's columns alone.", matrix="images",
            by="minimal-before"),
    _worker("apply/last-diff-forgotten", "FR4", "Every diff is applied.", matrix="equivalence", by="equal-afterwards"),
    _worker("apply/string-for-date", "FR4", "What a diff writes has the type that the source wrote.",
            matrix="equivalence", by="equal-afterwards"),
    _worker("apply/invalid-document", "FR5", "What an applier makes of any document is a document.", matrix="safety",
            by="refused-or-readable"),
    _worker("apply/other-error", "FR5", "Damage is answered with one of the five numbers.", matrix="safety",
            by="refused-or-readable"),
    _worker("damage/any-operation", "FR5", "A damaged event is refused.", matrix="safety", by="damage-is-met"),
    _worker("payload/never", "FR11", "Where compression is on the events are in a payload.", matrix="compression",
            by="payload-only-when-on"),
    _worker("payload/a-byte-lost", "FR11", "A compressed transaction holds the same events.", matrix="compression",
            by="events-are-the-same"),
    _worker("stream/by-block", "FR11", "A scenario depends on matrix, cell and index alone.", matrix="size-budget",
            by="digest"),
)  # fmt: skip
"""What a faulty worker, or the reference under it, would do."""
