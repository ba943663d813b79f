"""What the check items share: the settings of a run, the server, the results of the update campaign, the stream.

The lab writes typed records to a sink and knows nothing of reports. One campaign feeds several items: it runs when the
first of them asks.
"""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.files import case_id, dump_case
from conformance.harness.answers import gather
from conformance.harness.campaign import Campaign
from conformance.harness.captures import captured_blocks
from conformance.harness.evidence import case_verdict, signature
from conformance.harness.nearest import telling_nearest
from conformance.harness.profiles import PROFILES
from conformance.harness.shrinking import shrink_live
from conformance.harness.topology import Pairs
from conformance.judge.probes import about, as_shown, probe_all, row_of
from conformance.judge.updates.compare import REFUSED
from conformance.requirements.deviations import Deviation, load_deviations
from conformance.requirements.versions import FIRST, applies, dialect_name, dialect_of, in_observed_range, text_of
from conformance.servers.auto import Wishes, resolve
from conformance.servers.errors import ServerError
from conformance.servers.roles.applier import Applier, launch_applier
from conformance.servers.roles.injector import Injector, launch_target
from conformance.servers.roles.receiver import ReceiverTarget, launch_receiver
from conformance.servers.run.owned import OwnServer
from conformance.servers.run.process import ProcessServer
from conformance.stream import Asked, Block, CaseVerdict, Finding, Progress, Subject, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from conformance.cases.update_case import UpdateCase
    from conformance.checks.costs.sizes import SizeProblem
    from conformance.harness.blocks import BlockResult
    from conformance.harness.topology import Chain
    from conformance.judge.updates.mismatch import Mismatch
    from conformance.reference.dialect import Dialect
    from conformance.servers.base import Server
    from conformance.servers.roles.pair import Pair
    from conformance.stream import AnyRecord

# A run makes and drops a table for every block: without files and statistics of their own that is ten times faster.
_MANY_TABLES: Final = {"innodb-file-per-table": "OFF", "innodb-stats-persistent": "OFF"}
_FINDINGS: Final = 5  # distinct failures of a family of checks that are shrunk; more are stored only
_VERDICTS: Final = 50  # failures of a run that get a record of their own with evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCheck:
    """One item over the update campaign: the kinds of mismatch it answers for, and what it judges."""

    id: str
    kinds: frozenset[str]
    requirements: tuple[str, ...]
    verdict: Verdict  # of a mismatch: fail has a worklog behind it, differs was only observed


UPDATE_CHECKS: Final = {
    check.id: check
    for check in (
        UpdateCheck(
            id="updates/event-bytes",
            kinds=frozenset(("event", "events", "outcome")),
            requirements=("FR1", "D2", "D5", "D6", "D7", "F3"),
            verdict=Verdict.FAIL,
        ),
        UpdateCheck(id="updates/decode", kinds=frozenset(("decode",)), requirements=("F3",), verdict=Verdict.FAIL),
        UpdateCheck(id="updates/apply", kinds=frozenset(("apply",)), requirements=("FR2",), verdict=Verdict.FAIL),
        UpdateCheck(
            id="updates/storage",
            kinds=frozenset(("size", "free")),
            requirements=("IP1",),
            verdict=Verdict.DIFFERS,
        ),
        UpdateCheck(id="updates/text", kinds=frozenset(("text",)), requirements=("IP2",), verdict=Verdict.DIFFERS),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A run as the user asked for it."""

    server: str = "auto"
    replica: str = ""  # a server spec; empty: as the source
    updates: int = PROFILES["quick"]
    profile: str = "quick"  # of PROFILES
    requirements: frozenset[str] = frozenset()  # those asked for; empty: all
    seed: str = "1"
    deviations: bool = True
    deviations_file: Path | None = None
    server_options: tuple[tuple[str, str | None], ...] = ()
    wrapper: str = ""
    allow: frozenset[str] = frozenset()
    keep: bool = False
    column: str = ""  # the subject's name in a matrix of several servers; empty: the server's own
    cases: Path | None = None  # where failing Cases are stored
    replay: str = "binlog-lab replay"  # with the options that a stored Case needs


@dataclass(slots=True)
class Lab:
    """One run. ``close`` ends the server."""

    settings: Settings
    sink: Callable[[AnyRecord], None]
    narrate: Callable[[str], None] = lambda _: None
    deviations: tuple[Deviation, ...] = ()
    failed: dict[str, int] = field(default_factory=dict)  # failing cases by check
    rate: float = 0.0
    rebuilt: Counter[str] = field(default_factory=Counter)  # logged updates on rebuilt replicas, by how rows differed
    _server: Server | None = None
    _pairs: Pairs | None = None
    _resolved: bool = False
    _ran: bool = False
    _signatures: Counter[str] = field(default_factory=Counter)
    _shown: int = 0
    _shrunk: int = 0
    _asked: bool = False
    _dialect: Dialect | None = None
    _injector: Injector | None = None
    _applier: Applier | None = None
    _receiver: ReceiverTarget | None = None

    def __post_init__(self) -> None:
        if self.settings.deviations:
            self.deviations = load_deviations(self.settings.deviations_file)
            self.sink = telling_nearest(self.sink, self.deviations)

    # --- the subject -------------------------------------------------------------------------------------------------

    @property
    def server(self) -> Server | None:
        """The server under test, started when first asked for; ``None`` offline."""
        if not self._resolved:
            settings = self.settings
            wishes = Wishes(
                options=dict(settings.server_options),
                defaults=_MANY_TABLES,
                wrapper=settings.wrapper,
                keep=settings.keep,
                allow=settings.allow,
            )
            self._server = resolve(settings.server, wishes, narrate=self.narrate, progress=self._fetching)
            self._resolved = True
            self.sink(self._subject_record())
        return self._server

    def _fetching(self, state: object) -> None:
        total = getattr(state, "total", 0)
        self.sink(
            Progress(
                label=f"{getattr(state, 'what', '')}: {getattr(state, 'step', '')}",
                done=getattr(state, "done", 0) if total else round(getattr(state, "percent", 0)),
                total=total or 100,
                unit="bytes" if total else "%",
            )
        )

    def _subject_record(self) -> Subject:
        server = self._server
        if server is None:
            return Subject(
                id=self.subject,
                role="source",
                version="9.7.4",
                dialect=dialect_name((9, 7, 4)),
                capabilities=("recorded",),
                note="no server: the same checks on what a server of this version did when it was recorded",
            )
        return Subject(
            id=self.subject,
            role="source",
            version=server.version,
            dialect=dialect_name(server.number),
            capabilities=("source",),
            note=server.provenance,
        )

    @property
    def subject(self) -> str:
        return self.settings.column or ("captures" if self.server is None else self.server.id)

    @property
    def version(self) -> tuple[int, int, int]:
        return (9, 7, 4) if self.server is None else self.server.number

    @property
    def dialect(self) -> Dialect:
        """Of the server's version by the table, but as the server itself showed where it was asked."""
        return self._dialect or dialect_of(self.version)

    @property
    def known(self) -> bool:
        """Whether the server was there, so that the stream knows it."""
        return self._resolved

    @property
    def lives(self) -> bool:
        """Whether the server under test is there."""
        return self._server is not None and self._server.alive()

    def excluded(self) -> str | None:
        """Why no check of the kit is applicable to this server, if so. The first call asks the server."""
        if self.server is not None and not self._asked:
            self._asked = True
            self._ask(self.server)
        if self.dialect.log.has_event39:
            return None
        return f"MySQL {text_of(self.version)} has no partial JSON updates: they came with {text_of(FIRST)}"

    def _ask(self, server: Server) -> None:
        """Hold what the server shows against the table of versions."""
        try:
            probed = probe_all(server.number, gather(server))
        except ServerError as error:
            self.sink(Asked(subject=self.subject, note=f"the server could not be asked: {error}"))
            return
        self._dialect = as_shown(dialect_of(server.number), probed)
        self.sink(Asked(subject=self.subject, rows=tuple(map(row_of, probed))))
        for item in probed:
            if item.contradicts:
                self.narrate(f"a finding about the table of versions: {about(server.number, item)}")

    @contextmanager
    def pair(self, *, gtid: bool) -> Iterator[Pair]:
        """The source of the run (one of its own where that has no GTIDs, or has them) with a replica that follows it
        from now on. Started when first asked for and kept for other checks. Skips where there can be none."""
        with self._available_pairs(gtid).use(gtid=gtid) as pair:
            self._replica_record()
            yield pair

    @contextmanager
    def chain(self, *, gtid: bool) -> Iterator[Chain]:
        """The pair, and a third server that follows its replica."""
        with self._available_pairs(gtid).use_chain(gtid=gtid) as chain:
            self._replica_record()
            yield chain

    def pairs(self) -> Pairs:
        """What makes the pairs of this run; nothing is started by asking for it."""
        if self._pairs is None:
            self._pairs = Pairs(self.server, self.narrate, replica=self.settings.replica)
        return self._pairs

    def _replica_record(self) -> None:
        """A replica that was asked for is a subject as well."""
        replica = self._pairs.replica if self._pairs is not None else None
        if replica is None or not self.settings.replica or not self.first("subject: replica"):
            return
        self.sink(
            Subject(
                id=f"{self.settings.column} replica" if self.settings.column else replica.id,
                role="replica",
                version=replica.version,
                dialect=dialect_name(replica.number),
                capabilities=("replica",),
                note=replica.provenance,
            )
        )

    @property
    def replica_version(self) -> tuple[int, int, int]:
        """Of the replicas of the run; what an applier does is theirs."""
        replica = self._pairs.replica if self._pairs is not None else None
        return self.version if replica is None else replica.number

    def _available_pairs(self, gtid: bool) -> Pairs:
        pairs = self.pairs()
        unavailable = pairs.available(gtid=gtid)
        if unavailable is not None:
            pytest.skip(unavailable.reason)
        return pairs

    def injector(self) -> Injector | None:
        """The target of injected events: a server of the same installation, started when first asked for.

        ``None`` where the server under test is not one that the lab starts.
        """
        server = self.server
        if self._injector is None and isinstance(server, OwnServer):
            self.narrate("starting a server for injected events")
            target = launch_target(server.maker, options=server.options, keep=self.settings.keep, narrate=self.narrate)
            self._injector = Injector(target)
        return self._injector

    def applier(self) -> Applier | None:
        """The target whose applier is fed by hand, as :meth:`injector` has its target."""
        server = self.server
        if self._applier is None and isinstance(server, OwnServer):
            self.narrate("starting a server whose applier is fed by hand")
            target = launch_applier(server.maker, options=server.options, keep=self.settings.keep, narrate=self.narrate)
            self._applier = Applier(target)
        return self._applier

    def receiver(self) -> ReceiverTarget | None:
        """The target whose receiver hears a source made by hand.

        ``None`` where the server under test is no process of the lab's: the source listens on 127.0.0.1 only, which is
        another place inside a container.
        """
        server = self.server
        if self._receiver is None and isinstance(server, ProcessServer):
            self.narrate("starting a server for boundaries of transactions")
            target = launch_receiver(
                server.maker, options=server.options, keep=self.settings.keep, narrate=self.narrate
            )
            self._receiver = ReceiverTarget(target)
        return self._receiver

    def first(self, signature: str) -> bool:
        """Whether this signature was not met before; remembers it."""
        self._signatures[signature] += 1
        return self._signatures[signature] == 1

    def count_shrunk(self) -> int:
        """One injected event more to be made smaller; how many with this one."""
        self._shrunk += 1
        return self._shrunk

    def close(self) -> None:
        """Stop what was started; a second call does nothing."""
        if self._injector is not None:
            self._injector.close()
            self._injector = None
        if self._applier is not None:
            self._applier.close()
            self._applier = None
        if self._receiver is not None:
            self._receiver.close()
            self._receiver = None
        if self._pairs is not None:
            self._pairs.close()
            self._pairs = None
        if self._server is not None:
            self._server.close()
            self._server = None

    # --- the update campaign -----------------------------------------------------------------------------------------

    def require(self, check_id: str) -> None:
        """Run the campaign if it has not run, and fail if this check found something."""
        self.run_updates()
        count = self.failed.get(check_id, 0)
        if count:
            pytest.fail(f"{count} cases failed; see the report", pytrace=False)

    def run_updates(self) -> None:
        """All blocks, judged and recorded, once."""
        if self._ran:
            return
        self._ran = True
        server = self.server
        done = 0
        total = self.settings.updates
        begun = time.perf_counter()
        campaign: Campaign | None = None
        results: Generator[BlockResult]
        if server is None:
            recorded = captured_blocks()
            total = min(total, sum(block.judgement.updates for block in recorded))
            results = (block for block in recorded)
        else:
            portable = self.dialect.json.text_double == "fast"
            campaign = Campaign(server, seed=self.settings.seed, updates=total, portable=portable)
            results = campaign.results()
        with closing(results):  # the workers end here, whatever ends the loop
            for result in results:
                if done >= total:
                    break
                self.record_block(result)
                done += result.judgement.updates + result.judgement.marked
                seconds = time.perf_counter() - begun
                self.sink(
                    Progress(label="updates", done=done, total=total, unit="updates", note=f"{done / seconds:,.0f}/s")
                )
        if campaign is not None and campaign.totals.seconds:
            self.rate = campaign.totals.updates / campaign.totals.seconds

    def record_block(self, result: BlockResult, checks: Sequence[UpdateCheck] = tuple(UPDATE_CHECKS.values())) -> None:
        """The records of one block: a verdict for what did not pass, then counts for each check."""
        judgement = result.judgement
        for check in checks:
            mismatches = [m for m in (*judgement.mismatches, *result.faults.found) if m.kind in check.kinds]
            deviating = [m for m in mismatches if m.deviation and self._listed(m.deviation)]
            failing = [m for m in mismatches if m not in deviating]
            for mismatch in mismatches:
                self._record_mismatch(check, result, mismatch, deviating=mismatch in deviating)
            cases = max(judgement.updates, len(mismatches))
            outside = self._differs_outside(check)
            verdicts = Counter(str(_verdict_of(check, mismatch)) for mismatch in failing)
            verdicts[str(Verdict.PASS)] = cases - len(mismatches)
            # What the worklog leaves free is a failure only where this version was observed to do otherwise.
            free = 0 if in_observed_range(self.version) else sum(m.liberty is not None for m in failing)
            counting = 0 if outside else len(failing) - free
            first = check.id == "updates/event-bytes"
            self.failed[check.id] = self.failed.get(check.id, 0) + counting
            self.sink(
                Block(
                    check=check.id,
                    subject=self.subject,
                    requirements=check.requirements,
                    block=result.number,
                    cases=cases,
                    verdicts={name: count for name, count in verdicts.items() if count},
                    failed=counting if outside or free else None,
                    updates_compared=judgement.updates if first else 0,
                    bytes_compared=judgement.bytes if first else 0,
                    bytes_predicted=judgement.predicted if first else 0,
                    bytes_by_rule=judgement.by_rule if first else 0,
                    bytes_on_trust=judgement.on_trust if first else 0,
                    texts_compared=judgement.texts if "text" in check.kinds else 0,
                    sizes_compared=judgement.sizes if "size" in check.kinds else 0,
                    mismatches=len(failing),
                    deviating=len(deviating),
                    deviations=dict(Counter(self._entry(m.deviation).id for m in deviating if m.deviation)),
                    census=dict(result.census) if first else {},
                    digest=result.digest if first else None,
                    seconds=result.seconds if first else 0.0,
                )
            )

    def report_problems(self, check: str, block: int, case: UpdateCase, problems: Sequence[SizeProblem]) -> None:
        """Verdicts for statements whose size is wrong, with the Case stored."""
        if not problems:
            return
        identity = case_id(case)
        path = self.store(dump_case(replace(case, id=identity)))
        for problem in problems:
            self.sink(
                CaseVerdict(
                    case=identity,
                    requirement=problem.requirement,
                    verdict=Verdict.DIFFERS if problem.free else Verdict.FAIL,
                    subject=self.subject,
                    check=check,
                    block=block,
                    field="size" if problem.step is None else f"statement {problem.step}",
                    expected=str(problem.expected),
                    got=str(problem.got),
                    message=problem.message,
                    signature=f"{check}:{problem.requirement}:{problem.message}",
                    replay=None if path is None else self.replay_of(path),
                    case_file=None if path is None else str(path),
                )
            )

    def not_applicable(self, check: str, requirement: str, reason: str) -> None:
        """A check that the subject's own features exclude."""
        self.sink(
            CaseVerdict(
                case=check,
                requirement=requirement,
                verdict=Verdict.NOT_APPLICABLE,
                subject=self.subject,
                check=check,
                block=0,
                message=reason,
            )
        )
        self.sink(
            Block(
                check=check,
                subject=self.subject,
                requirements=(requirement,),
                block=0,
                cases=1,
                verdicts={str(Verdict.NOT_APPLICABLE): 1},
            )
        )

    def asked_for(self, deviation: Deviation) -> bool:
        """Whether the run is about a requirement of a listed deviation, so that its witness belongs to it."""
        return not self.settings.requirements or not self.settings.requirements.isdisjoint(deviation.requirements)

    def _listed(self, deviation: str) -> bool:
        return any(entry.switch == deviation and applies(entry.versions, self.version) for entry in self.deviations)

    def _entry(self, deviation: str) -> Deviation:
        return next(entry for entry in self.deviations if entry.switch == deviation)

    def _differs_outside(self, check: UpdateCheck) -> bool:
        """Whether a mere difference does not count: the server is outside the versions that were observed."""
        return check.verdict is Verdict.DIFFERS and not in_observed_range(self.version)

    def _record_mismatch(self, check: UpdateCheck, result: BlockResult, mismatch: Mismatch, *, deviating: bool) -> None:
        name = signature(check.id, mismatch)
        if deviating:  # apart, so that what is listed hides no failure of the same kind
            name = f"{name}:{mismatch.deviation}"
        self._signatures[name] += 1
        self._shown += 1
        if self._shown > _VERDICTS and self._signatures[name] > 1:
            return
        path = None if result.case is None else self.store(result.case)
        replay = None if path is None else self.replay_of(path)
        deviation = self._entry(mismatch.deviation).id if deviating and mismatch.deviation else None
        self.sink(
            case_verdict(
                check.id,
                check.requirements[0],
                _verdict_of(check, mismatch),
                self.subject,
                result,
                mismatch,
                replay=replay,
                case_file=None if path is None else str(path),
                deviation=deviation,
            )
        )
        family = check.id.partition("/")[0]
        found = sum(known.startswith(f"{family}/") for known in self._signatures)
        if not deviating and self._signatures[name] == 1 and found <= _FINDINGS and path:
            self._shrink(check, result, mismatch, path, name)

    def replay_of(self, path: Path) -> str:
        """The command that runs a stored Case again."""
        return f"{self.settings.replay} {shlex.quote(str(path))}"

    def store(self, case: dict[str, Any]) -> Path | None:
        """Write a Case, as its file holds it, under its id; ``None`` if the run keeps none."""
        if self.settings.cases is None:
            return None
        path = self.settings.cases / f"{case['id']}.json"
        if not path.exists():  # an id has one content in a run, and a full disk must not cut what is stored already
            path.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
        return path

    def _shrink(self, check: UpdateCheck, result: BlockResult, mismatch: Mismatch, path: Path, name: str) -> None:
        """A finding: the smallest Case found with the same kind of failure, stored beside the first."""
        assert result.case is not None
        small = None
        if self.server is not None:
            self.narrate(f"shrinking {path.name} ({name})")
            refused = mismatch.field.startswith(REFUSED)
            small = shrink_live(self.server, result.case, check.kinds, mismatch.deviation, refused=refused)
        if small is None:
            small = result.case
        smaller = self.store(small) or path
        self.sink(
            Finding(
                signature=name,
                case=small["id"],
                case_file=str(smaller),
                replay=self.replay_of(smaller),
                requirement=check.requirements[0],
                subject=self.subject,
                check=check.id,
                size_before=len(json.dumps(result.case)),
                size_after=len(json.dumps(small)),
                message=mismatch.message or mismatch.field,
            )
        )


def _verdict_of(check: UpdateCheck, mismatch: Mismatch) -> Verdict:
    """Of one mismatch: what the worklog leaves free is a difference, whatever the check."""
    return check.verdict if mismatch.liberty is None else Verdict.DIFFERS
