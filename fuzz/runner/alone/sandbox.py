"""Runs an input of a target in a process that may die of it (``fuzz.runner.alone.isolated``)."""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import contextlib
import json
import select
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from math import inf
from typing import IO, TYPE_CHECKING, Any, Final

from conformance.servers.child_process import kill_group
from conformance.servers.closing import Closing
from fuzz.runner.launch import MEMORY, TIMEOUT, environment

if TYPE_CHECKING:
    from fuzz.runner.targets import Target

PASSED: Final = "passed"
GROWTH: Final = "growth"


@dataclass(frozen=True, slots=True)
class InputOutcome:
    """The outcome of an input. ``kind``: passed, error, growth, hang, memory, death.

    ``others``: further findings that the same input shows.
    """

    kind: str
    signature: str
    message: str
    trace: str
    others: tuple[InputOutcome, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it is a finding."""
        return self.kind != PASSED

    def like(self, signature: str) -> InputOutcome:
        """The finding with this signature, if the input shows it; else the first one."""
        return next((one for one in self.others if one.signature == signature), self)

    @classmethod
    def of(cls, facts: dict[str, Any]) -> InputOutcome:
        """Read an outcome from the JSON that a child or a sandbox wrote."""
        return cls(**{**facts, "others": tuple(map(cls.of, facts.get("others", ())))})


class TimeOver(Exception):
    """The time for an input's outcome is over: nothing is known of it."""


class SandboxEnded(Exception):
    """The sandbox process itself has ended; the message is for the user."""


class Sandbox(Closing):
    """Runs inputs of one target, one after another. ``growth``: to see how its work grows, not what its check says."""

    def __init__(self, target: Target, *, timeout: float = TIMEOUT, memory: int = MEMORY, growth: bool = False) -> None:
        self._target = target
        self._directory = tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "fuzz.runner.alone.isolated",
                json.dumps(asdict(target.words)),
                str(timeout),
                str(memory),
                *([GROWTH] if growth else []),
            ],
            env=environment(target),
            cwd=self._directory.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(self, data: bytes, until: float = inf) -> InputOutcome:
        """Run ``data`` and return its outcome. ``until``: the clock's value at which to raise :class:`TimeOver`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(struct.pack("<I", len(data)) + data)
            self._process.stdin.flush()
            self._wait(self._process.stdout, until)
            line = self._process.stdout.readline()
        except (OSError, ValueError):
            line = b""
        if not line:
            raise SandboxEnded(f"the process that runs {self._target.name} has ended")
        return InputOutcome.of(json.loads(line))

    def _wait(self, answers: IO[bytes], until: float) -> None:
        """Wait for an answer: one line for each input, so that nothing of it is in the buffer yet."""
        left = None if until == inf else max(0.0, until - time.monotonic())
        if not select.select([answers], [], [], left)[0]:
            kill_group(self._process.pid)
            raise TimeOver(f"no outcome of an input of {self._target.name} in time")

    def close(self) -> None:
        """End the sandbox; a fork that hangs ends by its own time limit."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            kill_group(self._process.pid)
            self._process.wait()
        self._directory.cleanup()
