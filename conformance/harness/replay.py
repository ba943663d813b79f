"""A stored Case of any kind once more: run, judged, and reported in a few lines.

``binlog-lab replay`` uses it, and so does the check of promoted Cases.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.bytes_case import BytesCase
from conformance.cases.sql_case import SqlCase
from conformance.harness import injections
from conformance.harness.check import GUEST
from conformance.harness.pairs.run import REPLICAS
from conformance.harness.pairs.shrinking import judge_on_pair
from conformance.harness.scripts.run import try_script
from conformance.harness.shrinking import judge_live
from conformance.harness.sql_cases import judge_live_sql
from conformance.harness.updates.run import server_limits
from conformance.judge.damage import listed
from conformance.judge.damage.mysqlbinlog import HUNG, PrintedLog, judge_print
from conformance.judge.replica import LogDiffersError
from conformance.reference.errors import CodecError
from conformance.replay_word import Word
from conformance.servers.errors import ServerDied, ServerError, ServerUnavailable
from conformance.servers.roles.injector import Injector, launch_target
from conformance.servers.roles.mysqlbinlog import print_bytes
from conformance.servers.run.owned import OwnServer
from conformance.servers.settings.listed import beside
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.cases.by_hand.scripted import Script
    from conformance.cases.files import AnyCase
    from conformance.harness.injections import Tried
    from conformance.harness.topology import Pairs
    from conformance.judge.sql import SqlVerdict
    from conformance.judge.updates.mismatch import Mismatch
    from conformance.requirements.deviations import Deviation
    from conformance.servers.base import Server
    from conformance.servers.programs import Program

_SHOWN: Final = 5  # differences printed for a Case


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """``lines``: the report for people. ``deviations``: ids of the listed ones that explain all differences."""

    word: Word
    lines: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()


def replay_case(
    server: Server,
    case: AnyCase,
    entries: Sequence[Deviation],
    *,
    pairs: Pairs,
    injector: Callable[[], Injector | None] = lambda: None,
) -> ReplayOutcome:
    """Run a Case. ``entries``: the deviations that are listed for the server's version. ``injector``: an existing
    target for events; without it, one is started for this Case."""
    if isinstance(server, OwnServer) and not server.alive():
        return ReplayOutcome(Word.ERROR, ("the server is gone since an earlier Case: replay this one by itself",))
    try:
        if isinstance(case, EventCase):
            return _event(server, case, entries, injector())
        if isinstance(case, BytesCase):
            return _file(server, case, entries)
        if isinstance(case, SqlCase):
            return _statements(server, case, entries, pairs)
        if case.topology is not None:
            unavailable = pairs.available(gtid=case.topology.gtid)
            if unavailable is not None:
                return ReplayOutcome(Word.ERROR, (unavailable.reason,))
            return _described(judge_on_pair(pairs, case, server_limits(server)), entries)
        result = judge_live(server, case)
        return _described([*result.judgement.mismatches, *result.faults.found], entries)
    except ServerDied as death:
        return ReplayOutcome(Word.DIED, tuple(str(death).splitlines()[:_SHOWN]))
    except (ServerError, CodecError, LogDiffersError, TypeError) as problem:
        return ReplayOutcome(Word.ERROR, tuple(str(problem).splitlines()[:_SHOWN]))


def _event(server: Server, case: EventCase, entries: Sequence[Deviation], ready: Injector | None) -> ReplayOutcome:
    """Run the event in a server beside the one under test: of the same installation, and without GTIDs."""
    if not isinstance(server, OwnServer):
        raise ServerUnavailable("an event is put only into a server that the lab starts itself")
    own = Injector(launch_target(server.maker, options=beside(server.options))) if ready is None else None
    with own or nullcontext(ready) as injector:
        assert injector is not None
        item = injections.try_one(injector, case.injection, server.number, case.seed)
    return _tried(item, server, entries)


def replay_script(server: Server, script: Script, entries: Sequence[Deviation]) -> ReplayOutcome:
    """Run a script on a server of its own, of the installation of ``server``."""
    if not isinstance(server, OwnServer):
        return ReplayOutcome(Word.ERROR, ("a script runs only on a server that the lab starts itself",))
    try:
        return _tried(try_script(server.maker, script), server, entries)
    except (ServerError, CodecError) as problem:
        return ReplayOutcome(Word.ERROR, tuple(str(problem).splitlines()[:_SHOWN]))


def _tried(item: Tried, server: Server, entries: Sequence[Deviation]) -> ReplayOutcome:
    if item.judged.verdict is Verdict.PASS:
        return ReplayOutcome(Word.PASS)
    entry = injections.explaining(entries, server.number, item)
    if entry is not None:
        return _listed([entry.id], [entry], f" ({item.crash})" if item.crash else "")
    judged = item.judged
    return _failed(item.name, judged.rule, judged.expected, judged.got, died=bool(item.death))


def print_file(program: Program, case: BytesCase) -> PrintedLog:
    """Run mysqlbinlog on a file and judge what it does (P9)."""
    end = print_bytes(program, case.data)
    return judge_print(case, HUNG if end.status is None else end.status, end.text, end.peak)


def _file(server: Server, case: BytesCase, entries: Sequence[Deviation]) -> ReplayOutcome:
    item = print_file(server.client_program(case.subject), case)
    if item.verdict is Verdict.PASS:
        return ReplayOutcome(Word.PASS)
    entry = listed.explaining(entries, server.number, crash=item.crash)
    if entry is not None:
        return _listed([entry.id], [entry], f" ({item.crash})")
    died = item.verdict is Verdict.CRASH
    return _failed(case.name or "file", item.message, item.expected, item.got, died=died)


def _failed(what: str, message: str, expected: str, got: str, *, died: bool) -> ReplayOutcome:
    lines = (f"{what}: {message}", f"    expected {expected[:300]}", f"    got      {got[:300]}")
    return ReplayOutcome(Word.DIED if died else Word.FAILED, lines)


def _listed(names: Iterable[str], entries: Sequence[Deviation], more: str = "") -> ReplayOutcome:
    """The outcome of a Case that listed deviations explain. ``names``: switches, or ids of deviations without a
    switch."""
    known = sorted(set(names))
    ids = tuple(entry.id for entry in entries if (entry.switch or entry.id) in known or entry.id in known)
    return ReplayOutcome(Word.DEVIATES, (f"listed deviation: {', '.join(known)}{more}",), ids)


def _statements(server: Server, case: SqlCase, entries: Sequence[Deviation], pairs: Pairs) -> ReplayOutcome:
    if case.needs_own_server and not server.started_by_us:
        return ReplayOutcome(Word.ERROR, (f"the Case {GUEST}",))
    if not case.has_replica:
        return _described_statements(case, judge_live_sql({"source": server}, case), entries)
    unavailable = pairs.available(gtid=True)
    if unavailable is not None:
        return ReplayOutcome(Word.ERROR, (unavailable.reason,))
    with pairs.use(gtid=True) as pair:
        pair.configure(REPLICAS[0].variables())
        return _described_statements(case, judge_live_sql({}, case, pair), entries)


def _described_statements(case: SqlCase, verdicts: Iterable[SqlVerdict], entries: Sequence[Deviation]) -> ReplayOutcome:
    names = {entry.switch or entry.id for entry in entries}
    found = [verdict for verdict in verdicts if verdict.failing]
    wrong = [verdict for verdict in found if verdict.deviation not in names]
    lines = []
    for verdict in wrong[:_SHOWN]:
        lines.append(f"statement {verdict.index}: {verdict.field}: {case.statements[verdict.index].text}")
        lines += [f"    expected {verdict.expected[:300]}", f"    got      {verdict.got[:300]}"]
    if wrong:
        return ReplayOutcome(Word.FAILED, tuple(lines))
    return _listed([str(verdict.deviation) for verdict in found], entries) if found else ReplayOutcome(Word.PASS)


def _described(found: Sequence[Mismatch], entries: Sequence[Deviation]) -> ReplayOutcome:
    names = {entry.switch or entry.id for entry in entries}
    wrong = [mismatch for mismatch in found if mismatch.deviation not in names or mismatch.deviation is None]
    lines = []
    for mismatch in wrong[:_SHOWN]:
        step = "start rows" if mismatch.step is None else f"statement {mismatch.step}"
        lines.append(f"{step}: {mismatch.kind} {mismatch.field}: {mismatch.message}".rstrip(": "))
        if mismatch.evidence:
            lines += [f"    {i.field}: expected {i.expected}, got {i.got}" for i in mismatch.evidence[:_SHOWN]]
        else:
            lines.append(f"    expected {mismatch.expected[:300]}")
            lines.append(f"    got      {mismatch.got[:300]}")
    if wrong:
        return ReplayOutcome(Word.FAILED, tuple(lines))
    return _listed([str(mismatch.deviation) for mismatch in found], entries) if found else ReplayOutcome(Word.PASS)
