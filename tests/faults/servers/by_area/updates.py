"""Faulty servers of WL#2955: diffs, row events, sizes and texts, the conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.faults.servers.edits import PARTIAL, UPDATES, cells, diffs, each, missing, patch, rewritten, rows, twice
from tests.faults.servers.fault import ServerFault

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
    ServerFault(
        id="last-diff-is-lost",
        breaks=("F3",),
        also=("FR2",),
        does="Of several diffs of a column the last one is not logged.",
        says=r"diffs \[\w+ \$",
        checks=_BYTES,
        log=diffs(lambda found: found[:-1] if len(found) > 1 else found),
    ),
    ServerFault(
        id="diffs-in-reverse",
        breaks=("F3",),
        also=("FR2",),
        does="The diffs of a column are logged in reverse order.",
        says=r"diffs \[\w+ \$",
        checks=_BYTES,
        log=diffs(lambda found: found[::-1]),
    ),
    ServerFault(
        id="path-of-another-value",
        breaks=("F3",),
        also=("FR2",),
        does="The path of a diff names another member or element.",
        says=r"diffs \[\w+ \$",
        checks=_BYTES,
        log=diffs(lambda found: [last_of_path(found[0]), *found[1:]] if found else found),
    ),
    ServerFault(
        id="option-has-no-effect",
        breaks=("FR1",),
        also=("D2",),
        does="The session takes the option, and logs whole documents as before.",
        says=r"PARTIAL_UPDATE_ROWS",
        checks=_BYTES,
        statement=rewritten(_OPTION, r"\1''"),
    ),
    ServerFault(
        id="update-is-not-logged",
        breaks=("FR1",),
        does="Updates with diffs change the row, and no row event is logged.",
        says=r"PARTIAL_UPDATE_ROWS",
        checks=_BYTES,
        log=missing(PARTIAL),
    ),
    ServerFault(
        id="update-is-logged-twice",
        breaks=("FR1",),
        does="A row event with diffs stands twice in the log.",
        says=r"PARTIAL_UPDATE_ROWS",
        checks=_BYTES,
        log=twice(PARTIAL),
    ),
    ServerFault(
        id="last-row-of-an-event-is-lost",
        breaks=("F3",),
        does="Of several rows in one event the last one is not logged.",
        says=r"row",
        checks=_BYTES,
        updates=300,
        log=rows(lambda body: replace(body, rows=tuple(body.rows)[:-1]) if len(body.rows) > 1 else body, UPDATES),
    ),
    ServerFault(
        id="diff-reaches-the-replica-short",
        breaks=("FR2",),
        also=("F3",),
        does="Diffs of the log do not lead to the stored document: the last one is lost.",
        says=r"document",
        checks="test_apply",
        log=diffs(lambda found: found[:-1] if len(found) > 1 else found),
    ),
    ServerFault(
        id="diff-with-another-value",
        breaks=("FR2",),
        also=("F3",),
        does="The value of a diff is another one than the document has.",
        says=r"document",
        checks="test_apply",
        log=diffs(lambda found: [other_byte(diff) for diff in found]),
    ),
    # --- F3: the format
    ServerFault(
        id="rows-end-a-byte-early",
        breaks=("F3",),
        also=("FR1",),
        does="The last byte of a row event with diffs is missing.",
        says=r"value_options|trunc|rows",
        checks="test_decode",
        log=each(PARTIAL, lambda event: event[:-5] + event[-4:]),
    ),
    # --- IP1, IP2: sizes and texts
    ServerFault(
        id="free-space-is-zero",
        breaks=("IP1",),
        does="JSON_STORAGE_FREE says 0 for documents with holes.",
        says=r"JSON_STORAGE_FREE.*|got 0",
        checks="test_storage",
        answer=cells(r"JSON_STORAGE_FREE", lambda _: b"0"),
    ),
    ServerFault(
        id="size-without-the-type-byte",
        breaks=("IP1",),
        does="JSON_STORAGE_SIZE leaves out the byte of the type.",
        says=r"JSON_STORAGE_SIZE",
        checks="test_storage",
        answer=cells(r"JSON_STORAGE_SIZE", lambda cell: b"%d" % (int(cell) - 1)),
    ),
    ServerFault(
        id="text-without-spaces",
        breaks=("IP2",),
        does="The text of a document has no space behind a comma.",
        says=r"text",
        checks="test_text",
        answer=lambda _, answer: replace(
            answer, rows=tuple(tuple(cell and cell.replace(b", ", b",") for cell in row) for row in answer.rows)
        ),
    ),
    ServerFault(
        id="true-in-capitals",
        breaks=("IP2",),
        does="The text of a document writes TRUE and FALSE in capitals.",
        says=r"text",
        checks="test_text",
        answer=lambda _, answer: replace(
            answer,
            rows=tuple(tuple(cell and cell.replace(b"true", b"TRUE") for cell in row) for row in answer.rows),
        ),
    ),
    ServerFault(
        id="extra-data-of-no-kind",
        breaks=("F3",),
        also=("FR1",),
        does="The length of the extra data of a row event is one too large.",
        says=r"PARTIAL_UPDATE_ROWS",
        checks="test_decode",
        log=each(PARTIAL, patch(8, lambda length: length + 1, 2)),
    ),
    # --- the transaction around the rows
    ServerFault(
        id="committed-tomorrow",
        breaks=("FR1",),
        does="The commit timestamp of a transaction is a day ahead of the server's clock.",
        says=r"immediate_commit_timestamp",
        checks=_BYTES,
        log=each(_GTIDS, patch(42, lambda moment: moment + 86_400_000_000, 7)),
    ),
    ServerFault(
        id="sequence-numbers-repeat",
        breaks=("FR1",),
        does="The logical clock of a transaction is that of the one before.",
        says=r"sequence_number",
        checks=_BYTES,
        log=each(_GTIDS, patch(34, lambda number: number - 1, 8)),
    ),
    ServerFault(
        id="commit-of-another-query",
        breaks=("FR1",),
        does="The XID of a transaction is another one's.",
        says=r"xid",
        checks=_BYTES,
        log=each(frozenset((EventType.XID,)), patch(0, lambda number: number + 7, 8)),
    ),
)
