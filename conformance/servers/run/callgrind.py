"""Instructions that a server's threads execute, counted by valgrind's callgrind while the server runs under it.

Wall clock on a shared machine cannot show two per cent; counted instructions can (requirements FR15, requirements
FR16). The server starts without counting, which takes some seconds; counting then slows it down about fifty times. The
number of a thread in the operating system names it; the performance schema shows the same number.
"""

from __future__ import annotations

import re
import shutil
import signal
from typing import TYPE_CHECKING, Final

from conformance.servers.child_process import run_in_time
from conformance.servers.closing import Closing
from conformance.servers.errors import ServerUnavailable
from conformance.servers.run.process import ProcessServer, launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from conformance.servers.install.cache import Narrate
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.options import Options

_PROGRAMS: Final = ("valgrind", "vgdb")
_START_SECONDS: Final = 300.0
_CONTROL_SECONDS: Final = 120.0
_CONTROL_RETRIES: Final = 4
_PATIENT: Final = ("--max-invoke-ms=0",)
_OUT: Final = "callgrind.out"
_THREAD: Final = re.compile(r"^Thread (\d+):.*\(lwpid (\d+)\)", re.MULTILINE)
_COUNTS: Final = re.compile(r"^thread: (\d+)$.*?^summary: (\d+)$", re.MULTILINE | re.DOTALL)


def missing_programs() -> str | None:
    """The programs for counting that this machine lacks, and the remedy; ``None`` if all are there."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    return f"needs {' and '.join(missing)} (Debian package valgrind)" if missing else None


class Callgrind(Closing):
    """A server of the lab under callgrind with its performance schema on; a context. ``server`` is that server."""

    def __init__(
        self, installation: Installation, *, server_id: int, options: Options | None = None, narrate: Narrate
    ) -> None:
        missing = missing_programs()
        if missing is not None:
            raise ServerUnavailable(f"instructions cannot be counted: {missing}")
        self.server: ProcessServer = launch(
            installation,
            server_id=server_id,
            options=options,
            performance_schema=True,
            start=False,
            narrate=narrate,
        )
        directory: Path = self.server.directory
        self._pipes = directory / "vgdb"
        self._files = directory
        self.server.wrapper = (
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            "--separate-threads=yes",
            f"--callgrind-out-file={directory / _OUT}",
            f"--vgdb-prefix={self._pipes}",
        )
        try:
            self.server.start(timeout=_START_SECONDS)
        except BaseException:
            self.server.close()
            raise

    def close(self) -> None:
        """End the server, at once: what callgrind writes at its end nobody reads, and it would count until then."""
        self.server.stop(clean=False)
        self.server.close()

    def start_counting(self) -> None:
        """Count instructions from now on, which makes the server slow."""
        control(self._pipes, self.server.pid, "instrumentation", "on")

    def take(self) -> dict[int, int]:
        """Instructions by thread (its number in the operating system) since the last call."""
        for path in self._files.glob(f"{_OUT}*"):
            path.unlink()
        answer = control(self._pipes, self.server.pid, "v.info", "scheduler", "-c", "dump")
        threads = dict(_pairs(_THREAD.findall(answer)))
        counts: dict[int, int] = {}
        for path in self._files.glob(f"{_OUT}*"):
            for number, count in _pairs(_COUNTS.findall(path.read_text(encoding="utf-8", errors="replace"))):
                if number in threads:
                    counts[threads[number]] = counts.get(threads[number], 0) + count
            path.unlink()
        return counts


def control(pipes: Path, pid: int, *words: str) -> str:
    """Send a command, or several with ``-c`` between them, to a running valgrind; return its answer.

    Valgrind hears of it while a thread of the server runs, at the latest when a thread of InnoDB wakes each second.
    vgdb must not hasten that: it would interrupt the poll() in which the server waits for connections. The server does
    not expect that (9.7.4 has died of signal 11 in ``listen_for_connection_event``).

    Valgrind closes its end of the pipe when the vgdb before has gone, and opens it again. A vgdb has died of SIGPIPE in
    a busy moment (once, valgrind 3.19), so such a command is sent again. That does no harm, even if it was heard:
    ``take`` adds up all dumps.
    """
    command = ["vgdb", *_PATIENT, f"--vgdb-prefix={pipes}", f"--pid={pid}", *words]
    try:
        answer = run_in_time(command, _CONTROL_SECONDS)
        for _ in range(_CONTROL_RETRIES):
            if answer.returncode != -signal.SIGPIPE:
                break
            answer = run_in_time(command, _CONTROL_SECONDS)
    except OSError as error:
        raise ServerUnavailable(f"callgrind does not answer: {error}") from error
    if answer.returncode:
        raise ServerUnavailable(
            f"callgrind does not answer: vgdb {' '.join(words)} ended with {answer.returncode}: {answer.words[-500:]}"
        )
    return answer.text


def counted(counts: Mapping[int, int], threads: Iterable[int]) -> int:
    """The sum over the given threads."""
    return sum(counts.get(thread, 0) for thread in threads)


def _pairs(found: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    return [(int(first), int(second)) for first, second in found]
