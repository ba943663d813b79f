"""Where a transaction begins and ends, as the statements and events of a log say it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.binlog.control_events import Incident, Stop, XaPrepare, Xid
from conformance.reference.binlog.load import ExecuteLoadQuery
from conformance.reference.binlog.query import Query
from tests.reference.refusals import refused
from tests.reference.replay.replay_log import Log

XID = "X'78',X'',1"


def played(*steps: Any, create: str = "create table t(id int primary key, v int)") -> tuple[tuple[int, int], list[int]]:
    """A number inserts a row of this key, a text is a statement, what is else a body. Answers what
    :meth:`Replay.finish` does, and the keys that are left."""
    log = Log(create=create)
    for step in steps:
        if isinstance(step, int):
            log.insert((step, 0))
        elif isinstance(step, str):
            log.sql(step)
        else:
            log.event(step)
    return log.replay.finish(), [row[0] for row in log.rows()]


CREATE = "create table x(a int) start transaction"


@pytest.mark.parametrize(
    ("steps", "open_changes", "keys"),
    [
        # Without BEGIN a statement that defines tables commits what was before it.
        ((1, CREATE), 0, [1]),
        ((1, "flush tables"), 0, [1]),
        ((1, "/* nothing */"), 1, []),
        # In a transaction it does not: CREATE TABLE ... SELECT has its rows there.
        (("BEGIN", 1, CREATE, 2), 2, []),
        (("BEGIN", 1, CREATE, 2, "COMMIT"), 0, [1, 2]),
        (("BEGIN", 1, CREATE, 2, Xid()), 0, [1, 2]),
        (("begin", 1, CREATE, 2), 1, [1]),  # only the server's own text begins one
        (("START TRANSACTION", 1, CREATE, 2), 2, []),
        (("start transaction read write", 1, CREATE, 2), 2, []),
        (("start", 1, CREATE, 2), 1, [1]),
        (("start replica", 1, CREATE, 2), 1, [1]),
        (("begin transaction", 1, CREATE, 2), 1, [1]),
        ((f"XA START {XID}", 1, CREATE, 2), 2, []),
        # It ends with COMMIT, ROLLBACK and a prepared XA transaction.
        (("BEGIN", "COMMIT", 1, CREATE), 0, [1]),
        (("BEGIN", Xid(), 1, CREATE), 0, [1]),
        (("BEGIN", "ROLLBACK", 1, CREATE), 0, [1]),
        (("BEGIN", XaPrepare(gtrid=b"x", one_phase=1), 1, CREATE), 0, [1]),
        # What begins without an end of the one before rolls that back.
        (("BEGIN", 1, "BEGIN", 2, "COMMIT"), 0, [2]),
        (("BEGIN", 1, f"XA START {XID}", 2, "COMMIT"), 0, [2]),
        (("BEGIN", 1, f"xa begin {XID.lower()}", 2, "COMMIT"), 0, [2]),
        (("BEGIN", 1, f"XA END {XID}", 2, "COMMIT"), 0, [1, 2]),
        # Events that say nothing of it.
        (("BEGIN", 1, Stop(), 2), 2, []),
        (("BEGIN", 1, "savepoint", 2), 2, []),
    ],
)  # fmt: skip
def test_a_transaction_is_open_until_the_log_ends_it(
    steps: tuple[Any, ...], open_changes: int, keys: list[int]
) -> None:
    assert played(*steps) == ((open_changes, 0), keys)


@pytest.mark.parametrize(
    ("steps", "keys"),
    [
        ((1, "rollback"), []),
        ((1, "ROLLBACK WORK"), []),
        ((1, "SAVEPOINT s", 2, "ROLLBACK TO s"), [1]),
        ((1, "SAVEPOINT `S`", 2, "rollback to savepoint s"), [1]),
        ((1, "savepoint s", 2, "ROLLBACK WORK TO SAVEPOINT `S`"), [1]),
        ((1, "SAVEPOINT `to`", 2, "ROLLBACK TO `to`"), [1]),
        ((1, "SAVEPOINT s", 2, "ROLLBACK TO s", 3, "ROLLBACK TO s", 4), [1, 4]),
        ((1, "SAVEPOINT s", 2, "SAVEPOINT s", 3, "ROLLBACK TO s"), [1, 2]),
        (("SAVEPOINT s", 1, "SAVEPOINT r", 2, "ROLLBACK TO s", 3), [3]),
    ],
)
def test_rollback_goes_back_to_the_beginning_or_to_a_savepoint(steps: tuple[Any, ...], keys: list[int]) -> None:
    assert played("BEGIN", *steps, "COMMIT") == ((0, 0), keys)


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK", "BEGIN", "ROLLBACK TO a"])
def test_savepoints_end_with_their_transaction(end: str) -> None:
    log = Log()
    log.sql("BEGIN", "SAVEPOINT a")
    log.insert((1, 0))
    log.sql("SAVEPOINT b", end)
    error = refused(log.sql, "ROLLBACK TO `b`")
    assert (error.code, error.got) == ("savepoint", "b")


def test_transactions_prepared_under_several_names_are_told_apart() -> None:
    prepared = [
        XaPrepare(gtrid=b"x", bqual=b"\xab", format_id=1), XaPrepare(gtrid=b"x", bqual=b"", format_id=1),
        XaPrepare(gtrid=b"x", bqual=b"\xab", format_id=2), XaPrepare(gtrid=b"", bqual=b"x", format_id=1),
    ]  # fmt: skip
    steps: list[Any] = []
    for key, event in enumerate(prepared):
        steps += [f"XA START X'00',X'',{key}", key, event]
    ends = ["xa rollback x'78' , x'AB' ,1", "XA COMMIT X'78',X'',1", "XA ROLLBACK X'78',X'ab',2"]
    assert played(*steps, *ends) == ((0, 1), [1])
    assert played(*steps) == ((0, 4), [])


@pytest.mark.parametrize(
    ("body", "code", "got"),
    [
        (Query(text=b"XA COMMIT X'78',X'',1"), "xa", "X'78',X'',1"),
        (Query(text=b"XA ROLLBACK x'ab',X'',1"), "xa", "X'AB',X'',1"),
        (Query(text=b"XA RECOVER"), "statement", "XA RECOVER"),
        (Query(text=b"XA COMMIT 'x' /* \xe9 */"), "statement", "XA COMMIT 'x' /* \ufffd */"),
        (Query(text=b"XA COMMIT " + b"x" * 71), "statement", "XA COMMIT " + "x" * 70),
        (ExecuteLoadQuery(text=b"LOAD DATA", file_id=1, start=0, end=9), "statement", None),
        (Incident(message=b"gone"), "incident", b"gone"),
    ],
)
def test_what_cannot_be_known_of_a_transaction_is_refused(body: Any, code: str, got: Any) -> None:
    error = refused(Log().event, body)
    assert (error.code, error.got) == (code, got)


def test_a_lenient_replay_forgets_the_open_transaction_with_the_tables() -> None:
    log = Log(lenient=True)
    log.sql("BEGIN")
    log.insert((1, 0))
    log.event(Incident(message=b"gone"))
    assert not log.replay.tables
    assert log.replay.finish() == (0, 0)
