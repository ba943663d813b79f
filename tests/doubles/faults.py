"""The catalogue of faulty doubles: each plays one fact of its version wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.doubles.fault import DoubleFault, knowing, written_with
from tests.faults.servers.edits import PARTIAL, accepted, after, each, missing, renumbered, without
from tests.faults.servers.fault import ChangedAnswer, ChangedLog, ServerFault

if TYPE_CHECKING:
    from conformance.reference.dialect import Dialect
    from tests.doubles.lacking import Lacking

_OPTION: Final = "SET .*binlog_row_value_options"


def _passing(*, log: ChangedLog | None = None, answer: ChangedAnswer | None = None, **others: object) -> ServerFault:
    return ServerFault(id="planted", breaks=("",), does="", says="", log=log, answer=answer, **others)  # type: ignore[arg-type]


def _as_gtid(event: bytes) -> bytes:
    return event[:4] + bytes((EventType.GTID,)) + event[5:]


def _keeps_charsets(dialect: Dialect) -> Dialect:
    return replace(dialect, server=replace(dialect.server, mysqlbinlog_variable_charset=True))


def _with_gtids(lacks: Lacking) -> Lacking:
    return replace(lacks, defaults={})


DOUBLE_FAULTS: Final = (
    DoubleFault(
        id="rows-flag-of-9.6",
        does="Rows events have the flag 0x10, which came with 9.6.",
        breaks=("FR1",),
        contradicts=("rows_flags_mask",),
        says="flags",
        dialect=written_with(rows_flags_mask=0x1F),
    ),
    DoubleFault(
        id="rows-query-without-length",
        does="ROWS_QUERY begins with a zero, as that of 9.7.",
        breaks=("FR1",),
        contradicts=("rows_query_length",),
        says="length",
        dialect=written_with(rows_query_length="zero"),
    ),
    DoubleFault(
        id="gtid-for-anonymous",
        does="Transactions begin with GTID events although the server has no GTIDs.",
        breaks=("FR1",),
        contradicts=("anonymous_gtid",),
        says="",
        passing=_passing(log=each({EventType.ANONYMOUS_GTID}, _as_gtid)),
    ),
    DoubleFault(
        id="partial-rows-are-lost",
        does="An event 39 is not written.",
        breaks=("FR1",),
        says="",
        passing=_passing(log=missing(PARTIAL)),
    ),
    DoubleFault(
        id="replica-misses-rows",
        does="The log that a replica reads lacks the events 39.",
        breaks=("FR2",),
        says="",
        checks="test_replica_equals_source and positions",
        passing=_passing(log=missing(PARTIAL)),
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
        breaks=("W0", "W1b"),
        contradicts=("binlog_format_deprecated",),
        says="1287",
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
        says="",
        dialect=_keeps_charsets,
    ),
)
