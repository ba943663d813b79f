"""One input of a campaign with its outcome, and whether that outcome is allowed, listed, or a finding."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.cases.by_hand.applier_transaction import ApplierOutcome
from conformance.cases.by_hand.injection import MISSING_ROW, InjectionOutcome
from conformance.judge.damage.applier import judge_transaction
from conformance.judge.damage.crashes import crash_of, crash_of_rows
from conformance.judge.damage.diverged import JudgedOutcome, judge_injection
from conformance.judge.damage.listed import about_place, explaining
from conformance.judge.damage.relay_logs import crash_of_replica, judge_end
from conformance.requirements.crashes import APPLYING, PRINTING, READING, RELAYING
from conformance.requirements.versions import applies, dialect_of, in_observed_range
from conformance.verdict import Verdict
from fuzz.campaigns.inputs import APPLIER, CLIENT, DIVERGED, REPLICA, STATEMENTS
from generators import random_damage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.applier_transaction import ApplierTransaction
    from conformance.cases.by_hand.injection import Injection, RowState
    from conformance.cases.bytes_case import BytesCase
    from conformance.judge.damage.mysqlbinlog import PrintedLog
    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version
    from conformance.servers.roles.relay_log_applier import LogEnd
    from fuzz.campaigns.inputs import Place, RelayLog


# When the subject of a channel may die.
_MOMENTS: Final = {
    STATEMENTS: (APPLYING, READING),
    APPLIER: (APPLYING, READING),
    CLIENT: (PRINTING,),
    REPLICA: (RELAYING,),
}
Outcome = TypeVar("Outcome", InjectionOutcome, ApplierOutcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An input and its outcome.

    ``what``: the outcome in words of the table; ``death``: the stack of a dead server; ``report``: its own crash
    report, where it would be gone later.
    """

    channel: str
    case: Injection | ApplierTransaction | BytesCase | RelayLog
    what: str
    judged: JudgedOutcome
    crash: Crash | None = None
    death: str = ""
    report: str = field(default="", compare=False)
    place: Place | None = None

    @property
    def sign(self) -> tuple[str, ...]:
        """The trial's appearance: the outcome, and the stack of a death."""
        crash = "" if self.crash is None else f"{self.crash.during}, signal {self.crash.signal}"
        return self.channel, self.judged.verdict.value, self.judged.rule, self.what, self.death or crash

    @property
    def killed(self) -> bool:
        """Whether the subject ended itself, or hung and was ended."""
        return self.judged.verdict in (Verdict.CRASH, Verdict.TIMEOUT)

    def at(self, place: Place) -> Trial:
        """The same trial with the place of its input."""
        return replace(self, place=place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The standards for outcomes: a campaign's allowed sets, on one version."""

    campaign: str
    version: Version
    deviations: Sequence[Deviation]

    def listed(self, trial: Trial) -> Deviation | None:
        """The listed deviation that explains a forbidden outcome."""
        if trial.judged.verdict is Verdict.PASS:
            return None
        return explaining(self.deviations, self.version, crash=trial.crash, switch=trial.judged.deviation)

    def about_place(self, trial: Trial) -> str:
        """A remark about the place of a crash whose signal and damage are listed."""
        return about_place(self.deviations, self.version, trial.crash)

    def kind(self, trial: Trial) -> tuple[str, ...]:
        """The key of the trial's bucket.

        In nested documents the listed read crash has a different stack for each way there. A listed crash is therefore
        one kind whatever its stack.
        """
        entry = self.listed(trial)
        return trial.sign if trial.crash is None or entry is None else (trial.channel, "crash", entry.id)

    def stack_of(self, trial: Trial) -> tuple[str, ...]:
        """The key of a bucket for a death of a listed kind in a place of its own."""
        return (*self.kind(trial), trial.death)

    def lists(self, channel: str, damage: str) -> bool:
        """Whether a listed deviation of this version has the damage, in this channel's subject."""
        return any(
            entry.crash is not None and entry.crash.damage == damage and entry.crash.during in _MOMENTS[channel]
            for entry in self.deviations
            if applies(entry.versions, self.version)
        )

    def same(self, trial: Trial, again: Trial) -> bool:
        """Whether another input has the same outcome.

        A listed and an unlisted outcome differ, except for deaths with the same stack: the smaller input shows its
        damage better.
        """
        if trial.death and trial.sign == again.sign:
            return True
        return self.kind(trial) == self.kind(again) and self.listed(trial) is self.listed(again)

    def verdict(self, trial: Trial) -> Verdict:
        """The verdict of the campaign on the outcome: failing verdicts are findings.

        On diverged documents every difference from the reference counts, inside the versions that it was seen on. On
        damaged events only the worklog's demands count. No document promises which damage a reader notices first
        (requirements FR5), so another choice than the reference's is ``info``.
        """
        verdict = trial.judged.verdict
        if verdict.failing and self.listed(trial) is not None:
            return Verdict.DEVIATES
        if verdict is Verdict.DIFFERS and not (self.campaign == DIVERGED and in_observed_range(self.version)):
            return Verdict.INFO
        return verdict

    # --- judging -----------------------------------------------------------------------------------------------------

    def of_statement(self, case: Injection, outcome: InjectionOutcome) -> Trial:
        """The trial of an event in a BINLOG statement."""
        return Trial(
            channel=STATEMENTS,
            case=case,
            what=_what(outcome),
            judged=judge_injection(case, self._as_corrupt(outcome, case), dialect_of(self.version)),
            crash=crash_of(case, outcome),
            death=outcome.death,
        )

    def of_transaction(self, case: ApplierTransaction, outcome: ApplierOutcome) -> Trial:
        """The trial of a transaction in a relay log."""
        return Trial(
            channel=APPLIER,
            case=case,
            what=_what_applied(outcome),
            judged=judge_transaction(case, self._as_corrupt(outcome, *case.rows), dialect_of(self.version)),
            crash=crash_of_rows(case.rows, outcome.death, reading=outcome.reading),
            death=outcome.death,
        )

    def _as_corrupt(self, outcome: Outcome, *rows: Injection) -> Outcome:
        """Accept 1032 instead of 1610 for damage that turns a row's bytes into another row.

        That other row does not exist, so 1032 is as good an answer.
        """
        if outcome.error != MISSING_ROW or all(row.name != random_damage.ROW for row in rows):
            return outcome
        if isinstance(outcome, ApplierOutcome):
            said = _CORRUPT if outcome.coordinator == MISSING_ROW else outcome.coordinator
            return replace(outcome, error=_CORRUPT, coordinator=said)
        return replace(outcome, error=_CORRUPT)

    def of_file(self, printed: PrintedLog) -> Trial:
        """The trial of a file for mysqlbinlog."""
        judged = JudgedOutcome(printed.verdict, printed.message, printed.expected, printed.got)
        return Trial(
            channel=CLIENT,
            case=printed.case,
            what="prints it" if judged.verdict is Verdict.PASS else printed.message.partition(" (")[0],
            judged=judged,
            crash=printed.crash,
        )

    def of_log(self, case: RelayLog, end: LogEnd) -> Trial:
        """The trial of a relay log of any events: it requires only that the server lives and answers."""
        return Trial(
            channel=REPLICA,
            case=case,
            what=_what_read(end),
            judged=judge_end(end.death, silent=end.silent),
            crash=crash_of_replica(case.data, end.death),
            death=end.death,
            report=end.report,
        )


_CORRUPT: Final = 1610


def _what(outcome: InjectionOutcome) -> str:
    """The outcome in words.

    The statement that raised an error matters: a refused event is clean, an unreadable row is not.
    """
    if outcome.death:
        return _dies(outcome)
    if outcome.silent:
        return "does not answer"
    if outcome.error:
        return f"refused with {outcome.error}"
    return _stored(outcome.after)


def _what_applied(outcome: ApplierOutcome) -> str:
    if outcome.death:
        return _dies(outcome)
    if outcome.silent:
        return "neither stops nor goes on"
    if outcome.stopped:
        return f"stopped with {outcome.error}"
    unsound = [row for row in outcome.after if row is None or not row.sound]
    return _stored(unsound[0] if unsound else outcome.after[0] if outcome.after else None)


def _what_read(end: LogEnd) -> str:
    if end.death:
        return "dies at the log"
    if end.silent:
        return "does not answer"
    if end.refused:
        return f"log refused with {end.error}"
    if end.waits:
        return "waits for more"
    return f"stopped with {end.error}" if end.error else "read to its end"


def _dies(outcome: InjectionOutcome | ApplierOutcome) -> str:
    return "dies when the row is read" if outcome.reading else "dies at the event"


def _stored(row: RowState | None) -> str:
    if row is None:
        return "applied, and the row is gone"
    if row.error:
        return f"applied, reading gives {row.error}"
    if not row.sound:
        return "applied, its text is NULL" if row.valid else "applied, JSON_VALID is not 1"
    return "applied"
