"""The channels to a subject.

Subjects are a server that takes BINLOG statements, an applier of transactions in a relay log, a replica that reads
arbitrary relay logs, or mysqlbinlog.

Each channel gives inputs to its subject, watches it, has the outcome judged, and restarts a dead subject. It shrinks an
input by trying ever smaller ones. The server for statements never has a replica's threads: after those, 9.7.4 does not
execute BINLOG statements safely (``servers.roles.applier``).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from conformance.cases.by_hand.applier_transaction import ApplierTransaction
from conformance.cases.bytes_case import bytes_id
from conformance.cases.shrinking.events import mended, shrink_injection
from conformance.cases.shrinking.files import shrink_file
from conformance.judge.damage.crashes import damage_of, damage_of_log
from conformance.judge.damage.mysqlbinlog import HUNG, judge_survival
from conformance.judge.damage.relay_logs import damage_of_relay_log
from conformance.servers.roles.applier_cases import apply_transactions, transaction_script
from conformance.servers.roles.injector import crash_report, script
from conformance.servers.roles.mysqlbinlog import print_bytes
from conformance.servers.roles.relay_log_applier import log_script
from fuzz.campaigns import inputs
from fuzz.campaigns.inputs import APPLIER, CLIENT, MUTATED_LOG, REPLICA, STATEMENTS
from fuzz.campaigns.shrink_log import shrink_log
from generators.streams import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from conformance.cases.by_hand.injection import Injection
    from conformance.cases.bytes_case import BytesCase
    from conformance.servers.programs import Program
    from conformance.servers.roles.applier import Applier
    from conformance.servers.roles.injector import Injector
    from conformance.servers.roles.relay_log_applier import LogEnd, LogReader
    from conformance.servers.run.owned import OwnServer
    from fuzz.campaigns.inputs import RelayLog
    from fuzz.campaigns.trial import Bench, Trial


class Channel(Protocol):
    """The interface that a campaign needs of each channel."""

    name: str
    together: bool  # whether a whole batch goes to the subject at once
    bench: Bench

    @property
    def restarts(self) -> int:
        """How often the channel had to restart its subject."""

    def inputs(self, seed: str, batch: int) -> Sequence[Any]:
        """The inputs of one batch."""

    def put(self, cases: Sequence[Any]) -> Generator[Trial]:
        """Give the inputs to the subject; yield each outcome, in order."""

    def damage_of(self, case: Any) -> str:
        """The listed damage in an input, or an empty text."""

    def smaller(self, shrinking: Shrinking, seconds: float) -> Trial:
        """The smallest input found in the time that has the same outcome."""

    def script(self, trial: Trial) -> tuple[str, ...]:
        """Statements that repeat the outcome; none for a file."""

    def crash_report(self, trial: Trial) -> str:
        """The crash report of a dead subject, if it writes one."""


class Shrinking:
    """Tries ever smaller inputs on a channel; ``last`` is the latest trial with the same outcome as ``trial``.

    ``exactly``: the stack of a death counts too, where the death is a listed one.
    """

    def __init__(self, channel: Channel, trial: Trial, *, exactly: bool = False) -> None:
        self.channel = channel
        self.trial = trial
        self.last = trial
        self.exactly = exactly

    def same(self, case: Any) -> bool:
        """Whether an input has the same outcome."""
        (again,) = self.channel.put([case])
        if self.exactly and self.trial.sign != again.sign:
            return False
        if not self.channel.bench.same(self.trial, again):
            return False
        self.last = again
        return True

    def smallest(self) -> Trial:
        """The smallest trial so far, with the place of the first one."""
        return replace(self.last, place=self.trial.place)


class Statements:
    """Events in BINLOG statements, each in a transaction that is rolled back."""

    name = STATEMENTS
    together = False

    def __init__(self, injector: Injector, bench: Bench) -> None:
        self.injector = injector
        self.bench = bench

    @property
    def restarts(self) -> int:
        return self.injector.deaths

    def inputs(self, seed: str, batch: int) -> list[Injection]:
        return inputs.statements(self.bench.campaign, seed, batch)

    def put(self, cases: Sequence[Injection]) -> Generator[Trial]:
        for case, outcome in zip(cases, self.injector.run(cases), strict=True):
            yield self.bench.of_statement(case, outcome)

    def damage_of(self, case: Injection) -> str:
        return damage_of(case.image)

    def smaller(self, shrinking: Shrinking, seconds: float) -> Trial:
        case: Injection = shrinking.trial.case  # type: ignore[assignment]
        shrink_injection(case, lambda row: not mended(row) and shrinking.same(row), seconds=seconds)
        return shrinking.smallest()

    def script(self, trial: Trial) -> tuple[str, ...]:
        return script(trial.case, self.injector.server.version)  # type: ignore[arg-type]

    def crash_report(self, trial: Trial) -> str:
        return _crash_report(self.injector.server, trial)


class Transactions:
    """Events in transactions of a relay log, for a real applier with four workers."""

    name = APPLIER
    together = True

    def __init__(self, applier: Applier, bench: Bench) -> None:
        self.applier = applier
        self.bench = bench

    @property
    def restarts(self) -> int:
        return self.applier.deaths

    def inputs(self, seed: str, batch: int) -> list[ApplierTransaction]:
        return inputs.transactions(self.bench.campaign, seed, batch)

    def put(self, cases: Sequence[ApplierTransaction]) -> Generator[Trial]:
        for case, outcome in zip(cases, apply_transactions(self.applier, cases), strict=True):
            yield self.bench.of_transaction(case, outcome)

    def damage_of(self, case: ApplierTransaction) -> str:
        return next(filter(None, (damage_of(row.image) for row in case.rows)), "")

    def smaller(self, shrinking: Shrinking, seconds: float) -> Trial:
        """Reduce the transaction to one row without neighbours, if one row is enough; then shrink the row like a
        statement's.
        """
        case = shrinking.trial.case
        assert isinstance(case, ApplierTransaction)

        def fails(candidate: ApplierTransaction) -> bool:
            return not any(mended(row) for row in candidate.rows) and shrinking.same(candidate)

        singles = [single(case, number) for number in range(len(case.rows))]
        alone = next((case for case in singles if fails(case)), None)
        if alone is not None:
            shrink_injection(alone.rows[0], lambda row: fails(replace(alone, rows=(row,))), seconds=seconds)
        return shrinking.smallest()

    def script(self, trial: Trial) -> tuple[str, ...]:
        return transaction_script(trial.case, self.applier.server.version)  # type: ignore[arg-type]

    def crash_report(self, trial: Trial) -> str:
        return _crash_report(self.applier.server, trial)


def _crash_report(server: OwnServer, trial: Trial) -> str:
    """The crash report of a death; empty for other findings: the last report belongs to another input."""
    return crash_report(server.error_log(), trial.death, server.program_file) if trial.death else ""


def single(case: ApplierTransaction, number: int) -> ApplierTransaction:
    """One row of a transaction, and nothing beside it."""
    repaired = None if case.repaired is None else case.repaired[number : number + 1]
    return ApplierTransaction(rows=(case.rows[number],), repaired=repaired)


class Logs:
    """Relay logs of any events, for some replicas side by side. The campaign ignores their effect on its tables."""

    name = REPLICA
    together = True

    def __init__(self, readers: Sequence[LogReader], bench: Bench) -> None:
        self.readers = readers
        self.bench = bench
        self._free: SimpleQueue[LogReader] = SimpleQueue()
        for reader in readers:
            self._free.put(reader)

    @property
    def restarts(self) -> int:
        return sum(reader.restarts for reader in self.readers)

    def inputs(self, seed: str, batch: int) -> list[RelayLog]:
        return inputs.logs(seed, batch)

    def put(self, cases: Sequence[RelayLog]) -> Generator[Trial]:
        with ThreadPoolExecutor(len(self.readers)) as threads:
            ends = threads.map(self._read, cases)
            try:
                for case, end in zip(cases, ends, strict=True):
                    yield self.bench.of_log(case, end)
            finally:
                threads.shutdown(cancel_futures=True)

    def _read(self, case: RelayLog) -> LogEnd:
        reader = self._free.get()
        try:
            end = reader.read(case.data, TABLES)
            if self.damage_of(case):  # a later death of the server would be blamed on another log
                reader.retire()
            return end
        finally:
            self._free.put(reader)

    def damage_of(self, case: RelayLog) -> str:
        return damage_of_relay_log(case.data)

    def smaller(self, shrinking: Shrinking, seconds: float) -> Trial:
        case: RelayLog = shrinking.trial.case  # type: ignore[assignment]
        shrink_log(case.data, lambda data: shrinking.same(case._replace(data=data)), seconds=seconds)
        return shrinking.smallest()

    def script(self, trial: Trial) -> tuple[str, ...]:
        return log_script(trial.case.data, TABLES)  # type: ignore[union-attr]

    def crash_report(self, trial: Trial) -> str:
        return trial.report


class Files:
    """Files for mysqlbinlog, each in a process of its own whose time and memory are watched.

    ``jobs``: how many processes run side by side.
    """

    name = CLIENT
    together = True

    def __init__(self, program: Program, bench: Bench, jobs: int = 1) -> None:
        self.program = program
        self.jobs = jobs
        self.bench = bench
        self.restarts = 0  # the program is started for every file

    def inputs(self, seed: str, batch: int) -> list[BytesCase]:
        return inputs.files(seed, batch)

    def put(self, cases: Sequence[BytesCase]) -> Generator[Trial]:
        with ThreadPoolExecutor(self.jobs) as threads:
            ends = threads.map(lambda case: print_bytes(self.program, case.data), cases)
            try:
                for case, end in zip(cases, ends, strict=True):
                    yield self.bench.of_file(judge_survival(case, HUNG if end.status is None else end.status, end.peak))
            finally:
                threads.shutdown(cancel_futures=True)

    def damage_of(self, case: BytesCase) -> str:
        return damage_of_log(case.data)

    def smaller(self, shrinking: Shrinking, seconds: float) -> Trial:
        case: BytesCase = shrinking.trial.case  # type: ignore[assignment]

        def fails(data: bytes) -> bool:
            return shrinking.same(replace(case, id=bytes_id(case.subject, data), data=data))

        shrink: Callable[..., None] = shrink_log if case.name == MUTATED_LOG else shrink_file
        shrink(case.data, fails, seconds=seconds)
        return shrinking.smallest()

    def script(self, trial: Trial) -> tuple[str, ...]:  # noqa: ARG002 - it is no statement
        return ()

    def crash_report(self, trial: Trial) -> str:  # noqa: ARG002 - it writes none that tells more than its signal
        return ""
