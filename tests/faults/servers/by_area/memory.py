"""Faulty servers that allocate for the feature where it is off, and such as store another row than they log."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from tests.faults.servers.edits import cells, rewritten
from tests.faults.servers.fault import REPLICA, server

if TYPE_CHECKING:
    from tests.faults.servers.packets import Answer

_looks: Final = count(1)


def _bytes_of_all_allocations(_: str, answer: Answer) -> Answer:
    """The most bytes in use are those of every allocation together."""
    if "HIGH_NUMBER_OF_BYTES_USED" not in answer.columns:
        return answer
    return replace(answer, rows=tuple((count_, b"%d" % (64 * int(count_ or 0))) for count_, _ in answer.rows))


MEMORY_FAULTS: Final = (
    server("diffs-are-collected-without-a-log", "C1", "A session whose log is off allocates for diffs.",
           "at most .*no log", at=REPLICA, statement=rewritten("^SET SESSION sql_log_bin = 0", "DO 0")),
    server("diffs-are-collected-for-statements", "C1", "A session in statement format allocates for diffs.",
           "at most .*STATEMENT format", at=REPLICA,
           statement=rewritten("^SET SESSION binlog_format = STATEMENT", "SET SESSION binlog_format = ROW")),
    server("applier-allocates-for-whole-documents", "FR14",
           "A replica's count for JSON grows with each look, whatever its source logs.",
           "allocations for JSON on the replica; expected 0", at=REPLICA,
           answer=cells("COUNT_ALLOC", lambda cell: b"%d" % (int(cell) + next(_looks)))),
    server("whole-documents-go-as-diffs", "FR14",
           "A source sends diffs with the option off, for which its replica allocates.",
           "allocations for JSON on the replica; expected 0",
           statement=rewritten(r"(SESSION binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'")),
    server("trigger-leaves-the-size", "D15", "JSON_STORAGE_SIZE of a row that a trigger changed is one byte too large.",
           "JSON_STORAGE_SIZE", checks="test_documents_inside",
           answer=cells("JSON_STORAGE_SIZE", lambda cell: b"%d" % (int(cell) + 1))),
    server("trigger-leaves-no-holes", "D15", "JSON_STORAGE_FREE of a row that a trigger changed is 0.",
           "JSON_STORAGE_FREE", checks="test_documents_inside", answer=cells("JSON_STORAGE_FREE", lambda _: b"0")),
    server("memory-of-diffs-is-kept", "LLD17", "A session that applies events never gives back the memory of diffs.",
           "the memory of diffs grows with the rows of an event", at=REPLICA,
           answer=cells("HIGH_NUMBER_OF_BYTES_USED", lambda cell: b"%d" % (int(cell) + 4096 * next(_looks)))),
    server("memory-of-diffs-goes-by-rows", "LLD17", "The diffs of all rows of an event are in memory at one time.",
           "the memory of diffs grows with the rows of an event", at=REPLICA, answer=_bytes_of_all_allocations),
)  # fmt: skip
