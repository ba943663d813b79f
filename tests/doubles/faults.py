"""The catalogue of faulty doubles: each plays one fact of its version wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.doubles.fault import DoubleFault, knowing, written_with
from tests.faults.servers.edits import PARTIAL, UPDATES, accepted, after, cells, missing, renumbered, without
from tests.faults.servers.fault import ChangedAnswer, ChangedLog, ServerFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.dialect import Dialect
    from tests.doubles.lacking import Lacking
    from tests.faults.servers.packets import Answer

_SOME: Final = 8  # of the transactions: a report names each that fails, and charges no other row
_OPTION: Final = "SET .*binlog_row_value_options"


def _passing(*, log: ChangedLog | None = None, answer: ChangedAnswer | None = None, **others: object) -> ServerFault:
    return ServerFault(id="planted", breaks=("",), does="", says="", log=log, answer=answer, **others)  # type: ignore[arg-type]


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
    DoubleFault(
        id="rows-flag-of-9.6",
        does="Rows events have the flag 0x10, which came with 9.6.",
        breaks=("F3",),
        contradicts=("rows_flags_mask",),
        says="flags",
        dialect=written_with(rows_flags_mask=0x1F),
    ),
    DoubleFault(
        id="rows-query-without-length",
        does="ROWS_QUERY begins with a zero, as that of 9.7.",
        breaks=("FR1",),
        contradicts=("rows_query_length",),
        seed="5",  # whose first session logs statements
        dialect=written_with(rows_query_length="zero"),
    ),
    DoubleFault(
        id="gtid-for-anonymous",
        does="Some transactions with diffs begin with GTID although the server has no GTIDs.",
        breaks=("FR1",),
        says="expected ANONYMOUS_GTID_LOG_EVENT.*got GTID_LOG_EVENT",
        passing=_passing(log=_begun_by_gtid),
    ),
    DoubleFault(
        id="partial-rows-are-lost",
        does="An event 39 is not written.",
        breaks=("FR1",),
        says="the transaction has other events",
        passing=_passing(log=missing(PARTIAL)),
    ),
    DoubleFault(
        id="free-space-is-zero",
        does="JSON_STORAGE_FREE says 0 for documents with holes.",
        breaks=("IP1",),
        checks="test_storage",
        says="got 0",
        passing=_passing(answer=cells("JSON_STORAGE_FREE", lambda _: b"0")),
    ),
    DoubleFault(
        id="true-in-capitals",
        does="The text of a document writes TRUE and FALSE in capitals.",
        breaks=("IP2",),
        checks="test_text",
        says="TRUE|FALSE",
        passing=_passing(answer=_in_capitals),
    ),
    DoubleFault(
        id="replica-misses-updates",
        does="The log that a replica reads lacks the updates.",
        breaks=("FR2",),
        says="",
        checks="test_replica_equals_source and positions",
        passing=_passing(log=missing(UPDATES)),
    ),
    DoubleFault(
        id="another-error-number",
        does="A refused value gives 1232 in the place of 1231.",
        breaks=("S1",),
        asks=("S2",),
        says="expected error 1231.*got error 1232",
        passing=_passing(answer=after(_OPTION, renumbered(1231, 1232))),
    ),
    DoubleFault(
        id="refused-statement-is-accepted",
        does="The option takes words that no version knows.",
        breaks=("FR9",),
        asks=("S2",),
        says="expected refused.*got accepted",
        passing=_passing(answer=after(_OPTION, accepted(1231))),
    ),
    DoubleFault(
        id="no-warning-of-deprecation",
        does="SET binlog_format gives no 1287, which it does since 8.0.34.",
        asks=("W1b",),
        contradicts=("binlog_format_deprecated",),
        checks="session_warnings",
        passing=_passing(diagnostics=without(1287)),
    ),
    DoubleFault(
        id="vectors-before-9.0",
        does="VECTOR columns are made.",
        asks=("S2",),
        contradicts=("vector_type", "tlv_max"),
        lacks=knowing("VECTOR"),
    ),
    DoubleFault(
        id="variable-of-9.7",
        does="enable_cascade_triggers is known.",
        asks=("S2",),
        contradicts=("query_status_max",),
        lacks=knowing("enable_cascade_triggers"),
    ),
    DoubleFault(
        id="gtids-by-default",
        does="gtid_mode is ON in a server that was not told.",
        asks=("S2",),
        contradicts=("gtid_mode_default",),
        lacks=_with_gtids,
    ),
    DoubleFault(
        id="client-sets-character-sets",
        does="mysqlbinlog prints character sets around a user variable, as the client of 9.7.",
        breaks=("TF2",),
        contradicts=("mysqlbinlog_variable_charset",),
        says="the text of a marked file",
        dialect=_keeps_charsets,
    ),
)
