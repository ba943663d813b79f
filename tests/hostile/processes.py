"""A command on a file, in a process of its own: its exit code, its last words, CPU time and peak memory.

The process is forked from one that has loaded the command's modules, so that a thousand of them take minutes and not
an hour. Its peak counts from the fork on: Linux resets the mark.
"""

from __future__ import annotations

import ctypes
import gc
import io
import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "decode": ("decode",),
    "explain": ("explain",),
    "apply": ("apply",),
    "estimate": ("matrix", "estimate", "--master", "none"),
}
_CEILING: Final = 4 << 30  # bytes of address space: what grows without end must not take the machine with it
_SECONDS: Final = 300


class Measured(NamedTuple):
    """``code`` is ``None`` for a process that died."""

    code: int | None
    words: str
    seconds: float
    peak: int


def measured(arguments: Sequence[str], call: Callable[[Sequence[str]], int] = run) -> Measured:
    """Measure ``call`` with these arguments, in a process of its own."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            try:
                os.close(reading)
                _in_child(arguments, call, said.fileno(), writing)
            finally:
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            found = answer.read()
        os.waitpid(child, 0)
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").splitlines()
    words = next((line for line in lines if line.startswith("error:")), lines[-1] if lines else "")
    if not found:
        return Measured(None, words, 0.0, _CEILING)
    code, seconds, peak = json.loads(found)
    return Measured(code, words, seconds, peak)


def _in_child(arguments: Sequence[str], call: Callable[[Sequence[str]], int], errors: int, answer: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(errors, 2)
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), "utf-8", "backslashreplace")
    sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", closefd=False), "utf-8", "backslashreplace")
    resource.setrlimit(resource.RLIMIT_AS, (_CEILING, _CEILING))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    # What the parent freed and kept would serve the command without a trace in its peak.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the highest mark begins anew
    gc.enable()
    start = process_time()
    code = call(arguments)
    seconds = process_time() - start
    sys.stderr.flush()
    os.write(answer, json.dumps((code, seconds, highest())).encode())


def highest() -> int:
    """Resident bytes of this process, the most so far (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) << 10


class Bench:
    """Measures commands on logs, each against the same command on a log that is nearly empty."""

    def __init__(self, directory: Path, tiny: bytes, commands: Sequence[str] = tuple(COMMANDS)) -> None:
        self._path = directory / "hostile.binlog"
        self._path.write_bytes(tiny)
        self.commands = commands
        self._least: dict[str, Measured] = {}
        for command in commands:
            _load(self._arguments(command))
            gc.collect()
            self._least[command] = measured(self._arguments(command))

    def _arguments(self, command: str) -> list[str]:
        return [*COMMANDS[command], str(self._path)]

    def over(self, command: str, data: bytes, call: Callable[[Sequence[str]], int] = run) -> Measured:
        """Seconds and bytes beyond those for the tiny log; of the bytes, the size of the log is taken off too."""
        self._path.write_bytes(data)
        found, least = measured(self._arguments(command), call), self._least[command]
        return found._replace(
            seconds=max(0.0, found.seconds - least.seconds), peak=max(0, found.peak - least.peak - len(data))
        )


def _load(arguments: Sequence[str]) -> None:
    """Run a command once in this process: its modules are loaded, and the forked processes share them."""
    kept = sys.stdout, sys.stderr
    try:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - not a path of anything
            sys.stdout = sys.stderr = io.TextIOWrapper(nothing, "utf-8", "backslashreplace")
            run(arguments)
            sys.stdout.flush()
    finally:
        sys.stdout, sys.stderr = kept
