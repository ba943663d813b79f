"""``binlog-lab`` as a program whose modules are imported already: a fork of a process that has done it.

Half of what the tests' runs of ``binlog-lab`` cost was the import of its modules, again for each run. A fork is a
process of its own, with exit code, signals and output. But it imports little, and all forks of a process hash alike.
So tests of the start, and of runs that must be equal, start the program itself (:func:`tests.live.lab` with ``fresh``,
:func:`tests.live.started`).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT: Final = Path(__file__).parents[1]
_PACKAGES: Final = (
    "_pytest",
    "conformance.cases",
    "conformance.checks",
    "conformance.cli",
    "conformance.harness",
    "conformance.judge",
    "conformance.reference",
    "conformance.report",
    "conformance.requirements",
    "conformance.servers",
    "generators",
)
_PIECE: Final = 1 << 16


class Preloaded:
    """The process with the modules. ``run`` is for one thread at a time."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.preloaded", str(theirs.fileno())],
                cwd=ROOT,
                env=environment,
                pass_fds=(theirs.fileno(),),
                stdout=subprocess.PIPE,  # as that of a run: Python asks at the start whether it can be sought
                stderr=subprocess.STDOUT,
            )
        atexit.register(self.close)

    def run(
        self, arguments: Sequence[str], cwd: Path, timeout: float, settings: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, bytes]:
        """Run ``binlog-lab`` to its end. Exit code (negative: the signal that ended it), stdout and stderr.

        ``settings``: variables of the environment that only this run has.
        """
        ends = [os.pipe() for _ in range(2)]
        request = json.dumps([dict(settings or {}), str(cwd), *arguments]).encode()
        try:
            socket.send_fds(self._control, [request], [write for _, write in ends])
        finally:
            for _, write in ends:
                os.close(write)
        pid = int(self._control.recv(_PIECE))
        try:
            out, err = _read([read for read, _ in ends], time.monotonic() + timeout)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._control.recv(_PIECE)
            raise subprocess.TimeoutExpired(list(arguments), timeout) from None
        return int(self._control.recv(_PIECE)), out, err

    def close(self) -> None:
        """End the process."""
        self._control.close()
        with self._process:
            pass


def _read(pipes: list[int], end: float) -> list[bytes]:
    """All that comes out of these pipes, which are closed."""
    found = {pipe: bytearray() for pipe in pipes}
    try:
        with selectors.DefaultSelector() as selector:
            for pipe in pipes:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(0.0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE)
                    found[key.fd] += piece
                    if not piece:
                        selector.unregister(key.fd)
    finally:
        for pipe in pipes:
            os.close(pipe)
    return [bytes(text) for text in found.values()]


def _is_rewritten(module: str) -> bool:
    """Whether pytest itself loads this module, and rewrites its assertions."""
    return module.startswith("conformance.checks.") and module.rpartition(".")[2].startswith(("check", "conftest"))


def main() -> None:
    """Import, then fork for each request; the fork leaves this function, and runs ``binlog-lab``."""
    for package in map(import_module, _PACKAGES):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if _is_rewritten(module.name):
                continue
            with suppress(ImportError):  # of an extra
                import_module(module.name)
    gc.freeze()
    with closing(socket.socket(fileno=int(sys.argv[1]))) as control:
        while True:
            request, fds, _, _ = socket.recv_fds(control, _PIECE, 2)
            if not request:
                return
            pid = os.fork()
            if not pid:
                break
            for fd in fds:
                os.close(fd)
            control.send(b"%d" % pid)
            control.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    for number, fd in enumerate(fds, start=1):
        os.dup2(fd, number)
        os.close(fd)
    settings, directory, *arguments = json.loads(request)
    os.environ.update(settings)
    os.chdir(directory)
    sys.path[0] = directory  # as python -m has it
    sys.argv = [str(ROOT / "conformance/__main__.py"), *arguments]
    try:
        import_module("conformance.cli.main").main()
    except SystemExit as end:
        # As Python ends, but without a visit to every object: of each page with one, the fork would make a copy.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)


if __name__ == "__main__":
    main()
