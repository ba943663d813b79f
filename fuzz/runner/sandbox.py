"""Runs an input of a target in a process that may die of it (``fuzz.runner.isolated``)."""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import contextlib
import json
import struct
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.servers.child_process import kill_group
from conformance.servers.closing import Closing
from fuzz.runner.launch import MEMORY, TIMEOUT, environment

if TYPE_CHECKING:
    from fuzz.runner.targets import Target

PASSED: Final = "passed"
GROWTH: Final = "growth"


@dataclass(frozen=True, slots=True)
class InputOutcome:
    """The outcome of an input. ``kind``: passed, error, growth, hang, memory, death."""

    kind: str
    signature: str
    message: str
    trace: str


class SandboxEnded(Exception):
    """The sandbox process itself has ended; the message is for the user."""


class Sandbox(Closing):
    """Runs inputs of one target, one after another. ``growth``: to see how its work grows, not what its check says."""

    def __init__(self, target: Target, *, timeout: float = TIMEOUT, memory: int = MEMORY, growth: bool = False) -> None:
        self._target = target
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "fuzz.runner.isolated",
                target.module_name,
                str(timeout),
                str(memory),
                *([GROWTH] if growth else []),
            ],
            env=environment(target),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(self, data: bytes) -> InputOutcome:
        """Run ``data`` and return its outcome."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(struct.pack("<I", len(data)) + data)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (OSError, ValueError):
            line = b""
        if not line:
            raise SandboxEnded(f"the process that runs {self._target.name} has ended")
        return InputOutcome(**json.loads(line))

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
