"""Faulty servers that apply: tables that differ, errors that are ignored, relay logs in any order, receivers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.faults.servers.by_area.starts import unread
from tests.faults.servers.edits import after, cells, each, patch, rewritten
from tests.faults.servers.fault import REPLICA, server

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.fault import Fault
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


def _pair(name: str, requirement: str, does: str, change: Callable[[Answer], Answer]) -> Fault:
    return server(name, requirement, does, "rows; expected", at=REPLICA, answer=_shown(change))


APPLIER_FAULTS: Final = (
    # --- another table
    server("other-columns-have-another-error", "A8",
           "A replica whose JSON column has another type stops with the error of a missing row.",
           "expected error 13146; got error 1032", at=REPLICA,
           answer=cells("LAST_ERROR_NUMBER", lambda cell: b"1032" if cell == b"13146" else cell)),
    server("other-columns-stop-without-an-error", "A8",
           "A replica whose JSON column has another type stops, and says no number.", "error", at=REPLICA,
           answer=after(
               "LAST_ERROR_NUMBER", lambda answer: replace(answer, rows=((b"0", b""),) if answer.rows else ())
           )),
    _pair("converted-text-is-lost", "TMR1", "A replica with another character set stores empty texts.",
          _last_cells(lambda _: b"")),
    _pair("converted-rows-are-lost", "TMR1", "A replica with another character set lacks the last row.",
          _without_the_last),
    _pair("widened-numbers-are-others", "TMR2", "A replica with wider integers stores the next number.",
          _last_cells(lambda cell: b"%d" % (int(cell) + 1))),
    _pair("widened-rows-are-lost", "TMR2", "A replica with wider integers lacks the last row.", _without_the_last),
    _pair("other-columns-are-zero", "TMR4", "A replica with other columns stores 0 in the last one.",
          _last_cells(lambda _: b"0")),
    _pair("rows-of-other-columns-are-lost", "TMR4", "A replica with other columns lacks the last row.",
          _without_the_last),
    # --- values of no bytes
    server("no-bytes-are-an-object", "A9", "IGNORE makes an empty object of NULL in a JSON column that is NOT NULL.",
           "IGNORE|no value of no bytes", at=REPLICA, statement=rewritten(_IGNORE_NULL, r"\1'{}'")),
    server("no-bytes-have-a-size", "A9", "JSON_STORAGE_SIZE says 1 of a value of no bytes.", "size", at=REPLICA,
           answer=cells("STORAGE_SIZE", lambda cell: b"1" if cell == b"0" else cell)),
    # --- errors that are ignored
    server("idempotent-is-strict", "A10", "replica_exec_mode=IDEMPOTENT is taken, and a missing row stops the applier.",
           r"an error to be ignored \(1032\) is not", checks="missing_rows", at=REPLICA,
           statement=rewritten("^SET GLOBAL replica_exec_mode = 'IDEMPOTENT'", "DO 0")),
    server("errors-are-not-skipped", "A10",
           "replica_skip_errors is taken, and a diff that does not fit stops the applier.",
           r"an error to be ignored \(3648\) is not", checks="skipped_errors", at=REPLICA,
           option=unread("replica-skip-errors=.*")),
    # --- relay logs
    server("relay-log-ends-the-server", "RL1", "A server ends when its applier starts on a relay log in a wrong order.",
           "dies|does not answer", at=REPLICA, statement=rewritten("^START REPLICA SQL_THREAD", "SHUTDOWN")),
    server("relay-log-ends-the-stopping-server", "RL1", "A server ends when its applier stops behind a relay log.",
           "dies|does not answer", at=REPLICA, statement=rewritten("^STOP REPLICA SQL_THREAD", "SHUTDOWN")),
    # --- the receiver's parser
    server("receiver-says-nothing", "TP2", "A receiver does not warn of events that its parser does not expect.",
           "warning 0.*None.*the receiver says something else", at=REPLICA,
           messages=lambda log: _COMPLAINT.sub("", log)),
    server("receiver-warns-of-another-place", "TP2", "A receiver's warning names the position one byte on.",
           "warning 0.*the receiver says something else", at=REPLICA,
           messages=lambda log: _PLACE.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", log)),
    server("transactions-begin-otherwise", "TP1",
           "The text of the QUERY event in front of a transaction's rows is not BEGIN.",
           "expected an accepted event.*refuses a real transaction", checks="test_real_transactions", at=REPLICA,
           log=each((EventType.QUERY,), lambda event: event.replace(b"BEGIN", b"BEGUN"))),
    server("transactions-of-another-server", "TP1", "GTID events name another server than gtid_executed does.",
           "GTIDs; expected", checks="test_real_transactions", at=REPLICA,
           log=each((EventType.GTID,), patch(1, lambda byte: byte ^ 1))),
)  # fmt: skip
