"""Faulty servers that apply: tables that differ, errors that are ignored, relay logs in any order, receivers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.faults.servers.by_area.starts import unread
from tests.faults.servers.edits import after, cells, each, patch, rewritten
from tests.faults.servers.fault import REPLICA, ServerFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.servers.fault import ChangedAnswer
    from tests.faults.servers.packets import Answer

_PLACE: Final = re.compile(r"(binary log file, at position )(\d+)")
_COMPLAINT: Final = re.compile(r".*\[Repl\].*binary log file, at position.*\n?")
_ROWS: Final = r"^SELECT (id, HEX\(a\)|\*) FROM t ORDER BY id"
_IGNORE_NULL: Final = r"(IGNORE INTO \S+ SELECT id \+ \d+, |IGNORE \S+ SET j = )NULL"


def _shown(change: Callable[[Answer], Answer]) -> ChangedAnswer:
    """Change what the replica shows of the table."""
    return after(_ROWS, change)


def _without_the_last(answer: Answer) -> Answer:
    return replace(answer, rows=answer.rows[:-1])


def _last_cells(change: Callable[[bytes], bytes]) -> Callable[[Answer], Answer]:
    """Change the last column of each row."""
    return lambda answer: replace(
        answer, rows=tuple((*row[:-1], None if row[-1] is None else change(row[-1])) for row in answer.rows)
    )


def _pair(name: str, requirement: str, does: str, change: Callable[[Answer], Answer]) -> ServerFault:
    return ServerFault(
        id=name, breaks=(requirement,), does=does, says="rows; expected", at=REPLICA, answer=_shown(change)
    )


APPLIER_FAULTS: Final = (
    # --- another table
    ServerFault(
        id="other-columns-have-another-error",
        breaks=("A8",),
        does="A replica whose JSON column has another type stops with the error of a missing row.",
        says="expected error 13146; got error 1032",
        at=REPLICA,
        answer=cells("LAST_ERROR_NUMBER", lambda cell: b"1032" if cell == b"13146" else cell),
    ),
    ServerFault(
        id="other-columns-stop-without-an-error",
        breaks=("A8",),
        does="A replica whose JSON column has another type stops, and says no number.",
        says="error",
        at=REPLICA,
        answer=after("LAST_ERROR_NUMBER", lambda answer: replace(answer, rows=((b"0", b""),) if answer.rows else ())),
    ),
    _pair(
        "converted-text-is-lost",
        "TMR1",
        "A replica with another character set stores empty texts.",
        _last_cells(lambda _: b""),
    ),
    _pair(
        "converted-rows-are-lost", "TMR1", "A replica with another character set lacks the last row.", _without_the_last
    ),
    _pair(
        "widened-numbers-are-others",
        "TMR2",
        "A replica with wider integers stores the next number.",
        _last_cells(lambda cell: b"%d" % (int(cell) + 1)),
    ),
    _pair("widened-rows-are-lost", "TMR2", "A replica with wider integers lacks the last row.", _without_the_last),
    _pair(
        "other-columns-are-zero",
        "TMR4",
        "A replica with other columns stores 0 in the last one.",
        _last_cells(lambda _: b"0"),
    ),
    _pair(
        "rows-of-other-columns-are-lost", "TMR4", "A replica with other columns lacks the last row.", _without_the_last
    ),
    # --- values of no bytes
    ServerFault(
        id="no-bytes-are-an-object",
        breaks=("A9",),
        does="IGNORE makes an empty object of NULL in a JSON column that is NOT NULL.",
        says="IGNORE|no value of no bytes",
        at=REPLICA,
        statement=rewritten(_IGNORE_NULL, r"\1'{}'"),
    ),
    ServerFault(
        id="no-bytes-have-a-size",
        breaks=("A9",),
        does="JSON_STORAGE_SIZE says 1 of a value of no bytes.",
        says="size",
        at=REPLICA,
        answer=cells("STORAGE_SIZE", lambda cell: b"1" if cell == b"0" else cell),
    ),
    # --- errors that are ignored
    ServerFault(
        id="idempotent-is-strict",
        breaks=("A10",),
        does="replica_exec_mode=IDEMPOTENT is taken, and a missing row stops the applier.",
        says=r"an error to be ignored \(1032\) is not",
        checks="missing_rows",
        at=REPLICA,
        statement=rewritten("^SET GLOBAL replica_exec_mode = 'IDEMPOTENT'", "DO 0"),
    ),
    ServerFault(
        id="errors-are-not-skipped",
        breaks=("A10",),
        does="replica_skip_errors is taken, and a diff that does not fit stops the applier.",
        says=r"an error to be ignored \(3648\) is not",
        checks="skipped_errors",
        at=REPLICA,
        option=unread("replica-skip-errors=.*"),
    ),
    # --- relay logs
    ServerFault(
        id="relay-log-ends-the-server",
        breaks=("RL1",),
        does="A server ends when its applier starts on a relay log in a wrong order.",
        says="dies|does not answer",
        at=REPLICA,
        statement=rewritten("^START REPLICA SQL_THREAD", "SHUTDOWN"),
    ),
    ServerFault(
        id="relay-log-ends-the-stopping-server",
        breaks=("RL1",),
        does="A server ends when its applier stops behind a relay log.",
        says="dies|does not answer",
        at=REPLICA,
        statement=rewritten("^STOP REPLICA SQL_THREAD", "SHUTDOWN"),
    ),
    # --- the receiver's parser
    ServerFault(
        id="receiver-says-nothing",
        breaks=("TP2",),
        does="A receiver does not warn of events that its parser does not expect.",
        says="warning 0.*None.*the receiver says something else",
        at=REPLICA,
        messages=lambda log: _COMPLAINT.sub("", log),
    ),
    ServerFault(
        id="receiver-warns-of-another-place",
        breaks=("TP2",),
        does="A receiver's warning names the position one byte on.",
        says="warning 0.*the receiver says something else",
        at=REPLICA,
        messages=lambda log: _PLACE.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", log),
    ),
    ServerFault(
        id="transactions-begin-otherwise",
        breaks=("TP1",),
        does="The text of the QUERY event in front of a transaction's rows is not BEGIN.",
        says="expected an accepted event.*refuses a real transaction",
        checks="test_real_transactions",
        at=REPLICA,
        log=each((EventType.QUERY,), lambda event: event.replace(b"BEGIN", b"BEGUN")),
    ),
    ServerFault(
        id="transactions-of-another-server",
        breaks=("TP1",),
        does="GTID events name another server than gtid_executed does.",
        says="GTIDs; expected",
        checks="test_real_transactions",
        at=REPLICA,
        log=each((EventType.GTID,), patch(1, lambda byte: byte ^ 1)),
    ),
)
