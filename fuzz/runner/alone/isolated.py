"""Runs inputs one by one, each in a forked process: a hang, a bomb or a crash ends only that process. No atheris.

``python -m fuzz.runner.alone.isolated TARGET SECONDS BYTES [growth]``; TARGET is a :class:`~fuzz.runner.loading.Words`
as JSON. With ``growth`` it does not check the target's
invariant, but how its work grows (``fuzz.growth``). SECONDS is CPU time, so that a slow input on a busy machine does
not count as a hang. The client is ``fuzz.runner.alone.sandbox``. Inputs come on stdin as four bytes of length and the
data. For each, a line of JSON goes out on stdout: kind (``passed``, ``error``, ``growth``, ``hang``, ``memory``,
``death``), signature, message, trace, and further findings of the same input. The process ends when stdin does.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import struct
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from fuzz.growth import check_growth
from fuzz.runner.loading import Words, begin, load, runs_apart
from fuzz.runner.signature import outcomes_of, signature, signature_of_dump

if TYPE_CHECKING:
    from collections.abc import Callable

PASSED: Final = {"kind": "passed", "signature": "", "message": "", "trace": ""}
GROWTH: Final = "growth"
_ASLEEP: Final = 6  # times the limit, on the clock: for a process that waits instead of working
_SPARE: Final = 2.0  # seconds in which a process can report a hang before it is ended


def main() -> None:
    """Serve requests until stdin ends."""
    words, seconds, memory = Words(**json.loads(sys.argv[1])), float(sys.argv[2]), int(sys.argv[3])
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a target's own output is no answer
    target = load(words)
    begin(target)
    check = partial(check_growth, target) if sys.argv[4:] == [GROWTH] else target.check
    limit = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize() + memory
    while len(head := sys.stdin.buffer.read(4)) == 4:
        data = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
        found = _here(check, data) if runs_apart(target) else _run(check, data, seconds, limit)
        answers.write(json.dumps(found) + "\n")
        answers.flush()


def _run(check: Callable[[bytes], None], data: bytes, seconds: float, limit: int) -> dict[str, Any]:
    with tempfile.TemporaryFile() as dump:
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.close(read)
                _inside(check, data, seconds, limit, write, dump)
            finally:
                os._exit(99)
        os.close(write)
        answer = _answer(read, pid, seconds * _ASLEEP + _SPARE)
        _, status = os.waitpid(pid, 0)
        if answer:
            return dict(json.loads(answer))
        dump.seek(0)
        return _death(os.waitstatus_to_exitcode(status), dump.read().decode("utf-8", "replace"), seconds)


def _inside(
    check: Callable[[bytes], None], data: bytes, seconds: float, limit: int, write: int, dump: BinaryIO
) -> None:
    """Run the check in the forked process; never returns to the server's loop."""
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(dump)
    faulthandler.register(signal.SIGPROF, dump, all_threads=False, chain=True)  # then the signal ends the process
    faulthandler.dump_traceback_later(seconds * _ASLEEP, exit=True, file=dump)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    answer = _here(check, data)
    with os.fdopen(write, "wb") as file:
        file.write(json.dumps(answer).encode())
    os._exit(0)


def _here(check: Callable[[bytes], None], data: bytes) -> dict[str, Any]:
    """The outcome of an input in this process."""
    try:
        check(data)
    except BaseException as error:  # noqa: BLE001 - whatever comes out is the answer
        first, *others = outcomes_of(error)
        return {**first, "others": others}
    return PASSED


def _answer(read: int, pid: int, seconds: float) -> bytes:
    """The forked process's answer; empty if the process died, or exceeded its time and was killed."""
    parts: list[bytes] = []
    deadline = time.monotonic() + seconds
    with os.fdopen(read, "rb", buffering=0) as file:
        while True:
            ready, _, _ = select.select([file], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                return b""
            part = file.read(1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)


def _death(status: int, dump: str, seconds: float) -> dict[str, Any]:
    """The outcome of an input that ended its process."""
    modules = {
        str(module.__file__): name for name, module in list(sys.modules.items()) if getattr(module, "__file__", None)
    }
    if status in (-signal.SIGPROF, -signal.SIGKILL) or dump.startswith("Timeout ("):
        text = signature_of_dump("hang", dump, modules, outermost=True)
        return {
            "kind": "hang",
            "signature": text,
            "message": f"no end within {seconds:g} s of the processor",
            "trace": dump[-6000:],
        }
    words = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    text = signature_of_dump(words, dump, modules, outermost=False) if dump else signature(words, [])
    return {"kind": "death", "signature": text, "message": f"the process ended: {words}", "trace": dump[-6000:]}


if __name__ == "__main__":
    main()
