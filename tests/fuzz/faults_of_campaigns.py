"""Planted faults of server campaigns, written down from docs/spec before the campaigns that report them.

Sentences: a server never crashes and never holds invalid JSON (FR5); "3142 from BINLOG is a clean rejection, 3142 from
the SELECT is a stored invalid document"; a hang is found by a time limit; what a listed deviation explains is known by
its signature alone; mysqlbinlog neither dies, nor hangs, nor takes memory beyond its input. Each
fault changes what a faultless subject does with an input, or leaves it alone (``None``) where it would not show. The
faults of the checks on FR5 (``planted_injections``, ``planted_transactions``, ``faults_of_crashes``) must be reported
too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import MISSING_ROW, Injection, InjectionOutcome, RowState
from conformance.judge.damage.crashes import damage_of
from conformance.reference.event_types import EventType
from conformance.servers.roles.relay_log_applier import LogEnd
from tests.checks.diverged_documents.faults_of_crashes import AT_MEMBER, BUILD, as_released
from tests.checks.diverged_documents.planted_injections import PlantedFault

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
    PlantedFault("dies-at-what-fits", "process alive", "crash", _fits(death="signal 11: 0a1,b2c")),
    PlantedFault("dies-when-read", "process alive", "crash", _fits(death="signal 11: 0a1", reading=True)),
    PlantedFault("dies-rarely", "process alive", "crash", _rarely),
    PlantedFault("dies-without-a-report", "process alive", "crash", _fits(death="no crash report")),
    PlantedFault(
        "throws-the-session-out",
        "process alive",
        "crash",
        _fits(death="the connection was broken off, the server lives"),
    ),
    PlantedFault("hangs", "a time limit", "timeout", _fits(silent=True)),
    PlantedFault(
        "error-of-the-select",
        "3142 from the SELECT is a stored invalid document",
        "fail",
        _fits(after=RowState(error=3142)),
    ),
)

# In a campaign of damaged events, on a server that shows the listed crashes and nothing else.


@dataclass(frozen=True, slots=True)
class LogFault:
    """A fault of a replica that reads relay logs: it shows where a log has an event of the type ``shows_at``."""

    name: str
    grade: str
    shows_at: int
    end: LogEnd


LOG_FAULTS: Final = (
    LogFault("log/dies", "crash", EventType.QUERY, LogEnd(death="signal 11: 0a1,b2c")),
    LogFault("log/dies-where-it-waits", "crash", EventType.XID, LogEnd(death="signal 6: 0a1", waits=True)),
    LogFault("log/dies-and-says-an-error", "crash", EventType.TABLE_MAP, LogEnd(death="signal 11: 0a1", error=13121)),
    LogFault("log/dies-without-a-report", "crash", EventType.GTID_TAGGED, LogEnd(death="no crash report")),
    LogFault("log/does-not-answer", "timeout", EventType.XA_PREPARE, LogEnd(silent=True)),
)


MALFORMED_FAULTS: Final = (
    PlantedFault(
        "dies-without-damage",
        "known by its signature alone",
        "crash",
        lambda injection, outcome: None if damage_of(injection.image) else replace(outcome, death=AT_MEMBER, error=0),
    ),
    PlantedFault(
        "missing-row-for-damage",  # a replica may be told to pass over a row that is not there
        "an error of its own for damage, of a few that are named",
        "fail",
        lambda _, outcome: replace(outcome, error=MISSING_ROW) if outcome.error == _UNREADABLE_DIFF else None,
    ),
    PlantedFault(
        "dies-of-another-signal",
        "known by its signature alone",
        "crash",
        lambda _, outcome: (
            replace(outcome, death=outcome.death.replace("signal 6", "signal 4"))
            if "signal 6" in outcome.death
            else None
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class ClientFault:
    """A fault of mysqlbinlog: exit status and peak memory (bytes) for a file with a listed damage or none."""

    name: str
    requirement: str
    verdict: str
    change: Callable[[str, int, int], tuple[int, int] | None]


HUNG: Final = 1 << 16  # in the place of an exit status

CLIENT_FAULTS: Final = (
    ClientFault("client/dies-at-a-sound-value", "P9", "crash", lambda damage, _, peak: None if damage else (-11, peak)),
    ClientFault("client/dies-of-another-signal", "P9", "crash", lambda damage, _, peak: (-6, peak) if damage else None),
    ClientFault("client/hangs", "P9", "timeout", lambda damage, _, peak: None if damage else (HUNG, peak)),
    ClientFault("client/takes-memory", "P9", "fail", lambda damage, status, _: None if damage else (status, 3 << 30)),
)


# --- places of listed crashes, on a build whose stacks are not listed ------------------------------------------------

_OTHER_BUILD: Final = "(build 0123456789ab)"


def on_another_build(injection: Injection) -> InjectionOutcome:
    """9.7.4, compiled by somebody else."""
    outcome = as_released(injection)
    return replace(outcome, death=outcome.death.replace(BUILD, _OTHER_BUILD)) if outcome.death else outcome


@dataclass(frozen=True, slots=True)
class PlaceFault:
    """A listed crash of another defect: ``shows`` says at which inputs."""

    name: str
    place: str
    shows: Callable[[Injection], bool]

    def change(self, injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
        """Another stack with the signal of the listed crash."""
        return self.anywhere(outcome) if outcome.death and self.shows(injection) else None

    def anywhere(self, outcome: InjectionOutcome, number: int | None = None) -> InjectionOutcome:
        """The outcome with this place, or with one of many."""
        signal = outcome.death.split()[1]
        frames = self.place if number is None else f"{self.place} < f{number}"
        return replace(outcome, death=f"signal {signal} in {frames} {_OTHER_BUILD}")


PLACE_FAULTS: Final = (
    PlaceFault(
        "dies-in-another-reader", "Json_reader::read < unpack_row", lambda injection: len(injection.image) % 3 == 0
    ),
    PlaceFault("dies-deeper", "strlen_of < read_json_diff", lambda injection: (injection.stored or b"")[-1:] > b"m"),
)
