"""Faults for the checks on pairs, written down from the requirements sheet before the checks existed.

Each breaks one sentence of FR2, FR4 or FR6 in what a replica shows, or in what the reference expects of it. The tests
beside this module plant every one of them; a fault without a test is an error there.
"""

from __future__ import annotations

from typing import Final

FAULTS: Final[dict[str, tuple[str, str, str]]] = {
    # id: (requirement, the sentence, how it is broken)
    "replica-text": (
        "FR2",
        "after catching up every row is compared as text",
        "the replica's row prints another value",
    ),
    "replica-number-type": (
        "FR2",
        "stored bytes are equal when both sides started identical",
        "the replica holds 1.0 where the source holds 1: equal by =, other bytes",
    ),
    "replica-row-missing": ("FR2", "every row is compared", "the replica has one row less"),
    "replica-other-column": ("FR2", "every row is compared", "a column that is not JSON differs"),
    "replica-layout": (
        "FR2",
        "stored bytes are equal when both sides started identical",
        "the replica's document has free space that the diffs do not leave",
    ),
    "stop-elsewhere": (
        "FR2",
        "a stop is known only where the applier refuses exactly that diff",
        "the applier stops at another transaction than the one with the refused diff",
    ),
    "stop-of-another-kind": (
        "FR2",
        "a stop is known only with the number of the refusal",
        "the applier stops with 1032 where 3648 is known",
    ),
    "switch-off": (
        "FR2",
        "an identical replica stops at a REPLACE that changes no byte in place",
        "the reference does not refuse it, so the stop has no explanation",
    ),
    "text-relation": (
        "FR4",
        "documents equal as text stay equal as text",
        "after the update the replica's text differs",
    ),
    "equal-relation": (
        "FR4",
        "documents equal by = stay equal by =",
        "after the update = says 0",
    ),
    "lookup-unknown": (
        "FR4",
        "a stop is known only where no row of the before-image is found",
        "the reference finds the row by its text, so the stop with 1032 has no explanation",
    ),
    "lookup-by-text": (
        "FR4",
        "without a key a row whose document is not equal by = and as text is not found",
        "the replica goes on with such a row",
    ),
    "replica-follows-source": (
        "FR6",
        "the replica writes event 39 iff its own option is on",
        "its own log has UPDATE_ROWS although its option is on",
    ),
    "replica-drops-diffs": (
        "FR6",
        "diff content is kept when the source sent a diff",
        "its own log has another value in the diff",
    ),
    "replica-invents-diffs": (
        "FR6",
        "a document that came whole is logged whole",
        "its own log has diffs where the source sent the document",
    ),
    "redo-of-whole-document": (
        "FR6",
        "an update in place on the replica writes less than 5 % of the document to the redo log",
        "the redo log grows by the document",
    ),
    "chain-last-row": (
        "FR6",
        "the last server of a chain has the documents of the first",
        "a row of the last server prints another value",
    ),
    "chain-last-follows-middle": (
        "FR6",
        "each server of a chain writes event 39 iff its own option is on",
        "the last one's own log has the event type of the server before it",
    ),
    "chain-middle-invents-diffs": (
        "FR6",
        "a document that came whole is logged whole, on the middle server too",
        "the middle server's log has diffs although its option is off",
    ),
}
