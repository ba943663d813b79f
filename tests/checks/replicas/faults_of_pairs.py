"""Faults for the checks on pairs, written down from docs/spec/requirements.md before the checks existed.

Each breaks one sentence of FR2, FR4, FR6 or A7 in what a replica shows, or in what the reference expects of it. The
tests beside this module plant every one of them; a fault without a test is an error there.
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
    "replica-logs-full": (
        "FR6",
        "images follow the replica's own image setting",
        "its own log has FULL images although it is set to MINIMAL",
    ),
    "replica-other-before-image": (
        "FR6",
        "the before-image holds the row as the replica had it",
        "its own before-image holds another document",
    ),
    "replica-other-bitmap": (
        "FR6",
        "the after-image keeps the columns that came in",
        "its own after-image lacks a column",
    ),
    "replica-event-missing": (
        "FR6",
        "every transaction that came in is logged",
        "a transaction's row event is missing",
    ),
    "replica-event-twice": ("FR6", "every transaction that came in is logged once", "a row event stands twice"),
    "replica-transaction-missing": ("FR6", "every transaction that came in is logged", "the last one is missing"),
    "replica-table-map": (
        "FR6",
        "the metadata follow the replica's own setting",
        "its own TABLE_MAP has optional metadata that it is not set to write",
    ),
    "replica-other-gtid": ("FR6", "a transaction keeps its GTID", "its own log has another number"),
    "replica-other-begin": ("FR6", "BEGIN keeps the checks of the source's session", "its own BEGIN names others"),
    "replica-commit-time": ("FR6", "a transaction keeps the time of its first commit", "its own log has none"),
    "replica-row-order": (
        "FR6",
        "a keyless table's rows are logged in the order in which they stand there",
        "its own log has them the other way round",
    ),
    "before-image-gains-json": (
        "A7",
        "the replica's own before-image does not gain the JSON columns that were read for the diffs",
        "the before-image of its own log has the key and the JSON column",
    ),
    "before-image-of-noblob": (
        "A7",
        "under MINIMAL the replica's own before-image is the key",
        "a real replica writes the before-images of NOBLOB, JSON columns among them",
    ),
    "replica-really-logs-full": (
        "FR6",
        "images follow the replica's own image setting",
        "a real replica logs FULL images where MINIMAL is due",
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
