"""Damage in relay logs that is known to end a replica, and the ends that a replica may come to.

This module reads the damage from the order of the events in the log and does not ask its maker. It searches from the
beginning of the log: a replica is dead at the first damage.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from conformance.cases.by_hand.damaged_log import events_in
from conformance.judge.damage.crashes import crash_from, damage_of_log
from conformance.judge.damage.diverged import JudgedOutcome
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.boundaries.observed_event import GTID_TYPES, query_text
from conformance.reference.event_types import EventType
from conformance.requirements.crashes import (
    GTID_IN_TRANSACTION,
    GTID_TWICE,
    PAYLOAD_UNDESCRIBED,
    RELAYING,
    ROWS_QUERY_OUTSIDE,
    TRANSACTION_CONTEXT,
    Crash,
)
from conformance.verdict import Verdict

_NAMED_GTIDS: Final = (EventType.GTID, EventType.GTID_TAGGED)
_ENDS: Final = (EventType.XID, EventType.XA_PREPARE, EventType.TRANSACTION_PAYLOAD, EventType.INCIDENT)


class _State(Enum):
    """Where in a transaction the next event stands."""

    NOWHERE = "no transaction was begun yet"
    NAMED = "behind its GTID"
    NAMED_TWICE = "behind a second GTID"
    BEGUN = "behind its BEGIN"
    INSIDE = "further inside"
    UNNAMED = "inside, with no GTID in front"
    BEHIND = "behind its end"


_BEFORE: Final = (_State.NAMED, _State.NAMED_TWICE)  # of a transaction whose GTID has come
_WITHIN: Final = (_State.BEGUN, _State.INSIDE, _State.UNNAMED)  # there, a FORMAT_DESCRIPTION describes nothing


def damage_of_relay_log(data: bytes) -> str:
    """The first damage that is known to end a replica, or an empty text."""
    state, described = _State.NOWHERE, False
    for kind, event in events_in(data):
        described = described or (kind == EventType.FORMAT_DESCRIPTION and state not in _WITHIN)
        if kind == EventType.TRANSACTION_PAYLOAD and not described:
            return PAYLOAD_UNDESCRIBED
        if kind in _NAMED_GTIDS and state in (_State.BEGUN, _State.INSIDE):
            return GTID_IN_TRANSACTION
        if kind == EventType.ROWS_QUERY and state is _State.BEHIND:
            return ROWS_QUERY_OUTSIDE
        if kind == EventType.TRANSACTION_CONTEXT:
            return TRANSACTION_CONTEXT
        after = _behind(state, kind, event)
        if kind == EventType.QUERY and state is _State.NAMED_TWICE and after is _State.BEHIND:
            return GTID_TWICE
        state = after
    return damage_of_log(data)


def _behind(state: _State, kind: int, event: bytes) -> _State:
    if kind in GTID_TYPES:
        return _State.NAMED_TWICE if state in _BEFORE else _State.NAMED
    if kind in _ENDS:
        return _State.BEHIND
    if kind == EventType.QUERY:
        return _behind_query(state, query_text(event, FOOTER_SIZE, -HEADER_SIZE))
    return _State.INSIDE if state is _State.BEGUN else state


def _behind_query(state: _State, text: bytes) -> _State:
    if text == b"BEGIN" or text.startswith(b"XA START"):
        if state in _BEFORE:
            return _State.BEGUN
        return _State.INSIDE if state in (_State.BEGUN, _State.INSIDE) else _State.UNNAMED
    if text in (b"COMMIT", b"ROLLBACK") or state in (_State.NOWHERE, _State.BEHIND, *_BEFORE):
        return _State.BEHIND  # a statement that is a transaction by itself
    return _State.INSIDE if state is _State.BEGUN else state


def crash_of_replica(log: bytes, death: str) -> Crash | None:
    """The crash of a server that got a relay log; ``None`` if it lives, or if nothing shows its signal."""
    return crash_from(death, RELAYING, damage_of_relay_log(log))


def judge_end(death: str, *, silent: bool) -> JudgedOutcome:
    """The server lives and answers, and the judge asks for no more: the server may refuse the log, stop, wait or go
    on."""
    if death:
        return JudgedOutcome(Verdict.CRASH, "the server dies", "a living server", death)
    if silent:
        return JudgedOutcome(Verdict.TIMEOUT, "the server does not answer", "an answer", "none")
    return JudgedOutcome(Verdict.PASS)
