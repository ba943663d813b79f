"""Faulty servers that allocate for the feature where it is off, and such as store another row than they log."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from tests.faults.servers.edits import cells, rewritten
from tests.faults.servers.fault import REPLICA, ServerFault

if TYPE_CHECKING:
    from tests.faults.servers.packets import Answer

_looks: Final = count(1)


def _bytes_of_all_allocations(_: str, answer: Answer) -> Answer:
    """The most bytes in use are those of every allocation together."""
    if "HIGH_NUMBER_OF_BYTES_USED" not in answer.columns:
        return answer
    return replace(answer, rows=tuple((count_, b"%d" % (64 * int(count_ or 0))) for count_, _ in answer.rows))


MEMORY_FAULTS: Final = (
    ServerFault(
        id="diffs-are-collected-without-a-log",
        breaks=("C1",),
        does="A session whose log is off allocates for diffs.",
        says="at most .*no log",
        at=REPLICA,
        statement=rewritten("^SET SESSION sql_log_bin = 0", "DO 0"),
    ),
    ServerFault(
        id="diffs-are-collected-for-statements",
        breaks=("C1",),
        does="A session in statement format allocates for diffs.",
        says="at most .*STATEMENT format",
        at=REPLICA,
        statement=rewritten("^SET SESSION binlog_format = STATEMENT", "SET SESSION binlog_format = ROW"),
    ),
    ServerFault(
        id="applier-allocates-for-whole-documents",
        breaks=("FR14",),
        does="A replica's count for JSON grows with each look, whatever its source logs.",
        says="allocations for JSON on the replica; expected 0",
        at=REPLICA,
        answer=cells("COUNT_ALLOC", lambda cell: b"%d" % (int(cell) + next(_looks))),
    ),
    ServerFault(
        id="whole-documents-go-as-diffs",
        breaks=("FR14",),
        does="A source sends diffs with the option off, for which its replica allocates.",
        says="allocations for JSON on the replica; expected 0",
        statement=rewritten(r"(SESSION binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'"),
    ),
    ServerFault(
        id="trigger-leaves-the-size",
        breaks=("D15",),
        does="JSON_STORAGE_SIZE of a row that a trigger changed is one byte too large.",
        says="JSON_STORAGE_SIZE",
        checks="test_documents_inside",
        answer=cells("JSON_STORAGE_SIZE", lambda cell: b"%d" % (int(cell) + 1)),
    ),
    ServerFault(
        id="trigger-leaves-no-holes",
        breaks=("D15",),
        does="JSON_STORAGE_FREE of a row that a trigger changed is 0.",
        says="JSON_STORAGE_FREE",
        checks="test_documents_inside",
        answer=cells("JSON_STORAGE_FREE", lambda _: b"0"),
    ),
    ServerFault(
        id="memory-of-diffs-is-kept",
        breaks=("LLD17",),
        at=REPLICA,
        does="A session that applies events never gives back the memory of diffs.",
        says="the memory of diffs grows with the rows of an event",
        answer=cells("HIGH_NUMBER_OF_BYTES_USED", lambda cell: b"%d" % (int(cell) + 4096 * next(_looks))),
    ),
    ServerFault(
        id="memory-of-diffs-goes-by-rows",
        breaks=("LLD17",),
        at=REPLICA,
        does="The diffs of all rows of an event are in memory at one time.",
        says="the memory of diffs grows with the rows of an event",
        answer=_bytes_of_all_allocations,
    ),
)
