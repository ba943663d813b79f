"""One child process: its directory, its options, and its output."""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.builds import PURE
from conformance.servers.child_process import kill_group
from fuzz.runner import libfuzzer
from fuzz.runner.errors import NoAtheris
from fuzz.runner.loading import runs_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fuzz.runner.targets import Target

ROOT: Final = Path(__file__).parents[2]
MEMORY: Final = 1 << 30  # bytes of address space beyond the process's use after its imports
TIMEOUT: Final = 10  # seconds for one input
APART: Final = 12  # times the limit of one input, where the target's own limits end the programs that it starts
RSS_LIMIT: Final = 3072  # MiB, in case the limit of the address space does not stop the process
GRACE: Final = 5.0  # seconds between asking a process to end and ending it
TAIL: Final = 40  # lines of stderr kept for a process that did not start
READY: Final = "binlog-lab: ready"
FINDING: Final = "binlog-lab: finding "
# A process that another thread begins meanwhile has the program open that is being written here, and nobody may execute
# a file that somebody has open for writing (ETXTBSY).
_STARTING: Final = threading.Lock()


@dataclass(slots=True)
class Child:
    """A child process and its directory. ``timeout``: seconds for one input."""

    target: Target
    directory: Path
    timeout: int = TIMEOUT
    memory: int = MEMORY
    figures: libfuzzer.Figures = field(default_factory=libfuzzer.Figures)
    tail: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    began: float | None = None  # when fuzzing began, after the imports
    ended_by_us: bool = False  # its time was over, or the run must stop

    def __post_init__(self) -> None:
        self.artifacts.mkdir(parents=True, exist_ok=True)
        self.counter.write_bytes(bytes(8))

    @property
    def artifacts(self) -> Path:
        """The directory for findings."""
        return self.directory / "artifacts"

    @property
    def counter(self) -> Path:
        """A file of eight bytes in which the child counts its executions."""
        return self.directory / "executions"

    def executions(self) -> int:
        """The number of executions so far."""
        return int(struct.unpack("@Q", self.counter.read_bytes())[0])

    @property
    def seconds(self) -> float:
        """Seconds since the child began to fuzz."""
        return 0.0 if self.began is None else time.monotonic() - self.began

    def processor(self) -> float:
        """CPU seconds that the child has used; 0 after its end."""
        try:
            fields = Path(f"/proc/{self.process.pid if self.process else 0}/stat").read_text("ascii").rpartition(")")[2]
        except OSError:
            return 0.0
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def start(self, arguments: Sequence[str], *, dies_with_us: bool = True) -> subprocess.Popen[bytes]:
        """Start the child in a session of its own, so that Ctrl-C reaches the runner alone."""
        with _STARTING:
            program = self._program(dies_with_us=dies_with_us)
            self.process = subprocess.Popen(
                [str(program), *arguments],
                cwd=self.directory,
                env=environment(self.target),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        return self.process

    def options(self, seed: int, *, reload: bool = False) -> list[str]:
        """Options of every run; the same seed, corpus and number of runs give the same executions.

        ``reload``: whether to read inputs that other processes add to the corpus meanwhile.
        """
        options = [
            f"-seed={seed}",
            "-entropic=0",  # libFuzzer's entropic schedule depends on the clock
            f"-reload={int(reload)}",
            f"-max_len={self.target.max_len}",
            f"-timeout={self.timeout * (APART if runs_apart(self.target.module()) else 1)}",
            f"-rss_limit_mb={RSS_LIMIT}",
            f"-artifact_prefix={self.artifacts}/",
            "-print_final_stats=0",
        ]
        words = libfuzzer.dictionary(tuple(self.target.module().DICTIONARY))
        if words:
            path = self.directory / "dictionary"
            path.write_text(words, "ascii")
            options.append(f"-dict={path}")
        return options

    def listen(self, found: Callable[[str], None] | None = None) -> int:
        """Read the child's output to its end; return its status. Calls ``found`` with the name of each new finding."""
        assert self.process is not None
        assert self.process.stderr is not None
        for raw in self.process.stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if line == READY:
                self.began = time.monotonic()
            elif line.startswith(FINDING):
                if found is not None:
                    found(line.removeprefix(FINDING))
            else:
                self.figures.read(line)
                if not line.startswith("INFO: "):
                    self.tail = [*self.tail[-TAIL:], line]
        self.process.stderr.close()
        return self.process.wait()

    def stop(self) -> None:
        """End the child and all processes that it started."""
        if self.process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            kill_group(self.process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
                return

    def end(self) -> None:
        """End the child if it still runs."""
        if self.process is not None and self.process.poll() is None:
            self.stop()

    def _program(self, *, dies_with_us: bool) -> Path:
        """An executable file: libFuzzer starts its own name again, through a shell, for a merge."""
        specification = self.directory / "specification.json"
        specification.write_text(
            json.dumps(
                {
                    "target": asdict(self.target.words),
                    "instrument": self.target.instrument,
                    "comparisons": self.target.comparisons,
                    "path": [self.target.path] if self.target.path else [],
                    "memory": self.memory,
                    "artifacts": str(self.artifacts),
                    "counter": str(self.counter),
                    "runner": os.getpid() if dies_with_us else 0,
                }
            ),
            "utf-8",
        )
        program = self.directory / "target"
        command = shlex.join([sys.executable, "-m", "fuzz.runner.child", str(specification)])
        program.write_text(f'#!/bin/sh\nexec {command} "$0" "$@"\n', "utf-8")
        program.chmod(0o700)
        return program


def require_atheris() -> None:
    """Raise :class:`NoAtheris` if atheris is not installed."""
    if find_spec("atheris") is None:
        raise NoAtheris


def environment(target: Target) -> dict[str, str]:
    """The environment of a process that runs a target: repeatable hashes, and the sources of this tree's modules.

    A compiled module has no blocks that could be instrumented, no lines to count, and no frames in a trace.
    """
    paths = [str(ROOT), *filter(None, [target.path, os.environ.get("PYTHONPATH", "")])]
    return {**os.environ, "PYTHONHASHSEED": "0", PURE: "1", "PYTHONPATH": os.pathsep.join(paths)}
