"""Helpers of the tests with a real server: programs are started and watched, and nothing may be left of them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from conformance.servers.run.directories import remove_orphans, runs_root
from conformance.servers.run.supervisor import PR_SET_PDEATHSIG, prctl
from tests.preloaded import Preloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[1]
PROGRAM = [sys.executable, "-m", "conformance"]
PATIENCE = 600.0  # until a hanging program is given up; no test asserts how long anything takes


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of ``binlog-lab`` ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that was said, for the message of a failing assertion."""
        return f"exit code {self.code}\n{self.out}\n{self.err}"


def environment(**more: str) -> dict[str, str]:
    """The environment of a program under test: no colours, no settings of the developer's, a warning of what it does
    not close."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BINLOG_LAB_P", "COLUMNS", "PYTEST", "FORCE_", "JAVA_HOME", "PYSPARK_", "SPARK_"))
    }
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "always::ResourceWarning", "NO_COLOR": "1", **more}


_ENVIRONMENT = environment()
# Variables that a run reads where it needs them. Of others something is made when a module is imported, or before.
_READ_BY_A_RUN = {"BINLOG_LAB_PASSWORD", "BINLOG_LAB_CACHE"}


@cache
def _preloaded() -> Preloaded:
    return Preloaded(_ENVIRONMENT)


def lab(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, fresh: bool = False
) -> Ended:
    """Run ``binlog-lab`` to its end. ``fresh``: as a program of its own, and not as a fork of one with its modules."""
    more = dict(env or {})
    if not fresh and environment() == _ENVIRONMENT and more.keys() <= _READ_BY_A_RUN:
        code, *texts = _preloaded().run([*map(str, arguments)], cwd or ROOT, PATIENCE, more)
        return _closed(Ended(code, *(io.TextIOWrapper(io.BytesIO(text), "utf-8").read() for text in texts)))
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd or ROOT,
        env=environment(**(env or {})),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return _closed(Ended(done.returncode, done.stdout, done.stderr))


def _closed(ended: Ended) -> Ended:
    """The same, if the program closed what it opened."""
    assert "ResourceWarning" not in ended.err, ended.text
    return ended


def started(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start ``binlog-lab`` in a process group of its own, its words in files ``out`` and ``err`` of ``cwd``.

    It has a directory of its own for its servers and those of its workers: what is left there is of this program.
    """
    (cwd / "tmp").mkdir(exist_ok=True)
    with (cwd / "out").open("w") as out, (cwd / "err").open("w") as err:
        program = subprocess.Popen(
            [*PROGRAM, *map(str, arguments)],
            cwd=cwd,
            env=environment(**{"TMPDIR": str(cwd / "tmp"), **(env or {})}),
            stdout=out,
            stderr=err,
            text=True,
            start_new_session=True,
            preexec_fn=_end_with_the_tests,  # noqa: PLW1509 - one call of the kernel, which no thread disturbs
        )
    _roots[program.pid] = Path((env or {}).get("TMPDIR", cwd / "tmp")) / f"binlog-lab-{os.getuid()}"
    return program


_roots: dict[int, Path] = {}  # of the programs that were started


def _end_with_the_tests() -> None:
    """Let the kernel end the program, which has a session of its own, when the process of the test is killed."""
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def until(condition: Callable[[], object], *, program: subprocess.Popen[str] | None = None) -> bool:
    """Wait until something holds; false when it never does, or when the program has ended before."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        if program is not None and program.poll() is not None:
            return bool(condition())
        time.sleep(0.02)
    return False


def run_directories(pid: int) -> list[Path]:
    """Run directories of servers that this process of the lab started; of a program from :func:`started`, its workers'
    too."""
    root = _roots.get(pid)
    return list(runs_root().glob(f"run-{pid}-*") if root is None else root.glob("run-*"))


def processes_of(program: subprocess.Popen[str]) -> list[int]:
    """Live processes that belong to a lab: its session and what works in its run directories, the server included."""
    found = []
    word = os.fsencode(_roots[program.pid])
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_bytes()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        state, _, _, session = stat[stat.rindex(b")") + 2 :].split()[:4]
        if state != b"Z" and (int(session) == program.pid or word in command):
            found.append(int(entry.name))
    return found


def forks_of(program: subprocess.Popen[str]) -> list[int]:
    """Its worker processes: they are forked, and so have the command line of the program. A process that is about to
    become another program has it for a moment only."""
    looks = []
    for _ in range(2):
        time.sleep(0.02)
        found = {}
        for pid in processes_of(program):
            with suppress(OSError):  # it has ended by now
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
        looks.append({pid for pid, command in found.items() if command == found.get(program.pid)})
    return sorted(looks[0] & looks[1] - {program.pid})


def nothing_left(program: subprocess.Popen[str], *, killed: bool = False) -> bool:
    """Whether in the end no process and no run directory of this lab remains.

    ``killed``: nothing could remove the directory of a server that was not started yet; the next lab does.
    """
    if killed:
        assert until(lambda: not processes_of(program))
        for directory in run_directories(program.pid):
            assert not (directory / "process.json").exists() or until(lambda: not directory.exists())  # noqa: B023
        with patch.dict(os.environ, TMPDIR=str(_roots[program.pid].parent)):
            remove_orphans()
    return until(lambda: not processes_of(program) and not run_directories(program.pid))
