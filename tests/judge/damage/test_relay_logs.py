"""Damages that are known to end a replica are read from the order of the events in a relay log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.damage.relay_logs import crash_of_replica, damage_of_relay_log, judge_end
from conformance.reference.binlog.control_events import Incident, XaPrepare, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.group_replication import TransactionContext
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.statement_events import RowsQuery, UserVarType
from conformance.reference.event_types import EventType
from conformance.requirements.crashes import (
    GTID_IN_TRANSACTION,
    GTID_TWICE,
    PAYLOAD_UNDESCRIBED,
    RELAYING,
    ROWS_QUERY_OUTSIDE,
    TRANSACTION_CONTEXT,
    VARIABLE_LENGTH,
    Crash,
)
from conformance.verdict import Verdict
from generators import relay_logs, streams
from generators.draw import Stream
from generators.streams import Starts, placed
from tests.judge.damage.test_crashes import user_variable

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body

BEGIN, COMMIT, OTHER = Query(text=b"BEGIN"), Query(text=b"COMMIT"), Query(text=b"SAVEPOINT a")
ROWS_QUERY = RowsQuery(text=b"update t")
DAMAGE = {
    relay_logs.UNDESCRIBED: PAYLOAD_UNDESCRIBED,
    relay_logs.BEGUN_TWICE: GTID_IN_TRANSACTION,
    relay_logs.NAMED_TWICE: GTID_TWICE,
    relay_logs.OUTSIDE: ROWS_QUERY_OUTSIDE,
    relay_logs.CONTEXT: TRANSACTION_CONTEXT,
}


def log(*bodies: Body, described: bool = True) -> bytes:
    return MAGIC + b"".join(item.data for item in placed(bodies)[0 if described else 1 :])


def gtid(start: str = Starts.GTID) -> Body:
    return streams.group(Stream("gtid", start), "empty", start)[0]


def payload() -> Body:
    return streams.group(Stream("payload"), "compressed", Starts.NOTHING)[0]


@pytest.mark.parametrize("kind", relay_logs.DAMAGED)
def test_every_generated_log_has_the_damage_that_it_is_made_for(kind: str) -> None:
    assert DAMAGE.keys() == relay_logs.DAMAGED.keys()
    made = {relay_logs.DAMAGED[kind](Stream("logs", kind, number)) for number in range(60)}
    assert {damage_of_relay_log(data) for data in made} == {DAMAGE[kind]}
    assert len(made) > 15
    assert relay_logs.DAMAGED[kind](Stream("logs", kind, 7)) in made  # the same again
    controls = {relay_logs.sound(Stream("logs", number)) for number in range(60)}
    assert {damage_of_relay_log(data) for data in controls} == {""}
    assert len(controls) > 50


def test_sound_streams_have_no_damage_but_the_event_of_a_group() -> None:
    for number in range(400):
        bodies = [body for each in streams.stream(Stream("sound", number), 3) for body in each]
        is_grouped = any(isinstance(body, TransactionContext) for body in bodies)
        assert damage_of_relay_log(log(*bodies)) == (TRANSACTION_CONTEXT if is_grouped else "")


def test_a_payload_needs_a_description_in_front_of_it() -> None:
    assert damage_of_relay_log(log(gtid(), payload(), described=False)) == PAYLOAD_UNDESCRIBED
    assert damage_of_relay_log(log(payload(), described=False)) == PAYLOAD_UNDESCRIBED
    assert damage_of_relay_log(log(gtid(), payload())) == ""
    late = log(FormatDescription(), gtid(), payload(), described=False)
    assert damage_of_relay_log(late) == ""
    inside = log(gtid(), BEGIN, FormatDescription(), COMMIT, gtid(), payload(), described=False)
    assert damage_of_relay_log(inside) == PAYLOAD_UNDESCRIBED
    assert damage_of_relay_log(log(gtid(), BEGIN, Xid(xid=1), described=False)) == ""


@pytest.mark.parametrize("first", [Starts.GTID, Starts.TAGGED, Starts.ANONYMOUS])
def test_the_gtid_of_another_transaction_kills_inside_a_transaction_alone(first: str) -> None:
    for second, damage in (
        (Starts.GTID, GTID_IN_TRANSACTION), (Starts.TAGGED, GTID_IN_TRANSACTION), (Starts.ANONYMOUS, ""),
    ):  # fmt: skip
        assert damage_of_relay_log(log(gtid(first), BEGIN, gtid(second))) == damage
        assert damage_of_relay_log(log(gtid(first), gtid(second), BEGIN)) == ""
        assert damage_of_relay_log(log(gtid(first), BEGIN, OTHER, gtid(second))) == damage
        assert damage_of_relay_log(log(gtid(first), BEGIN, OTHER, COMMIT, gtid(second))) == ""
        assert damage_of_relay_log(log(gtid(first), BEGIN, COMMIT, gtid(second))) == ""
        assert damage_of_relay_log(log(BEGIN, gtid(second))) == ""
        assert damage_of_relay_log(log(BEGIN, OTHER, gtid(second))) == ""


@pytest.mark.parametrize("first", [Starts.GTID, Starts.TAGGED, Starts.ANONYMOUS])
@pytest.mark.parametrize("second", [Starts.GTID, Starts.TAGGED, Starts.ANONYMOUS])
def test_two_gtids_kill_in_front_of_a_transaction_of_one_statement_alone(first: str, second: str) -> None:
    one, two = gtid(first), gtid(second)
    assert damage_of_relay_log(log(one, two, OTHER)) == GTID_TWICE
    assert damage_of_relay_log(log(one, two, one, OTHER)) == GTID_TWICE
    assert damage_of_relay_log(log(one, OTHER, two, OTHER)) == ""
    for behind in ([BEGIN, OTHER, COMMIT], [payload()], []):
        assert damage_of_relay_log(log(one, two, *behind)) == ""
    assert damage_of_relay_log(log(one, OTHER)) == ""


def test_a_rows_query_kills_behind_a_transaction() -> None:
    for end in (COMMIT, Query(text=b"ROLLBACK"), Xid(xid=1), XaPrepare(gtrid=b"x"), Incident()):
        assert damage_of_relay_log(log(gtid(), BEGIN, end, ROWS_QUERY)) == ROWS_QUERY_OUTSIDE
    behind: list[list[Body]] = [[gtid(), OTHER], [gtid(), payload()], [gtid(), OTHER, OTHER], [OTHER]]
    assert {damage_of_relay_log(log(*bodies, ROWS_QUERY)) for bodies in behind} == {ROWS_QUERY_OUTSIDE}
    inside: list[list[Body]] = [
        [], [gtid()], [gtid(), BEGIN], [gtid(), BEGIN, OTHER], [gtid(), OTHER, gtid()], [BEGIN], [BEGIN, OTHER],
    ]  # fmt: skip
    assert {damage_of_relay_log(log(*bodies, ROWS_QUERY)) for bodies in inside} == {""}


def test_the_first_damage_is_that_of_the_log_and_damaged_events_are_seen_too() -> None:
    context = TransactionContext(server_uuid=b"u")
    assert damage_of_relay_log(log(context, gtid(), BEGIN, gtid())) == TRANSACTION_CONTEXT
    assert damage_of_relay_log(log(gtid(), BEGIN, gtid(), context)) == GTID_IN_TRANSACTION
    assert damage_of_relay_log(user_variable(UserVarType.DECIMAL, 5)) == VARIABLE_LENGTH
    assert damage_of_relay_log(user_variable(UserVarType.DECIMAL, 4)) == ""


def test_a_log_that_is_cut_off_anywhere_is_read_as_far_as_it_goes() -> None:
    whole = log(gtid(), BEGIN, gtid())
    assert {damage_of_relay_log(whole[:length]) for length in range(len(whole))} <= {"", GTID_IN_TRANSACTION}
    assert damage_of_relay_log(b"") == ""
    short = bytes(4) + bytes((EventType.QUERY,)) + bytes(4) + (19).to_bytes(4, "little") + bytes(6)
    assert damage_of_relay_log(MAGIC + short) == ""


def test_a_crash_is_when_and_what_and_the_signal() -> None:
    assert crash_of_replica(log(), "") is None
    assert crash_of_replica(log(), "no crash report") is None
    assert crash_of_replica(log(), "signal 11: 0a1,b2c") == Crash(RELAYING, "", 11)
    death = "signal 11 in a < b (build cc8a18826385)"
    assert crash_of_replica(log(gtid(), BEGIN, gtid()), death) == Crash(
        RELAYING, GTID_IN_TRANSACTION, 11, ("a", "b"), "cc8a18826385"
    )


@pytest.mark.planted("RL1")
@pytest.mark.parametrize(
    ("death", "silent", "grade"), [("signal 11: 0", False, Verdict.CRASH), ("", True, Verdict.TIMEOUT)]
)
def test_a_replica_lives_and_answers(death: str, silent: bool, grade: Verdict) -> None:
    assert judge_end(death, silent=silent).verdict is grade
    assert judge_end("", silent=False).verdict is Verdict.PASS
