"""Faulty servers of WL#2955: diffs, row events, sizes and texts, the conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.faults.servers.edits import PARTIAL, UPDATES, cells, diffs, each, missing, patch, rewritten, rows, twice
from tests.faults.servers.fault import server

if TYPE_CHECKING:
    from conformance.reference.partial.diffs import RawDiff

_OPTION: Final = r"(binlog_row_value_options *= *)'PARTIAL_JSON'"
_BYTES: Final = "event_bytes"
_GTIDS: Final = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID))


def last_of_path(diff: RawDiff) -> RawDiff:
    """The path with its last letter or digit changed."""
    place = next((n for n in range(len(diff.path) - 1, 1, -1) if diff.path[n : n + 1].isalnum()), None)
    if place is None:
        return diff
    other = b"7" if diff.path[place : place + 1] != b"7" else b"6"
    return diff._replace(path=diff.path[:place] + other + diff.path[place + 1 :])


def other_byte(diff: RawDiff) -> RawDiff:
    return diff if not diff.data else diff._replace(data=diff.data[:-1] + bytes((diff.data[-1] ^ 1,)))


UPDATE_FAULTS: Final = (
    # --- FR1, FR2: what stands in the event
    server("last-diff-is-lost", "F3", "Of several diffs of a column the last one is not logged.", r"diffs \[\w+ \$",
           checks=_BYTES, also="FR2", log=diffs(lambda found: found[:-1] if len(found) > 1 else found)),
    server("diffs-in-reverse", "F3", "The diffs of a column are logged in reverse order.", r"diffs \[\w+ \$",
           checks=_BYTES, also="FR2", log=diffs(lambda found: found[::-1])),
    server("path-of-another-value", "F3", "The path of a diff names another member or element.", r"diffs \[\w+ \$",
           checks=_BYTES, also="FR2",
           log=diffs(lambda found: [last_of_path(found[0]), *found[1:]] if found else found)),
    server("option-has-no-effect", "FR1", "The session takes the option, and logs whole documents as before.",
           r"PARTIAL_UPDATE_ROWS", checks=_BYTES, also="D2", statement=rewritten(_OPTION, r"\1''")),
    server("update-is-not-logged", "FR1", "Updates with diffs change the row, and no row event is logged.",
           r"PARTIAL_UPDATE_ROWS", checks=_BYTES, log=missing(PARTIAL)),
    server("update-is-logged-twice", "FR1", "A row event with diffs stands twice in the log.", r"PARTIAL_UPDATE_ROWS",
           checks=_BYTES, log=twice(PARTIAL)),
    server("last-row-of-an-event-is-lost", "F3", "Of several rows in one event the last one is not logged.", r"row",
           checks=_BYTES, updates=300,
           log=rows(lambda body: replace(body, rows=tuple(body.rows)[:-1]) if len(body.rows) > 1 else body, UPDATES)),
    server("diff-reaches-the-replica-short", "FR2",
           "Diffs of the log do not lead to the stored document: the last one is lost.", r"document",
           checks="test_apply", also="F3", log=diffs(lambda found: found[:-1] if len(found) > 1 else found)),
    server("diff-with-another-value", "FR2", "The value of a diff is another one than the document has.", r"document",
           checks="test_apply", also="F3", log=diffs(lambda found: [other_byte(diff) for diff in found])),
    # --- F3: the format
    server("rows-end-a-byte-early", "F3", "The last byte of a row event with diffs is missing.",
           r"value_options|trunc|rows", checks="test_decode", also="FR1",
           log=each(PARTIAL, lambda event: event[:-5] + event[-4:])),
    # --- IP1, IP2: sizes and texts
    server("free-space-is-zero", "IP1", "JSON_STORAGE_FREE says 0 for documents with holes.",
           r"JSON_STORAGE_FREE.*|got 0", checks="test_storage", answer=cells(r"JSON_STORAGE_FREE", lambda _: b"0")),
    server("size-without-the-type-byte", "IP1", "JSON_STORAGE_SIZE leaves out the byte of the type.",
           r"JSON_STORAGE_SIZE", checks="test_storage",
           answer=cells(r"JSON_STORAGE_SIZE", lambda cell: b"%d" % (int(cell) - 1))),
    server("text-without-spaces", "IP2", "The text of a document has no space behind a comma.", r"text",
           checks="test_text",
           answer=lambda _, answer: replace(
               answer, rows=tuple(tuple(cell and cell.replace(b", ", b",") for cell in row) for row in answer.rows)
           )),
    server("true-in-capitals", "IP2", "The text of a document writes TRUE and FALSE in capitals.", r"text",
           checks="test_text",
           answer=lambda _, answer: replace(
               answer,
               rows=tuple(tuple(cell and cell.replace(b"true", b"TRUE") for cell in row) for row in answer.rows),
           )),
    server("extra-data-of-no-kind", "F3", "The length of the extra data of a row event is one too large.",
           r"PARTIAL_UPDATE_ROWS", checks="test_decode", also="FR1",
           log=each(PARTIAL, patch(8, lambda length: length + 1, 2))),
    # --- the transaction around the rows
    server("committed-tomorrow", "FR1", "The commit timestamp of a transaction is a day ahead of the server's clock.",
           r"immediate_commit_timestamp", checks=_BYTES,
           log=each(_GTIDS, patch(42, lambda moment: moment + 86_400_000_000, 7))),
    server("sequence-numbers-repeat", "FR1", "The logical clock of a transaction is that of the one before.",
           r"sequence_number", checks=_BYTES, log=each(_GTIDS, patch(34, lambda number: number - 1, 8))),
    server("commit-of-another-query", "FR1", "The XID of a transaction is another one's.", r"xid", checks=_BYTES,
           log=each(frozenset((EventType.XID,)), patch(0, lambda number: number + 7, 8))),
)  # fmt: skip
