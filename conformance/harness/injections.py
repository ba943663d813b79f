"""Events put before a server by hand, as Cases of FR5: judged, and recorded in the stream.

A failing Case is stored, the first of a signature is shrunk on the server that showed it, and ``binlog-lab replay``
runs both again. A crash has its report out of the server's error log beside it; of a crash that no listed deviation
explains the data directory is copied as well, the first of each signature and only a few in a run, as it is large.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.files import dump_case
from conformance.cases.shrinking.events import mended, shrink_injection
from conformance.judge.damage import listed
from conformance.judge.damage.applier import judge_ignoring, judge_torn
from conformance.judge.damage.crashes import crash_of, crash_of_rows
from conformance.judge.damage.diverged import judge_injection
from conformance.judge.damage.nearest import nearest_crash, nearest_injection, nearest_listed
from conformance.checks.replica_schema.judge import judge_reshaped
from conformance.requirements.versions import dialect_of, in_observed_range
from conformance.servers.roles.applier_cases import feeding_script, torn_script
from conformance.servers.roles.injector import crash_report, script
from conformance.checks.replica_schema.run import reshaped_script
from conformance.stream import Block, CaseVerdict, Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from conformance.cases.by_hand.applier_transaction import Feeding, FeedingOutcome
    from conformance.cases.by_hand.damaged_frame import Torn
    from conformance.cases.by_hand.injection import Injection, InjectionOutcome
    from conformance.checks.replica_schema.case import Reshaped
    from conformance.harness.lab import Lab
    from conformance.judge.damage.diverged import Judged
    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version
    from conformance.servers.roles.injector import Injector
    from conformance.servers.run.owned import OwnServer

REQUIREMENT: Final = "FR5"
SECONDS: Final = 20.0  # for shrinking one injection
_SHOWN: Final = 3  # Cases of one signature with a record of their own
_SHRUNK: Final = 5  # signatures of a run whose first Case is made smaller
_KEPT: Final = 3  # data directories of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One Case and what the judge says. ``texts``: documents compared; ``death``: the stack of a crash, and ``crash``
    its signature; ``script``: makes the statements that show the Case again; ``case``: the same as a Case that can be
    stored, made smaller on ``injector`` and replayed."""

    id: str
    name: str
    judged: Judged
    script: Callable[[], tuple[str, ...]]
    texts: int = 0
    death: str = ""
    crash: Crash | None = None
    case: EventCase | None = None
    injector: Injector | None = None

    @property
    def sign(self) -> tuple[object, ...]:
        """What another injection must show to be the same failure."""
        return self.judged.verdict, self.judged.rule, self.judged.deviation, self.crash


def injected(lab: Lab, injector: Injector, injection: Injection, outcome: InjectionOutcome, seed: str = "") -> Tried:
    """By a BINLOG statement. To be called before the server is used again: what a crash left behind is kept first."""
    item = judged_event(injector, injection, outcome, lab.version, seed)
    if outcome.death:
        _keep(lab, injector.server, item)
    return item


def fed(
    lab: Lab,
    server: OwnServer,
    case: Feeding,
    outcome: FeedingOutcome,
    ignored: frozenset[int] = frozenset(),
) -> Tried:
    """By a relay log, to the applier of ``server``; ``ignored``: errors that it was told to ignore."""
    item = Tried(
        id=case.id,
        name=case.name,
        judged=judge_ignoring(case, outcome, ignored, lab.dialect),
        script=lambda: feeding_script(case, server.version),
        texts=0 if outcome.error and outcome.again is None else len(case.rows),
        death=outcome.death,
        crash=crash_of_rows(case.rows, outcome.death, reading=outcome.reading),
    )
    if outcome.death:
        keep_run(lab, server, item)
    return item


def torn_tried(lab: Lab, server: OwnServer, case: Torn, outcome: FeedingOutcome) -> Tried:
    """By a relay log whose file was damaged, to the applier of ``server``."""
    item = Tried(
        id=case.id,
        name=case.name,
        judged=judge_torn(case, outcome, lab.dialect),
        script=lambda: torn_script(case, server.version),
        texts=len(case.feeding.rows),
        death=outcome.death,
    )
    if outcome.death:
        keep_run(lab, server, item)
    return item


def judged_event(
    injector: Injector, injection: Injection, outcome: InjectionOutcome, version: Version, seed: str = ""
) -> Tried:
    """An injection with what the judge says of its outcome."""
    return Tried(
        id=injection.id,
        name=injection.name,
        judged=judge_injection(injection, outcome, dialect_of(version)),
        script=lambda: script(injection, injector.server.version),
        texts=int(outcome.after is not None and not outcome.error),
        death=outcome.death,
        crash=crash_of(injection, outcome),
        case=EventCase(id=injection.id, requirements=(REQUIREMENT,), seed=seed, injection=injection),
        injector=injector,
    )


def explaining(deviations: Iterable[Deviation], version: Version, item: Tried) -> Deviation | None:
    """The listed deviation that explains an outcome: by its switch, or a crash by its signature."""
    if item.judged.verdict is Verdict.PASS:
        return None
    return listed.explaining(deviations, version, crash=item.crash, switch=item.judged.deviation)


def reshaped_tried(lab: Lab, server: OwnServer, case: Reshaped, outcome: FeedingOutcome, verdict: Verdict) -> Tried:
    """By a relay log, to the applier of ``server``, which has a table of its own for it."""
    item = Tried(
        id=case.id,
        name=case.name,
        judged=judge_reshaped(case, outcome, verdict),
        script=lambda: reshaped_script(case, server.version),
        texts=len(case.held),
        death=outcome.death,
    )
    if outcome.death:
        keep_run(lab, server, item)
    return item


def _keep(lab: Lab, server: OwnServer, item: Tried) -> None:
    """The report of a crash; and the data, where the crash is a new one."""
    _keep_report(lab, server, item)
    if explaining(lab.deviations, lab.version, item) is not None:
        return
    directory = lab.settings.cases
    if directory is None:
        server.keep = True
        return
    data = directory / f"{_crash_name(item)}.data"
    if not data.exists() and sum(1 for _ in directory.glob("crash-*.data")) < _KEPT:
        server.copy_data(data)
        lab.narrate(f"the server died ({item.death}); its data directory is kept in {data}")


def keep_run(lab: Lab, server: OwnServer, item: Tried) -> None:
    """The report of a crash, of a server that was started again on its data: these are kept as they are at the end."""
    _keep_report(lab, server, item)
    if explaining(lab.deviations, lab.version, item) is None:
        server.keep = True


def _keep_report(lab: Lab, server: OwnServer, item: Tried) -> None:
    """The report of a crash, of the first with this stack."""
    if lab.settings.cases is None:
        return
    log = lab.settings.cases / f"{_crash_name(item)}.error.log"
    if not log.exists():
        log.write_text(crash_report(server.error_log()), encoding="utf-8")


def record(
    lab: Lab, check: str, block: int, items: Sequence[Tried], seconds: float, *, requirement: str = REQUIREMENT
) -> int:
    """Write the records of a block; the number of failures."""
    verdicts: Counter[str] = Counter()
    deviations: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    failures = 0
    for item in items:
        verdict = item.judged.verdict
        entry = explaining(lab.deviations, lab.version, item)
        if entry is not None:
            deviations[entry.id] += 1
        else:
            verdicts[str(verdict)] += 1
            failures += verdict.failing and (verdict is not Verdict.DIFFERS or in_observed_range(lab.version))
        if verdict is Verdict.PASS:
            continue
        reason = entry.id if entry is not None else item.death or item.judged.rule
        signature = f"{check}:{verdict}:{reason}"
        seen[signature] += 1
        if seen[signature] <= _SHOWN:
            _show(lab, check, block, item, signature, entry, requirement)
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=(requirement,),
            block=block,
            cases=len(items),
            verdicts=dict(verdicts),
            failed=failures,
            texts_compared=sum(item.texts for item in items),
            mismatches=len(items) - verdicts[str(Verdict.PASS)] - sum(deviations.values()),
            deviating=sum(deviations.values()),
            deviations=dict(deviations),
            seconds=seconds,
        )
    )
    return failures


def _show(
    lab: Lab, check: str, block: int, item: Tried, signature: str, entry: Deviation | None, requirement: str
) -> None:
    """The record of one Case that did not pass, and a finding for the first of an unexplained kind."""
    judged = item.judged
    statements = item.script()
    stored, replay = _store(lab, item, statements)
    log, data = _kept(lab, item)
    lab.sink(
        CaseVerdict(
            case=item.id,
            requirement=requirement,
            verdict=judged.verdict,
            subject=lab.subject,
            check=check,
            block=block,
            field=item.name,
            expected=judged.expected,
            got=judged.got,
            message=_message(lab, item),
            signature=signature,
            replay=replay,
            statements=statements,
            deviation=None if entry is None else entry.id,
            case_file=None if stored is None else str(stored),
            error_log=None if log is None else str(log),
            data_directory=None if data is None else str(data),
            data_bytes=None if data is None else size_of(data),
            nearest="" if entry is not None else _nearest(lab, item, requirement),
        )
    )
    if entry is None and stored is not None and replay is not None and lab.first(signature):
        small = _smaller(lab, item, signature)
        path, command = (stored, replay) if small is item else _store(lab, small, ())
        lab.sink(
            Finding(
                signature=signature,
                case=small.id,
                case_file=str(path),
                replay=command or replay,
                requirement=requirement,
                subject=lab.subject,
                check=check,
                size_before=_size(item),
                size_after=_size(small),
                message=judged.rule,
            )
        )


def _message(lab: Lab, item: Tried) -> str:
    """What is broken; of a crash, its signature, and whether its place is a listed one."""
    if item.crash is None:
        return item.judged.rule
    about = listed.about_place(lab.deviations, lab.version, item.crash)
    return f"{item.judged.rule} ({item.crash})" + (f"; {about}" if about else "")


def _nearest(lab: Lab, item: Tried, requirement: str) -> str:
    if item.death:
        return nearest_crash(lab.deviations, item.crash)
    if item.case is None:
        return nearest_listed(lab.deviations, requirement)
    return nearest_injection(lab.deviations, requirement, item.case.injection, item.judged.got, lab.dialect)


def _kept(lab: Lab, item: Tried) -> tuple[Path | None, Path | None]:
    """The report and the data of a crash, as far as they were kept."""
    if not item.death or lab.settings.cases is None:
        return None, None
    log = lab.settings.cases / f"{_crash_name(item)}.error.log"
    data = lab.settings.cases / f"{_crash_name(item)}.data"
    return (log if log.exists() else None), (data if data.exists() else None)


def size_of(directory: Path) -> int:
    """Bytes of all files in it."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _crash_name(item: Tried) -> str:
    return f"crash-{hashlib.blake2b(item.death.encode(), digest_size=4).hexdigest()}"


def _store(lab: Lab, item: Tried, statements: tuple[str, ...]) -> tuple[Path | None, str | None]:
    """Where a Case is stored, and the command that shows it again; a script where there is no kind of Case for it."""
    if item.case is not None:
        path = lab.store(dump_case(item.case))
        return path, None if path is None else lab.replay_of(path)
    if lab.settings.cases is None:
        return None, None
    path = lab.settings.cases / f"{item.id}.sql"
    path.write_text("".join(f"{statement};\n" for statement in statements), encoding="utf-8")
    return path, f"mysql --force < {path}"


def _size(item: Tried) -> int | None:
    return None if item.case is None else len(json.dumps(dump_case(item.case)))


def _smaller(lab: Lab, item: Tried, signature: str) -> Tried:
    if item.injector is None or lab.count_shrunk() > _SHRUNK:
        return item
    lab.narrate(f"shrinking {item.id} ({signature})")
    return shrink_on(item.injector, item, lab.version)


def shrink_on(injector: Injector, item: Tried, version: Version, *, seconds: float = SECONDS) -> Tried:
    """The smallest injection found in the time that shows the same on this server."""
    assert item.case is not None
    last, first = item, item.case

    def fails(candidate: Injection) -> bool:
        nonlocal last
        if mended(candidate):
            return False
        again = try_one(injector, candidate, version, first.seed)
        if again.sign == item.sign:
            last = again
            return True
        return False

    shrink_injection(first.injection, fails, seconds=seconds)
    return last


def try_one(injector: Injector, injection: Injection, version: Version, seed: str = "") -> Tried:
    """One injection on a table of its own, judged."""
    outcome = injector.inject(injection, injector.load([injection.stored]))
    return judged_event(injector, injection, outcome, version, seed)
