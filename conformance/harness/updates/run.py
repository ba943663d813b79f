"""A campaign of generated updates on one server: blocks spread over worker processes, results in block order.

Each worker has its own session, schema and table; the thread id distinguishes their transactions in the shared binary
log. While one worker generates and judges, the server works for the other.
"""

from __future__ import annotations

import gc
import os
import signal
import time
import traceback
from collections import Counter, deque
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.updates.blocks import BlockResult, Limits, block_sizes, run_block
from conformance.requirements.versions import dialect_of
from conformance.servers.closing import interrupts_held
from conformance.servers.errors import ConnectionLost, ServerError
from conformance.servers.recording.tape import NoAnswer
from conformance.servers.run.attached import AttachedServer, Attachment
from conformance.servers.run.presence import has_semaphores
from conformance.servers.run.supervisor import PR_SET_PDEATHSIG, prctl
from generators.scalars import portable_doubles

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from conformance.reference.dialect import Dialect
    from conformance.servers.base import Server

_AHEAD: Final = 3  # blocks in flight for each worker


class CampaignFailed(Exception):
    """A worker failed. ``exit_code`` as in the command-line contract."""

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error of a worker, in a form that always pickles."""

    message: str
    exit_code: int
    connection_lost: bool


@dataclass(slots=True)
class Totals:
    """Sums over a campaign."""

    blocks: int = 0
    updates: int = 0
    statements: int = 0
    bytes: int = 0
    events: int = 0
    texts: int = 0
    sizes: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    census: Counter[str] = field(default_factory=Counter)

    def add(self, result: BlockResult) -> None:
        judgement = result.judgement
        self.blocks += 1
        self.updates += judgement.updates
        self.statements += result.statements
        self.bytes += judgement.bytes
        self.events += judgement.events
        self.texts += judgement.texts
        self.sizes += judgement.sizes
        self.mismatches += len(judgement.mismatches) + len(result.faults.found)
        self.census.update(result.census)


class Campaign:
    """``updates`` generated updates under ``seed``. Iterate over :meth:`results` once."""

    def __init__(
        self, server: Server, *, seed: int | str, updates: int, workers: int | None = None, portable: bool = False
    ) -> None:
        self.portable = portable  # doubles that servers with a fast parser read alike
        self.server = server
        self.seed = seed
        self.updates = updates
        self.workers = workers or min(4, os.cpu_count() or 1)
        self.totals = Totals()
        self.limits = server_limits(server)

    @property
    def sizes(self) -> list[int]:
        """Updates of each block."""
        return block_sizes(self.updates)

    def results(self) -> Generator[BlockResult]:
        """Blocks as they are judged, in order."""
        sizes = self.sizes
        workers = min(self.workers, len(sizes)) or 1
        attachment = Attachment.of(self.server)
        pool: Executor = (
            ProcessPoolExecutor(
                workers,
                mp_context=get_context("fork"),  # all are forked before the pool starts its thread
                initializer=_start_worker,
                initargs=(attachment, os.getpid(), self.portable),
            )
            if self.server.attachable and has_semaphores()
            else _OneProcess(
                AttachedServer(attachment) if self.server.attachable else self.server, portable=self.portable
            )
        )
        waiting: deque[Future[BlockResult | _Failure]] = deque()
        try:
            # Processes that start here never see Ctrl-C: it is the parent's, and would break off their imports with a
            # traceback.
            with interrupts_held(signal.SIGINT):
                ready = pool.map(_ready, range(workers))
            list(ready)  # the interpreters' start and the sessions are not the updates' time
            begun = time.perf_counter()
            number = 0
            while number < len(sizes) or waiting:
                while number < len(sizes) and len(waiting) < _AHEAD * workers:
                    waiting.append(pool.submit(_work, self.seed, number, self.limits, sizes[number]))
                    number += 1
                result = waiting.popleft().result()
                if isinstance(result, _Failure):
                    raise self._failed(result)
                self.totals.add(result)
                self.totals.seconds = time.perf_counter() - begun
                yield result
        except BrokenProcessPool as error:
            raise CampaignFailed(f"a worker process of the lab ended: {error}") from error
        finally:
            for future in waiting:
                future.cancel()
            _stop(pool)

    def _failed(self, failure: _Failure) -> CampaignFailed:
        message = failure.message
        if failure.connection_lost:
            fate = self.server.fate(ConnectionLost(message))
            message = str(fate)
        return CampaignFailed(message, failure.exit_code)


def server_limits(server: Server, dialect: Dialect | None = None) -> Limits:
    """Ask a server for the settings that shape events. ``dialect``: what the server showed, where that is known."""
    with server.connect() as connection:
        return Limits(
            row_metadata=(connection.variable("global.binlog_row_metadata") or "MINIMAL").upper(),
            row_event_max_size=int(connection.variable("global.binlog_row_event_max_size") or 8192),
            dialect=dialect or dialect_of(server.number),
        )


class _OneProcess(Executor):
    """The pool where processes cannot share semaphores, or not the server: the lab itself does the work, at once."""

    def __init__(self, server: Server, *, portable: bool) -> None:
        _attach(server, portable=portable)

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Do the work. It returns its errors; what it raises is for the caller, as Ctrl-C is."""
        future: Future[Any] = Future()
        future.set_result(work(*arguments, **options))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - as every pool
        """Close the session."""
        for name in ("stack", "doubles"):
            if name in _worker:
                _worker[name].close()
        _worker.clear()


def _stop(pool: Executor) -> None:
    """End the workers; kill those that wait for a dead or hanging server."""
    with _undisturbed():
        processes = active_children()
        pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + 5
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join(5)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C does not break off the clean-up, which takes some seconds at most."""
    if current_thread() is not main_thread():
        yield
        return
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


# --- in the worker ---------------------------------------------------------------------------------------------------

_worker: dict[str, Any] = {}


def _start_worker(attachment: Attachment, parent: int, portable: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # without the parent's handlers
    gc.freeze()  # the modules stay: the garbage collector need not visit them
    gc.set_threshold(10_000)  # documents make many objects and few cycles
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    _attach(AttachedServer(attachment), portable=portable)


def _attach(server: Server, *, portable: bool) -> None:
    _worker["server"] = server
    _worker["doubles"] = stack = ExitStack()  # kept until the process ends
    stack.enter_context(portable_doubles(portable))


def _ready(_: int) -> None:
    """Open the session ahead of the first block."""
    _session()
    time.sleep(0.05)  # so that every worker takes one


def _session() -> dict[str, Any]:
    if "schema" not in _worker:
        server: Server = _worker["server"]
        stack = ExitStack()
        connection = stack.enter_context(server.connect())
        _worker["connection"] = connection
        _worker["capture"] = server.capture()
        _worker["schema"] = stack.enter_context(server.schema(connection))
        _worker["stack"] = stack
        import atexit

        # multiprocessing runs its own finalizers only: they come before the session is lost.
        from multiprocessing.util import Finalize

        Finalize(None, stack.close, exitpriority=10)
        atexit.register(stack.close)
    return _worker


def _end_session() -> None:
    """Give up the session; the next block opens another, in another schema."""
    stack = _worker.pop("stack")
    for name in ("connection", "capture", "schema"):
        del _worker[name]
    with suppress(ServerError, NoAnswer):
        stack.close()


def _work(seed: int | str, number: int, limits: Limits, updates: int) -> BlockResult | _Failure:
    try:
        session = _session()
        result = run_block(session["connection"], session["capture"], session["schema"], seed, number, limits, updates)
        if session["connection"].closed:  # an answer of its may be half read
            _end_session()
        return result
    except ServerError as error:
        return _Failure(str(error), error.exit_code, isinstance(error, ConnectionLost))
    except NoAnswer:
        raise  # a recording is judged in this process
    except Exception as error:  # noqa: BLE001 - a defect of the kit must travel as well, and say where it shows
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
        return _Failure(
            f"the lab failed in block {number} of seed {seed}: {type(error).__name__}: {error} ({where})", 3, False
        )
