"""Events put before a server by hand, as Cases of FR5: judged, and recorded in the stream.

A failing Case is stored as a SQL script that shows it again on any server with ``gtid_mode=OFF``; a crash with the
server's error log beside it. The server's data directory is kept as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.judge.applier import judge_feeding
from conformance.judge.diverged import Grade, judge_injection
from conformance.requirements.versions import applies, dialect_of, in_observed_range
from conformance.servers.applier import feeding_script
from conformance.servers.inject import script
from conformance.stream import Block, CaseVerdict, Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.cases.feeding import Feeding, FeedingOutcome
    from conformance.cases.injection import Injection, InjectionOutcome
    from conformance.checks.lab import Lab
    from conformance.judge.diverged import Judged
    from conformance.requirements.deviations import Deviation

VERDICTS: Final = {
    Grade.CRASH: Verdict.CRASH,
    Grade.TIMEOUT: Verdict.TIMEOUT,
    Grade.FAIL: Verdict.FAIL,
    Grade.DIFFERS: Verdict.DIFFERS,
    Grade.PASS: Verdict.PASS,
}
REQUIREMENT: Final = "FR5"
_SHOWN: Final = 3  # Cases of one signature with a record of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One Case and what the judge says. ``texts``: documents compared; ``death``: signature of a crash; ``script``:
    makes the statements that show the Case again; ``log``: the error log of the server it was tried on."""

    id: str
    name: str
    judged: Judged
    script: Callable[[], tuple[str, ...]]
    log: Callable[[], str | None]
    texts: int = 0
    death: str = ""


def injected(lab: Lab, injection: Injection, outcome: InjectionOutcome) -> Tried:
    """By a BINLOG statement."""
    return Tried(
        id=injection.id,
        name=injection.name,
        judged=judge_injection(injection, outcome, dialect_of(lab.version)),
        script=lambda: script(injection, _server_version(lab)),
        log=lab.injector_log,
        texts=int(outcome.after is not None and not outcome.error),
        death=outcome.death,
    )


def fed(lab: Lab, case: Feeding, outcome: FeedingOutcome) -> Tried:
    """By a relay log."""
    return Tried(
        id=case.id,
        name=case.name,
        judged=judge_feeding(case, outcome, dialect_of(lab.version)),
        script=lambda: feeding_script(case, _server_version(lab)),
        log=lab.applier_log,
        texts=0 if outcome.error and outcome.again is None else len(case.rows),
        death=outcome.death,
    )


def listed_deviation(lab: Lab, switch: str | None) -> Deviation | None:
    """The entry of the list that stands for a dialect switch on this server."""
    for entry in lab.deviations:
        if switch is not None and entry.switch == switch and applies(entry.versions, lab.version):
            return entry
    return None


def record(lab: Lab, check: str, block: int, tried: Sequence[Tried], seconds: float) -> int:
    """Write the records of a block; the number of failures."""
    verdicts: Counter[str] = Counter()
    deviations: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    failures = 0
    for item in tried:
        verdict = VERDICTS[item.judged.grade]
        entry = listed_deviation(lab, item.judged.deviation)
        if entry is not None:
            deviations[entry.id] += 1
        else:
            verdicts[str(verdict)] += 1
            failures += verdict.failing and (verdict is not Verdict.DIFFERS or in_observed_range(lab.version))
        if verdict is Verdict.PASS:
            continue
        reason = item.death or (entry.id if entry is not None else item.judged.rule)
        signature = f"{check}:{verdict}:{reason}"
        seen[signature] += 1
        if seen[signature] <= _SHOWN:
            _show(lab, check, block, item, signature, entry)
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=(REQUIREMENT,),
            block=block,
            cases=len(tried),
            verdicts=dict(verdicts),
            failed=failures,
            texts_compared=sum(item.texts for item in tried),
            mismatches=len(tried) - verdicts[str(Verdict.PASS)] - sum(deviations.values()),
            deviating=sum(deviations.values()),
            deviations=dict(deviations),
            seconds=seconds,
        )
    )
    return failures


def _show(lab: Lab, check: str, block: int, item: Tried, signature: str, entry: Deviation | None) -> None:
    """The record of one Case that did not pass, and a finding for the first of an unexplained kind."""
    judged = item.judged
    statements = item.script()
    stored = _store(lab, item, statements)
    replay = None if stored is None else f"mysql --force < {stored}"
    lab.sink(
        CaseVerdict(
            case=item.id,
            requirement=REQUIREMENT,
            verdict=VERDICTS[judged.grade],
            subject=lab.subject,
            check=check,
            block=block,
            field=item.name,
            expected=judged.expected,
            got=judged.got,
            message=judged.rule,
            signature=signature,
            replay=replay,
            statements=statements,
            deviation=None if entry is None else entry.id,
            case_file=None if stored is None else str(stored),
        )
    )
    if entry is None and stored is not None and replay is not None and lab.first(signature):
        lab.sink(
            Finding(
                signature=signature,
                case=item.id,
                case_file=str(stored),
                replay=replay,
                requirement=REQUIREMENT,
                subject=lab.subject,
                check=check,
                message=judged.rule,
            )
        )


def _server_version(lab: Lab) -> str:
    return "9.7.4" if lab.server is None else lab.server.version


def _store(lab: Lab, item: Tried, statements: tuple[str, ...]) -> Path | None:
    directory = lab.settings.cases
    if directory is None:
        return None
    path = directory / f"{item.id}.sql"
    path.write_text("".join(f"{statement};\n" for statement in statements), encoding="utf-8")
    if item.death:
        log = directory / f"{item.id}.error.log"
        log.write_text(item.log() or "", encoding="utf-8")
    return path
