"""Checks side by side: forked workers with servers of their own, and one stream in the order of the checks.

The run collects the checks and starts the stream. Then it forks its workers, before it has a server or a session. A
worker runs one module of checks after the other as pytest would, and sends what it would have written. The run writes
that in the order of the checks, whichever worker was first. So the report is the same for any number of workers.
"""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias

from conformance.checks.lanes import Lanes
from conformance.servers.run.directories import remove_orphans
from conformance.servers.run.supervisor import PR_SET_PDEATHSIG, prctl
from conformance.stream import Asked, Block, CaseVerdict, Progress, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    import pytest

    from conformance.stream import AnyRecord

    Work: TypeAlias = "Callable[[Link], None]"

_FORK: Final = get_context("fork")  # the workers have the collected checks, without collecting them again
_ENDING_SECONDS: Final = 120  # that a worker may take to stop its servers


class Stop(NamedTuple):
    """Why the lab cannot go on. ``usage``: the command was wrong."""

    message: str
    usage: bool = False


class Ended(NamedTuple):
    """The report of a worker about a check that has ended. ``rate``: updates in a second, where it ran the campaign.

    ``errors``: why it could not run, where the run goes on without it.
    """

    check: int
    outcome: str
    rate: float
    stop: Stop | None
    errors: tuple[str, ...] = ()


class Worker(NamedTuple):
    """A worker as the run sees it."""

    process: ForkProcess
    link: Connection


# --- in the run ------------------------------------------------------------------------------------------------------


class SideBySide:
    """The checks of a run on some workers. ``most``: how many at most. ``name``: gives a check's name for people.

    ``enough``: asked with ``failed``, whether a Case has failed; true where no further module of checks is to begin.
    """

    def __init__(
        self,
        checks: list[pytest.Item],
        *,
        sink: Callable[[AnyRecord], None],
        narrate: Callable[[str], None],
        name: Callable[[pytest.Item], str],
        most: int,
        enough: Callable[..., object] = lambda **_: False,
    ) -> None:
        self._checks = checks
        self._sink = sink
        self._narrate = narrate
        self._name = name
        self._enough = enough
        self._failed = False  # a Case has, perhaps of a check whose records wait for their turn
        self._modules: dict[str, list[int]] = defaultdict(list)
        for number, check in enumerate(checks):
            self._modules[str(check.path)].append(number)
        self._lanes = Lanes((str(check.path), check.path.parent.name) for check in self._firsts())
        self.workers = self._lanes.workers(most)
        self._next = 0  # the check whose records are written at once
        self._early: dict[int, list[AnyRecord]] = defaultdict(list)  # of checks after it
        self._subjects: dict[str, list[Subject | Asked]] = defaultdict(list)  # told, and perhaps not yet written
        self._ended: set[int] = set()
        self._introduced: list[AnyRecord] = []  # every worker tells the same of its server
        self._told: set[str] = set()
        self.rate = 0.0
        self.errors: list[str] = []  # of checks that could not run

    @property
    def ended(self) -> int:
        """How many checks have ended."""
        return len(self._ended)

    def _firsts(self) -> list[pytest.Item]:
        return [self._checks[numbers[0]] for numbers in self._modules.values()]

    def run(self, work: Work, finish: Callable[[], None]) -> Stop | None:
        """Run all checks. ``work`` is what a worker does, ``finish`` how it ends: nothing is left running."""
        workers: list[Worker] = []
        try:
            for _ in range(self.workers):
                workers.append(_fork(work, finish, [worker.link for worker in workers]))
            return self._follow(workers)
        finally:
            _end(workers)
            for number in sorted(self._early):
                self._write(number)

    def _follow(self, workers: list[Worker]) -> Stop | None:
        """Give out modules and take what comes, until all workers have ended or one cannot go on."""
        numbers = {worker.link: number for number, worker in enumerate(workers)}
        released = set()
        while numbers:
            for ready in wait(list(numbers)):
                link: Any = ready
                try:
                    message = link.recv()
                except (EOFError, ConnectionResetError):
                    number = numbers.pop(link)
                    if number not in released:
                        return Stop(f"a worker process of the lab ended: number {number + 1} of {len(workers)}")
                    continue
                if message is None:
                    module = None if self._enough(failed=self._failed) else self._lanes.take(numbers[link])
                    if module is None:
                        released.add(numbers[link])
                    link.send(None if module is None else self._modules[module])
                elif isinstance(message, Ended):
                    if message.stop is not None:
                        return message.stop
                    self._end_of(message)
                elif isinstance(message, str):
                    self._tell(message)
                else:
                    self._take(*message)
        return None

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._narrate(text)

    def _take(self, check: int, record: AnyRecord) -> None:
        """Write a record when its turn has come; progress is shown at once."""
        if isinstance(record, Progress):
            self._sink(record)
            return
        if isinstance(record, Subject | Asked):
            self._subjects[record.id if isinstance(record, Subject) else record.subject].append(record)
        self._failed = self._failed or (isinstance(record, CaseVerdict) and record.verdict.failing)
        self._early[check].append(record)
        if check == self._next:
            self._write(check)

    def _write(self, check: int) -> None:
        for record in self._early.pop(check, ()):
            if isinstance(record, Subject | Asked):
                self._introduce(record)
                continue
            if isinstance(record, Block | CaseVerdict):
                # Its worker may have told of the server in a check that ran before and comes later.
                for other in self._subjects.pop(record.subject, ()):
                    self._introduce(other)
            self._sink(record)

    def _introduce(self, record: Subject | Asked) -> None:
        if record not in self._introduced:
            self._introduced.append(record)
            self._sink(record)

    def _end_of(self, ended: Ended) -> None:
        """A check is over: its verdicts are shown, and those of the checks that waited for it are written."""
        self.rate = ended.rate or self.rate
        self.errors += ended.errors
        self._ended.add(ended.check)
        while self._next in self._ended:
            self._write(self._next)
            self._next += 1
        self._write(self._next)
        note = f"{self._name(self._checks[ended.check])}: {ended.outcome}"
        self._sink(Progress(label="checks", done=len(self._ended), total=len(self._checks), unit="checks", note=note))


def _fork(work: Work, finish: Callable[[], None], others: list[Connection]) -> Worker:
    here, there = _FORK.Pipe()
    process = _FORK.Process(target=_work, args=(work, finish, there, [here, *others], os.getpid()))
    process.start()
    there.close()
    return Worker(process, here)


def _end(workers: list[Worker]) -> None:
    """End the workers, which stop their servers; a second Ctrl-C does not break that off."""
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for worker in workers:
            worker.link.close()
            if worker.process.is_alive():
                worker.process.terminate()
        for worker in workers:
            worker.process.join(_ENDING_SECONDS)
            if worker.process.is_alive():  # its servers end with it
                worker.process.kill()
                worker.process.join()
        remove_orphans()  # what a worker was removing when a signal broke that off
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


# --- in a worker -----------------------------------------------------------------------------------------------------


class Link:
    """The way from a worker to the run."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.check = 0  # the running one, or that which ran last
        self.begun = False  # whether one has run

    def write(self, record: AnyRecord) -> None:
        """Send a record of the running check."""
        self._send((self.check, record))

    def tell(self, text: str) -> None:
        """Send a message for the user."""
        self._send(text)

    def end(self, outcome: str, *, rate: float = 0.0, stop: Stop | None = None, errors: tuple[str, ...] = ()) -> None:
        """Send that the running check has ended."""
        self._send(Ended(self.check, outcome, rate, stop, errors))

    def _send(self, message: object) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the run ends: its signal is on the way
            self._connection.send(message)

    def modules(self) -> Iterator[list[int]]:
        """The checks of one module after the other, as long as there are some."""
        while True:
            self._send(None)
            checks = self._connection.recv()
            if checks is None:
                return
            yield checks


def _terminated(*_: object) -> NoReturn:
    signal.alarm(_ENDING_SECONDS)  # ends this process and so its servers, also where no run is left to do it
    raise KeyboardInterrupt


def _work(
    work: Work, finish: Callable[[], None], connection: Connection, inherited: list[Connection], parent: int
) -> None:
    """A worker from its fork to its end. Ctrl-C at a terminal is for the run, which then ends its workers in order."""
    signal.signal(signal.SIGTERM, _terminated)
    os.setpgid(0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    for other in inherited:
        other.close()
    link = Link(connection)
    try:
        if os.getppid() == parent:
            work(link)
    except (KeyboardInterrupt, EOFError):
        pass  # the run ends
    except Exception as error:  # noqa: BLE001 - no traceback of a worker; the run says that the lab failed
        link.end("error", stop=Stop(f"the lab failed: {type(error).__name__}: {error}"))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        finish()
        connection.close()
