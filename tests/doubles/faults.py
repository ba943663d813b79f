"""The catalogue of faulty doubles: each plays one fact of its version wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.doubles.fault import double, knowing, written_with
from tests.faults.servers.edits import PARTIAL, UPDATES, accepted, after, cells, missing, renumbered, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.dialect import Dialect
    from tests.doubles.lacking import Lacking
    from tests.faults.servers.packets import Answer

_SOME: Final = 8  # of the transactions: a report names each that fails, and charges no other row
_OPTION: Final = "SET .*binlog_row_value_options"


def _begun_by_gtid(events: Sequence[bytes]) -> list[bytes]:
    """Some transactions with diffs begin with the other event."""
    first, *rest = events
    diffs = sum(len(event) for event in rest if event[4] in PARTIAL)
    if first[4] == EventType.ANONYMOUS_GTID and diffs and not diffs % _SOME:
        first = first[:4] + bytes((EventType.GTID,)) + first[5:]
    return [first, *rest]


def _in_capitals(_: str, answer: Answer) -> Answer:
    def changed(cell: bytes | None) -> bytes | None:
        return cell and cell.replace(b": true", b": TRUE").replace(b": false", b": FALSE")

    return replace(answer, rows=tuple(tuple(map(changed, row)) for row in answer.rows))


def _keeps_charsets(dialect: Dialect) -> Dialect:
    return replace(dialect, server=replace(dialect.server, mysqlbinlog_variable_charset=True))


def _with_gtids(lacks: Lacking) -> Lacking:
    return replace(lacks, defaults={})


DOUBLE_FAULTS: Final = (
    double("rows-flag-of-9.6", "Rows events have the flag 0x10, which came with 9.6.", breaks="F3", says="flags",
           contradicts="rows_flags_mask", dialect=written_with(rows_flags_mask=0x1F)),
    # The first session of this seed logs statements.
    double("rows-query-without-length", "ROWS_QUERY begins with a zero, as that of 9.7.", breaks="FR1",
          contradicts="rows_query_length", seed="5", dialect=written_with(rows_query_length="zero")),
    double("gtid-for-anonymous", "Some transactions with diffs begin with GTID although the server has no GTIDs.",
           breaks="FR1", says="expected ANONYMOUS_GTID_LOG_EVENT.*got GTID_LOG_EVENT", passing={"log": _begun_by_gtid}),
    double("partial-rows-are-lost", "An event 39 is not written.", breaks="FR1",
           says="the transaction has other events", passing={"log": missing(PARTIAL)}),
    double("free-space-is-zero", "JSON_STORAGE_FREE says 0 for documents with holes.", breaks="IP1", says="got 0",
           checks="test_storage", passing={"answer": cells("JSON_STORAGE_FREE", lambda _: b"0")}),
    double("true-in-capitals", "The text of a document writes TRUE and FALSE in capitals.", breaks="IP2",
           says="TRUE|FALSE", checks="test_text", passing={"answer": _in_capitals}),
    double("replica-misses-updates", "The log that a replica reads lacks the updates.", breaks="FR2", says="",
           checks="test_replica_equals_source and positions", passing={"log": missing(UPDATES)}),
    double("another-error-number", "A refused value gives 1232 in the place of 1231.", breaks="S1",
           says="expected error 1231.*got error 1232", asks="S2",
           passing={"answer": after(_OPTION, renumbered(1231, 1232))}),
    double("refused-statement-is-accepted", "The option takes words that no version knows.", breaks="FR9",
           says="expected refused.*got accepted", asks="S2", passing={"answer": after(_OPTION, accepted(1231))}),
    double("no-warning-of-deprecation", "SET binlog_format gives no 1287, which it does since 8.0.34.", asks="W1b",
           contradicts="binlog_format_deprecated", checks="session_warnings", passing={"diagnostics": without(1287)}),
    double("vectors-before-9.0", "VECTOR columns are made.", asks="S2", contradicts="vector_type tlv_max",
           lacks=knowing("VECTOR")),
    double("variable-of-9.7", "enable_cascade_triggers is known.", asks="S2", contradicts="query_status_max",
           lacks=knowing("enable_cascade_triggers")),
    double("gtids-by-default", "gtid_mode is ON in a server that was not told.", asks="S2",
           contradicts="gtid_mode_default", lacks=_with_gtids),
    double("client-sets-character-sets",
           "mysqlbinlog prints character sets around a user variable, as the client of 9.7.", breaks="TF2",
           says="the text of a marked file", contradicts="mysqlbinlog_variable_charset", dialect=_keeps_charsets),
)  # fmt: skip
