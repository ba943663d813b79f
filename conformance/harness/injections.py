"""The outcomes of hand-made events on a server (FR5): judged, tried again after a crash, and recorded in the stream.

The harness stores a failing Case, and shrinks the first of a signature on the server that showed it; ``binlog-lab
replay`` runs both again. A crash has its report from the server's error log beside it. Where no listed deviation
explains the crash, the harness also copies the data directory: the first of each signature, and only a few in a run,
because it is large.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.cases.by_hand.damaged_frame import DamagedFrame
from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.scripted import transaction_line
from conformance.cases.files import dump_case
from conformance.cases.shrinking.events import mended, shrink_injection
from conformance.judge.damage import listed
from conformance.judge.damage.applier import judge_damaged_frame, judge_ignoring
from conformance.judge.damage.crashes import crash_of, crash_of_rows
from conformance.judge.damage.diverged import judge_injection
from conformance.judge.damage.nearest import nearest_crash, nearest_injection, nearest_listed
from conformance.requirements.crashes import DAMAGES
from conformance.requirements.versions import applies, dialect_of
from conformance.servers.roles import applier_cases
from conformance.servers.roles.applier import Applier
from conformance.servers.roles.injector import NO_REPORT, Injector, crash_report, script
from conformance.servers.run.owned import OwnServer
from conformance.stream import Notice
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction
    from conformance.cases.by_hand.injection import Injection, InjectionOutcome
    from conformance.harness.check import Check
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.session import Lab
    from conformance.judge.damage.census import Channel
    from conformance.judge.damage.diverged import JudgedOutcome
    from conformance.reference.dialect import Dialect
    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version

REQUIREMENT: Final = "FR5"
_KEPT: Final = 3  # data directories of a run
_AGAIN: Final = 3  # fresh servers that get a Case whose server died unexplained
_MISSING: Final = 10  # Cases of a run that are tried again because a report is missing
_Case = TypeVar("_Case")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One Case that a server has run, and the judge's verdict. ``texts``: documents compared. ``script``: makes the
    statements that show the Case again. ``death``: the stack of a crash; ``crash``: its signature. ``case``: the form
    that can be stored, shrunk on ``injector`` and replayed. ``tries``: how many servers died of it, as words."""

    id: str
    name: str
    judged: JudgedOutcome
    script: Callable[[], tuple[str, ...]]
    texts: int = 0
    death: str = ""
    crash: Crash | None = None
    case: EventCase | None = None
    first: str = ""  # line of the script, by which a replay judges it
    injector: Injector | None = None
    tries: str = ""  # how often the Case ended a server, where it was tried again

    @property
    def sign(self) -> tuple[object, ...]:
        """The part of the verdict that another injection must share to be the same failure."""
        return self.judged.verdict, self.judged.rule, self.judged.deviation, self.crash


def judged_injection(
    lab: Lab, injector: Injector, injection: Injection, outcome: InjectionOutcome, seed: str = ""
) -> Tried:
    """Judge the outcome of a BINLOG statement. If the server died, keep its report and data, and try the Case again.

    Call this before the server is used again: the report and the data would be lost.
    """
    item = judged_event(injector, injection, outcome, lab.version, seed)
    if not outcome.death:
        return item
    _keep(lab, injector.server, item)

    def again(server: OwnServer) -> Tried:
        with Injector(server) as other:
            tried = try_one(other, injection, lab.version, seed)
        return replace(tried, injector=injector)

    return tried_again(lab, injector.server, item, again)


def judged_transaction(
    lab: Lab,
    server: OwnServer,
    case: ApplierTransaction,
    outcome: ApplierOutcome,
    ignored: frozenset[int] = frozenset(),
) -> Tried:
    """Judge the outcome of a transaction in a relay log. If the server died, keep its report, and try the Case again.

    ``ignored``: numbers of the errors that the applier ignores; no Case is tried again then.
    """

    def again(fresh: OwnServer) -> Tried:
        return try_transaction(fresh, case, lab.dialect)

    item = transaction_tried(server, case, outcome, lab.dialect, ignored)
    if not outcome.death:
        return item
    keep_run(lab, server, item)
    return item if ignored else tried_again(lab, server, item, again)


def transaction_tried(
    server: OwnServer,
    case: ApplierTransaction,
    outcome: ApplierOutcome,
    dialect: Dialect,
    ignored: frozenset[int] = frozenset(),
) -> Tried:
    """Judge the outcome of a transaction in a relay log. What only some settings ignore is not replayed by itself."""
    return Tried(
        id=case.id,
        name=case.name,
        judged=judge_ignoring(case, outcome, ignored, dialect),
        script=lambda: applier_cases.transaction_script(case, server.version),
        texts=0 if outcome.error and outcome.second_start is None else len(case.rows),
        death=outcome.death,
        crash=crash_of_rows(case.rows, outcome.death, reading=outcome.reading),
        first="" if ignored else transaction_line(case),
    )


def frame_tried(server: OwnServer, case: DamagedFrame, outcome: ApplierOutcome, dialect: Dialect) -> Tried:
    """Judge the outcome of a relay log whose file is damaged in the frame of one event."""
    return Tried(
        id=case.id,
        name=case.name,
        judged=judge_damaged_frame(case, outcome, dialect),
        script=lambda: applier_cases.damaged_frame_script(case, server.version),
        texts=len(case.transaction.rows),
        death=outcome.death,
        first=transaction_line(case),
    )


def try_transaction(server: OwnServer, case: ApplierTransaction | DamagedFrame, dialect: Dialect) -> Tried:
    """Give one transaction to an applier on a server of :func:`launch_applier`, and judge it; the server ends."""
    with Applier(server) as applier:
        if isinstance(case, DamagedFrame):
            (outcome,) = applier_cases.apply_damaged_frames(applier, [case])
            return frame_tried(server, case, outcome, dialect)
        (outcome,) = applier_cases.apply_transactions(applier, [case])
        return transaction_tried(server, case, outcome, dialect)


def tried_again(lab: Lab, server: OwnServer, item: Tried, again: Callable[[OwnServer], Tried]) -> Tried:
    """Try a Case on fresh servers, if its server died and no listed deviation explains the death.

    The first death may mislead. Its report may be missing: where two threads die at once, the second ends the process.
    Or the server died of a Case that it had read before. ``again`` gives the Case to a server like ``server`` and
    judges it. A death without a report takes the verdict of the first try with a report; one with a report keeps its
    own. Either says how many servers died. Each stack is tried again once, a missing report :data:`_MISSING` times.
    """
    known = not item.death.startswith(NO_REPORT)
    explained = explaining(lab.deviations, lab.version, item) is not None
    lab.findings.met[f"again:{item.death}"] += not explained
    times = lab.findings.met[f"again:{item.death}"]
    if explained or times > (1 if known else _MISSING) or not isinstance(server, OwnServer):
        return item
    lab.narrate(f"{item.id}: the server died ({item.death}); trying it on {_AGAIN} fresh servers")
    tries = [item, *(_on_fresh(server, again) for _ in range(_AGAIN))]
    told = [tried for tried in tries if tried.death and not tried.death.startswith(NO_REPORT)]
    chosen = item if known or not told else told[0]
    words = f"{sum(bool(tried.death) for tried in tries)} of {len(tries)} servers died of it"
    if chosen is not item:
        words += f", {len(told)} with a report"
        message = f"{item.id}: a crash had no report and was judged by one that came again; {words}"
        lab.sink(Notice(subject=lab.subject, kind="crash-without-report", message=message))
    return replace(chosen, tries=words)


def _on_fresh(server: OwnServer, again: Callable[[OwnServer], Tried]) -> Tried:
    with server.maker.launch(server_id=server.server_id, options=server.options) as fresh:
        return again(fresh)


def judged_event(
    injector: Injector, injection: Injection, outcome: InjectionOutcome, version: Version, seed: str = ""
) -> Tried:
    """Judge the outcome of an injection."""
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
    """The listed deviation that explains an outcome: by its switch, or by the signature of a crash."""
    if item.judged.verdict is Verdict.PASS:
        return None
    return listed.explaining(deviations, version, crash=item.crash, switch=item.judged.deviation)


def not_shown(lab: Lab, items: Iterable[Tried], *phases: str, damages: Collection[str] = DAMAGES) -> list[Deviation]:
    """Listed crashes of this server in these phases, at these damages, that none of the events showed."""
    shown = {entry.id for item in items if (entry := explaining(lab.deviations, lab.version, item)) is not None}
    return [
        entry
        for entry in lab.deviations
        if entry.crash is not None
        and entry.crash.during in phases
        and entry.crash.damage in damages
        and applies(entry.versions, lab.version)
        and lab.asked_for(entry)
        and entry.id not in shown
    ]


def _keep(lab: Lab, server: OwnServer, item: Tried) -> None:
    """Keep the report of a crash; and the data, where the crash is new."""
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
    """Keep the report of a crash, and for a new crash the data of the server, which was started again on its data."""
    _keep_report(lab, server, item)
    if explaining(lab.deviations, lab.version, item) is None:
        server.keep = True


def _keep_report(lab: Lab, server: OwnServer, item: Tried) -> None:
    """Keep the report of the first crash with this stack."""
    if lab.settings.cases is None:
        return
    log = lab.settings.cases / f"{_crash_name(item)}.error.log"
    if not log.exists():
        log.write_text(crash_report(server.error_log()), encoding="utf-8")


def record_tried(block: BlockRecord, items: Iterable[Tried]) -> None:
    """Record these Cases, in an open block that counts its cases."""
    lab = block.check.lab
    texts = 0
    for item in items:
        verdict = item.judged.verdict
        entry = explaining(lab.deviations, lab.version, item)
        deviation = None if entry is None else entry.id
        signature = f"{block.check.id}:{verdict}:{deviation or item.death or item.judged.rule}"
        texts += item.texts
        if block.judge(verdict, item.death or item.judged.rule, signature=signature, deviation=deviation):
            _show(block, item, signature, deviation)
    block.compared(texts_compared=texts)


def record_in_blocks(
    check: Check,
    cases: Sequence[_Case],
    size: int,
    judge: Callable[[Sequence[_Case]], Iterable[Tried]],
    count: Callable[[BlockRecord, Sequence[_Case]], None] = lambda _, __: None,
) -> None:
    """Give Cases to a server in blocks of ``size``; ``judge`` runs a block and returns its verdicts, ``count`` adds its
    census."""
    for number, start in enumerate(range(0, len(cases), size)):
        with check.block(number, cases=None) as block:
            part = cases[start : start + size]
            record_tried(block, judge(part))
            count(block, part)


def apply_in_blocks(
    check: Check,
    applier: Applier,
    cases: Sequence[ApplierTransaction],
    size: int,
    ignored: frozenset[int] = frozenset(),
    *,
    channel: Channel | None = None,
) -> None:
    """Give transactions to an applier, ``size`` of them in one relay log; ``ignored``: errors that it ignores."""

    def judge(part: Sequence[ApplierTransaction]) -> list[Tried]:
        outcomes = zip(part, applier_cases.apply_transactions(applier, part), strict=True)
        return [judged_transaction(check.lab, applier.server, case, outcome, ignored) for case, outcome in outcomes]

    def count(block: BlockRecord, part: Sequence[ApplierTransaction]) -> None:
        if channel is not None:
            block.exercised(channel.rules, channel.counts(row for case in part for row in case.rows))

    record_in_blocks(check, cases, size, judge, count)


def _show(block: BlockRecord, item: Tried, signature: str, deviation: str | None) -> None:
    """Write the record of one Case that did not pass. The first Case of an unexplained signature becomes a finding."""
    lab, judged = block.check.lab, item.judged
    statements = item.script()
    stored = (
        lab.findings.store_script(item.id, statements, item.first)
        if item.case is None
        else lab.findings.store(dump_case(item.case))
    )
    log, data = _kept(lab, item)
    block.show(
        judged.verdict,
        field=item.name,
        expected=judged.expected,
        got=judged.got,
        message=_message(lab, item),
        signature=signature,
        statements=statements,
        deviation=deviation,
        ends="" if item.crash is None else item.crash.ends,
        error_log=None if log is None else str(log),
        data_directory=None if data is None else str(data),
        data_bytes=None if data is None else size_of(data),
        nearest="" if deviation is not None else _nearest(lab, item, block.requirements[0]),
        **stored.fields,
    )
    if deviation is None:
        shrink = None if item.injector is None else partial(_smaller, item.injector, item, lab.version)
        block.find(signature, stored, shrink, message=judged.rule)


def _message(lab: Lab, item: Tried) -> str:
    """The broken rule; for a crash, its signature and whether its place is listed."""
    if item.crash is None:
        return "; ".join(filter(None, (item.judged.rule, item.tries)))
    about = listed.about_place(lab.deviations, lab.version, item.crash)
    return "; ".join(filter(None, (f"{item.judged.rule} ({item.crash})", about, item.tries)))


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


def _smaller(injector: Injector, item: Tried, version: Version, seconds: float) -> dict[str, Any] | None:
    small = shrink_on(injector, item, version, seconds=seconds)
    if small is item or small.case is None:
        return None
    if item.death and not _dies_alone(injector.server, small.case, version):
        return None  # what earlier events left in the memory had its part in the end of the server
    return dump_case(small.case)


def _dies_alone(server: OwnServer, case: EventCase, version: Version) -> bool:
    """Whether each of some fresh servers dies of an event."""

    def tried(fresh: OwnServer) -> Tried:
        with Injector(fresh) as other:
            return try_one(other, case.injection, version, case.seed)

    return all(_on_fresh(server, tried).death for _ in range(_AGAIN))


def shrink_on(injector: Injector, item: Tried, version: Version, *, seconds: float) -> Tried:
    """The smallest injection found in the time that shows the same failure on this server."""
    assert item.case is not None
    last, first = item, item.case

    def fails(candidate: Injection) -> bool:
        nonlocal last
        if mended(candidate):
            return False
        tried = try_one(injector, candidate, version, first.seed)
        if tried.sign == item.sign:
            last = tried
            return True
        return False

    shrink_injection(first.injection, fails, seconds=seconds)
    return last


def try_one(injector: Injector, injection: Injection, version: Version, seed: str = "") -> Tried:
    """Run one injection on a table of its own, and judge it."""
    outcome = injector.inject(injection, injector.load([injection.stored]))
    return judged_event(injector, injection, outcome, version, seed)
