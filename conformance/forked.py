"""Child processes of a command, each for one piece of its work.

A child is a copy of the command. What it prints goes to two temporary files without names, so that nobody holds it in
memory; what it returns comes back through a pipe. The command ends its children with itself, however it ends.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, Self, cast

from conformance.servers.run.supervisor import PR_SET_PDEATHSIG, prctl
from conformance.user_errors import CouldNotRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from typing import BinaryIO

_FORK: Final = get_context("fork")  # the children have what the command has imported and read
_PIECE: Final = 1 << 20
_END_SECONDS: Final = 30.0  # for a child that has a server to stop


class ChildLostError(CouldNotRun):
    """A child ended without a result: something outside killed it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="the output ends before its part")


@dataclass(slots=True, eq=False)
class Child:
    """A child, its two outputs, and once it is ``done`` what it returned or raised."""

    process: ForkProcess
    link: Connection
    output: BinaryIO
    messages: BinaryIO
    done: bool = False
    result: Any = None
    error: BaseException | None = None

    def take(self) -> Any:
        """Return what the child returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self.result

    def printed(self) -> Iterator[bytes]:
        """Return the pieces that the child wrote to standard output."""
        return _pieces(self.output)

    def told(self) -> Iterator[str]:
        """Yield the pieces that the child wrote to standard error."""
        self.messages.seek(0)
        text = _text(self.messages)
        while piece := text.read(_PIECE):
            yield piece
        text.detach()

    def close(self) -> None:
        """Drop its outputs; end it if it still runs."""
        self.link.close()
        _end([self.process])
        self.output.close()
        self.messages.close()


class Children:
    """At most ``most`` children at a time. Leaving the context ends those that still run."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: list[Child] = []
        self._all: set[Child] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _end([child.process for child in self._all])
        for child in list(self._all):
            self.drop(child)

    @property
    def free(self) -> bool:
        """Whether another child may start."""
        return len(self._running) < self._most

    def start(self, work: Callable[[], Any]) -> Child:
        """Start a child that does this work, with what it prints in files."""
        sys.stdout.flush()  # or the child has a copy of what waits there
        output, messages = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        here, there = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_work, args=(work, output, messages, there, os.getpid()))
        process.start()
        there.close()
        child = Child(process, here, output, messages)
        self._running.append(child)
        self._all.add(child)
        return child

    def wait(self, seconds: float | None = None) -> None:
        """Wait until at least one child is done, or so long."""
        ready = set(wait([child.link for child in self._running], seconds))
        for child in [child for child in self._running if child.link in ready]:
            self._running.remove(child)
            child.done = True
            try:
                child.result, child.error = child.link.recv()
            except (EOFError, ConnectionResetError):
                child.process.join()
                raise ChildLostError(_how_it_ended(child.process.exitcode)) from None
            child.process.join()

    def drop(self, child: Child) -> None:
        """Forget a child and its outputs, whether it is done or not."""
        if child in self._running:
            self._running.remove(child)
        self._all.discard(child)
        child.close()


def in_order(children: Children, works: Iterator[Callable[[], Any]], *, ahead: int) -> Iterator[Child]:
    """Do all works, and return their children in order; at most ``ahead`` of them wait for their turn.

    A child that is returned is done, and is dropped when the next one is asked for.
    """
    waiting: list[Child] = []
    more = True
    while more or waiting:
        while more and children.free and len(waiting) < ahead:
            work = next(works, None)
            if work is None:
                more = False
            else:
                waiting.append(children.start(work))
        if not waiting:
            return
        if waiting[0].done:
            child = waiting.pop(0)
            yield child
            children.drop(child)
        else:
            children.wait()


def _end(processes: Sequence[ForkProcess]) -> None:
    """Ask processes to end, for the sake of those that have servers; kill what does not. A second Ctrl-C kills too."""
    try:
        for process in processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + _END_SECONDS
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
            process.join()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(_PIECE):
        yield piece


def _text(file: BinaryIO) -> io.TextIOWrapper:
    """A file of text in which every text of Python comes back as it went."""
    return io.TextIOWrapper(cast("io.BufferedRandom", file), encoding="utf-8", errors="surrogatepass", newline="\n")


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"a worker process was ended by {signal.Signals(-code).name}"
    return f"a worker process ended with exit code {code}"


def _work(work: Callable[[], Any], output: BinaryIO, messages: BinaryIO, link: Connection, parent: int) -> None:
    """A child from its fork to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its children
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    sys.stdout, sys.stderr = _text(output), _text(messages)
    result: tuple[Any, BaseException | None]
    try:
        result = work(), None
    except Exception as error:  # noqa: BLE001 - the command raises it
        result = None, error
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        data = pickle.dumps(result)
    except Exception:  # noqa: BLE001 - an error that cannot be sent is told by its words
        data = pickle.dumps((None, RuntimeError(f"{type(result[1]).__name__}: {result[1]}")))
    with suppress(BrokenPipeError):
        link.send_bytes(data)


def forget_printed() -> None:
    """In a child: drop all that it has printed."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        stream.seek(0)
        stream.truncate()
