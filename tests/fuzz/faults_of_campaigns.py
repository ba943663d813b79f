"""Planted faults of server campaigns, written down from docs/spec before the campaigns that report them.

Sentences: a server never crashes and never holds invalid JSON (FR5); "3142 from BINLOG is a clean rejection, 3142 from
the SELECT is a stored invalid document"; a hang is found by a time limit; what a listed deviation explains is known by
its signature alone; mysqlbinlog neither dies, nor hangs, nor takes memory beyond its input. Each
fault changes what a faultless subject does with an input, or leaves it alone (``None``) where it would not show. The
faults of the checks on FR5 (``planted_injections``, ``planted_transactions``, ``faults_of_crashes``) must be reported
too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import MISSING_ROW, Injection, InjectionOutcome, RowState
from conformance.judge.damage.crashes import damage_of
from conformance.reference.event_types import EventType
from conformance.servers.roles.relay_log_applier import LogEnd
from tests.checks.diverged_documents.faults_of_crashes import AT_MEMBER, BUILD, as_released
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable


_UNREADABLE_DIFF: Final = 3649


def _fits(**changes: object) -> Callable[[Injection, InjectionOutcome], InjectionOutcome | None]:
    def doctor(_: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
        return None if outcome.error else replace(outcome, **changes)  # type: ignore[arg-type]

    return doctor


def _rarely(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
    """One input in some hundred."""
    if outcome.error or not injection.id.endswith("7"):
        return None
    return replace(outcome, death="signal 11: 0a1,b2c")


SERVER_FAULTS: Final = (
    Fault("dies-at-what-fits", "FR5", "process alive", _fits(death="signal 11: 0a1,b2c"), "crash"),
    Fault("dies-when-read", "FR5", "process alive", _fits(death="signal 11: 0a1", reading=True), "crash"),
    Fault("dies-rarely", "FR5", "process alive", _rarely, "crash"),
    Fault("dies-without-a-report", "FR5", "process alive", _fits(death="no crash report"), "crash"),
    Fault("throws-the-session-out", "FR5", "process alive",
          _fits(death="the connection was broken off, the server lives"), "crash"),
    Fault("hangs", "FR5", "a time limit", _fits(silent=True), "timeout"),
    Fault("error-of-the-select", "FR5", "3142 from the SELECT is a stored invalid document",
          _fits(after=RowState(error=3142))),
)  # fmt: skip

# In a campaign of damaged events, on a server that shows the listed crashes and nothing else.


LOG_FAULTS: Final = (
    Fault("log/dies", "FR5", "a server never crashes", LogEnd(death="signal 11: 0a1,b2c"), "crash", at=EventType.QUERY),
    Fault("log/dies-where-it-waits", "FR5", "a server never crashes", LogEnd(death="signal 6: 0a1", waits=True),
          "crash", at=EventType.XID),
    Fault("log/dies-and-says-an-error", "FR5", "a server never crashes", LogEnd(death="signal 11: 0a1", error=13121),
          "crash", at=EventType.TABLE_MAP),
    Fault("log/dies-without-a-report", "FR5", "a server never crashes", LogEnd(death="no crash report"), "crash",
          at=EventType.GTID_TAGGED),
    Fault("log/does-not-answer", "FR5", "a server never crashes", LogEnd(silent=True), "timeout",
          at=EventType.XA_PREPARE),
)  # fmt: skip


MALFORMED_FAULTS: Final = (
    Fault("dies-without-damage", "FR5", "known by its signature alone",
          lambda injection, outcome: None if damage_of(injection.image) else replace(outcome, death=AT_MEMBER, error=0),
          "crash"),
    # A replica may be told to pass over a row that is not there.
    Fault("missing-row-for-damage", "FR5", "an error of its own for damage, of a few that are named",
          lambda _, outcome: replace(outcome, error=MISSING_ROW) if outcome.error == _UNREADABLE_DIFF else None),
    Fault("dies-of-another-signal", "FR5", "known by its signature alone",
          lambda _, outcome: (
              replace(outcome, death=outcome.death.replace("signal 6", "signal 4"))
              if "signal 6" in outcome.death
              else None
          ), "crash"),
)  # fmt: skip


HUNG: Final = 1 << 16  # in the place of an exit status
_CLIENT: Final = "mysqlbinlog neither dies nor hangs, and takes no memory beyond its input"

CLIENT_FAULTS: Final = (
    Fault("client/dies-at-a-sound-value", "P9", _CLIENT, lambda damage, end: None if damage else (-11, end[1]),
          "crash"),
    Fault("client/dies-of-another-signal", "P9", _CLIENT, lambda damage, end: (-6, end[1]) if damage else None,
          "crash"),
    Fault("client/hangs", "P9", _CLIENT, lambda damage, end: None if damage else (HUNG, end[1]), "timeout"),
    Fault("client/takes-memory", "P9", _CLIENT, lambda damage, end: None if damage else (end[0], 3 << 30)),
)  # fmt: skip


# --- places of listed crashes, on a build whose stacks are not listed ------------------------------------------------

_OTHER_BUILD: Final = "(build 0123456789ab)"


def on_another_build(injection: Injection) -> InjectionOutcome:
    """9.7.4, compiled by somebody else."""
    outcome = as_released(injection)
    return replace(outcome, death=outcome.death.replace(BUILD, _OTHER_BUILD)) if outcome.death else outcome


def anywhere(outcome: InjectionOutcome, place: str, number: int | None = None) -> InjectionOutcome:
    """The outcome with the signal of its listed crash in this place, or in one of many."""
    signal = outcome.death.split()[1]
    frames = place if number is None else f"{place} < f{number}"
    return replace(outcome, death=f"signal {signal} in {frames} {_OTHER_BUILD}")


def _elsewhere(place: str, shows: Callable[[Injection], bool]) -> Callable[..., InjectionOutcome | None]:
    """Another defect at some inputs: another stack with the signal of the listed crash."""
    return lambda injection, outcome: anywhere(outcome, place) if outcome.death and shows(injection) else None


READER: Final = "Json_reader::read < unpack_row"
PLACE_FAULTS: Final = (
    Fault("dies-in-another-reader", "FR5", "known by its place",
          _elsewhere(READER, lambda one: len(one.image) % 3 == 0)),
    Fault("dies-deeper", "FR5", "known by its place",
          _elsewhere("strlen_of < read_json_diff", lambda one: (one.stored or b"")[-1:] > b"m")),
)  # fmt: skip
